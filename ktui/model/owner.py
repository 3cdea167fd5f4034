"""Objects of any kind that own others: a JobSet, a LeaderWorkerSet, a RayJob, a kind that nobody has heard of.

All that is read of them is what every kind has: metadata, which says who owns them in turn, and the conditions that most keep.
"""

from __future__ import annotations

from msgspec import Struct, field

from ktui.model.meta import Condition, Object, OwnerReference, Wire


class OwnerStatus(Wire, frozen=True):
    conditions: tuple[Condition, ...] | None = None


class Owner(Object, frozen=True):
    status: OwnerStatus = field(default_factory=OwnerStatus)


class OwnerType(Struct, frozen=True, order=True):
    """A kind as references name it. The group is "" for the core one; the version in a reference is that of whoever wrote it."""

    group: str
    kind: str

    @property
    def name(self) -> str:
        """The kind's name here, where it is not one of `ktui.model.kinds`: "JobSet.jobset.x-k8s.io"."""
        return f"{self.kind}.{self.group}"


def type_of(reference: OwnerReference) -> OwnerType:
    group, slash, _ = reference.api_version.partition("/")
    return OwnerType(group if slash else "", reference.kind)


def named_type(name: str) -> OwnerType | None:
    """The type that a kind's name stands for, None for the name of a kind that is known by itself."""
    kind, dot, group = name.partition(".")
    return OwnerType(group, kind) if dot else None
