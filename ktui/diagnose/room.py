"""Room for pods among the devices that one node reaches, found the way the scheduler finds it.

The search is the allocator's of 1.37 (k8s.io/dynamic-resource-allocation, structured): claim after claim, request after
request, device after device in published order, every combination until one fits. It is exact as long as it stays within its
budget; past that it says so instead of guessing. Devices of which the same is true are tried once.

A room knows no names, so rooms of equal nodes are equal, and what was found for one holds for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import ROUND_CEILING, Decimal
from functools import partial
from typing import Literal, NamedTuple

from msgspec import structs

from ktui.cel.derived import derived_attribute
from ktui.cluster.counters import compatibility_groups
from ktui.cluster.taints import tolerates
from ktui.diagnose.demand import Ask, ClaimDemand, Want
from ktui.model.claim import Constraint
from ktui.model.quantity import parse_quantity
from ktui.model.resourceslice import Attribute, Capacity, Device, DeviceTaint, attribute, attribute_value

Obstacle = Literal["selectors", "pools", "taints", "use", "constraints", "resources", "placement"]
"""What can stand between a pod and a device, in the order of the funnel; each can be imagined away."""

Without = frozenset[Obstacle]
NOTHING: Without = frozenset()

BUDGET = 100_000
"""Devices that one search looks at, each as often as it does. A claim of 8 devices on a node with 16 equal ones takes about a
dozen."""

_MOST = 32  # devices in one claim (resource.k8s.io AllocationResultsMaxSize)
_DEEPEST = 600  # calls within calls of one search: more than a pod with several of the largest claims needs


class Undecided(Exception):
    """The search gave up, or an expression could not be evaluated: nothing is known. The text says why."""


class TooManyWays(Undecided):
    """The search gave up: it is the only way not to know that takes long."""

    def __init__(self) -> None:
        super().__init__("there are too many ways to combine the devices")


class GivesUp(Exception):
    """The allocator takes it for an error of the claim and not of the node: the scheduler refuses the pod, whatever other nodes
    have. That happens only to claims that ask for all devices."""


class Kind(NamedTuple):
    """Devices of which the same is true, as far as anything that is asked for looks at them."""

    number: int
    driver: str
    device: Device  # one of them
    counters: tuple[tuple[str, str, Decimal], ...]  # (set, counter, amount) that one draws


class Unit(NamedTuple):
    """One device as the search sees it."""

    kind: int
    held: bool = False  # by a claim, so that nobody else can have it
    taints: tuple[DeviceTaint, ...] = ()  # those that keep it from being allocated
    consumed: tuple[tuple[str, Decimal], ...] = ()  # where several claims can have it: what they took
    shared: bool = False  # where several claims can have it: whether one does
    taken: bool = False  # by a pod that was placed in this search, whatever is imagined away


class PoolRoom(NamedTuple):
    """A pool as seen from a node. `counters`: (set, counter, all there is, what is left)."""

    complete: bool
    units: tuple[Unit, ...]
    counters: tuple[tuple[str, str, Decimal, Decimal], ...] = ()


Room = tuple[PoolRoom, ...]
"""The pools that a node reaches, in the allocator's order: by driver and name."""


class Kinds:
    """What the search asks about kinds of devices. `matches` says None when an expression cannot be evaluated."""

    def __init__(self, kinds: list[Kind], matches: Callable[[Want, Kind], bool | None]) -> None:
        self._kinds = kinds
        self._matches = matches
        self._matched: dict[tuple[Want, int], bool | None] = {}
        self._values: dict[tuple[int, str, str], frozenset[object] | None] = {}

    def __getitem__(self, number: int) -> Kind:
        return self._kinds[number]

    def matches(self, want: Want, number: int) -> bool | None:
        key = (want, number)
        if key not in self._matched:
            self._matched[key] = self._matches(want, self._kinds[number])
        return self._matched[key]

    def unknown(self, wants: Iterable[Want]) -> frozenset[int]:
        """The kinds of which it cannot be told whether they would do for all of these."""
        every = tuple(wants)
        return frozenset(n for n in range(len(self._kinds)) if any(self.matches(want, n) is None for want in every))

    def values(self, number: int, name: str, want: Want) -> frozenset[object]:
        """The values of an attribute, each with its type: a list has several, a device without it has none. One that the request
        derives stands before the device's own.

        Raises:
            Undecided: it is derived, and the expression cannot be evaluated.
        """
        expression = next((text for derived, text in want.derived if derived == name), "")
        key = (number, name, expression)
        if key not in self._values:
            self._values[key] = self._look_up(self._kinds[number], name, expression)
        found = self._values[key]
        if found is None:
            raise Undecided("the expression of a derived attribute cannot be evaluated")
        return found

    @staticmethod
    def _look_up(kind: Kind, name: str, expression: str) -> frozenset[object] | None:
        if not expression:
            return _values(attribute(kind.device, kind.driver, name))
        derived = derived_attribute(expression, kind.driver, kind.device)
        return None if derived is None else _values(derived)


