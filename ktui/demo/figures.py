"""What the demo's pods, nodes and GPUs use: metrics.k8s.io as a metrics server tells it, and pages of DCGM exporters.

Nothing is measured: each figure follows from the name of what it is about and from the time, so that it moves, and means the same
to whoever asks again. Only what runs has figures.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Final

from ktui.demo import objects
from ktui.demo.mvcc import JSON, Database, Key
from ktui.model.quantity import parse_quantity
from ktui.model.resourceslice import DeviceId
from ktui.model.usage import GROUP

NAMESPACE: Final = "gpu-operator"
EXPORTER: Final = {"app": "nvidia-dcgm-exporter"}
"""The label that NVIDIA's GPU Operator gives its exporter's pods."""

_STEP: Final = 15.0
"""Seconds between two measurements, and how long one takes."""
_PERIOD: Final = 600.0
_MEMORY: Final = 144_384  # MiB of a GPU
_XID: Final = 79
_SQUAD: Final = {"name": "main", "resources": {"requests": {"cpu": "16", "memory": "64Gi"}}}
"""What a pod of a large fleet has that nobody has changed since it was laid."""


def exporter_pod(node: str, now: str) -> JSON:
    """The DCGM exporter of a node, running."""
    container: JSON = {"name": "nvidia-dcgm-exporter", "image": "registry.example.com/dcgm-exporter:4", "resources": {}}
    container["ports"] = [{"name": "metrics", "containerPort": 9400}]
    metadata = objects.made(f"nvidia-dcgm-exporter-{objects.suffix()}", now, NAMESPACE, labels=EXPORTER)
    tolerations = [{"operator": "Exists"}]
    spec = {"schedulerName": "default-scheduler", "containers": [container], "tolerations": tolerations}
    return objects.running(objects.bound(objects.pod(metadata, spec), node, now), now)


class Figures:
    """`sick` is a GPU that had an Xid error; `clock` gives Unix seconds. `versions` of metrics.k8s.io are those to be served."""

    def __init__(
        self,
        database: Database,
        *,
        clock: Callable[[], float],
        sick: DeviceId | None = None,
        versions: tuple[str, ...] = ("v1beta1",),
    ) -> None:
        self.versions = versions
        self._database = database
        self._clock = clock
        self._sick = sick

    def pods(self, version: str, namespace: str) -> JSON:
        """PodMetricsList."""
        active = self._database.active("Pod")
        at = self._measured()
        items = [
            self._pod(version, key, containers, at)
            for key in self._database.objects("Pod")
            if (not namespace or key[0] == namespace) and (containers := _running(active.get(key)))
        ]
        return _list("PodMetricsList", version, items)

    def pod(self, version: str, key: Key) -> JSON | None:
        found = self._database.get("Pod", key)
        containers = _running(found) if found is not None else []
        return self._pod(version, key, containers, self._measured()) if containers else None

    def nodes(self, version: str) -> JSON:
        """NodeMetricsList."""
        items = [self.node(version, name) for _, name in self._database.objects("Node")]
        return _list("NodeMetricsList", version, [item for item in items if item is not None])

    def node(self, version: str, name: str) -> JSON | None:
        found = self._database.get("Node", ("", name))
        if found is None:
            return None
        at = self._measured()
        head = _head("NodeMetrics", version, ("", name), at)
        if ("", name) not in self._database.active("Node"):  # of a large fleet, where every GPU is in use
            return {**head, "usage": _usage(found["status"]["allocatable"], name, at)}
        usage = _usage({}, name, at)
        for key, pod in self._database.active("Pod").items():
            if pod["spec"].get("nodeName") == name:
                for container in self._pod(version, key, _running(pod), at)["containers"]:
                    usage = _added(usage, container["usage"])
        return {**head, "usage": usage}

    def page(self, exporter: Key) -> str | None:
        """What an exporter's pod answers; None for a pod that is none."""
        pod = self._database.get("Pod", exporter)
        if pod is None or not (pod["metadata"].get("labels") or {}).items() >= EXPORTER.items() or not _running(pod):
            return None
        return "".join(f"{line}\n" for line in self._series(pod["spec"]["nodeName"]))

    def _series(self, node: str) -> Iterator[str]:
        at, used = self._clock(), self._in_use(node)
        for index, (device, uuid) in enumerate(self._gpus(node)):
            labels = f'gpu="{index}",UUID="{uuid}",device="nvidia{index}",modelName="NVIDIA H200",Hostname="{node}"'
            sick = device == self._sick
            level = 0.0 if sick or device not in used else _wave(uuid, at, 0.82, 0.99)
            memory = int(_MEMORY * (_wave(uuid + "m", 0.0, 0.6, 0.93) if device in used else 0.004))
            yield f"DCGM_FI_DEV_GPU_UTIL{{{labels}}} {level * 100:.0f}"
            yield f"DCGM_FI_DEV_FB_USED{{{labels}}} {memory}"
            yield f"DCGM_FI_DEV_FB_FREE{{{labels}}} {_MEMORY - memory}"
            yield f"DCGM_FI_DEV_GPU_TEMP{{{labels}}} {31 + 38 * level + 4 * _wave(uuid, at / 3, 0, 1):.0f}"
            yield f"DCGM_FI_DEV_POWER_USAGE{{{labels}}} {78 + 560 * level:.1f}"
            yield f"DCGM_FI_DEV_XID_ERRORS{{{labels}}} {_XID if sick else 0}"
            if sick:
                yield f'DCGM_EXP_XID_ERRORS_COUNT{{{labels},xid="{_XID}",window_size_in_ms="300000"}} 1'

    def _gpus(self, node: str) -> Iterator[tuple[DeviceId, str]]:
        found = self._database.get("ResourceSlice", ("", f"{node}-{objects.DRIVER}"))
        for device in (found["spec"]["devices"] if found is not None else ()) or ():
            yield (objects.DRIVER, node, device["name"]), device["attributes"]["uuid"]["string"]

    def _in_use(self, node: str) -> set[DeviceId]:
        return {
            (each["driver"], each["pool"], each["device"])
            for claim in self._database.active("ResourceClaim").values()
            for each in (((claim["status"].get("allocation") or {}).get("devices") or {}).get("results") or ())
            if each["pool"] == node
        }

    def _measured(self) -> float:
        """When it was measured last."""
        return self._clock() // _STEP * _STEP

    def _pod(self, version: str, key: Key, containers: list[JSON], at: float) -> JSON:
        measured = [
            {
                "name": container["name"],
                "usage": _usage(container["resources"].get("requests") or {}, f"{key}{container['name']}", at),
            }
            for container in containers
        ]
        return {**_head("PodMetrics", version, key, at), "containers": measured}


