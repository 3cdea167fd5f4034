"""Pods: what each container got."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Final

from ktui.cluster.allocation import ContainerDevices, DeviceUse, devices_of, reserved_for
from ktui.cluster.extended import counted_text
from ktui.cluster.health import Health, pod_health
from ktui.cluster.joins import pod_group
from ktui.cluster.sources import gang_source, object_key
from ktui.cluster.state import Cluster
from ktui.cluster.taints import EffectiveTaint, taints_of, worst
from ktui.diagnose.diagnoses import diagnoses_of
from ktui.diagnose.pods import diagnose_pod
from ktui.model.pod import RESIZE_IN_PROGRESS, RESIZE_PENDING, Pod
from ktui.model.podqos import qos_class
from ktui.model.podstatus import status_word
from ktui.model.resourceslice import DeviceId
from ktui.model.time import format_age, parse_time
from ktui.model.usage import Amounts
from ktui.views.base import Cell, Column, Document, Line, Row, RowKey, Section, Style, pairs
from ktui.views.events import event_lines
from ktui.views.extended import extended_documents, extended_lines, reported_documents, silence
from ktui.views.placement import placement_document, placement_lines
from ktui.views.podresources import (
    container_documents,
    memory_document,
    memory_lines,
    resize_document,
    resize_sign,
    resource_lines,
    whole_document,
)
from ktui.views.preemption import pod_preemption, pod_preemption_document
from ktui.views.shared import (
    OBJECT_KINDS,
    ObjectsView,
    as_key,
    device_full,
    device_text,
    gangs_of,
    newest_first,
    owner_text,
    pod_style,
    time_text,
)
from ktui.views.taints import taint_document
from ktui.views.usage import amounts_cells, amounts_sort, gpu_line, node_lines, pod_document, pod_lines

_BAD_NEWS: Final = ("DisruptionTarget", RESIZE_PENDING, RESIZE_IN_PROGRESS)
"""Conditions of a pod that are no good news when they are True."""


def _status(pod: Pod) -> Cell:
    """Of a pod that runs, that its resize is stuck."""
    word = status_word(pod)
    sign, style = resize_sign(pod) if word == "Running" else ("", "")
    return Cell(sign or word, style or pod_style(pod))


def _gang(cluster: Cluster, pod: Pod) -> str:
    return next(iter(gangs_of(cluster, pod)), "")


def _used(cluster: Cluster, pod: Pod) -> Amounts | None:
    usage = cluster.usage.pod(pod.key)
    return usage.amounts if usage is not None else None


class PodsView(ObjectsView):
    id: Final = "pods"
    title = "Pods"
    order = "namespace"
    kind = OBJECT_KINDS["pods"]
    kinds = ("Pod",)
    joins = (
        "ResourceClaim",
        "ResourceSlice",
        "DeviceTaintRule",
        "PodGroup",
        "Node",
        "Event",
        "KueueWorkload",
        "VolcanoPodGroup",
    )
    unseen = ("Node", "Event")
    columns = (
        Column("namespace", "NAMESPACE", 9, 1, priority=4),
        Column("pod", "POD", 18, 4, priority=9),
        Column("status", "STATUS", 11, 1, priority=8),
        Column("node", "NODE", 10, 2, priority=6),
        Column("gang", "GANG", 10, 2, priority=3),
        Column("age", "AGE", 6, 0, priority=5, kind="age"),
        Column("cpu", "CPU", 5, 0, priority=2, kind="number", needs="metrics"),
        Column("memory", "MEM", 7, 0, priority=2, kind="number", needs="metrics"),
        Column("devices", "DEVICES", 16, 4, priority=7),
    )

    places: ClassVar = {
        "namespace": lambda _, pod: pod.namespace,
        "pod": lambda _, pod: pod.name,
        "status": lambda _, pod: _status(pod).text,
        "node": lambda _, pod: pod.spec.node_name or "",
        "gang": _gang,
        "age": lambda _, pod: newest_first(pod),
        "cpu": lambda cluster, pod: amounts_sort(_used(cluster, pod))[0],
        "memory": lambda cluster, pod: amounts_sort(_used(cluster, pod))[1],
    }

    def row(self, cluster: Cluster, key: RowKey) -> Row | None:
        pod = cluster.pod(as_key(key))
        if pod is None:
            return None
        found = devices_of(cluster, pod)
        devices = _distinct(found)
        taints = [t for device in devices if (t := worst(taints_of(cluster, device))) is not None]
        bad = any(t.effect == "NoExecute" for t in taints)
        health = pod_health(cluster, pod, found)
        unhealthy = any(h.health == "Unhealthy" for h in health.values())
        waiting = [f"{name}: {why}" for container in found for name, why in container.waiting]
        shown, style = _devices_cell(
            devices, waiting, counted_text(pod), bad=bad or unhealthy, tainted=any(t.effect != "None" for t in taints)
        )
        status = _status(pod)
        node = pod.spec.node_name or ""
        gang = _gang(cluster, pod)
        used = _used(cluster, pod)
        cells = (
            Cell(pod.namespace),
            Cell(pod.name),
            status,
            Cell(node or "-", "" if node else "dim"),
            Cell(gang, "dim"),
            Cell("", "dim"),
            *amounts_cells(used),
            Cell(shown, style),
        )
        return Row(
            key=pod.key,
            cells=cells,
            sort=(pod.namespace, pod.name, status.text, node, gang, newest_first(pod), *amounts_sort(used), shown),
            uid=pod.metadata.uid,
            namespace=pod.namespace,
            since=parse_time(pod.metadata.creation_timestamp),
            problem=status.text not in ("Running", "Succeeded", "Completed") or bad or unhealthy,
        )

    def detail(self, cluster: Cluster, key: RowKey, now: float) -> tuple[Section, ...]:
        pod = cluster.pod(as_key(key))
        if pod is None:
            return ()
        health = pod_health(cluster, pod)
        about = pairs(
            ("status", status_word(pod), pod_style(pod)),
            ("node", pod.spec.node_name),
            ("gang", ", ".join(gangs_of(cluster, pod))),
            ("owner", owner_text(pod)),
            ("priority", pod.spec.priority),
            ("class", pod.spec.priority_class_name),
            ("preempts", "nobody" if pod.spec.preemption_policy == "Never" else ""),
            ("QoS", qos_class(pod)),
            ("nominated", pod.status.nominated_node_name),
            ("created", time_text(parse_time(pod.metadata.creation_timestamp), now)),
        )
        waits = tuple(_why(cluster, pod)) if not pod.spec.node_name and not pod.finished else ()
        found = devices_of(cluster, pod)
        containers = [line for c in found for line in _container(cluster, pod, c, health)]
        sections = [
            Section(f"Pod {pod.namespace}/{pod.name}", about),
            Section("Why it waits", waits),
            Section("Preemption", pod_preemption(cluster, pod, now)),
            Section("Containers and their devices", tuple(containers)),
            Section("Usage", tuple(pod_lines(cluster, pod, now))),
            Section(f"Node {pod.spec.node_name}", tuple(node_lines(cluster, pod.spec.node_name or "", now))),
            Section("Extended resources", tuple(extended_lines(cluster, pod, found))),
            Section("Resources (request/limit)", tuple(resource_lines(pod, now))),
            Section("Together", tuple(placement_lines(cluster, _distinct(found)))),
            Section("Conditions", tuple(_conditions(pod, now))),
            Section("Events", tuple(event_lines(cluster, pod.metadata.uid, now))),
            Section("Memory QoS, if it is on", tuple(memory_lines(cluster, pod))),
        ]
        return tuple(section for section in sections if section.lines)

    def item(self, cluster: Cluster, key: RowKey) -> Document | None:
        pod = cluster.pod(as_key(key))
        if pod is None:
            return None
        health = pod_health(cluster, pod)
        found = devices_of(cluster, pod)
        resources = container_documents(pod)
        gang = next(iter(pod_group(pod)), None)
        return {
            "namespace": pod.namespace,
            "name": pod.name,
            "phase": pod.status.phase,
            "status": status_word(pod),
            "node": pod.spec.node_name,
            "gang": object_key(gang)[1] if gang else None,
            "gangSource": gang_source(gang) if gang else None,
            "priority": pod.spec.priority,
            "priorityClass": pod.spec.priority_class_name,
            "preemptionPolicy": pod.spec.preemption_policy,
            "preemption": pod_preemption_document(cluster, pod),
            "qosClass": qos_class(pod),
            "resize": resize_document(pod),
            "resources": whole_document(pod),
            "containers": [
                {
                    "name": c.name,
                    "kind": c.kind,
                    "devices": [_device(cluster, pod, use, health) for use in c.devices],
                    "waiting": [{"claim": name, "state": state} for name, state in c.waiting],
                    "reported": reported_documents(pod, c),
                    "resources": resources.get(c.name),
                }
                for c in found
            ],
            "usage": pod_document(cluster, pod),
            "extended": extended_documents(cluster, pod, found),
            "memoryQoS": memory_document(cluster, pod),
            "alignment": placement_document(cluster, _distinct(found)),
        }


def _why(cluster: Cluster, pod: Pod) -> Iterable[Line]:
    """Of a pod without a node. One of a gang waits with it."""
    kept = diagnoses_of(cluster)
    found = next((of_gang for key in pod_group(pod) if (of_gang := kept.of(key)) is not None), None)
    if found is not None and found.state != "Running":
        yield (Cell("with its gang: "), Cell(found.message, "warn"))
    else:
        alone = diagnose_pod(kept.supply, pod)
        yield (Cell("its gang runs without it: " if found else ""), Cell(alone.message, "warn"))
        yield (Cell(alone.cause or alone.state, "dim"),)


def _distinct(found: tuple[ContainerDevices, ...]) -> tuple[DeviceId, ...]:
    return tuple(dict.fromkeys(use.device for container in found for use in container.devices))


def _devices_cell(
    devices: tuple[DeviceId, ...], waiting: list[str], counted: str, *, bad: bool, tainted: bool
) -> tuple[str, Style]:
    if devices:
        text = " ".join(device_text(device) for device in devices)
        mark = " (tainted)" if tainted else " (unhealthy)" if bad else ""
        return text + mark, "bad" if bad else "warn" if tainted else ""
    return (waiting[0], "warn") if waiting else (counted, "dim" if counted else "")


def _container(
    cluster: Cluster, pod: Pod, container: ContainerDevices, health: dict[DeviceId, Health]
) -> Iterable[Line]:
    kind = "" if container.kind == "app" else f" ({container.kind})" if container.kind != "pod" else ""
    yield (Cell(f"{container.name}{kind}", "accent"),)
    for use in container.devices:
        taints = taints_of(cluster, use.device)
        report = health.get(use.device)
        extra = " ".join(
            (*(t.text for t in taints), *((f"{report.health} {report.message}".strip(),) if report else ()))
        )
        style: Style = "bad" if taints or (report and report.health == "Unhealthy") else "dim"
        yield (
            Cell(f"  {device_full(use.device)}  "),
            Cell(f"{use.claim} · {use.result.request}  ", "dim"),
            Cell(extra, style),
        )
        if line := gpu_line(cluster, pod.spec.node_name or "", use.device):
            yield (Cell("    "), *line)
    if note := silence(pod, container):
        yield (Cell(f"  health: {note}", "dim"),)
    for name, state in container.waiting:
        yield (Cell(f"  {name}: {state}", "warn"),)
    if not container.devices and not container.waiting:
        yield (Cell("  no devices", "dim"),)


def _conditions(pod: Pod, now: float) -> Iterable[Line]:
    for c in pod.status.conditions or ():
        since = parse_time(c.last_transition_time)
        age = format_age(now - since) if since is not None else "-"
        good = c.status == ("False" if c.type in _BAD_NEWS else "True")
        text = " ".join(part for part in (c.reason, c.message) if part)
        yield (Cell(f"{age:>6}  ", "dim"), Cell(f"{c.type} {c.status}  ", "" if good else "warn"), Cell(text))


def _device(cluster: Cluster, pod: Pod, use: DeviceUse, health: dict[DeviceId, Health]) -> Document:
    driver, pool, device = use.device
    taints: tuple[EffectiveTaint, ...] = taints_of(cluster, use.device)
    report = health.get(use.device)
    claim = cluster.claim(use.claim_object)
    return {
        "driver": driver,
        "pool": pool,
        "device": device,
        "request": use.result.request,
        "claim": use.claim,
        "claimObject": use.claim_object[1],
        "reserved": claim is not None and reserved_for(pod, claim),
        "shareID": use.result.share_id,
        "adminAccess": bool(use.result.admin_access),
        "health": report.health if report else None,
        "taints": [taint_document(taint) for taint in taints],
    }


VIEW = PodsView()
