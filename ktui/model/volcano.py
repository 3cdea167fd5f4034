"""scheduling.volcano.sh/v1beta1: the gangs of the Volcano scheduler and their queues."""

from __future__ import annotations

from typing import Final

from msgspec import field

from ktui.model.meta import Condition, Object, Wire
from ktui.model.pod import Quantities

GROUP: Final = "scheduling.volcano.sh"
GROUP_ANNOTATIONS: Final = ("scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name")
"""On a pod, either of them: the name of its group."""

DEFAULT_QUEUE: Final = "default"


class VolcanoPodGroupSpec(Wire, frozen=True):
    min_member: int | None = None
    queue: str | None = None
    priority_class_name: str | None = None
    min_resources: Quantities | None = None


class VolcanoPodGroupStatus(Wire, frozen=True):
    """`phase`: "Pending" (not let in), "Inqueue" (pods may be made), "Running", "Unknown" (some run, others cannot),
    "Completed"."""

    phase: str | None = None
    conditions: tuple[Condition, ...] | None = None


class VolcanoPodGroup(Object, frozen=True):
    spec: VolcanoPodGroupSpec = field(default_factory=VolcanoPodGroupSpec)
    status: VolcanoPodGroupStatus = field(default_factory=VolcanoPodGroupStatus)

    @property
    def min_count(self) -> int:
        return self.spec.min_member or 1

    @property
    def queue(self) -> str:
        return self.spec.queue or DEFAULT_QUEUE

    @property
    def waits(self) -> bool:
        """To be let in by its queue."""
        return self.status.phase in (None, "", "Pending")


class VolcanoQueueSpec(Wire, frozen=True):
    capability: Quantities | None = None
    weight: int | None = None


class VolcanoQueueStatus(Wire, frozen=True):
    """`state`: "Open", "Closed", "Closing" or "Unknown"."""

    state: str | None = None
    allocated: Quantities | None = None


class VolcanoQueue(Object, frozen=True):
    spec: VolcanoQueueSpec = field(default_factory=VolcanoQueueSpec)
    status: VolcanoQueueStatus = field(default_factory=VolcanoQueueStatus)