class Counts(NamedTuple):
    """Devices that are left after each step of the funnel, for one kind of request."""

    published: int = 0
    in_class: int = 0
    matching: int = 0
    complete: int = 0
    untainted: int = 0
    free: int = 0
    unknown: int = 0  # of which it cannot be told whether they match

    def plus(self, other: Counts, times: int = 1) -> Counts:
        return Counts(*(a + b * times for a, b in zip(self, other, strict=True)))


def count_room(want: Want, room: Room, kinds: Kinds) -> Counts:
    """The funnel over the devices of a room, each looked at by itself."""
    total = Counts()
    for pool in room:
        for unit in pool.units:
            total = total.plus(_steps(want, pool, unit, kinds))
    return total


def _steps(want: Want, pool: PoolRoom, unit: Unit, kinds: Kinds) -> Counts:
    matching = kinds.matches(want, unit.kind)
    in_class = matching or kinds.matches(structs.replace(want, selectors=(), capacity=()), unit.kind)
    if in_class is None or matching is None:
        return Counts(1, int(in_class is True), unknown=1)
    if not matching:
        return Counts(1, int(in_class))
    if not pool.complete:
        return Counts(1, 1, 1)
    if not tolerated(want, unit.taints):
        return Counts(1, 1, 1, 1)
    kind = kinds[unit.kind]
    left = {(s, c): amount for s, c, _, amount in pool.counters}
    drawn = () if unit.shared else kind.counters
    free = (want.admin or not unit.held) and has_left(kind.device, unit, want)
    return Counts(1, 1, 1, 1, 1, int(free and _covered(drawn, left)))


def imagine(room: Room, without: Without) -> Room:
    """The room as it would be without what is imagined away: with its pools complete, no taints, nothing in use."""
    if not without & {"pools", "taints", "use"}:
        return room
    return tuple(_imagine_pool(pool, without) for pool in room)


def _imagine_pool(pool: PoolRoom, without: Without) -> PoolRoom:
    units = pool.units
    if "taints" in without:
        units = tuple(unit._replace(taints=()) for unit in units)
    counters = pool.counters
    if "use" in without:
        units = tuple(unit._replace(held=False, consumed=(), shared=False) for unit in units)
        counters = tuple((s, c, total, total) for s, c, total, _ in counters)
    return PoolRoom(pool.complete or "pools" in without, units, counters)


def imagine_claims(claims: tuple[ClaimDemand, ...], without: Without) -> tuple[ClaimDemand, ...]:
    """The claims as they would be without their constraints, or without the selectors of their requests."""
    if "constraints" in without:
        claims = tuple(structs.replace(claim, constraints=()) for claim in claims)
    if "selectors" in without:
        claims = tuple(
            structs.replace(claim, requests=tuple(tuple(map(_any_of_class, r)) for r in claim.requests))
            for claim in claims
        )
    return claims


def _any_of_class(ask: Ask) -> Ask:
    return structs.replace(ask, want=structs.replace(ask.want, selectors=()))


