"""What is used, in words: CPU and memory of pods, containers and nodes (metrics.k8s.io), and GPUs (DCGM exporters).

A figure that nobody told is an empty cell, `null` in JSON, and no line: never a zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Final

from ktui.cluster.state import Cluster
from ktui.cluster.usage import age_if_old, exporter_of, gpu_usage, measured_age
from ktui.model.node import Node
from ktui.model.pod import Container, Pod, Quantities
from ktui.model.quantity import format_bytes, parse_quantity
from ktui.model.resourceslice import DeviceId
from ktui.model.time import format_age, format_time
from ktui.model.usage import Amounts, GpuUsage, Measured
from ktui.views.base import Cell, Document, Line, RowKey, SortValue, Style
from ktui.views.shared import as_key

UNKNOWN: Final = -1.0
"""Where a figure is sorted that is not there: below all of them."""
_FULL: Final = Decimal("0.9")
"""Share of a memory limit from which on the figure is pointed out: at the limit the container is killed."""


def format_cpu(cores: Decimal | int) -> str:
    """As kubectl writes it below one core: "250m"; then cores: "1.5", "96"."""
    if cores < 1:
        return f"{int(Decimal(cores) * 1000)}m"
    return f"{Decimal(cores):.1f}".removesuffix(".0")


def amounts_cells(amounts: Amounts | None) -> tuple[Cell, Cell]:
    """CPU and memory."""
    if amounts is None:
        return (Cell(""), Cell(""))
    cpu = format_cpu(amounts.cpu) if amounts.cpu is not None else ""
    return (Cell(cpu), Cell(format_bytes(amounts.memory) if amounts.memory is not None else ""))


def amounts_sort(amounts: Amounts | None) -> tuple[SortValue, SortValue]:
    return (_sort(amounts.cpu if amounts else None), _sort(amounts.memory if amounts else None))


def gpu_cells(usage: GpuUsage | None) -> tuple[Cell, Cell, Cell, Cell]:
    """Utilization, memory used, temperature, Xid errors."""
    if usage is None:
        return (Cell(""), Cell(""), Cell(""), Cell(""))
    busy = f"{usage.busy:.0f}%" if usage.busy is not None else ""
    memory = format_bytes(usage.memory_used) if usage.memory_used is not None else ""
    heat = f"{usage.temperature:.0f}C" if usage.temperature is not None else ""
    return (Cell(busy), Cell(memory), Cell(heat), xid_cell(usage))


def gpu_sort(usage: GpuUsage | None) -> tuple[SortValue, SortValue, SortValue, SortValue]:
    if usage is None:
        return (UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN)
    errors = sum(count for _, count in usage.recent_xids) or (0.5 if usage.last_xid else 0.0)
    return (_sort(usage.busy), _sort(usage.memory_used), _sort(usage.temperature), errors)


def xid_cell(usage: GpuUsage) -> Cell:
    """Those of the exporter's window are bad; the last one stands in brackets: nobody tells when it was."""
    if usage.recent_xids:
        return Cell(" ".join(str(number) for number, _ in usage.recent_xids), "bad")
    return Cell(f"({usage.last_xid})", "warn") if usage.last_xid else Cell("")


FLEET_WIDTH: Final = 18
"""Of the figures of several devices: columns of 4, 8 and 4 cells."""


def fleet_cells(cluster: Cluster, node: str, devices: Iterable[DeviceId]) -> tuple[Cell, ...]:
    """Of several devices of a node: how busy they are on average, their memory together and the hottest, as one cell of a fixed
    width; then Xid errors. () where nothing is told."""
    found = [(device, usage) for device in devices if (usage := gpu_usage(cluster, node, device)) is not None]
    busy = [usage.busy for _, usage in found if usage.busy is not None]
    used = [usage.memory_used for _, usage in found if usage.memory_used is not None]
    heat = [usage.temperature for _, usage in found if usage.temperature is not None]
    words = (
        f"{sum(busy) / len(busy):.0f}%" if busy else "",
        format_bytes(sum(used)) if used else "",
        f"{max(heat):.0f}C" if heat else "",
    )
    shown = "{:>4} {:>8} {:>4}".format(*words) if any(words) else ""
    errors = ((device, xid_cell(usage)) for device, usage in found)
    bad = tuple(Cell(f"{device[2]} Xid {cell.text}", "bad") for device, cell in errors if cell.style == "bad")
    return (Cell(shown, "dim"), *bad) if shown or bad else ()


