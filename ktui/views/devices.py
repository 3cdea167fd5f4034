"""Devices: free, used, tainted, unhealthy, unusable; and who has them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import ClassVar, Final, cast

from msgspec import to_builtins

from ktui.cluster.counters import used_up
from ktui.cluster.devices import DeviceInfo, DeviceState, Disagreement, device_ids, device_info, rules_unread
from ktui.cluster.history import device_history
from ktui.cluster.nodesoftware import NodeSoftware, node_software
from ktui.cluster.sharing import DeviceSharing
from ktui.cluster.state import Cluster
from ktui.cluster.usage import gpu_usage
from ktui.model.claim import AllocationResult, ResourceClaim
from ktui.model.pod import Pod
from ktui.model.quantity import format_bytes, parse_quantity
from ktui.model.resourceslice import NUMA_NODE, Device, DeviceId, attribute
from ktui.views.base import Cell, Column, Document, Line, Place, Row, RowKey, Section, SortValue, Style, pairs
from ktui.views.devicesharing import counter_lines, share_lines, sharing_document
from ktui.views.devicestatus import driver_lines
from ktui.views.eviction import tolerance
from ktui.views.shared import attribute_text, device_full, device_text, gang_documents, gangs_of
from ktui.views.taints import taint_document
from ktui.views.timeline import change_line
from ktui.views.usage import gpu_cells, gpu_document, gpu_lines, gpu_sort, node_lines

STYLES: Final[dict[DeviceState, Style]] = {
    "free": "dim",
    "used": "ok",
    "tainted": "bad",
    "unhealthy": "bad",
    "blocked": "dim",
    "unusable": "warn",
    "unknown": "dim",
    "gone": "bad",
}
_DISAGREE: Final[dict[Disagreement, str]] = {
    "unhealthy, not tainted": "not tainted: new pods may still get it",
    "tainted, healthy": "tainted all the same: by a rule that can go, or by the driver for a reason of its own",
}
_SHARING: Final[dict[DeviceSharing, str]] = {
    "conflict": "several claims hold this device, which is for one at a time",
    "shares": "claims have a share of it each",
    "adminAccess": "a claim with admin access looks on, beside those that use it",
    "sharedClaim": "several pods, or a whole gang, use it by one claim",
}
_HISTORY: Final = 20  # changes of one device that its detail shows
_MODEL_NAMES = ("productName", "model", "type")
"""Attributes in which drivers publish what a device is; none of them is standard."""
_UNPUBLISHED: Final = Device()
_VERSION_NAMES = ("driverVersion", "cudaDriverVersion")


class DevicesView:
    id: Final = "devices"
    title = "Devices"
    order = "pool"
    kinds = ("ResourceSlice",)
    joins = ("ResourceClaim", "DeviceTaintRule", "Pod", "Node")
    makers = ("ResourceClaim",)
    unseen = ("Node",)
    labelled = named = ""
    columns = (
        Column("pool", "POOL", 12, 2, priority=8),
        Column("device", "DEVICE", 8, 1, priority=9),
        Column("state", "STATE", 9, 0, priority=9),
        Column("model", "MODEL", 8, 1, priority=4),
        Column("numa", "NUMA", 4, 0, priority=3, kind="number"),
        Column("memory", "MEMORY", 7, 0, priority=2),
        Column("util", "UTIL", 4, 0, priority=5, kind="number", needs="gpus"),
        Column("used", "USED", 7, 0, priority=3, kind="number", needs="gpus"),
        Column("temperature", "TEMP", 4, 0, priority=2, kind="number", needs="gpus"),
        Column("xid", "XID", 5, 0, priority=5, needs="gpus"),
        Column("users", "ALLOCATED TO", 16, 4, priority=7),
        Column("taints", "TAINTS", 14, 3, priority=6),
        Column("driver", "DRIVER", 12, 2, priority=1),
    )

    places: ClassVar[Mapping[str, Callable[[Cluster, DeviceId], SortValue]]] = {
        "pool": lambda _, key: key[1],
        "device": lambda _, key: key[2],
        "model": lambda cluster, key: model_of(_published(cluster, key), key[0]),
        "numa": lambda cluster, key: numa_of(_published(cluster, key), key[0]),
        "memory": lambda cluster, key: _amount_of_memory(_published(cluster, key), key[0]),
        "util": lambda cluster, key: _figures(cluster, key)[0],
        "used": lambda cluster, key: _figures(cluster, key)[1],
        "temperature": lambda cluster, key: _figures(cluster, key)[2],
        "xid": lambda cluster, key: _figures(cluster, key)[3],
        "driver": lambda _, key: key[0],
    }

    def keys(self, cluster: Cluster) -> Iterable[DeviceId]:
        return sorted(device_ids(cluster))

    def keys_unsorted(self, cluster: Cluster) -> Iterable[DeviceId]:
        published = ((*pool.id, name) for pool in cluster.pools() for name in pool.devices)
        return itertools.chain(published, list(cluster.claims_by_device.values()))

    def place(self, cluster: Cluster, key: RowKey, column: str) -> Place | None:
        device = cast("DeviceId", key)
        if cluster.device(device) is None and device not in cluster.claims_by_device:
            return None
        return Place(self.places[column](cluster, device))

    def row(self, cluster: Cluster, key: RowKey) -> Row | None:
        info = device_info(cluster, cast("DeviceId", key))
        if info is None:
            return None
        device = info.published.device if info.published else _UNPUBLISHED
        driver, pool, name = info.id
        model, numa, memory = model_of(device, driver), numa_of(device, driver), memory_of(device, driver)
        users = users_text(info)
        taints = " ".join(taint.text for taint in info.taints) or _trouble(cluster, info)
        style = STYLES.get(info.state, "")
        usage = gpu_usage(cluster, info.node, info.id)
        cells = (
            Cell(pool),
            Cell(name),
            Cell(info.state, style),
            Cell(model),
            Cell(numa),
            Cell(memory),
            *gpu_cells(usage),
            Cell(users, "bad" if info.conflict else ""),
            Cell(taints, style if info.state not in ("free", "used") else ""),
            Cell(driver, "dim"),
        )
        own = (pool, name, info.state, model, numa, _amount_of_memory(device, driver))
        sort = (*own, *gpu_sort(usage), users, taints, driver)
        problem = info.state not in ("free", "used", "blocked", "unknown") or info.conflict
        return Row(key=info.id, cells=cells, sort=sort, problem=problem)

    def names(self, cluster: Cluster, key: RowKey) -> tuple[str, ...]:  # noqa: ARG002 - the key says it
        device = cast("DeviceId", key)
        return (device_full(device), device_text(device))

    def labels(self, cluster: Cluster, key: RowKey) -> dict[str, str]:  # noqa: ARG002 - devices have none
        return {}

    def detail(self, cluster: Cluster, key: RowKey, now: float) -> tuple[Section, ...]:
        info = device_info(cluster, cast("DeviceId", key))
        if info is None:
            return ()
        device = info.published.device if info.published else Device()
        pool = info.pool
        about = pairs(
            ("state", info.state, STYLES.get(info.state, "")),
            ("driver", info.id[0]),
            (
                "pool",
                f"{info.id[1]}  generation {pool.generation}, slices {pool.slices}/{pool.expected}"
                if pool
                else info.id[1],
            ),
            ("pool status", pool.problem if pool and pool.problem else "", "warn"),
            ("node", info.node),
            ("version", driver_version_of(device, info.id[0])),
            ("health", f"{info.health.health} {info.health.message}".strip() if info.health else "not reported"),
            ("but", _DISAGREE[info.disagreement] if info.disagreement else "", "warn"),
            ("conflict", _SHARING["conflict"] if info.conflict else "", "bad"),
            ("shared", "; ".join(_SHARING[way] for way in info.sharing if way != "conflict")),
        )
        held = [
            line
            for claim, result in info.holders
            for line in (_holder(info, claim, result), *driver_lines(claim, result))
        ]
        sections = [
            Section(f"Device {device_full(info.id)}", about),
            Section("Usage", tuple(gpu_lines(cluster, info.node, info.id, now))),
            Section("Taints", tuple((Cell(f"{t.text}  ", "bad"), Cell(_from(t.rule), "dim")) for t in info.taints)),
            Section("Claims", tuple(held)),
            Section("Counters it draws on", tuple(counter_lines(cluster, info))),
            Section("Shares", tuple(share_lines(cluster, info))),
            Section("Pods", tuple(_pod_line(cluster, pod) for pod in info.pods)),
            Section("What happened", tuple(_happened(cluster, info.id, now))),
            Section(
                "Attributes",
                pairs(*((name, attribute_text(v)) for name, v in sorted((device.attributes or {}).items()))),
            ),
            Section(
                f"Node {info.node}",
                (*node_lines(cluster, info.node, now), *_software(node_software(cluster, info.node))),
            ),
            Section("Capacity", pairs(*((name, v.value) for name, v in sorted((device.capacity or {}).items())))),
        ]
        return tuple(section for section in sections if section.lines)

    def item(self, cluster: Cluster, key: RowKey) -> Document | None:
        info = device_info(cluster, cast("DeviceId", key))
        if info is None:
            return None
        device = info.published.device if info.published else Device()
        return {
            "driver": info.id[0],
            "pool": info.id[1],
            "device": info.id[2],
            "node": info.node or None,
            "state": info.state,
            "health": info.health.health if info.health else None,
            "disagreement": info.disagreement,
            "sharing": list(info.sharing),
            "poolStatus": info.pool.status if info.pool else None,
            "allocatedTo": [
                {
                    "namespace": claim.namespace,
                    "claim": claim.name,
                    "request": result.request,
                    "shareID": result.share_id,
                    "consumed": {name: str(amount) for name, amount in (result.consumed_capacity or {}).items()},
                    "adminAccess": bool(result.admin_access),
                    "pods": sorted(p.name for p in info.pods if p.namespace == claim.namespace),
                    "gangs": gang_documents(p for p in info.pods if p.namespace == claim.namespace),
                }
                for claim, result in info.holders
            ],
            "taints": [taint_document(taint) for taint in info.taints],
            "driverVersion": driver_version_of(device, info.id[0]) or None,
            "nodeSoftware": to_builtins(node_software(cluster, info.node)),
            "attributes": {name: attribute_text(value) for name, value in (device.attributes or {}).items()},
            "capacity": {name: str(value.value) for name, value in (device.capacity or {}).items()},
            "usage": gpu_document(cluster, info.node, info.id),
            **sharing_document(cluster, info),
        }


def _pod_line(cluster: Cluster, pod: Pod) -> Line:
    """With its gangs, whichever program keeps them."""
    return (Cell(f"{pod.namespace}/{pod.name}  "), Cell(", ".join(gangs_of(cluster, pod)), "dim"))


def users_text(info: DeviceInfo) -> str:
    """The pods that have the device; the claims where no pod holds it."""
    if info.pods:
        return " ".join(f"{pod.namespace}/{pod.name}" for pod in info.pods)
    return " ".join(f"claim {claim.namespace}/{claim.name}" for claim, _ in info.holders)


def model_of(device: Device, driver: str) -> str:
    return next((text for name in _MODEL_NAMES if (text := attribute_text(attribute(device, driver, name)))), "")


def driver_version_of(device: Device, driver: str) -> str:
    """Of the kernel driver or the runtime, as the device's own driver publishes it; "" when it does not."""
    return next((text for name in _VERSION_NAMES if (text := attribute_text(attribute(device, driver, name)))), "")


