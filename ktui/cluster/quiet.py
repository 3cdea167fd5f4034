"""How far a change of an object reaches. Most events of a busy cluster are seen by few: a container restarts, a pod is ready.

Told by the fields in which two versions differ (`ktui.model.sharing`), so that nothing has to be worked out from the objects. A
field that is in no set here may matter to anybody.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from ktui.cluster.store import Delta
from ktui.model.pod import Pod
from ktui.model.sharing import Field


class Reach(Enum):
    NOBODY = auto()  # no row follows from it
    ITSELF = auto()  # only the pod's own row
    WHOLE = auto()  # the pod and what it is a part of; no gang changes its state, nothing is taken or set free
    ANYBODY = auto()


_UNSEEN: Final[frozenset[Field]] = frozenset(("ObjectMeta.resource_version",))

_COUNTED: Final[frozenset[Field]] = _UNSEEN | {"ContainerStatus.ready", "ContainerStatus.restart_count"}

_TOLD: Final[frozenset[Field]] = _COUNTED | {
    "ContainerStatus.state",
    "ContainerState.waiting",
    "ContainerState.terminated",
    "ContainerWaiting.reason",
    "ContainerTerminated.reason",
    "ContainerTerminated.exit_code",
}
"""What the containers do."""

_SAID: Final[frozenset[Field]] = _TOLD | {
    "Condition.status",
    "Condition.reason",
    "Condition.message",
    "Condition.last_transition_time",
    "Condition.observed_generation",
}
"""And what conditions say that a pod has before and after."""

_READINESS: Final = frozenset(("Initialized", "PodReadyToStartContainers", "ContainersReady", "Ready"))
"""Conditions of the kubelet's that tell how far it is with the pod."""

FIELDS: Final = _SAID
"""Every field that is known here."""


def reach(delta: Delta) -> Reach:
    """Who may see something of the change."""
    fields, old, new = delta.fields, delta.old, delta.new
    if fields is None or not fields <= _SAID:
        return Reach.ANYBODY
    if fields <= _UNSEEN:
        return Reach.NOBODY
    if not (isinstance(old, Pod) and isinstance(new, Pod)):
        return Reach.ANYBODY
    if fields <= _COUNTED:
        return Reach.ITSELF
    return Reach.WHOLE if fields <= _TOLD or _only_readiness(old, new) else Reach.ANYBODY


def _only_readiness(old: Pod, new: Pod) -> bool:
    """Whether only conditions of readiness say something else, of those that there are before and after."""
    both = zip(old.status.conditions or (), new.status.conditions or (), strict=True)
    return all(before is after or before == after or before.type in _READINESS for before, after in both)
