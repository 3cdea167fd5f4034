"""Metadata shared by every object, and the base class of all of them.

All wire structs are frozen (a decoded object is a value), use tuples (hashable, compact), and are kept out of the garbage
collector (`gc=False`: they hold no cycles, and 100,000 pods would otherwise cost seconds of collector pauses).
Absent fields have defaults; fields the API may send as null allow None.
"""

from __future__ import annotations

from msgspec import Struct, field

Labels = dict[str, str]


class Wire(Struct, frozen=True, gc=False, rename="camel", omit_defaults=True, forbid_unknown_fields=False):
    """Base of every struct that mirrors JSON on the wire."""


class OwnerReference(Wire, frozen=True):
    kind: str = ""
    name: str = ""
    uid: str = ""
    api_version: str = ""
    controller: bool | None = None


class ObjectMeta(Wire, frozen=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    labels: Labels | None = None
    annotations: Labels | None = None
    owner_references: tuple[OwnerReference, ...] | None = None
    finalizers: tuple[str, ...] | None = None

    @property
    def controller(self) -> OwnerReference | None:
        """The one owner that manages this object (metav1.GetControllerOf)."""
        return next((o for o in self.owner_references or () if o.controller), None)


class Condition(Wire, frozen=True):
    """metav1.Condition, and the older per-kind conditions, which have a subset of its fields."""

    type: str = ""
    status: str = ""
    reason: str | None = None
    message: str | None = None
    last_transition_time: str | None = None
    observed_generation: int | None = None


class Object(Wire, frozen=True):
    """Anything with metadata. Concrete kinds add `spec` and `status`."""

    metadata: ObjectMeta = field(default_factory=ObjectMeta)

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def namespace(self) -> str:
        return self.metadata.namespace

    @property
    def key(self) -> Key:
        return (self.metadata.namespace, self.metadata.name)


Key = tuple[str, str]
"""(namespace, name); the namespace is "" for cluster-scoped objects."""


def condition(conditions: tuple[Condition, ...] | None, *types: str) -> Condition | None:
    """The first condition whose type is one of `types`."""
    for found in conditions or ():
        if found.type in types:
            return found
    return None