def numa_of(device: Device, driver: str) -> str:
    return attribute_text(attribute(device, driver, NUMA_NODE))


def memory_of(device: Device, driver: str) -> str:
    amount = parse_quantity(_capacity(device, driver))
    return format_bytes(amount) if amount is not None else ""


def _published(cluster: Cluster, key: DeviceId) -> Device:
    found = cluster.device(key)
    return found.device if found is not None else _UNPUBLISHED


def _figures(cluster: Cluster, key: DeviceId) -> tuple[SortValue, SortValue, SortValue, SortValue]:
    pool, published = cluster.pool(key[:2]), cluster.device(key)
    node = (published.node if published else "") or (pool.node if pool else "")
    return gpu_sort(gpu_usage(cluster, node, key))


def _amount_of_memory(device: Device, driver: str) -> float:
    return float(parse_quantity(_capacity(device, driver)) or 0)


def _capacity(device: Device, driver: str) -> str | int | float | None:
    capacity = device.capacity or {}
    found = capacity.get("memory") or capacity.get(f"{driver}/memory")
    return found.value if found else None


def _trouble(cluster: Cluster, info: DeviceInfo) -> str:
    if info.state == "unhealthy" and info.health is not None:
        return f"{info.health.health}, not tainted. {info.health.message}".strip()
    if info.state == "unusable" and info.pool is not None:
        return f"pool {info.pool.status}: {info.pool.problem}"
    if info.state == "blocked" and info.pool is not None and info.published is not None:
        return f"devices in use leave too little of {used_up(cluster, info.pool, info.published.device)}"
    if info.state == "unknown":
        return "taint rules cannot be read" if rules_unread(cluster) else "not all claims can be read"
    return "published no longer" if info.state == "gone" else ""


def _software(found: NodeSoftware | None) -> tuple[Line, ...]:
    """What the node's labels say."""
    if found is None:
        return ()
    return pairs(
        ("product", found.product),
        ("driver", found.driver_version),
        ("CUDA", found.cuda_version),
        ("GPU Operator", found.operator_version),
        ("driver upgrade", found.upgrade, "" if found.upgrade == "upgrade-done" else "warn"),
        ("MIG", found.mig, "" if found.mig == "success" else "warn"),
    )


def _holder(info: DeviceInfo, claim: ResourceClaim, result: AllocationResult) -> Line:
    return (
        Cell(f"{claim.namespace}/{claim.name}  "),
        Cell(f"request {result.request}  ", "dim"),
        Cell(_share(result.share_id)),
        Cell("  ".join(said for t in info.taints if (said := tolerance(result, t.taint))), "dim"),
    )


def _happened(cluster: Cluster, device: DeviceId, now: float) -> Iterable[Line]:
    return (change_line(cluster, change, now) for change in islice(device_history(cluster, device), _HISTORY))


def _from(rule: str) -> str:
    return f"rule {rule}" if rule else "from the driver"


def _share(share_id: str | None) -> str:
    return f"share {share_id}" if share_id else ""


VIEW = DevicesView()
