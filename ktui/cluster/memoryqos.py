"""What Memory QoS (KEP-2570) would write into the cgroups of a pod: the kubelet of 1.37.2, pkg/kubelet/cm helpers_linux.go and
pkg/kubelet/kuberuntime kuberuntime_container_linux.go.

No API object shows whether a kubelet does it. The gate MemoryQoS is on in 1.37, but its two settings in the kubelet's
configuration are off unless they are set: memoryReservationPolicy for memory.min and memory.low, memoryThrottlingFactor for
memory.high. It needs cgroup v2. So all of this is what would be, under the assumptions below.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from ktui.cluster.allocation import POD_LEVEL, ContainerKind, containers
from ktui.cluster.noderesources import allocatable, spec_limits, spec_requests
from ktui.cluster.state import Cluster
from ktui.model.pod import Container, Pod, Quantities
from ktui.model.podqos import has_pod_level, qos_class
from ktui.model.quantity import parse_quantity

THROTTLING_FACTOR: Final = 0.9
"""What Kubernetes proposes, and took before 1.37 where nothing was set."""
RESERVATION_POLICY: Final = "TieredReservation"
PAGE_SIZE: Final = 4096
"""Of most nodes; some of arm64 have larger pages."""


class CgroupMemory(NamedTuple):
    """What would be written for one container, or the pod as a whole, in bytes; None where nothing would be. `high_at_least` is
    a memory.high that is counted from what the node has: the kubelet counts the memory that it keeps for evictions as well,
    which the API does not tell. `node_unknown` is where that cannot be counted."""

    name: str
    kind: ContainerKind
    min: int | None = None
    low: int | None = None
    high: int | None = None
    high_at_least: int | None = None
    node_unknown: bool = False


def memory_qos(cluster: Cluster, pod: Pod) -> tuple[CgroupMemory, ...]:
    """Of all containers in the order they start, then of the pod as a whole. It counts what is asked for: of a pod whose resize
    is under way, what would be after it."""
    hard = qos_class(pod) == "Guaranteed"
    node = allocatable(cluster, pod.spec.node_name or "").get("memory", 0)
    return (*(_container(pod, c, kind, hard, node) for c, kind in containers(pod)), _whole(pod, hard))


def memory_high(request: int, limit: int) -> int | None:
    """memory.high between a request and a limit, in whole pages; None where it would not be above the request."""
    between = math.floor(float(request) + (float(limit) - float(request)) * THROTTLING_FACTOR)
    high = int(between / float(PAGE_SIZE)) * PAGE_SIZE
    return high if high > request else None


def _container(pod: Pod, container: Container, kind: ContainerKind, hard: bool, node: int) -> CgroupMemory:
    resources = container.resources
    request = _bytes(resources.requests if resources else None)
    limit = _bytes(resources.limits if resources else None)
    found = _protected(container.name, kind, request, hard)
    if limit:
        return found if limit == request else found._replace(high=memory_high(request, limit))
    if _limited_as_a_whole(pod):
        return found  # the pod's own memory.high holds for it
    if not node:
        return found._replace(node_unknown=True)
    return found._replace(high_at_least=memory_high(request, node))


def _whole(pod: Pod, hard: bool) -> CgroupMemory:
    request, limit = spec_requests(pod).get("memory", 0), spec_limits(pod).get("memory", 0)
    found = _protected(POD_LEVEL, "pod", request, hard)
    if not has_pod_level(pod) or not limit or limit == request or not _all_limited(pod):
        return found
    return found._replace(high=memory_high(request, limit))


def _protected(name: str, kind: ContainerKind, request: int, hard: bool) -> CgroupMemory:
    """The kernel never reclaims the memory of Guaranteed pods, that of others when nothing else is left."""
    kept = request or None
    return CgroupMemory(name, kind, min=kept if hard else None, low=None if hard else kept)


def _limited_as_a_whole(pod: Pod) -> bool:
    return bool(pod.spec.resources and _bytes(pod.spec.resources.limits))


def _all_limited(pod: Pod) -> bool:
    limits = (c.resources.limits if c.resources else None for c, _ in containers(pod))
    return _limited_as_a_whole(pod) or all(map(_bytes, limits))


def _bytes(quantities: Quantities | None) -> int:
    amount = parse_quantity((quantities or {}).get("memory"))
    return math.ceil(amount) if amount is not None else 0
