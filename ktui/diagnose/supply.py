"""What the nodes can still take, kept in step with the cluster.

The supply answers one question: how many pods that ask for this can be placed on that node, if some of what stands in the way
were imagined away? The answers are kept in tables, one for each demand, and a change of a node changes one line of each, so
no event costs time in proportion to the cluster.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping

from ktui.cluster.journal import EVERYWHERE
from ktui.cluster.nodefit import matches_selector, obstacles
from ktui.cluster.noderesources import allocatable, effective_requests, free_on
from ktui.cluster.state import Cluster
from ktui.diagnose.catalog import Catalog, Edits
from ktui.diagnose.demand import ClaimDemand, Part, PodDemand, Want, extended_claim
from ktui.diagnose.room import (
    NOTHING,
    Counts,
    GivesUp,
    Room,
    TooManyWays,
    Undecided,
    Without,
    asks_for_all,
    count_room,
    imagine,
    imagine_claims,
    place,
)
from ktui.diagnose.selection import Reads, Selection
from ktui.model.deviceclass import DeviceClass
from ktui.model.node import Node

MANY = 1 << 20
"""As many pods as anybody asks for: where nothing limits them."""

FRESH: Without = frozenset(("use", "taints", "pools"))
"""What a node has not that is like another and new."""

_OF_NODES: Without = frozenset(("resources", "placement"))  # no device is another without them
_SEARCHES = 3  # that may come to nothing for one verdict; what more rooms have is left open as well
_TABLES = 512
_READ = ("ResourceSlice", "DeviceClass", "ResourceClaim", "DeviceTaintRule", "Node")
_CATALOGS = 16
_LARGE = 500  # slices: a catalog of fewer is made at once
_NODES = 50  # looked at between two turns for others


class Table:
    """How many pods like `part.pod` each node can take, with some of what stands in the way imagined away."""

    def __init__(self, supply: Supply, part: Part, without: Without) -> None:
        self.undecided: dict[str, str] = {}  # node → why it is not known
        self._on_node: dict[str, int] = {}
        self._total = 0
        self._supply = supply
        self._part = part
        self._without = without
        self._claims = part.demand.claims
        self._catalog = supply.catalog(part.demand.claims) if part.demand.claims else None
        if self._catalog is not None and not part.demand.extended:
            self._waiting = dict.fromkeys((*self._nodes_with_devices(self._catalog), *supply.extra))
        else:
            self._waiting = dict.fromkeys(supply.nodes())

    def _nodes_with_devices(self, catalog: Catalog) -> Iterator[str]:
        """The nodes that have any device for the pods: of a large fleet that is seldom all of it."""
        for number, nodes in catalog.nodes_with.items():
            if self._supply.devices_in(catalog, self._claims, self._without, number) != 0:
                yield from nodes

    def reaches(self, pods: int) -> bool:
        """Whether there is a place for so many; looks at no more nodes than that takes."""
        while self._total < pods and self._waiting:
            self._look_at(self._waiting.popitem()[0])
        return self._total >= pods

    def at_most(self, pods: int) -> int:
        """For how many of so many there is a place."""
        self.reaches(pods)
        return min(self._total, pods)

    @property
    def on_node(self) -> Mapping[str, int]:
        """All nodes that take any, and how many."""
        while self._waiting:
            self._look_at(self._waiting.popitem()[0])
        return self._on_node

    def update(self, node: str) -> None:
        """Look at a node again, if it was looked at."""
        if node not in self._waiting:
            self._look_at(node)

    def _look_at(self, node: str) -> None:
        self.undecided.pop(node, None)
        try:
            count = self._count(node, self._without)
            if more := self._supply.extra.get(node, 0):
                count += more * self._count(node, self._without | FRESH)
        except Undecided as e:
            if self._supply.is_looked_at(self._part, self._without, node):
                self.undecided[node] = str(e)
            count = 0
        before = self._on_node.pop(node, 0)
        self._total += count - before
        if count:
            self._on_node[node] = count

    def _count(self, node: str, without: Without) -> int:
        resources, claims, catalog = self._part.demand.resources, self._claims, self._catalog
        if self._part.demand.extended:
            resources, claims = self._supply.split(self._part.demand, node)
            catalog = self._supply.catalog(claims) if claims else None
        count = MANY if catalog is None else self._supply.devices_for(catalog, claims, without, node)
        if not count or not self._supply.may_run(self._part, without, node):
            return 0
        return count if "resources" in without else min(count, self._supply.times(resources, without, node))


class Supply:
    """Kinds, rooms and tables of a cluster, kept in step with it; `Diagnoses.supply` is the one that is kept."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.selection = Selection(cluster)
        self._edits = Edits()
        self.extra: dict[str, int] = {}  # node → how many more like it, and empty, there are imagined to be
        self._given_back: dict[str, dict[str, int]] = {}  # node → what pods that are imagined gone had of it
        self._seen = cluster.revision
        self._position = cluster.journal.position
        self.knows_nodes = False
        self._everywhere = self._for_all()
        self._catalogs: OrderedDict[Reads, Catalog] = OrderedDict()
        self._tables: OrderedDict[tuple[PodDemand, Without], Table] = OrderedDict()
        self._allowed: dict[object, dict[str, bool]] = {}  # by what nodes look at of a pod
        self._in_vain = 0  # searches that came to nothing since the last `begin`
        self.revision = 0  # another number whenever anything may be different
        self.epoch = 0  # another number whenever everything may be

    def begin(self) -> None:
        """A new verdict is asked for, which may take its own time."""
        self._in_vain = 0

    def sync(self) -> None:
        """Look again at the nodes that have changed since the last time."""
        if self.cluster.revision == self._seen:
            return
        self._seen = self.cluster.revision
        self._position, changed = self.cluster.journal.since(self._position)
        everywhere = self._for_all()
        if changed is None or everywhere != self._everywhere:
            self._everywhere = everywhere
            self._catalogs.clear()
            self._tables.clear()
            self._allowed.clear()
            self.selection = Selection(self.cluster)
            self.revision += 1
            self.epoch += 1
            return
        if not changed:
            return
        self.revision += 1
        if EVERYWHERE in changed:
            for catalog in self._catalogs.values():
                catalog.update_floating()
        for node in changed - {EVERYWHERE}:
            for catalog in self._catalogs.values():
                catalog.update(node)
            for allowed in self._allowed.values():
                allowed.pop(node, None)
            for table in self._tables.values():
                table.update(node)

    def _for_all(self) -> object:
        """What all devices depend on: the classes, and the rules that taint more than one device."""
        self.knows_nodes = self._knows_nodes()
        rules = self.cluster.stores["DeviceTaintRule"]
        broad = [rules.get(key) for key in self.cluster.rules_by_exactness[False]]
        read = [self.cluster.synced(kind) for kind in _READ], self.cluster.sees_all("ResourceClaim")
        return [*map(id, self.cluster.all(DeviceClass))], broad, read, self.knows_nodes

    def edited(self, edits: Edits, extra: tuple[tuple[str, int], ...] = ()) -> Supply:
        """The supply as it would be with these edits and `extra` (node, how many more like it, empty); not kept in step."""
        other = Supply(self.cluster)
        other._edits, other.extra, other.selection = edits, dict(extra), self.selection
        for key in edits.gone:
            if (pod := self.cluster.pod(key)) is not None and pod.spec.node_name:
                back = other._given_back.setdefault(pod.spec.node_name, {})
                for name, amount in effective_requests(pod).items():
                    back[name] = back.get(name, 0) + amount
        nodes = set(self._nodes_of(edits))
        for reads, catalog in self._catalogs.items():
            other._catalogs[reads] = catalog.edited(edits, nodes)
        return other

    def _nodes_of(self, edits: Edits) -> Iterator[str]:
        devices = {result.id for key in edits.released if (c := self.cluster.claim(key)) for result in c.results}
        for device in devices | edits.untainted | edits.taints.keys():
            if (published := self.cluster.device(device)) is not None:
                yield published.node

    # --- devices ---

    def catalog(self, claims: tuple[ClaimDemand, ...]) -> Catalog:
        """The catalog that sees all that these claims look at."""
        reads = self.selection.reads(claims)
        found = self._catalogs.get(reads)
        if found is None:
            found = Catalog(self.cluster, reads, self.selection, self._edits)
            for _ in found.fill():
                pass
            self._keep(reads, found)
        else:
            self._catalogs.move_to_end(reads)
        return found

    def is_ready(self, claims: tuple[ClaimDemand, ...]) -> bool:
        """Whether `catalog` costs little now: it is there, or there are few devices."""
        return len(self.cluster.stores["ResourceSlice"].objects) < _LARGE or (
            self.selection.reads(claims) in self._catalogs
        )

    def look_at_nodes(self, part: Part) -> Iterator[None]:
        """Find out which nodes the pods may run on, a little at a time; the state may change meanwhile."""
        for count, node in enumerate(list(self.nodes()), 1):
            self.may_run(part, NOTHING, node)
            if count % _NODES == 0:
                yield

    def prepare(self, claims: tuple[ClaimDemand, ...]) -> Iterator[None]:
        """Make the catalog, a little at a time; the state may change meanwhile. It is not there in the end where so much
        changed that it has to be begun again."""
        reads, epoch = self.selection.reads(claims), self.epoch
        if reads in self._catalogs:
            return
        position = self.cluster.journal.position
        made = Catalog(self.cluster, reads, self.selection, self._edits)
        yield from made.fill()
        _, changed = self.cluster.journal.since(position)
        if changed is None or epoch != self.epoch:
            return
        made.update_floating()
        for node in changed - {EVERYWHERE}:
            made.update(node)
        self._keep(reads, made)

    def _keep(self, reads: Reads, catalog: Catalog) -> None:
        self._catalogs[reads] = catalog
        if len(self._catalogs) > _CATALOGS:
            self._catalogs.popitem(last=False)

    def counts(self, want: Want, catalog: Catalog) -> Counts:
        """The funnel of one kind of request over all devices."""
        total = Counts()
        for number, nodes in catalog.nodes_with.items():
            total = total.plus(self.room_counts(want, catalog, number), len(nodes))
        for pool, _ in catalog.floating.values():
            total = total.plus(count_room(want, (pool,), catalog.kinds))
        for node, more in self.extra.items():
            if (room := catalog.on_node.get(node)) is not None:
                total = total.plus(count_room(want, imagine(catalog.room(room), FRESH), catalog.kinds), more)
        return total

    def room_counts(self, want: Want, catalog: Catalog, number: int) -> Counts:
        key = (number, want)
        found = catalog.counted.get(key)
        if found is None:
            found = catalog.counted[key] = count_room(want, catalog.room(number), catalog.kinds)
        return found

    # --- pods on nodes ---

    def table(self, part: Part, without: Without = NOTHING) -> Table:
        """How many pods like `part.pod` each node can take, devices that several nodes reach left aside."""
        key = (part.demand, without)
        found = self._tables.get(key)
        if found is None:
            found = self._tables[key] = Table(self, part, without)
            if len(self._tables) > _TABLES:
                self._tables.popitem(last=False)
        else:
            self._tables.move_to_end(key)
        return found

    def nodes(self) -> Iterator[str]:
        """All nodes by name; where Nodes cannot be read, those that devices are published for."""
        if self.knows_nodes:
            return (name for _, name in self.cluster.stores["Node"].objects)
        return (node for node in self.catalog(()).on_node)

    def _knows_nodes(self) -> bool:
        return self.cluster.synced("Node") and bool(self.cluster.stores["Node"].objects)

    def node(self, name: str) -> Node | None:
        found = self.cluster.stores["Node"].get(("", name))
        return found if isinstance(found, Node) else None

    def may_run(self, part: Part, without: Without, node: str) -> bool:
        """Whether nothing but resources and devices keeps the pods off the node."""
        if "placement" in without:
            return self._is_there(node)
        key = (part.demand.placement, part.demand.bound_by)
        known = self._allowed.setdefault(key, {})
        if (allowed := known.get(node)) is None:
            allowed = known[node] = self._may_run(part, node)
        return allowed

    def _is_there(self, node: str) -> bool:
        """Whether it is one of `nodes`: one that is gone takes nobody."""
        return self.node(node) is not None if self.knows_nodes else node in self.catalog(()).on_node

    def _may_run(self, part: Part, node: str) -> bool:
        found = self.node(node)
        if found is None:
            return self._is_there(node)
        return not obstacles(part.pod, found) and all(matches_selector(s, found) for s in part.demand.bound_by)

    def split(self, demand: PodDemand, node: str) -> tuple[tuple[tuple[str, int], ...], tuple[ClaimDemand, ...]]:
        """What the node itself has to have, and what has to be allocated: extended resources are one or the other,
        whichever way this node serves them."""
        if not demand.extended:
            return demand.resources, demand.claims
        allocatable = (found.status.allocatable or {}) if (found := self.node(node)) else {}
        served = [e for e in demand.extended if str(allocatable.get(e.resource, "0")) != "0"]
        rest = tuple(e for e in demand.extended if e not in served)
        resources = (*demand.resources, *((e.resource, e.count) for e in served))
        return resources, (*demand.claims, extended_claim(rest)) if rest else demand.claims

    def free(self, node: str, without: Without = NOTHING) -> Mapping[str, int]:
        """What the node has left. Where nothing is in use, the pods that use it are gone."""
        if "use" in without:
            return allocatable(self.cluster, node)
        free = free_on(self.cluster, node)
        back = self._given_back.get(node)
        return {name: amount + back.get(name, 0) for name, amount in free.items()} if back else free

    def times(self, resources: tuple[tuple[str, int], ...], without: Without, node: str) -> int:
        """How often the resources are there on the node."""
        if not self.knows_nodes:
            return MANY
        free = self.free(node, without)
        return max(0, min((free.get(name, 0) // amount for name, amount in resources if amount > 0), default=MANY))

    def given_up_on(self, part: Part, without: Without) -> Iterator[str]:
        """The nodes that are looked at for the pods and on which the allocator gives up on them, wherever else they might be."""
        if not asks_for_all(part.demand.claims):
            return
        catalog, claims = self.catalog(part.demand.claims), imagine_claims(part.demand.claims, without)
        for number, nodes in catalog.nodes_with.items():
            if _gives_up(imagine(catalog.room(number), without), claims, catalog):
                yield from (node for node in nodes if self.is_looked_at(part, without, node))

    def doubts(self, part: Part, claims: tuple[ClaimDemand, ...], without: Without) -> bool:
        """Whether a node that is looked at for the pods has a device of which it cannot be told whether it would do. An
        expression that fails on one device is an error to the scheduler, which refuses the pods everywhere."""
        catalog = self.catalog(claims)
        wants = {ask.want for claim in imagine_claims(claims, without) for asks in claim.requests for ask in asks}
        unknown = catalog.kinds.unknown(wants)
        if not unknown:
            return False
        if unknown & catalog.floating_kinds():
            return True
        return any(
            self.is_looked_at(part, without, node)
            for number, nodes in catalog.nodes_with.items()
            if any(unit.kind in unknown for pool in catalog.room(number) for unit in pool.units)
            for node in nodes
        )

    def is_looked_at(self, part: Part, without: Without, node: str) -> bool:
        """Whether the scheduler comes to ask for devices: that is the last of what it asks of a node."""
        if not self.may_run(part, without, node):
            return False
        return "resources" in without or self.times(self.split(part.demand, node)[0], without, node) > 0

    def devices_for(self, catalog: Catalog, claims: tuple[ClaimDemand, ...], without: Without, node: str) -> int:
        """For how many pods with these claims the node has devices.

        Raises:
            Undecided: it cannot be told.
        """
        number = catalog.on_node.get(node)
        if number is None:
            return 0
        found = self.devices_in(catalog, claims, without, number)
        if isinstance(found, str):
            raise Undecided(found)
        return found

    def devices_in(self, catalog: Catalog, claims: tuple[ClaimDemand, ...], without: Without, number: int) -> int | str:
        """The same for a room of the catalog; why it cannot be told, in words, where it cannot."""
        without -= _OF_NODES
        known = catalog.capacities.setdefault((claims, without), {})
        found = known.get(number)
        if found is None:
            if self._in_vain >= _SEARCHES:
                return str(TooManyWays())
            try:
                found = pods_in(catalog.room(number), claims, catalog, without)
            except Undecided as e:
                self._in_vain += isinstance(e, TooManyWays)
                found = str(e)
            known[number] = found
        return found


def pods_in(room: Room, claims: tuple[ClaimDemand, ...], catalog: Catalog, without: Without) -> int:
    """How many pods with these claims there is room for, placed one after another."""
    left = imagine(room, without)
    wanted = imagine_claims(claims, without)
    count = 0
    try:
        while (after := place(left, wanted, catalog.kinds)) is not None:
            if after == left:
                return MANY  # access for administrators takes nothing away
            left = after
            count += 1
    except GivesUp:
        return count
    return count


def _gives_up(room: Room, claims: tuple[ClaimDemand, ...], catalog: Catalog) -> bool:
    try:
        place(room, claims, catalog.kinds)
    except GivesUp:
        return True
    except Undecided:
        return False
    return False