def pod_lines(cluster: Cluster, pod: Pod, now: float) -> Iterable[Line]:
    """Of each container that runs, against what it asked for and may have; then the pod's node."""
    usage = cluster.usage.pod(pod.key)
    if usage is not None:
        declared = {c.name: c for c in (*(pod.spec.init_containers or ()), *(pod.spec.containers or ()))}
        for container in usage.containers or ():
            yield (Cell(f"{container.name:<13} ", "accent"), *_against(container.amounts, declared.get(container.name)))
        yield from _age(usage, now)
    elif cluster.usage.version and not cluster.usage.trouble and not pod.finished and pod.spec.node_name:
        yield (Cell("not measured yet", "dim"),)
    if cluster.usage.trouble:
        yield (Cell(cluster.usage.trouble, "warn"),)


def node_lines(cluster: Cluster, name: str, now: float) -> Iterable[Line]:
    """Of a node, against what it has to give."""
    usage = cluster.usage.node(name)
    node = cluster.stores["Node"].get(("", name))
    if usage is None:
        return
    allocatable = (node.status.allocatable or {}) if isinstance(node, Node) else {}
    yield (Cell(f"{'uses':<13} ", "dim"), *_of(usage.amounts, allocatable))
    yield from _age(usage, now)


def gpu_lines(cluster: Cluster, node: str, device: DeviceId, now: float) -> Iterable[Line]:
    """Of a device; why there is nothing, where an exporter is there."""
    usage = gpu_usage(cluster, node, device)
    if usage is not None:
        yield from _gpu(usage)
        found = cluster.usage.gpus(node)
        age = age_if_old(found.at if found else None, None, now)
        if age is not None:
            yield (Cell(f"{'as of':<13} ", "dim"), Cell(f"{format_age(age)} ago", "warn"))
    elif exporter_of(cluster, node) is not None and cluster.usage.gpus(node) is not None:
        yield (Cell("the DCGM exporter on the node names no device that is certainly this one", "dim"),)
    if trouble := cluster.usage.gpu_trouble.get(node):
        yield (Cell(trouble, "warn"),)


def gpu_line(cluster: Cluster, node: str, device: DeviceId) -> Line:
    """The same in a few words, () where nothing is known."""
    usage = gpu_usage(cluster, node, device)
    if usage is None:
        return ()
    busy, memory, heat, errors = gpu_cells(usage)
    total = f" of {format_bytes(usage.memory_total)}" if usage.memory_total and memory.text else ""
    words = (busy.text, f"{memory.text}{total}" if memory.text else "", heat.text)
    line = (Cell(" · ".join(word for word in words if word)),)
    return (*line, Cell(f"  Xid {errors.text}", errors.style)) if errors.text else line


def trouble(cluster: Cluster, view: str, rows: Iterable[RowKey], nodes: Iterable[str], now: float) -> str:
    """Why a view's figures are missing, and how old they are where they are old, "" where all is well; `rows` and `nodes` are
    those on the screen."""
    usage = cluster.usage
    ages: list[float | None] = []
    said = ""
    if view == "pods":
        said = usage.trouble
        ages = [measured_age(found, now) for key in rows if (found := usage.pod(as_key(key))) is not None]
    elif view == "devices":
        found_on = list(nodes)
        said = next((words for node in found_on if (words := usage.gpu_trouble.get(node))), "")
        ages = [age_if_old(gpus.at, None, now) for node in found_on if (gpus := usage.gpus(node)) is not None]
    oldest = max((age for age in ages if age is not None), default=None)
    old = f"figures from {format_age(oldest)} ago" if oldest is not None else ""
    return "; ".join(part for part in (said, old) if part)


def pod_document(cluster: Cluster, pod: Pod) -> Document | None:
    usage = cluster.usage.pod(pod.key)
    if usage is None:
        return None
    return {
        **_amounts_document(usage.amounts),
        "window": usage.seconds,
        "timestamp": usage.timestamp,
        "containers": [{"name": c.name, **_amounts_document(c.amounts)} for c in usage.containers or ()],
    }