def place(room: Room, claims: tuple[ClaimDemand, ...], kinds: Kinds) -> Room | None:
    """The room that is left when the claims of one pod have been allocated, None when they cannot be.

    Raises:
        Undecided: an expression cannot be evaluated, or there are too many combinations.
        GivesUp: there is no place for the pod on any other node either.
    """
    found = place_each(room, claims, kinds)
    return found.left if found else None


class Placed(NamedTuple):
    """`left` is the room after it; `chosen`: for each claim the numbers of its devices, counted through all pools."""

    left: Room
    chosen: tuple[tuple[int, ...], ...]


def place_each(room: Room, claims: tuple[ClaimDemand, ...], kinds: Kinds) -> Placed | None:
    """Like `place`, and which devices they are."""
    if asks_for_all(claims) and not all(pool.complete for pool in room):
        raise GivesUp
    if _depth(claims) > _DEEPEST:
        raise Undecided("a pod asks for too many devices to look at them together")
    return _Search(room, claims, kinds).run() if claims else Placed(room, ())


def _depth(claims: tuple[ClaimDemand, ...]) -> int:
    """How many calls within calls a search takes at most: two for each device, three for each request, one for each claim."""
    return sum(1 + 3 * len(claim.requests) + 2 * min(_MOST, _most_devices(claim)) for claim in claims)


def _most_devices(claim: ClaimDemand) -> int:
    return sum(max((_MOST if ask.all else ask.count for ask in asks), default=0) for asks in claim.requests)


def asks_for_all(claims: Iterable[ClaimDemand]) -> bool:
    """Whether a request, or one of its alternatives, is for all devices of a node."""
    return any(ask.all for claim in claims for alternatives in claim.requests for ask in alternatives)


