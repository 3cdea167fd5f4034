"""Frames: the one currency between sources of truth (watch, recording, demo) and the state.

A frame is one thing that happened on one source. Live, replayed and demo data are the same frames, so everything
downstream is the same code. Frames hold decoded, typed objects (`ktui.model.kinds`), never raw JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from operator import attrgetter
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from ktui.model.meta import Key, Object

StreamPhase = Literal[
    "absent",  # not in discovery: not installed, or the feature is off
    "no-access",  # 403
    "needs-login",  # credentials ran out and only a person can renew them
    "listing",  # first list or relist under way; older rows stay
    "watching",  # live
    "quiet",  # live, but no byte for a while
    "waiting",  # back-off or Retry-After
    "polling",  # list allowed, watch refused
    "stopped",
]


NOT_RECORDED: Final = "not in this recording"
"""The message of an "absent" source of which nobody knows what the cluster had: the recording leaves it out."""

ChangeType = Literal["ADDED", "MODIFIED", "DELETED"]
ActionVerb = Literal["taint", "untaint", "min-replicas"]
ActionResult = Literal["applied", "refused", "conflict", "unknown"]

_key: Callable[[Object], Key] = attrgetter("key")


class Source(Struct, frozen=True, order=True):
    """One stream of one kind: what is listed and watched with one path and one selector.

    `path` is the collection's URL path without query, e.g. "/apis/resource.k8s.io/v1/resourceclaims" or
    "/api/v1/namespaces/ml/pods". `namespace` is "" for all namespaces and for cluster-scoped kinds.
    The path may change its version during a session (an upgrade of the cluster); kind, namespace and selector identify it.
    """

    kind: str
    path: str
    namespace: str = ""
    selector: str = ""

    @property
    def id(self) -> tuple[str, str, str]:
        return (self.kind, self.namespace, self.selector)


class Listed(Struct, frozen=True, dict=True):
    """The complete content of a source at one resourceVersion; replaces what was known of it."""

    source: Source
    resource_version: str
    items: tuple[Object, ...]
    epoch: int = 0  # grows when the server's state went back in time; versions compare only inside one epoch

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        """Of the items, in their order: once they are asked for, the same ones for all who take the frame. They take a while to
        make: a tenth of a second for 100,000."""
        return tuple(obj.key for obj in self.items)

    def keyed(self) -> Iterator[tuple[Key, Object]]:
        """The items with their keys, those that are known or others, made one at a time."""
        known = self.__dict__.get("keys")
        return zip(map(_key, self.items) if known is None else known, self.items, strict=True)


class Changed(Struct, frozen=True, gc=False):
    source: Source
    type: ChangeType
    object: Object
    epoch: int = 0


class StreamState(Struct, frozen=True):
    """How a source is doing. `until` (Unix seconds) when it waits; `progress` is (received, expected or 0) when it lists."""

    source: Source
    phase: StreamPhase
    message: str = ""
    until: float | None = None
    progress: tuple[int, int] | None = None


class Mark(Struct, frozen=True):
    """A note in a recording."""

    text: str


class ActionTaken(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A change of the cluster that a person sent through ktui, and what became of it.

    `object` is DRIVER/POOL/DEVICE or, for "min-replicas", NAMESPACE/AUTOSCALER; `before` and `after` are what was to change, in
    words; `who` is the user as the server calls them, "" when it does not say; `dry_run` is what the rehearsal had said.
    """

    verb: ActionVerb
    object: str
    before: str
    after: str
    result: ActionResult
    message: str = ""
    who: str = ""
    dry_run: str = ""


Frame: TypeAlias = Listed | Changed | StreamState | Mark | ActionTaken
