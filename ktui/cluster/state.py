"""The state of one cluster: what is known of it (`ktui.cluster.inventory`), and what a change of it touches.

`apply` is the only way in. Indexes change one object at a time and the rows to recompute are found through them
(`ktui.cluster.touches`), so no event costs time in proportion to the cluster. Joins (`allocation`, `taints`, `pools`, `gangs`)
are computed from here on demand, never from the order of events, so any order of the same frames gives the same state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar, cast

from ktui.cluster import joins
from ktui.cluster.dirty import Dirty
from ktui.cluster.inventory import Inventory
from ktui.cluster.journal import Journal
from ktui.cluster.moment import Moment
from ktui.cluster.quiet import Reach, reach
from ktui.cluster.stems import Step
from ktui.cluster.store import Delta
from ktui.cluster.supplied import supplied
from ktui.cluster.timeline import Timeline
from ktui.cluster.touches import Touches
from ktui.cluster.usage import Usage
from ktui.model.frame import Changed, Frame, Listed, StreamState
from ktui.model.kueue import KueueClusterQueue, KueueLocalQueue
from ktui.model.meta import Key
from ktui.model.pod import Pod
from ktui.model.resourceslice import PoolId
from ktui.model.taintrule import DeviceTaintRule
from ktui.model.usage import UsageReport
from ktui.model.volcano import VolcanoQueue

_STEP = 128  # changes of a list between two turns for others: about two milliseconds
_QUEUES = ("KueueClusterQueue", "KueueLocalQueue", "VolcanoQueue")

D = TypeVar("D")


class Cluster(Inventory):
    """Everything known of one cluster. Not thread-safe: one event loop feeds and reads it."""

    def __init__(self) -> None:
        self._moment = Moment()
        super().__init__(self._moment)
        self.free_by_node: dict[str, dict[str, int]] = {}  # filled by `noderesources`, emptied here
        self.journal: Journal[str] = Journal()  # nodes on which there is more or less to be had
        self.revision = 0  # another number whenever anything is different
        self.gang_journal: Journal[Key] = Journal()  # gangs of which a row may look different
        self.stem_journal: Journal[Step] = Journal()  # stems of which, or below which, something changed
        self.pool_journal: Journal[PoolId] = Journal()  # pools of which a slice changed
        self.timeline = Timeline()  # filled by whoever knows the time
        self.usage = Usage()  # filled by whoever asks for it
        self._touches = Touches(self, self.stem_journal)
        self._derived: dict[object, object] = {}

    # --- in ---

    def apply(self, frame: Frame) -> Dirty:
        """Take one frame; returns the rows it touches."""
        dirty = Dirty()
        for part in self.steps(frame):
            dirty.merge(part)
        return dirty

    def steps(self, frame: Frame, see: Callable[[Delta], object] | None = None) -> Iterator[Dirty]:
        """Take one frame a little at a time: a long list gives several parts, between which others may have their turn. The
        state is consistent at each of them, but no other frame may be applied before the last. `see` is shown each change but
        those that few can see (`quiet`)."""
        if isinstance(frame, Changed):
            yield self.change(frame, see)
        else:
            yield from self._take_all(self._moment.deltas(frame), see, streams=isinstance(frame, Listed | StreamState))

    def change(self, frame: Changed, see: Callable[[Delta], object] | None = None) -> Dirty:
        """Take one event: the same, at one go."""
        dirty = Dirty()
        for delta in self._moment.change(frame):
            match reach(delta):
                case Reach.NOBODY:
                    pass
                case Reach.ITSELF:
                    dirty.pods.add(delta.key)
                case Reach.WHOLE if isinstance(delta.new, Pod):
                    self._touches.pod(delta.new, dirty)
                case _:
                    self._take(delta, dirty)
                    if see is not None:
                        see(delta)
        return self._noted(dirty)

    def measure(self, report: UsageReport) -> Dirty:
        """Take figures of what is used."""
        self.usage.take(report)
        return Dirty(figures=True)

    def become(self, moment: Moment) -> Iterator[Dirty]:
        """Go to another moment, a little at a time as in `steps`; going to yet another one may begin before the last part."""
        return self._take_all(self._moment.become(moment), None, streams=True)

    def _take_all(
        self, deltas: Iterator[Delta | None], see: Callable[[Delta], object] | None, *, streams: bool
    ) -> Iterator[Dirty]:
        dirty = Dirty()
        for count, delta in enumerate(deltas, 1):
            if delta is not None:
                self._take(delta, dirty)
                if see is not None:
                    see(delta)
            if count % _STEP == 0 or delta is None:
                if streams:
                    self.look_again()
                yield self._noted(dirty)
                dirty = Dirty()
        if streams:
            self.look_again()
        dirty.streams = streams
        yield self._noted(dirty)

    def _noted(self, dirty: Dirty) -> Dirty:
        self.revision += 1
        for key in dirty.gangs:
            self.gang_journal.note(key)
        for pool in dirty.pools:
            self.pool_journal.note(pool)
        return dirty

    def _take(self, delta: Delta, dirty: Dirty) -> None:
        """Rows are found by the values that the object had and by those that it has, each while the indexes know them."""
        old, new = delta.old, delta.new
        if _taints_as_before(delta):
            dirty.taints.add(("rule", delta.key[1]))
        elif _queues_as_before(delta):
            pass
        elif old is not None and new is not None and joins.alike(old, new):
            self._note_supplied(supplied(self, delta))
            if isinstance(old, Pod) and isinstance(new, Pod) and old.health == new.health:
                self._touches.pod(new, dirty)  # what it uses looks as it did
            else:
                self._touches.of(new, dirty)
        else:
            if old is not None:
                self._touches.of(old, dirty)
            self._touches.trees(delta, dirty)
            nodes = supplied(self, delta)
            if isinstance(old, Pod) or isinstance(new, Pod):
                self._reindex_pod(delta, dirty)
            else:
                self.reindex(delta)
            if delta.kind == "ResourceSlice":  # which slices of a pool count may have changed with it
                nodes = (*nodes, *supplied(self, delta))
            self._note_supplied(nodes)
            if new is not None:
                self._touches.of(new, dirty)
            self._touches.trees(delta, dirty)

    def _note_supplied(self, nodes: Iterable[str]) -> None:
        for node in nodes:
            self.free_by_node.pop(node, None)
            self.journal.note(node)

    def _reindex_pod(self, delta: Delta, dirty: Dirty) -> None:
        """With a scheduler's first attempt, and its last, all gangs that wait for it look different."""
        schedulers = {s for pod in (delta.old, delta.new) if isinstance(pod, Pod) for s in joins.other_scheduler(pod)}
        tried = {s for s in schedulers if s in self.attempts_by_scheduler}
        self.reindex(delta)
        for scheduler in schedulers:
            if (scheduler in self.attempts_by_scheduler) != (scheduler in tried):
                self._touches.gangs_of(self.pods_by_scheduler[scheduler], dirty)

    def close(self) -> None:
        """Nothing more comes in. What it is made of and what was derived from it refer to it: without these references all of it
        is freed with the last from outside. The collector would have to look at everything to find that out."""
        self._derived.clear()
        del self._touches

    # --- out ---

    def derived(self, make: Callable[[Cluster], D]) -> D:
        """What another layer works out of the state and keeps in step with it, made at the first call. It lives and ends with
        the cluster, also where it refers to it."""
        found = self._derived.get(make)
        if found is None:
            found = self._derived[make] = make(self)
        return cast("D", found)


def _taints_as_before(delta: Delta) -> bool:
    """Whether only the status of a rule changed: while it evicts, the controller writes it again and again, and the rule may be
    for every device there is."""
    old, new = delta.old, delta.new
    return isinstance(old, DeviceTaintRule) and isinstance(new, DeviceTaintRule) and old.spec == new.spec


def _queues_as_before(delta: Delta) -> bool:
    """Whether a queue only counted its jobs anew: it may have thousands, and they do not speak of their number."""
    if delta.kind not in _QUEUES:
        return False
    match delta.old, delta.new:
        case (KueueClusterQueue() as old, KueueClusterQueue() as new):
            return old.spec == new.spec and old.status == new.status
        case (KueueLocalQueue() as old, KueueLocalQueue() as new):
            return old.spec == new.spec and old.status == new.status
        case (VolcanoQueue() as old, VolcanoQueue() as new):
            return old.spec == new.spec and old.status == new.status
        case _:
            return False