def _running(pod: JSON | None) -> list[JSON]:
    """The containers of a pod that runs; None is a pod of a large fleet as it was laid."""
    if pod is None:
        return [_SQUAD]
    containers: list[JSON] = pod["spec"]["containers"] if (pod.get("status") or {}).get("phase") == "Running" else []
    return containers


def _head(kind: str, version: str, key: Key, at: float) -> JSON:
    then = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    metadata = {"name": key[1], "creationTimestamp": then, **({"namespace": key[0]} if key[0] else {})}
    head = {"kind": kind, "apiVersion": f"{GROUP}/{version}", "metadata": metadata}
    return {**head, "timestamp": then, "window": f"{_STEP:g}s"}


def _list(kind: str, version: str, items: list[JSON]) -> JSON:
    return {"kind": kind, "apiVersion": f"{GROUP}/{version}", "metadata": {}, "items": items}


def _usage(of: JSON, name: str, at: float, low: float = 0.35, high: float = 0.9) -> JSON:
    """A share of what was asked for, or of little where nothing was."""
    cpu = parse_quantity(of.get("cpu", "100m")) or 0
    memory = parse_quantity(of.get("memory", "128Mi")) or 0
    return {
        "cpu": f"{int(float(cpu) * 1e9 * _wave(name, at, low, high))}n",
        "memory": f"{int(float(memory) / 1024 * _wave(name + 'm', at / 8, low, high))}Ki",
    }


def _added(one: JSON, other: JSON) -> JSON:
    return {
        "cpu": f"{int(one['cpu'][:-1]) + int(other['cpu'][:-1])}n",
        "memory": f"{int(one['memory'][:-2]) + int(other['memory'][:-2])}Ki",
    }


def _wave(name: str, at: float, low: float, high: float) -> float:
    """Up and down between two bounds, each name in its own time."""
    phase = zlib.crc32(name.encode()) % 1000 / 1000
    return low + (high - low) * (0.5 + 0.5 * math.sin(2 * math.pi * (at / _PERIOD + phase)))
