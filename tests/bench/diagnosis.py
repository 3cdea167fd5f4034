"""`python -m tests.bench.diagnosis`: how long it takes to say why all pending gangs of a large fleet wait, once, and again after
each of many changes. No program is started: the state is made in memory, and what is measured is the engine itself.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from ktui.cel.selector import compile_selector
from ktui.cluster.gangs import gang_keys
from ktui.cluster.state import Cluster
from ktui.diagnose.diagnoses import Diagnoses
from ktui.model.claim import ResourceClaim
from ktui.model.deviceclass import DeviceClass
from ktui.model.frame import Frame
from ktui.model.meta import Object
from ktui.model.node import Node
from tests.bench import machine
from tests.unit.builders import (
    added,
    claim,
    cluster_of,
    condition,
    deleted,
    group,
    make,
    piece,
    pod,
    pod_consumer,
    rule,
)

DRIVER = "gpu.example.com"
PER_NODE = 8
QUEUE = "queue"
WAITING = (8, 16, 32, 64)  # pods of the pending gangs


class Figures(NamedTuple):
    """Seconds: of the first diagnosis of everything, and of each that followed a change."""

    nodes: int
    pending: int
    first: float
    after_change: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.after_change)


def fleet(nodes: int, pending: int, kinds: int = 4) -> Cluster:
    """Nodes with 8 devices of one of `kinds` models, seven of them used by a gang for each node; `pending` gangs ask for more
    of a model than is free."""
    return cluster_of(*_objects(nodes, pending, kinds))


def measure(nodes: int, pending: int, changes: int) -> Figures:
    """CPU seconds: others on the machine do not count."""
    cluster = fleet(nodes, pending)
    compile_selector("true")  # loads the library, once for the whole program
    gc.collect()
    diagnoses = Diagnoses(cluster)
    began = time.process_time()
    for key in [key for key in sorted(gang_keys(cluster)) if key[0] == QUEUE]:
        diagnoses.of(key)
    first = time.process_time() - began
    taken = []
    for change in _changes(nodes, changes):
        began = time.process_time()
        cluster.apply(change)
        for key in diagnoses.take_stale():
            diagnoses.of(key)
        taken.append(time.process_time() - began)
    return Figures(nodes, pending, first, tuple(taken))


def _objects(nodes: int, pending: int, kinds: int) -> Iterator[Object]:
    for kind in range(kinds):
        expression = f'device.driver == "{DRIVER}" && device.attributes["{DRIVER}"].model == "m{kind}"'
        yield make(
            DeviceClass,
            {"metadata": {"name": f"m{kind}"}, "spec": {"selectors": [{"cel": {"expression": expression}}]}},
        )
    for number in range(nodes):
        yield _node(number)
        yield _slice(number, kinds)
        yield group(f"run-{number}", 7, namespace="busy")
        for device in range(PER_NODE - 1):
            name = f"run-{number}-{device}"
            yield _used(number, device)
            yield pod(
                name,
                namespace="busy",
                spec={"nodeName": f"n{number}", "schedulingGroup": {"podGroupName": f"run-{number}"}, **_spec(name)},
                status={"phase": "Running"},
            )
    for number in range(pending):
        yield from _gang(number, kinds, WAITING[number % len(WAITING)] * nodes // 100)


def _node(number: int) -> Node:
    resources = {"cpu": "128", "memory": "1Ti", "pods": "110"}
    return make(Node, {"metadata": {"name": f"n{number}"}, "status": {"allocatable": resources}})


def _slice(number: int, kinds: int) -> Object:
    devices = [
        {
            "name": f"d{i}",
            "attributes": {
                "model": {"string": f"m{number % kinds}"},
                "uuid": {"string": f"GPU-{number:06}-{i}"},
                "resource.kubernetes.io/numaNode": {"int": i // 4},
            },
            "capacity": {"memory": {"value": "80Gi"}},
        }
        for i in range(PER_NODE)
    ]
    return piece(f"s{number}", devices, pool=f"n{number}", driver=DRIVER, nodeName=f"n{number}")


def _used(number: int, device: int) -> ResourceClaim:
    result = {"request": "gpu", "driver": DRIVER, "pool": f"n{number}", "device": f"d{device}"}
    name = f"run-{number}-{device}"
    return claim(name, [result], namespace="busy", reserved=[pod_consumer(name, "busy")])


def _spec(name: str) -> dict[str, Any]:
    return {
        "resourceClaims": [{"name": "gpu", "resourceClaimName": name}],
        "containers": [
            {"name": "main", "resources": {"requests": {"cpu": "4", "memory": "32Gi"}, "claims": [{"name": "gpu"}]}}
        ],
    }


def _gang(number: int, kinds: int, pods: int) -> Iterator[Object]:
    """A pending gang; only the first of its pods are made, the others ask for the same."""
    name = f"wait-{number}"
    size = min(max(pods, 1), 16)
    refused = condition(
        "PodGroupInitiallyScheduled", "False", "Unschedulable", f"minCount ({size}) cannot be satisfied"
    )
    yield group(name, size, namespace=QUEUE, status={"conditions": [refused]})
    request = {
        "name": "gpu",
        "exactly": {"deviceClassName": f"m{number % kinds}", "count": 2 + number % 3, "allocationMode": "ExactCount"},
    }
    said = condition("PodScheduled", "False", "Unschedulable", "0/9 nodes are available: 9 cannot allocate all claims.")
    for member in range(size):
        own = f"{name}-{member}"
        yield claim(own, namespace=QUEUE, requests=[request])
        yield pod(
            own,
            namespace=QUEUE,
            spec={"schedulingGroup": {"podGroupName": name}, **_spec(own)},
            status={"phase": "Pending", "conditions": [said]},
        )


def _changes(nodes: int, count: int) -> Iterator[Frame]:
    """A device is given back, one is taken, a taint comes and goes: each on another node."""
    for i in range(count):
        number = (i * 7919) % nodes
        sick = rule("sick", {"driver": DRIVER, "pool": f"n{number}", "device": "d7"})
        yield (deleted(_used(number, 0)), added(_used(number, 7)), added(sick), deleted(sick))[i % 4]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.diagnosis", description=__doc__)
    parser.add_argument("--nodes", type=int, default=10_000, help="of 8 devices each (default: 10000)")
    parser.add_argument("--pending", type=int, default=1_000, help="gangs (default: 1000)")
    parser.add_argument("--changes", type=int, default=200, help="(default: 200)")
    asked = parser.parse_args()
    print(machine.description())
    found = measure(asked.nodes, asked.pending, asked.changes)
    print(f"{found.pending:,} pending gangs over {found.nodes * PER_NODE:,} devices, CPU time:")
    print(f"  once               {found.first:.2f} s")
    after = sorted(found.after_change)
    p95 = after[round(0.95 * (len(after) - 1))]
    print(
        f"  after each change  {found.median * 1000:.1f} ms median, {p95 * 1000:.1f} ms p95, {after[-1] * 1000:.1f} ms at most"
    )


if __name__ == "__main__":
    main()
