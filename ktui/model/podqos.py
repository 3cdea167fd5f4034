"""A pod's QoS class, as Kubernetes sorts pods by what they ask for (pkg/apis/core/v1/helper/qos of 1.37.2)."""

from __future__ import annotations

from typing import Final

from ktui.model.pod import Pod, Quantities, Resources
from ktui.model.quantity import parse_quantity

_COMPUTE: Final = ("cpu", "memory")


def qos_class(pod: Pod) -> str:
    """One of Guaranteed, Burstable and BestEffort: what the API server noted when the pod was made, which stays for the pod's
    life; computed from the spec where nothing is noted."""
    return pod.status.qos_class or _computed(pod)


def for_whole_pods(resource: str) -> bool:
    """Whether spec.resources of a pod may set the resource for all its containers together (KEP-2837)."""
    return resource in _COMPUTE or resource.startswith("hugepages-")


def has_pod_level(pod: Pod) -> bool:
    """Whether spec.resources of the pod asks for, or limits, anything that pods as a whole can have."""
    whole = pod.spec.resources
    return whole is not None and any(map(for_whole_pods, {**(whole.requests or {}), **(whole.limits or {})}))


def _computed(pod: Pod) -> str:
    if has_pod_level(pod):
        return _class(pod.spec.resources)
    classes = {_class(c.resources) for c in (*(pod.spec.init_containers or ()), *(pod.spec.containers or ()))}
    return _common(classes)


def _class(resources: Resources | None) -> str:
    """Of one container, or of the pod as a whole."""
    if resources is None:
        return "BestEffort"
    return _common({_of_one(resources.requests, resources.limits, name) for name in _COMPUTE})


def _of_one(requests: Quantities | None, limits: Quantities | None, name: str) -> str:
    request, limit = (parse_quantity((each or {}).get(name)) or 0 for each in (requests, limits))
    if request != limit:
        return "Burstable"
    return "Guaranteed" if request else "BestEffort"


def _common(classes: set[str]) -> str:
    """Those that are not all alike are Burstable together."""
    if not classes:
        return "BestEffort"
    return classes.pop() if len(classes) == 1 else "Burstable"
