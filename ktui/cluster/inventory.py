"""What is known of a cluster, and how to look it up: objects by key, by what they are joined by, and how their sources do.

Nothing here changes anything but `reindex` and `look_again`, which `ktui.cluster.state` calls for every change.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator
from typing import Final, NamedTuple, TypeVar, cast

from ktui.cluster import joins
from ktui.cluster.indexes import Indexes
from ktui.cluster.lineage import Lineage
from ktui.cluster.moment import Moment, Stream
from ktui.cluster.namesakes import WORTH_IT, share_names
from ktui.cluster.pools import Pool, PublishedDevice, assemble
from ktui.cluster.store import Delta
from ktui.model.claim import ResourceClaim
from ktui.model.event import Event
from ktui.model.meta import Key, Object
from ktui.model.pod import Pod
from ktui.model.podgroup import PodGroup
from ktui.model.resourceslice import DeviceId, PoolId, ResourceSlice
from ktui.model.taintrule import DeviceTaintRule
from ktui.model.workload import Workload

O = TypeVar("O", bound=Object)  # noqa: E741 - the conventional name of an object type

_CURRENT: Final = frozenset(("watching", "quiet", "polling"))
"""Phases of a source in which what it does not have does not exist."""


class Sight(NamedTuple):
    """What can be seen of a kind: see the questions of `Inventory`."""

    synced: bool
    readable: bool
    all: bool

    @classmethod
    def of(cls, streams: Collection[Stream]) -> Sight:
        return cls(
            synced=bool(streams) and all(s.synced or s.phase == "absent" for s in streams),
            readable=bool(streams) and all(s.synced and s.phase in _CURRENT for s in streams),
            all=any(s.synced and not s.source.namespace and not s.source.selector for s in streams),
        )


class Inventory(Indexes):
    """`moment` has the stores and the streams."""

    def __init__(self, moment: Moment) -> None:
        super().__init__()
        self.stores = moment.stores
        self.streams = moment.streams
        self.lineage = Lineage(self.stores, self.pods_by_stem)
        self._pools: dict[PoolId, Pool | None] = {}
        self._sights: dict[str, Sight] = {}
        self.sight = 0  # another number whenever other kinds may be readable

    def reindex(self, delta: Delta) -> None:
        super().reindex(delta)
        self.lineage.update(delta)
        for obj in (delta.old, delta.new):
            if isinstance(obj, ResourceSlice):
                self._pools.pop(obj.pool_id, None)
        if delta.old is None and len(self.stores[delta.kind].objects) > WORTH_IT:
            self._share_names(delta)

    def _share_names(self, delta: Delta) -> None:
        """Of a new object and those that are joined with it; the key of the claim is one, too."""
        if isinstance(delta.new, Pod):
            for key in joins.pod_claims(delta.new):
                if (claim := self.claim(key)) is not None:
                    share_names(delta.new, claim)
                    self.pods_by_claim.rename(self.stores["ResourceClaim"].key_of(claim))
        elif isinstance(delta.new, ResourceClaim):
            users = self.pods_by_claim[delta.key]
            for pod in [pod for user in itertools.islice(users, 1) if (pod := self.pod(user)) is not None]:
                share_names(pod, delta.new)
                self.pods_by_claim.rename(delta.key)

    def pod(self, key: Key) -> Pod | None:
        return cast("Pod | None", self.stores["Pod"].get(key))

    def claim(self, key: Key) -> ResourceClaim | None:
        return cast("ResourceClaim | None", self.stores["ResourceClaim"].get(key))

    def group(self, key: Key) -> PodGroup | None:
        return cast("PodGroup | None", self.stores["PodGroup"].get(key))

    def workload(self, key: Key) -> Workload | None:
        return cast("Workload | None", self.stores["Workload"].get(key))

    def all(self, kind: type[O]) -> Iterable[O]:
        """Every object of a kind, in the order they came."""
        return cast("Iterable[O]", self.stores[kind.__name__].objects.values())

    def members(self, gang: Key) -> Iterator[Pod]:
        """The pods that name the gang."""
        return (pod for key in self.pods_by_group[gang] if (pod := self.pod(key)) is not None)

    def pool(self, pool_id: PoolId) -> Pool | None:
        """The pool as its slices tell it; kept until one of them changes."""
        if pool_id not in self._pools:
            self._pools[pool_id] = assemble(pool_id, self.slices_of(pool_id))
        return self._pools[pool_id]

    def slices_of(self, pool_id: PoolId) -> Iterator[ResourceSlice]:
        """The slices of a pool, of whatever generation."""
        store = self.stores["ResourceSlice"]
        return (s for key in self.slices_by_pool[pool_id] if isinstance(s := store.get(key), ResourceSlice))

    def slices_on(self, node: str) -> Iterator[ResourceSlice]:
        """The slices that are for this node alone."""
        store = self.stores["ResourceSlice"]
        return (s for key in self.slices_by_node[node] if isinstance(s := store.get(key), ResourceSlice))

    def pools(self) -> Iterator[Pool]:
        return (pool for pool_id in list(self.slices_by_pool.values()) if (pool := self.pool(pool_id)) is not None)

    def device(self, device_id: DeviceId) -> PublishedDevice | None:
        """The device as published, None when no current slice has it."""
        pool = self.pool(device_id[:2])
        return pool.devices.get(device_id[2]) if pool else None

    def rules_of(self, device: DeviceId) -> list[DeviceTaintRule]:
        """The rules that taint the device, by name. Costs the same however many rules there are for other devices."""
        if not self.rules_by_selection:
            return []
        driver, pool, name = device
        selections = itertools.product((None, driver), (None, pool), (None, name))
        keys = sorted(key for selection in selections for key in self.rules_by_selection[selection])
        store = self.stores["DeviceTaintRule"]
        return [rule for key in keys if isinstance(rule := store.get(key), DeviceTaintRule)]

    def devices_of_rule(self, rule: DeviceTaintRule) -> Iterator[DeviceId]:
        """Every device the rule taints, in no order: published ones, then allocated ones that are published no longer. An
        exact rule gives its device even when nobody knows it."""
        selector = rule.spec.device_selector
        if selector is None:
            return
        if exact := rule.exact:
            yield exact
            return
        for pool_id in self.slices_by_pool.values():
            if (selector.driver or pool_id[0], selector.pool or pool_id[1]) == pool_id and (pool := self.pool(pool_id)):
                yield from (device for name in pool.devices if rule.matches(device := (*pool_id, name)))
        for device in self.claims_by_device.values():
            if rule.matches(device) and self.device(device) is None:
                yield device

    def events_of(self, uid: str) -> Iterator[Event]:
        """Events about the object with this uid, as stored (unordered)."""
        store = self.stores["Event"]
        return (event for key in self.events_by_uid[uid] if isinstance(event := store.get(key), Event))

    def preemptions_by(self, uid: str) -> Iterator[Event]:
        """Events about pods that were preempted for the object with this uid (unordered)."""
        store = self.stores["Event"]
        return (event for key in self.events_by_preemptor[uid] if isinstance(event := store.get(key), Event))

    def streams_of(self, kinds: Iterable[str]) -> list[Stream]:
        """The streams that stand for these kinds now. Where all namespaces together are forbidden and single ones are
        watched instead, those."""
        wanted = frozenset(kinds)
        found = [s for s in self.streams.values() if s.source.kind in wanted and s.phase != "stopped"]
        narrowed = {s.source.kind for s in found if s.source.namespace}
        return [s for s in found if s.source.namespace or s.source.kind not in narrowed or s.phase != "no-access"]

    def synced(self, *kinds: str) -> bool:
        """Whether a complete list of every kind has arrived at least once, or the cluster does not serve the kind at all."""
        return all(self._sight_of(kind).synced for kind in kinds)

    def sees_all(self, kind: str) -> bool:
        """Whether the objects of all namespaces are known: only then is what nobody claims free."""
        return self._sight_of(kind).all

    def sees(self, kind: str, namespace: str) -> bool:
        """The same of one namespace."""
        streams = (s for s in self.streams_of((kind,)) if s.synced and not s.source.selector)
        return any(s.source.namespace in ("", namespace) for s in streams)

    def readable(self, kind: str) -> bool:
        """Whether the state of the kind is known and current enough to say that something does not exist."""
        return self._sight_of(kind).readable

    def look_again(self) -> None:
        """To be called with every change of a stream."""
        self.sight += 1
        self._sights.clear()

    def _sight_of(self, kind: str) -> Sight:
        """Kept until a stream changes: rows ask, and events."""
        found = self._sights.get(kind)
        if found is None:
            found = self._sights[kind] = Sight.of(self.streams_of((kind,)))
        return found