class _Search:
    """One attempt. Everything is changed in place and undone on the way back, last change first."""

    def __init__(self, room: Room, claims: tuple[ClaimDemand, ...], kinds: Kinds) -> None:
        self._kinds = kinds
        self._claims = claims
        self._room = room
        self._units = [(p, unit) for p, pool in enumerate(room) for unit in pool.units]
        self._now = [unit for _, unit in self._units]
        self._left = [{(s, c): left for s, c, _, left in pool.counters} for pool in room]
        self._rules = [[_Rule(rule, kinds) for rule in claim.constraints] for claim in claims]
        self._chosen: list[list[int]] = [[] for _ in claims]
        self._in_claim: list[set[int]] = [set() for _ in claims]
        self._looks = 0

    def run(self) -> Placed | None:
        return Placed(self._result(), tuple(map(tuple, self._chosen))) if self._next(0, 0) else None

    def _next(self, claim: int, request: int) -> bool:
        if claim == len(self._claims):
            return True
        requests = self._claims[claim].requests
        if request == len(requests):
            return self._next(claim + 1, 0)
        return any(self._try(claim, request, ask) for ask in requests[request])

    def _try(self, claim: int, request: int, ask: Ask) -> bool:
        if not ask.all:
            return self._take(claim, request, ask, ask.count, 0)
        wanted = self._all(ask)
        return bool(wanted) and self._take_all(claim, request, ask, wanted, 0)

    def _take(self, claim: int, request: int, ask: Ask, missing: int, start: int) -> bool:
        """Allocate `missing` more devices for a request, from the unit `start` on, and then all that comes after."""
        if not missing:
            return self._next(claim, request + 1)
        if len(self._chosen[claim]) + missing > _MOST:
            return False
        failed: set[tuple[int, Unit]] = set()
        for index in range(start, len(self._units)):
            same = (self._units[index][0], self._now[index])
            if same in failed or not self._usable(claim, ask, index):
                continue
            failed.add(same)  # an equal one later on would fail as well
            rest = partial(self._take, claim, request, ask, missing - 1, index + 1)
            if self._with(claim, ask, index, rest):
                return True
        return False

    def _take_all(self, claim: int, request: int, ask: Ask, wanted: list[int], position: int) -> bool:
        if position == len(wanted):
            return self._next(claim, request + 1)
        index = wanted[position]
        if len(self._chosen[claim]) >= _MOST or not self._usable(claim, ask, index):
            return False
        return self._with(claim, ask, index, partial(self._take_all, claim, request, ask, wanted, position + 1))

    def _all(self, ask: Ask) -> list[int]:
        """All devices that match, whoever has them."""
        return [i for i, (_, unit) in enumerate(self._units) if self._match(ask.want, unit)]

    def _usable(self, claim: int, ask: Ask, index: int) -> bool:
        self._looks += 1
        if self._looks > BUDGET:
            raise TooManyWays
        unit = self._now[index]
        if not self._room[self._units[index][0]].complete:
            return False
        if self._in_use(claim, ask, index):
            return False
        return self._match(ask.want, unit) and tolerated(ask.want, unit.taints)

    def _in_use(self, claim: int, ask: Ask, index: int) -> bool:
        """Administrators may have what others have, but not twice for one claim. Nobody else of the pod may have it then."""
        if ask.want.admin:
            return index in self._in_claim[claim]
        unit = self._now[index]
        return unit.held or unit.taken or any(index in devices for devices in self._in_claim)

    def _match(self, want: Want, unit: Unit) -> bool:
        matched = self._kinds.matches(want, unit.kind)
        if matched is None:
            raise Undecided("an expression that selects devices cannot be evaluated")
        return matched

    def _has_left(self, ask: Ask, unit: Unit) -> bool:
        return has_left(self._kinds[unit.kind].device, unit, ask.want)

    def _with(self, claim: int, ask: Ask, index: int, rest: Callable[[], bool]) -> bool:
        """Whether the rest can be allocated with this device taken; it is given back when not."""
        pool, before = self._units[index][0], self._now[index]
        kind = self._kinds[before.kind]
        left = self._left[pool]
        many = bool(kind.device.allow_multiple_allocations)
        draws = () if many and before.shared else kind.counters
        if not _covered(draws, left):
            return False
        if draws and compatibility_groups(kind.device):
            raise Undecided("devices have compatibility groups, which are not looked at")
        added = [rule for rule in self._rules[claim] if rule.concerns(ask)]
        for count, rule in enumerate(added):
            if not rule.add(before.kind, ask.want):
                if ask.all:
                    raise GivesUp
                _undo(added[:count])
                return False
        if not self._has_left(ask, before):
            _undo(added)
            return False
        for s, c, amount in draws:
            left[s, c] -= amount
        self._now[index] = _used(before, kind.device, ask.want)
        if not many:
            self._in_claim[claim].add(index)
        self._chosen[claim].append(index)
        if rest():
            return True
        self._chosen[claim].pop()
        self._in_claim[claim].discard(index)
        self._now[index] = before
        for s, c, amount in draws:
            left[s, c] += amount
        _undo(added)
        return False

    def _result(self) -> Room:
        pools, start = [], 0
        for pool, left in zip(self._room, self._left, strict=True):
            end = start + len(pool.units)
            counters = tuple((s, c, total, left[s, c]) for s, c, total, _ in pool.counters)
            pools.append(PoolRoom(pool.complete, tuple(self._now[start:end]), counters))
            start = end
        return tuple(pools)


def _covered(draws: Iterable[tuple[str, str, Decimal]], left: Mapping[tuple[str, str], Decimal]) -> bool:
    """Whether there is as much left of the counters as a device draws. One that draws from any is refused as well while some
    counter of its pool is overdrawn, which happens when a driver publishes less than is in use."""
    drawn = {(s, c): amount for s, c, amount in draws}
    if not drawn:
        return True
    enough = all(left.get(counter, Decimal(0)) >= amount for counter, amount in drawn.items())
    return enough and all(amount >= 0 for amount in left.values())


def _used(unit: Unit, device: Device, want: Want) -> Unit:
    """The device after a request has been given it. Administrators take nothing away."""
    if device.allow_multiple_allocations:
        consumed = dict(unit.consumed)
        for name, amount in (take_of(device, want) or {}).items():
            consumed[name] = consumed.get(name, Decimal(0)) + amount
        return unit._replace(consumed=tuple(sorted(consumed.items())), shared=True)
    return unit if want.admin else unit._replace(taken=True)


def _undo(rules: list[_Rule]) -> None:
    for rule in rules:
        rule.remove()


