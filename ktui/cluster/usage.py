"""What was said last of what pods, nodes and devices use, and whose figures those are.

It stands beside the objects, not among them: figures are asked for while somebody looks, older ones are not missed, and they are
in no recording. A report is taken in at once, whatever its size; joins are made for what is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

from ktui.model.meta import Key
from ktui.model.resourceslice import Device, DeviceId, attribute_value
from ktui.model.usage import (
    GpusReport,
    GpuUsage,
    Measured,
    MetricsServed,
    NodeReport,
    NodeUsage,
    PodsReport,
    PodUsage,
    UsageReport,
    UsageTrouble,
)

if TYPE_CHECKING:
    from ktui.cluster.state import Cluster

OLD = 2.0
"""Windows after which a figure is called old."""
GPU_WINDOW = 30.0
"""Seconds between two looks of a DCGM exporter at its GPUs, unless it is told otherwise; its page does not say."""


class Gpus(Struct, frozen=True):
    """The GPUs of one node, as they were at `at` (Unix seconds), found by each of their names."""

    at: float
    by_device: dict[DeviceId, GpuUsage] = field(default_factory=dict)
    by_uuid: dict[str, GpuUsage] = field(default_factory=dict)
    by_profile: dict[tuple[str, str], GpuUsage | None] = field(default_factory=dict)
    """MIG instances by the GPU's UUID and their profile; None where there are several of one profile."""


class Usage:
    """`version` of metrics.k8s.io: "" while it is not served, or nobody asked. `trouble` says why its figures are not fresh,
    `gpu_trouble` the same of the GPUs of nodes."""

    def __init__(self) -> None:
        self.version = ""
        self.trouble = ""
        self.gpu_trouble: dict[str, str] = {}
        self._lists: dict[str, dict[Key, PodUsage]] = {}
        self._single: dict[Key, PodUsage] = {}
        self._nodes: dict[str, NodeUsage] = {}
        self._gpus: dict[str, Gpus] = {}

    def take(self, report: UsageReport) -> None:
        """Costs the same for any number of pods."""
        match report:
            case MetricsServed():
                self.version = report.version
            case UsageTrouble(node=""):
                self.trouble = report.message
            case UsageTrouble():
                self.gpu_trouble[report.node] = report.message
            case PodsReport(only=None):
                self._lists[report.namespace] = report.items
                self._single.clear()
                self.trouble = ""
            case PodsReport():
                self._single.clear()
                self._single.update(report.items)
                self.trouble = ""
            case NodeReport():
                self._nodes.pop(report.node, None)
                if report.usage is not None:
                    self._nodes[report.node] = report.usage
                self.trouble = ""
            case GpusReport():
                self._gpus[report.node] = _by_name(report)
                self.gpu_trouble.pop(report.node, None)

    def pod(self, key: Key) -> PodUsage | None:
        if (single := self._single.get(key)) is not None:
            return single
        listed = self._lists.get(key[0]) or self._lists.get("")
        return listed.get(key) if listed else None

    def node(self, name: str) -> NodeUsage | None:
        return self._nodes.get(name)

    def gpus(self, node: str) -> Gpus | None:
        return self._gpus.get(node)


def offers(cluster: Cluster, needs: str) -> bool:
    """Whether there can be figures of "metrics" (metrics.k8s.io) or of "gpus" (a DCGM exporter) at all: columns are there or not
    by this, whatever the figures are."""
    match needs:
        case "metrics":
            return bool(cluster.usage.version)
        case "gpus":
            return bool(cluster.exporters_by_node)
        case _:
            return True


def exporter_of(cluster: Cluster, node: str) -> Key | None:
    """The exporter's pod on a node."""
    return next(iter(cluster.exporters_by_node[node]), None) if node else None


def gpu_usage(cluster: Cluster, node: str, device: DeviceId) -> GpuUsage | None:
    """What the exporter on the node says of a device; None where it says nothing, or not certainly of this one."""
    found = cluster.usage.gpus(node)
    published = cluster.device(device)
    if found is None or exporter_of(cluster, node) is None:
        return None
    if (named := found.by_device.get(device)) is not None:
        return named
    if published is None or not (uuid := _named(published.device, "uuid")):
        return None
    if (known := found.by_uuid.get(uuid)) is not None:
        return known
    parent, profile = _named(published.device, "parentUUID"), _named(published.device, "profile")
    return found.by_profile.get((parent, profile)) if parent and profile else None


def age_if_old(at: float | None, window: float | None, now: float) -> float | None:
    """Seconds since a figure was measured, None while it is fresh, or nobody knows."""
    if at is None:
        return None
    age = now - at
    return age if age > OLD * (window or GPU_WINDOW) else None


def measured_age(usage: Measured, now: float) -> float | None:
    """The same of what metrics.k8s.io measured."""
    return age_if_old(usage.at, usage.seconds, now)


def _named(device: Device, name: str) -> str:
    """A text attribute of that name in any domain: drivers call it "uuid" or "gpu.nvidia.com/uuid"."""
    for qualified, value in (device.attributes or {}).items():
        if qualified.rpartition("/")[2] == name and isinstance(text := attribute_value(value), str):
            return text
    return ""


def _by_name(report: GpusReport) -> Gpus:
    by_device: dict[DeviceId, GpuUsage] = {}
    by_uuid: dict[str, GpuUsage] = {}
    by_profile: dict[tuple[str, str], GpuUsage | None] = {}
    for gpu in report.gpus:
        if gpu.device is not None:
            by_device[gpu.device] = gpu
        if not gpu.instance:
            by_uuid[gpu.uuid] = gpu
        else:
            key = (gpu.uuid, gpu.profile)
            by_profile[key] = None if key in by_profile else gpu
        if gpu.mig_uuid:
            by_uuid[gpu.mig_uuid] = gpu
    return Gpus(report.at, by_device, by_uuid, by_profile)
