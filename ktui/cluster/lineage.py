"""Whose a Workload is, a group without one, or pods without a group: the objects above such a stem (`ktui.cluster.stems`), up to
the one that nobody owns.

Followed through references: a Workload's controllerRef names its owner, the controller among an owner's references the one above.
A pod that owns something (the leader in a LeaderWorkerSet) is passed over: it hangs in the tree by itself.
Kept up to date one change at a time: a change of an owner costs as much as there are stems below it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple, TypeAlias

from ktui.cluster.index import Index
from ktui.cluster.stems import OWN_PLACE, PLAIN, Step, group_stem, plain_stem, stem_of_group, workload_stem
from ktui.cluster.store import Delta, Store
from ktui.model.deployment import Deployment
from ktui.model.job import Job
from ktui.model.kinds import kind_name
from ktui.model.meta import Key, Object
from ktui.model.owner import Owner, OwnerType, type_of
from ktui.model.pod import Pod
from ktui.model.podgroup import PodGroup
from ktui.model.workload import Workload

TreeKey: TypeAlias = tuple[Step, ...]
"""A place in the tree above and below stems: the way to it from the root, which alone is a key of one step."""

_DEEPEST: Final = 50  # owners above each other


class Reference(NamedTuple):
    """What an object says it belongs to. `uid` is "" where the reference is by name only."""

    type: OwnerType
    step: Step
    uid: str


class Lineage:
    """`stores` are those of the cluster, by kind; `plain` finds pods by their stem."""

    def __init__(self, stores: Mapping[str, Store], plain: Index[Step]) -> None:
        self._stores = stores
        self._plain = plain
        self._chains: dict[Step, tuple[Reference, ...]] = {}  # of each stem, the root first
        self._walked: dict[Step, TreeKey] = {}  # these upwards, with what was passed over, and what is left of a circle
        self._below: dict[Step, dict[Step, None]] = {}  # stems that have the owner above them
        self._passed: dict[Step, dict[Step, None]] = {}  # or would have, if it were not passed over
        self._trees: dict[Step, Counter[TreeKey]] = {}  # in which trees all these are

    def update(self, delta: Delta) -> None:
        """Take a change that is in the stores and the indexes already."""
        obj, old, new = delta.new or delta.old, delta.old, delta.new
        if isinstance(obj, Workload):
            self._place(workload_stem(delta.key))
            return
        if isinstance(obj, PodGroup):
            self._place(group_stem(delta.key))
            return
        if isinstance(obj, Pod):
            self._place_plain(old, new)
        if old is not None and new is not None and old.metadata.owner_references == new.metadata.owner_references:
            return  # two objects of different uids are never the two sides of one change
        if isinstance(obj, Pod | Job | Deployment | Owner):
            for step in self._steps(delta.kind, delta.key):
                for stem in (*self._below.get(step, ()), *self._passed.get(step, ())):
                    self._place(stem)

    def owners(self, stem: Step) -> tuple[Reference, ...]:
        """The owners above a stem, the one that nobody owns first."""
        return self._chains.get(stem, ())

    def root(self, stem: Step) -> TreeKey:
        """The tree that the stem is in."""
        chain = self._chains.get(stem)
        return (chain[0].step if chain else stem,)

    def inside(self, way: TreeKey) -> list[Step]:
        """The stems below an owner's place in a tree, by name. One object may have a place in two trees: references that have
        another uid than the object end there."""
        depth, chains = len(way), self._chains
        found = sorted(self._below.get(way[-1], ()))
        if depth == 1:
            return [stem for stem in found if chains[stem][0].step == way[0]]
        return [stem for stem in found if tuple(reference.step for reference in chains[stem][:depth]) == way]

    def roots_of(self, kind: str, key: Key) -> Iterable[TreeKey]:
        """The trees in which an owner is: one, but for references that have another uid than the object."""
        return [tree for step in self._steps(kind, key) for tree in self._trees.get(step, ())]

    def reference(self, owner: Step) -> Reference | None:
        """How the stems below an owner name it; None for what owns none."""
        below = self._below.get(owner)
        chain = self._chains[next(iter(below))] if below else ()
        return next((reference for reference in chain if reference.step == owner), None)

    def place(self, owner: Step) -> TreeKey:
        """Where the owner is in a tree: the way to it; () for what owns none."""
        below = self._below.get(owner)
        steps = tuple(reference.step for reference in self._chains[next(iter(below))]) if below else ()
        return steps[: steps.index(owner) + 1] if below else ()

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

    def _place_plain(self, old: Object | None, new: Object | None) -> None:
        """With the first pod of a stem, and after the last."""
        stems = (stem for pod in (old, new) if isinstance(pod, Pod) for stem in plain_stem(pod))
        for stem in stems:
            if (stem in self._plain) != (stem in self._walked):
                self._place(stem)

    def _place(self, stem: Step) -> None:
        self._forget(stem)
        walked, again = self._walk(self._first(stem))
        if not walked:
            return
        inside = tuple(step for step in _without_circle(tuple(walked), again) if step[1] not in OWN_PLACE)
        self._walked[stem] = tuple(walked)
        if inside:
            self._chains[stem] = tuple(walked[step] for step in reversed(inside))
        root = self.root(stem)
        for step in walked:
            (self._below if step in inside else self._passed).setdefault(step, {})[stem] = None
            self._trees.setdefault(step, Counter())[root] += 1

    def _forget(self, stem: Step) -> None:
        root = self.root(stem)
        for step in self._walked.pop(stem, ()):
            for where in (self._below, self._passed):
                if (stems := where.get(step)) is not None:
                    stems.pop(stem, None)
                    if not stems:
                        del where[step]
            trees = self._trees[step]
            trees[root] -= 1
            if not trees[root]:
                del trees[root]
            if not trees:
                del self._trees[step]
        self._chains.pop(stem, None)

    def _first(self, stem: Step) -> Reference | None:
        """The owner right above a stem."""
        namespace, kind, name = stem
        if kind != PLAIN:
            found = self._stores[kind].get((namespace, name))
            hangs = found is not None and not (isinstance(found, PodGroup) and stem_of_group(found) != stem)
            return owner_of(found) if found is not None and hangs else None
        pod = next((self._stores["Pod"].get(key) for key in self._plain[stem]), None)
        return owner_of(pod) if pod is not None else None

    def _walk(self, above: Reference | None) -> tuple[dict[Step, Reference], Step | None]:
        """References upwards, until there is none, or one that was there before, which is then told as well."""
        found: dict[Step, Reference] = {}
        while above is not None and len(found) < _DEEPEST:
            if above.step in found:
                return found, above.step
            found[above.step] = above
            at = self.object(above)
            above = owner_of(at) if at is not None else None
        return found, None


def _without_circle(steps: TreeKey, again: Step | None) -> TreeKey:
    """References that go round in a circle end at the same place of it, wherever it is entered."""
    if again is None:
        return steps
    return steps[: steps.index(min(steps[steps.index(again) :])) + 1]


def owner_of(obj: Object) -> Reference | None:
    """What the object belongs to: a Workload by its controllerRef, which has no uid, or by its controller like all others.
    Workloads and groups are above nothing as owners: what hangs from them says so itself."""
    found = _owner_of(obj)
    return found if found is not None and (found.step[1] == "Pod" or found.step[1] not in OWN_PLACE) else None


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
