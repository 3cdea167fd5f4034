"""What pods request of a node and what is left of it: component-helpers resource.PodRequests and the NodeResourcesFit plugin
of 1.37.2.

Amounts are whole numbers: thousandths for cpu, bytes for memory and storage, units for everything else, "pods" included.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from decimal import ROUND_CEILING

from ktui.cluster.state import Cluster
from ktui.model.meta import condition
from ktui.model.node import Node
from ktui.model.pod import RESIZE_PENDING, Container, Pod, Quantities
from ktui.model.podqos import for_whole_pods
from ktui.model.quantity import parse_quantity

_Milli = dict[str, int]
"""Thousandths of every resource: the API server rounds requests up to those, so sums of them are exact."""

_Of = Callable[[Container], Quantities | None]


def effective_requests(pod: Pod) -> dict[str, int]:
    """What the scheduler counts for the pod, and "pods": 1: containers together with sidecars, or the init container that
    needs more while it runs (KEP-753); pod-level requests instead, where there are any (KEP-2837); overhead. During a resize
    (KEP-1287) the most of what is asked for, set aside and applied; what is asked for in vain does not count."""
    total = _containers(pod)
    whole = pod.spec.resources.requests if pod.spec.resources else None
    if whole:
        actual = pod.status.resources
        asked = [_milli(whole)]
        if actual is not None:
            spec = [] if _infeasible(pod) else asked
            asked = [*spec, _milli(actual.requests), _milli(pod.status.allocated_resources)]
        total.update((name, amount) for name, amount in _most(asked).items() if for_whole_pods(name))
    _add(total, _milli(pod.spec.overhead))
    return {**_rounded(total), "pods": 1}


def spec_requests(pod: Pod) -> dict[str, int]:
    """What the spec alone asks for, whatever the node has set aside or applies: PodRequests without the status."""
    total = _of_spec(pod, _asked, pod.spec.resources.requests if pod.spec.resources else None)
    _add(total, _milli(pod.spec.overhead))
    return _rounded(total)


def spec_limits(pod: Pod) -> dict[str, int]:
    """What the spec alone limits: PodLimits without the status. Overhead raises a limit, and sets none."""
    total = _of_spec(pod, _limited, pod.spec.resources.limits if pod.spec.resources else None)
    _add(total, {name: amount for name, amount in _milli(pod.spec.overhead).items() if total.get(name)})
    return _rounded(total)


def free_on(cluster: Cluster, node_name: str) -> Mapping[str, int]:
    """What the node has left: allocatable without what its pods request, finished ones apart. Below zero where pods were put
    there past the scheduler; a resource that the node has nothing of is not named; {} for an unknown node. Kept until the node
    or one of its pods changes."""
    known = cluster.free_by_node.get(node_name)
    if known is None:
        known = cluster.free_by_node[node_name] = _free_on(cluster, node_name)
    return known


def fits(requests: Mapping[str, int], free: Mapping[str, int]) -> tuple[str, ...]:
    """The resources of which too little is free, () when the pod fits."""
    return tuple(name for name, amount in requests.items() if amount > 0 and amount > free.get(name, 0))


def allocatable(cluster: Cluster, node_name: str) -> dict[str, int]:
    """What the node has for pods, all in all; {} for an unknown node. A resource that it has nothing of is not named."""
    node = cluster.stores["Node"].get(("", node_name))
    if not isinstance(node, Node):
        return {}
    return {name: amount for name, amount in _rounded(_milli(node.status.allocatable)).items() if amount > 0}


def _free_on(cluster: Cluster, node_name: str) -> dict[str, int]:
    free = allocatable(cluster, node_name)
    for key in cluster.pods_by_node[node_name]:
        if (pod := cluster.pod(key)) is not None:
            for name, amount in effective_requests(pod).items():
                if name in free:
                    free[name] -= amount
    return free


def _containers(pod: Pod) -> _Milli:
    """The containers' part. What a node reports for the pod as a whole stands for what it reports of each container."""
    infeasible = _infeasible(pod)
    if not (infeasible or pod.status.says_requests):
        return _at_once(pod, _asked)
    reports = {report.name: report for report in reversed(pod.status.reports)}

    def allocated(container: Container) -> Quantities | None:
        report = reports.get(container.name)
        if report is not None and report.allocated_resources is not None:
            return report.allocated_resources
        return None if infeasible else _asked(container)

    def applied(container: Container) -> Quantities | None:
        report = reports.get(container.name)
        if report is not None and report.resources is not None and report.resources.requests is not None:
            return report.resources.requests
        return allocated(container)

    asked = [] if infeasible else [_at_once(pod, _asked)]
    all_allocated = pod.status.allocated_resources
    all_applied = pod.status.resources.requests if pod.status.resources else None
    if all_allocated is not None and all_applied is not None:
        return _most((*asked, _milli(all_allocated), _milli(all_applied)))
    return _most((*asked, _at_once(pod, allocated), _at_once(pod, applied)))


def _asked(container: Container) -> Quantities | None:
    return container.resources.requests if container.resources else None


def _limited(container: Container) -> Quantities | None:
    return container.resources.limits if container.resources else None


def _of_spec(pod: Pod, of: _Of, whole: Quantities | None) -> _Milli:
    total = _at_once(pod, of)
    total.update((name, amount) for name, amount in _milli(whole).items() if for_whole_pods(name))
    return total


def _infeasible(pod: Pod) -> bool:
    pending = condition(pod.status.conditions, RESIZE_PENDING)
    return pending is not None and pending.reason == "Infeasible"


def _at_once(pod: Pod, of: _Of) -> _Milli:
    """The most that runs at one time: sidecars stay from their start on, other init containers run one after the other."""
    total: _Milli = {}
    for container in pod.spec.containers or ():
        _add(total, _milli(of(container)))
    if not pod.spec.init_containers:
        return total
    sidecars: _Milli = {}
    starting: _Milli = {}
    for container in pod.spec.init_containers:
        amounts = _milli(of(container))
        if container.restart_policy == "Always":
            _add(total, amounts)
            _add(sidecars, amounts)
            starting = _most((starting, sidecars))
        else:
            running = dict(sidecars)
            _add(running, amounts)
            starting = _most((starting, running))
    return _most((total, starting))


def _add(total: _Milli, more: Mapping[str, int]) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, 0) + amount


def _most(amounts: Iterable[Mapping[str, int]]) -> _Milli:
    most: _Milli = {}
    for each in amounts:
        for name, amount in each.items():
            most[name] = max(most.get(name, 0), amount)
    return most


def _milli(quantities: Quantities | None) -> _Milli:
    return {name: _thousandths(written) for name, written in quantities.items()} if quantities else {}


def _rounded(amounts: Mapping[str, int]) -> dict[str, int]:
    return {name: amount if name == "cpu" else -(-amount // 1000) for name, amount in amounts.items()}


@functools.lru_cache(maxsize=4096)
def _thousandths(written: str | float) -> int:
    """Rounded up; what is no quantity counts as nothing."""
    amount = parse_quantity(written)
    return int((amount * 1000).to_integral_value(ROUND_CEILING)) if amount is not None else 0
