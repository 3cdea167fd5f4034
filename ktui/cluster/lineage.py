"""Whose a Workload is: the objects above it, up to the one that nobody owns.

Followed through references: a Workload's controllerRef names its owner, the controller among an owner's references the one above.
Kept up to date one change at a time: a change of an owner costs as much as there are Workloads below it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple, TypeAlias

from ktui.cluster.store import Delta, Store
from ktui.model.deployment import Deployment
from ktui.model.job import Job
from ktui.model.kinds import kind_name
from ktui.model.meta import Key, Object
from ktui.model.owner import Owner, OwnerType, type_of
from ktui.model.workload import Workload

Step: TypeAlias = tuple[str, str, str]
"""(namespace, kind's name, name): an object in a tree. The namespace is that of what it owns."""

TreeKey: TypeAlias = tuple[Step, ...]
"""A place in the tree above and below Workloads: the way to it from the root, which alone is a key of one step."""

_DEEPEST: Final = 50  # owners above each other


class Reference(NamedTuple):
    """What an object says it belongs to. `uid` is "" where the reference is by name only."""

    type: OwnerType
    step: Step
    uid: str


class Lineage:
    """`stores` are those of the cluster, by kind."""

    def __init__(self, stores: Mapping[str, Store]) -> None:
        self._stores = stores
        self._chains: dict[Key, tuple[Reference, ...]] = {}  # of each Workload, the root first
        self._walked: dict[Key, TreeKey] = {}  # these upwards, and what is left of a circle
        self._below: dict[Step, dict[Key, None]] = {}  # Workloads that have the owner above them
        self._circles: dict[Step, dict[Key, None]] = {}  # or would have, if references did not go round
        self._trees: dict[Step, Counter[TreeKey]] = {}  # in which trees all these are

    def update(self, delta: Delta) -> None:
        """Take a change that is in the stores already."""
        obj, old, new = delta.new or delta.old, delta.old, delta.new
        if isinstance(obj, Workload):
            self._place(delta.key)
        elif old is not None and new is not None and old.metadata.owner_references == new.metadata.owner_references:
            pass  # two objects of different uids are never the two sides of one change
        elif isinstance(obj, Job | Deployment | Owner):
            for step in self._steps(delta.kind, delta.key):
                for workload in (*self._below.get(step, ()), *self._circles.get(step, ())):
                    self._place(workload)

    def owners(self, workload: Key) -> tuple[Reference, ...]:
        """The owners above a Workload, the one that nobody owns first."""
        return self._chains.get(workload, ())

    def root(self, workload: Key) -> TreeKey:
        """The tree that the Workload is in."""
        chain = self._chains.get(workload)
        return (chain[0].step,) if chain else ((workload[0], "Workload", workload[1]),)

    def roots(self) -> set[TreeKey]:
        """Every tree."""
        return {self.root(workload) for workload in self._stores["Workload"].objects}

    def inside(self, way: TreeKey) -> list[Key]:
        """The Workloads below an owner's place in a tree, by name. One object may have a place in two trees: references that have
        another uid than the object end there."""
        depth, chains = len(way), self._chains
        found = sorted(self._below.get(way[-1], ()))
        if depth == 1:
            return [key for key in found if chains[key][0].step == way[0]]
        return [key for key in found if tuple(reference.step for reference in chains[key][:depth]) == way]

    def roots_of(self, kind: str, key: Key) -> Iterable[TreeKey]:
        """The trees in which an owner is: one, but for references that have another uid than the object."""
        return [tree for step in self._steps(kind, key) for tree in self._trees.get(step, ())]

    def reference(self, owner: Step) -> Reference | None:
        """How the Workloads below an owner name it; None for what owns none."""
        below = self._below.get(owner)
        chain = self._chains[next(iter(below))] if below else ()
        return next((reference for reference in chain if reference.step == owner), None)

    def object(self, reference: Reference) -> Object | None:
        """The owner as it was read, None where it was not, or where another one has its name by now."""
        namespace, kind, name = reference.step
        store = self._stores.get(kind)
        found = (store.get((namespace, name)) or store.get(("", name))) if store else None
        return found if found is not None and reference.uid in ("", found.metadata.uid) else None

    def _steps(self, kind: str, key: Key) -> Iterable[Step]:
        """Where an owner may stand: one without a namespace owns in each of them."""
        if key[0]:
            return ((key[0], kind, key[1]),)
        return [step for step in self._trees if step[1:] == (kind, key[1])]

    def _place(self, workload: Key) -> None:
        self._forget(workload)
        found = self._stores["Workload"].get(workload)
        walked, again = self._walk(found) if found is not None else ({}, None)
        if not walked:
            return
        inside = _without_circle(tuple(walked), again)
        self._walked[workload] = tuple(walked)
        self._chains[workload] = tuple(walked[step] for step in reversed(inside))
        for step in walked:
            (self._below if step in inside else self._circles).setdefault(step, {})[workload] = None
            self._trees.setdefault(step, Counter())[inside[-1:]] += 1

    def _forget(self, workload: Key) -> None:
        root = self.root(workload)
        for step in self._walked.pop(workload, ()):
            for where in (self._below, self._circles):
                if (keys := where.get(step)) is not None:
                    keys.pop(workload, None)
                    if not keys:
                        del where[step]
            trees = self._trees[step]
            trees[root] -= 1
            if not trees[root]:
                del trees[root]
            if not trees:
                del self._trees[step]
        self._chains.pop(workload, None)

    def _walk(self, workload: Object) -> tuple[dict[Step, Reference], Step | None]:
        """References upwards, until there is none, or one that was there before, which is then told as well."""
        found: dict[Step, Reference] = {}
        at: Object | None = workload
        while at is not None and (above := owner_of(at)) is not None and len(found) < _DEEPEST:
            if above.step in found:
                return found, above.step
            found[above.step] = above
            at = self.object(above)
        return found, None


def _without_circle(steps: TreeKey, again: Step | None) -> TreeKey:
    """References that go round in a circle end at the same place of it, wherever it is entered."""
    if again is None:
        return steps
    return steps[: steps.index(min(steps[steps.index(again) :])) + 1]


def owner_of(obj: Object) -> Reference | None:
    """What the object belongs to: a Workload by its controllerRef, which has no uid, or by its controller like all others. One
    Workload is not above another."""
    found = _owner_of(obj)
    return None if found is None or found.step[1] == "Workload" else found


def _owner_of(obj: Object) -> Reference | None:
    owner = obj.metadata.controller
    ref = obj.spec.controller_ref if isinstance(obj, Workload) else None
    if ref is not None and ref.kind and ref.name:
        type_ = OwnerType(ref.api_group or "", ref.kind)
        same = owner is not None and (type_of(owner), owner.name) == (type_, ref.name)
        return Reference(type_, (obj.namespace, kind_name(type_), ref.name), owner.uid if owner and same else "")
    if owner is None or not owner.kind or not owner.name:
        return None
    type_ = type_of(owner)
    return Reference(type_, (obj.namespace, kind_name(type_), owner.name), owner.uid)
