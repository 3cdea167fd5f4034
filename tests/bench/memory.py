"""`python -m tests.bench.memory [FILE...]`: what an object of each kind takes, as it comes from the wire and as it is kept, and
what finding it takes: keys and indexes.

Of the demo's fleet, of the recording that `tests.bench.scale` plays, and of recordings of one's own. Bytes are counted, not
measured: every Python object that can be reached, once, in the steps in which CPython hands out memory.
"""

from __future__ import annotations

import argparse
import gc
import random
import sys
import tempfile
import types
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from ktui.cluster.state import Cluster
from ktui.demo.squads import PODS, Forms, Squad
from ktui.model.decode import decode_object
from ktui.model.frame import Listed, Source
from ktui.model.kinds import KINDS
from ktui.model.meta import Object
from ktui.model.parts import Parts
from ktui.model.resourceslice import ResourceSlice
from ktui.recording.reader import Recording
from tests.bench import recorded

_STEP: Final = 16
"""Bytes in which the interpreter hands out blocks of up to `_SMALL`."""

_SMALL: Final = 512
_NOT_DATA: Final = (
    type,
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.GenericAlias,
)
_LEAVES: Final = frozenset((str, int, float, bytes))

NAMED: Final = {
    "Pod": "a pod",
    "ResourceClaim": "a claim",
    "ResourceSlice": "a device, its part of a slice",
    "PodGroup": "a gang",
    "Workload": "its Workload",
    "Node": "a node",
}


class Cost(Struct, frozen=True):
    """Bytes of one: as it came, and with what it has in common with others kept once."""

    alone: float
    kept: float


class Costs(Struct, frozen=True):
    """What a pod and its claim have in common is counted with the one that was listed first. `finding` is for each pod, with its
    claim and its device: bytes of keys and indexes."""

    kinds: dict[str, Cost]
    finding: float


class Walk:
    """Counts what can be reached from each root, and was not counted before."""

    def __init__(self) -> None:
        self._seen: dict[int, object] = {}  # kept alive, so that nothing else gets its id

    def bytes_of(self, root: object) -> int:
        total, waiting = 0, [root]
        while waiting:
            found = waiting.pop()
            if found is None or isinstance(found, (*_NOT_DATA, bool)) or id(found) in self._seen:
                continue
            self._seen[id(found)] = found
            size = sys.getsizeof(found)
            total += size if size > _SMALL else -(-size // _STEP) * _STEP
            waiting.extend(_parts(found))
        return total


def _parts(found: object) -> Iterable[object]:
    if type(found) in _LEAVES:
        return ()
    if isinstance(found, Struct):  # most are unknown to the collector
        return [getattr(found, name) for name in found.__struct_fields__]
    if isinstance(found, dict):
        return [*found.keys(), *found.values()]
    return gc.get_referents(found)


def costs(lists: Iterable[Listed]) -> Costs:
    """Of the kinds of which there are objects."""
    lists = [frame for frame in lists if frame.items]
    cluster = Cluster()
    for frame in lists:
        cluster.apply(frame)
    walk, kinds = Walk(), {}
    for frame in lists:
        many = _many(frame.items)
        alone = [_alone(frame.source, obj) for obj in frame.items]
        kinds[frame.source.kind] = Cost(Walk().bytes_of(alone) / many, walk.bytes_of(frame.items) / many)
    pods = next(len(frame.items) for frame in lists if frame.source.kind == "Pod")
    return Costs(kinds, walk.bytes_of(cluster) / pods)


def _many(items: tuple[Object, ...]) -> int:
    """Of slices the devices count."""
    return sum(len(obj.spec.devices or ()) if isinstance(obj, ResourceSlice) else 1 for obj in items)


def _alone(source: Source, obj: Object) -> Object:
    return decode_object(KINDS[source.kind], source.path.split("/")[-2], msgspec.json.encode(obj))


def demo(pods: int) -> Iterator[Listed]:
    """In no order, as an API server streams them."""
    forms, found = Forms(), dict[str, list[bytes]]()
    for number in range(pods // PODS):
        for kind, objects in Squad(
            forms, number, 7, 5, f"2026-11-30T{number // 60 % 24:02}:{number % 60:02}:00Z"
        ).laid():
            found.setdefault(kind, []).extend(lazy.encoded() for lazy in objects.values())
    for kind, written in found.items():
        random.Random(7).shuffle(written)
        parts, version = Parts(worth_it=0), KINDS[kind].versions[0]
        items = tuple(parts.share(decode_object(KINDS[kind], version, each)) for each in written)
        yield Listed(Source(kind, KINDS[kind].path(version)), "7", items)


def played(path: Path) -> Iterator[Listed]:
    """The first list of each kind."""
    kinds = set()
    for _, frame in Recording(path).frames():
        if isinstance(frame, Listed) and frame.source.kind not in kinds:
            kinds.add(frame.source.kind)
            yield frame


def generated(pods: int) -> list[Listed]:
    with tempfile.TemporaryDirectory(prefix="ktui-memory-") as directory:
        path = Path(directory) / "fleet.ktui.gz"
        recorded.write(path, pods, changes=0)
        return list(played(path))


def table(found: dict[str, Costs]) -> Iterator[str]:
    yield f"| bytes{'':33} | {' | '.join(f'{name}, alone | kept' for name in found)} |"
    yield f"| {'-' * 38} |{' ---: |' * 2 * len(found)}"
    for kind, name in NAMED.items():
        cells = (cost for each in found.values() for cost in _cells(each.kinds.get(kind)))
        yield f"| {name:38} | {' | '.join(cells)} |"
    finding = " | ".join(f"– | {each.finding:,.0f}" for each in found.values())
    yield f"| keys and indexes, for each pod{'':8} | {finding} |"


def _cells(cost: Cost | None) -> tuple[str, str]:
    return (f"{cost.alone:,.0f}", f"{cost.kept:,.0f}") if cost is not None else ("–", "–")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.memory", description=__doc__)
    parser.add_argument("--pods", type=int, default=40_000, help="(default: 40000)")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="recordings of one's own")
    asked = parser.parse_args()
    found: dict[str, Costs] = {"demo": costs(demo(asked.pods)), "recording": costs(generated(asked.pods))}
    found |= {path.name.partition(".")[0]: costs(played(path)) for path in asked.files}
    print("\n".join(table(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
