"""What ktui says of a gang: state, cause, one sentence, the facts and the evidence behind it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from ktui.cluster.gangs import GangState

Cause = Literal[
    "WaitingForPods",
    "GroupMissing",
    "Gated",
    "ClaimNotCreated",
    "NotEnoughDevices",
    "NoMatchingDevice",
    "DevicesTainted",
    "DeviceConstraint",
    "DeviceClassMissing",
    "PoolIncomplete",
    "NotEnoughNodeResources",
    "NodeConstraints",
    "NoScheduler",
    "GroupInvalid",
    "WaitingForPreemption",
    "QuotaExceeded",
    "QueueUnavailable",
    "Queued",
    "Unexplained",
]
"""One code a cause; the names are part of the JSON and do not change."""


class Evidence(Struct, frozen=True):
    """What was read, and from which object; `said`: in the scheduler's own words."""

    kind: str
    namespace: str
    name: str
    text: str
    since: float | None = None  # Unix seconds
    said: bool = False

    @property
    def shown(self) -> str:
        """The object's name, with its namespace if it has one."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class Funnel(Struct, frozen=True, rename="camel"):
    """Devices that are left for a gang, step by step; None where it cannot be told.

    Counted over all nodes for the kind of request that is short of most. `satisfying`: of the free ones those in sets that one
    pod can use, on one node and within the constraints of its claims.
    """

    published: int
    in_class: int
    matching: int | None
    pool_complete: int | None
    untainted: int | None
    free: int | None
    satisfying: int | None
    needed: int


class Diagnosis(Struct, frozen=True):
    """`unblock`: what would help, each by itself unless it says otherwise, as one line."""

    state: GangState
    cause: Cause | None
    message: str
    facts: dict[str, object] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    funnel: Funnel | None = None
    unblock: tuple[str, ...] = ()
