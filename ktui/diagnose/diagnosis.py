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
    "GroupInvalid",
    "NoScheduler",
    "WaitingForPreemption",
    "Queued",
    "Unexplained",
]
"""One code a cause; the names are part of the JSON and do not change."""


class Evidence(Struct, frozen=True):
    """What was read, and from which object."""

    kind: str
    namespace: str
    name: str
    text: str
    since: float | None = None  # Unix seconds


class Diagnosis(Struct, frozen=True):
    state: GangState
    cause: Cause | None
    message: str
    facts: dict[str, object] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