def gpu_document(cluster: Cluster, node: str, device: DeviceId) -> Document | None:
    usage = gpu_usage(cluster, node, device)
    found = cluster.usage.gpus(node)
    if usage is None or found is None:
        return None
    return {
        "utilization": usage.utilization,
        "engineActive": usage.engine_active,
        "memoryUsed": usage.memory_used,
        "memoryTotal": usage.memory_total,
        "temperature": usage.temperature,
        "power": usage.power,
        "lastXid": usage.last_xid,
        "recentXids": [{"xid": number, "count": count} for number, count in usage.recent_xids],
        "timestamp": format_time(found.at),
    }


def _gpu(usage: GpuUsage) -> Iterable[Line]:
    def line(name: str, text: str, style: Style = "") -> Line:
        return (Cell(f"{name:<13} ", "dim"), Cell(text, style))

    if usage.utilization is not None:
        yield line("utilization", f"{usage.utilization:.0f}%")
    if usage.engine_active is not None:
        yield line("engine active", f"{usage.engine_active:.0f}% of the time")
    if usage.memory_used is not None:
        total = f" of {format_bytes(usage.memory_total)}" if usage.memory_total is not None else ""
        yield line("memory", f"{format_bytes(usage.memory_used)}{total}")
    if usage.temperature is not None:
        yield line("temperature", f"{usage.temperature:.0f} C")
    if usage.power is not None:
        yield line("power", f"{usage.power:.0f} W")
    for number, count in usage.recent_xids:
        yield line("Xid errors", f"{count} of number {number} in the exporter's window", "bad")
    if usage.last_xid:
        yield line("last Xid", f"{usage.last_xid}; when is not told", "bad" if usage.recent_xids else "warn")
    if usage.instance:
        yield line("MIG instance", f"{usage.instance} of {usage.uuid}")


def _against(amounts: Amounts, container: Container | None) -> Iterable[Cell]:
    resources = container.resources if container else None
    requests = (resources.requests if resources else None) or {}
    limits = (resources.limits if resources else None) or {}
    limit = parse_quantity(limits.get("memory"))
    full = amounts.memory is not None and limit is not None and amounts.memory > limit * _FULL
    if amounts.cpu is not None:
        yield Cell(f"CPU {format_cpu(amounts.cpu)}")
        yield Cell(_asked(requests.get("cpu"), limits.get("cpu")), "dim")
    if amounts.memory is not None:
        yield Cell(f"  memory {format_bytes(amounts.memory)}", "warn" if full else "")
        yield Cell(_asked(requests.get("memory"), limits.get("memory")), "dim")


def _asked(request: str | float | None, limit: str | float | None) -> str:
    parts = (f"{request} requested" if request is not None else "", f"limit {limit}" if limit is not None else "")
    return f" ({', '.join(part for part in parts if part)})" if any(parts) else ""


def _of(amounts: Amounts, allocatable: Quantities) -> Iterable[Cell]:
    cpu, memory = (parse_quantity(allocatable.get(name)) for name in ("cpu", "memory"))
    if amounts.cpu is not None:
        yield Cell(f"CPU {format_cpu(amounts.cpu)}")
        yield Cell(f" of {format_cpu(cpu)}" if cpu is not None else "", "dim")
    if amounts.memory is not None:
        yield Cell(f"  memory {format_bytes(amounts.memory)}")
        yield Cell(f" of {format_bytes(memory)}" if memory is not None else "", "dim")


def _age(usage: Measured, now: float) -> Iterable[Line]:
    if (age := measured_age(usage, now)) is not None:
        yield (Cell(f"{'as of':<13} ", "dim"), Cell(f"{format_age(age)} ago", "warn"))


def _amounts_document(amounts: Amounts) -> Document:
    return {
        "cpu": float(amounts.cpu) if amounts.cpu is not None else None,
        "memory": int(amounts.memory) if amounts.memory is not None else None,
    }


def _sort(figure: Decimal | float | None) -> float:
    return float(figure) if figure is not None else UNKNOWN
