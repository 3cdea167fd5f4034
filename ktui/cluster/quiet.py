"""Changes that few can see. Most events of a busy cluster are such: a container restarts, a version is another.

Told by the fields in which two versions of an object differ (`ktui.model.sharing`), so that nothing has to be worked out from
the object. A field that is in no set here may matter to anybody.
"""

from __future__ import annotations

from typing import Final

from ktui.cluster.store import Delta
from ktui.model.sharing import Field

UNSEEN: Final[frozenset[Field]] = frozenset(("ObjectMeta.resource_version",))
"""No row follows from them."""

COUNTED: Final[frozenset[Field]] = UNSEEN | {"ContainerStatus.ready", "ContainerStatus.restart_count"}
"""Those that only the pod's own row may show."""

TOLD: Final[frozenset[Field]] = COUNTED | {
    "ContainerStatus.state",
    "ContainerState.waiting",
    "ContainerState.terminated",
    "ContainerWaiting.reason",
    "ContainerTerminated.reason",
    "ContainerTerminated.exit_code",
}
"""What the containers do: those that the pod and what it is a part of tell. No gang changes its state with them, nothing is
taken or set free."""


def differs_only_in(delta: Delta, fields: frozenset[Field]) -> bool:
    """Whether old and new are the same in all other fields."""
    return delta.fields is not None and delta.fields <= fields