def offers(device: Device, want: Want) -> bool:
    """Whether the device, with nothing in use, has what is asked of its capacity."""
    asked = take_of(device, want)
    capacity = device.capacity or {}
    return asked is not None and all(amount <= _amount(capacity[name]) for name, amount in asked.items())


def has_left(device: Device, unit: Unit, want: Want) -> bool:
    """Whether what is left of the device's capacity is enough for the request."""
    asked = take_of(device, want)
    if asked is None:
        return False
    used = dict(unit.consumed)
    capacity = device.capacity or {}
    return all(used.get(name, Decimal(0)) + amount <= _amount(capacity[name]) for name, amount in asked.items())


class _Rule:
    """One constraint of a claim, with what its devices have in common, or have taken, so far."""

    def __init__(self, constraint: Constraint, kinds: Kinds) -> None:
        self._names = constraint.requests or ()
        self._match = constraint.match_attribute
        self._name = constraint.match_attribute or constraint.distinct_attribute or ""
        self._kinds = kinds
        self._history: list[frozenset[object]] = []

    def concerns(self, ask: Ask) -> bool:
        return not self._names or ask.named(self._names)

    def add(self, kind: int, want: Want) -> bool:
        """Take a device in for a request, unless it breaks the rule."""
        values = self._kinds.values(kind, self._name, want)
        if not values:
            return False
        if self._match is not None:
            common = self._history[-1] & values if self._history else values
            if not common:
                return False
            self._history.append(common)
            return True
        if any(values & other for other in self._history):
            return False
        self._history.append(values)
        return True

    def remove(self) -> None:
        """Give back the device that was taken in last."""
        self._history.pop()


def tolerated(want: Want, taints: tuple[DeviceTaint, ...]) -> bool:
    """Whether a request may be given a device with these taints (the allocator's rule: an empty effect is any effect)."""
    return all(any(tolerates(toleration, taint) for toleration in want.tolerations) for taint in taints)


def take_of(device: Device, want: Want) -> dict[str, Decimal] | None:
    """How much of each capacity the request takes of the device (KEP-5075), None when the device does not offer it.

    Only a device that several claims can have is used up by this; any other just has to have as much.
    """
    capacity = device.capacity or {}
    asked = dict(want.capacity)
    if not asked.keys() <= capacity.keys():
        return None
    if not device.allow_multiple_allocations and not asked:
        return {}
    taken = {}
    for name, offered in capacity.items():
        amount = _rounded(parse_quantity(asked[name]) if name in asked else None, offered)
        if amount is None:
            return None
        taken[name] = amount
    return taken


def _rounded(asked: Decimal | None, offered: Capacity) -> Decimal | None:
    """The amount that is taken when `asked` is asked for (None: nothing said); None when the policy does not allow it."""
    policy = offered.request_policy
    if asked is None:
        return _amount_of(policy.default) if policy is not None and policy.default is not None else _amount(offered)
    if policy is None:
        return asked
    if policy.valid_range is not None and policy.valid_range.min is not None:
        low, step = _amount_of(policy.valid_range.min), _amount_of(policy.valid_range.step)
        if asked < low:
            return low
        if step:
            asked = low + step * ((asked - low) / step).to_integral_value(ROUND_CEILING)
        if policy.valid_range.max is not None and asked > _amount_of(policy.valid_range.max):
            return None
        return asked
    if policy.valid_values:
        return next((value for text in policy.valid_values if (value := _amount_of(text)) >= asked), None)
    return asked


def _amount(capacity: Capacity) -> Decimal:
    return _amount_of(capacity.value)


def _amount_of(text: str | float | None) -> Decimal:
    return parse_quantity(text) or Decimal(0)


def _values(found: Attribute | None) -> frozenset[object]:
    value = attribute_value(found)
    if value is None or found is None:
        return frozenset()
    singular = {"integers": "integer", "booleans": "boolean", "strings": "string", "versions": "version"}
    name = next(f for f in found.__struct_fields__ if getattr(found, f) is not None)
    members = value if isinstance(value, tuple) else (value,)
    return frozenset((singular.get(name, name), member) for member in members)
