"""Gangs: which are pending, degraded, running, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar, Final, Literal

from ktui.cluster.allocation import devices_of, group_claims
from ktui.cluster.beside import twins
from ktui.cluster.gangs import (
    Gang,
    GangState,
    display_name,
    gang,
    gang_keys,
    plain_names,
    pod_scheduled,
    scheduled_condition,
)
from ktui.cluster.sources import object_key
from ktui.cluster.state import Cluster
from ktui.diagnose.beyond import waiting_beyond
from ktui.diagnose.diagnoses import diagnoses_of
from ktui.diagnose.diagnosis import Diagnosis
from ktui.diagnose.gang import troubles
from ktui.model.kueue import KueueWorkload
from ktui.model.meta import Key
from ktui.model.pod import Pod
from ktui.model.podstatus import status_word
from ktui.model.time import format_age, parse_time
from ktui.views.base import Cell, Column, Document, Line, Place, Row, RowKey, Section, SortValue, Style, pairs
from ktui.views.beyond import beyond_documents, beyond_lines
from ktui.views.claims import claim_state
from ktui.views.preemption import gang_preemption, gang_preemption_document
from ktui.views.queues import queue_document, queue_lines
from ktui.views.shared import as_key, device_full, device_text, owner_text, pod_style, time_text

STYLES: Final[dict[GangState, Style]] = {
    "Pending": "warn",
    "Scheduling": "accent",
    "Running": "ok",
    "Degraded": "bad",
    "Preempting": "warn",
    "Completed": "dim",
    "Failed": "bad",
    "Deleting": "dim",
    "Unknown": "warn",
}
WORST_FIRST: Final[tuple[GangState, ...]] = (
    "Degraded",
    "Failed",
    "Pending",
    "Preempting",
    "Unknown",
    "Scheduling",
    "Deleting",
    "Running",
    "Completed",
)
_DISRUPTION: Final = {"all": "all pods together", "single": "pod by pod"}
PROBLEMS: Final = frozenset(("Pending", "Degraded", "Preempting", "Failed", "Unknown"))


class GangsView:
    id: Final = "gangs"
    title = "Gangs"
    order = "state"
    kinds = ("Pod",)
    joins = (
        "PodGroup",
        "Workload",
        "ResourceClaim",
        "ResourceClaimTemplate",
        "ResourceSlice",
        "DeviceClass",
        "DeviceTaintRule",
        "Node",
        "Event",
        "KueueWorkload",
        "KueueLocalQueue",
        "KueueClusterQueue",
        "KueueResourceFlavor",
        "KueueAdmissionCheck",
        "VolcanoPodGroup",
        "VolcanoQueue",
    )
    makers = ("PodGroup", "Workload", "KueueWorkload", "VolcanoPodGroup")
    unseen = ()
    labelled = named = ""
    columns = (
        Column("namespace", "NAMESPACE", 9, 1, priority=4),
        Column("gang", "GANG", 14, 3, priority=9),
        Column("state", "STATE", 10, 0, priority=8),
        Column("pods", "PODS", 9, 0, priority=7),
        Column("devices", "DEV", 4, 0, priority=2, kind="number"),
        Column("age", "AGE", 6, 0, priority=3, kind="age"),
        Column("why", "WHY", 30, 6, priority=6),
    )

    places: ClassVar[Mapping[str, Callable[[Cluster, Gang], SortValue]]] = {
        "namespace": lambda _, found: found.key[0],
        "gang": lambda cluster, found: display_name(cluster, found.key),
        "state": lambda _, found: WORST_FIRST.index(found.state),
        "pods": lambda _, found: found.running / found.needed,
        "age": lambda _, found: -(found.created or 0.0),
    }

    def keys(self, cluster: Cluster) -> Iterable[Key]:
        return sorted(gang_keys(cluster))

    def keys_unsorted(self, cluster: Cluster) -> Iterable[Key]:
        return list(gang_keys(cluster))

    def place(self, cluster: Cluster, key: RowKey, column: str) -> Place | None:
        found = gang(cluster, as_key(key))
        if found is None:
            return None
        return Place(self.places[column](cluster, found), _uid(found), found.key[0])

    def row(self, cluster: Cluster, key: RowKey) -> Row | None:
        found = gang(cluster, as_key(key))
        if found is None:
            return None
        diagnosis = diagnoses_of(cluster).at(found.key)
        name = display_name(cluster, found.key)
        devices = count_devices(cluster, found)
        problem = found.state in PROBLEMS or bool(troubles(found))
        why = diagnosis.message if problem else ""
        style = STYLES.get(found.state, "")
        cells = (
            Cell(found.key[0]),
            Cell(name),
            Cell(found.state, style),
            Cell(f"{found.running} of {found.wanted_text}", "" if found.running >= found.needed else style),
            Cell(str(devices), "dim" if not devices else ""),
            Cell("", "dim"),
            Cell(why, "bad" if found.state == "Degraded" or found.state not in PROBLEMS else ""),
        )
        created = found.created
        sort = (
            found.key[0],
            name,
            WORST_FIRST.index(found.state),
            found.running / found.needed,
            devices,
            -(created or 0.0),
            why,
        )
        return Row(
            key=found.key,
            cells=cells,
            sort=sort,
            uid=_uid(found),
            namespace=found.key[0],
            since=created,
            problem=problem,
        )

    def names(self, cluster: Cluster, key: RowKey) -> tuple[str, ...]:
        found = gang(cluster, as_key(key))
        if found is None:
            return ()
        if found.beside is not None:
            return (*plain_names(cluster, found.key), display_name(cluster, found.key))
        workload = (found.workload.name,) if found.workload else ()
        return (found.key[1], display_name(cluster, found.key), *workload)

    def labels(self, cluster: Cluster, key: RowKey) -> dict[str, str]:
        found = gang(cluster, as_key(key))
        owner = found.object if found else None
        return (owner.metadata.labels or {}) if owner else {}

    def detail(self, cluster: Cluster, key: RowKey, now: float) -> tuple[Section, ...]:
        found = gang(cluster, as_key(key))
        if found is None:
            return ()
        diagnosis = diagnoses_of(cluster).at(found.key)
        group = found.group
        priority, priority_class = _priority(found)
        about = pairs(
            ("state", found.state, STYLES.get(found.state, "")),
            ("cause", diagnosis.cause),
            ("pods", f"{found.running} run, {found.bound} on a node, {found.active} active, {found.needed} needed"),
            ("source", found.source if found.beside else ""),
            ("group", object_key(found.key)[1]),
            ("same pods", ", ".join(display_name(cluster, twin) for twin in twins(cluster, found.key))),
            ("owner", owner_text(found.object)),
            ("workload", found.workload.name if found.workload else ""),
            ("priority", priority),
            ("class", priority_class),
            ("disruption", _DISRUPTION.get(mode, "") if (mode := _disruption_mode(found)) else ""),
            ("preempts", "nobody" if group and group.spec.preemption_policy == "Never" else ""),
            ("created", time_text(found.created, now)),
        )
        sections = [Section(diagnosis.message or found.state, about)]
        if found.beside is not None:
            sections.append(Section("Queue", queue_lines(cluster, found.beside, now)))
        sections.append(Section("Preemption", gang_preemption(cluster, found, now)))
        waiting = waiting_beyond(diagnoses_of(cluster).supply, found)
        sections.append(Section("Beyond minCount", tuple(beyond_lines(waiting))))
        sections.append(Section("Evidence", tuple(_evidence(diagnosis, now))))
        if group is not None and (shared := tuple(_shared(cluster, found))):
            sections.append(Section("Shared claims", shared))
        sections.append(
            Section(f"Pods ({len(found.members)})", tuple(_member(cluster, pod, now) for pod in found.members))
        )
        return tuple(section for section in sections if section.lines)

    def item(self, cluster: Cluster, key: RowKey) -> Document | None:
        found = gang(cluster, as_key(key))
        if found is None:
            return None
        diagnosis = diagnoses_of(cluster).at(found.key)
        placed = scheduled_condition(found.group)
        maker = found.group or found.beside
        owner = maker.metadata.controller if maker else None
        return {
            "namespace": found.key[0],
            "name": object_key(found.key)[1],
            "source": found.source,
            "owner": {"kind": owner.kind, "name": owner.name} if owner else None,
            "workload": found.workload.name if found.workload else None,
            "state": found.state,
            "cause": diagnosis.cause,
            "message": diagnosis.message,
            "facts": diagnosis.facts,
            "minCount": found.min_count,
            "waitingBeyond": beyond_documents(waiting_beyond(diagnoses_of(cluster).supply, found)),
            "pods": {
                "total": len(found.members),
                "scheduled": found.bound + found.succeeded,
                "running": found.running,
                "succeeded": found.succeeded,
                "failed": found.failed,
                "names": [pod.name for pod in found.members],
            },
            "devices": count_devices(cluster, found),
            "sharedClaims": _shared_documents(cluster, found),
            "priority": _priority(found)[0],
            "priorityClass": _priority(found)[1],
            "preemptionPolicy": found.group.spec.preemption_policy if found.group else None,
            "disruptionMode": _disruption_mode(found),
            "preemption": gang_preemption_document(cluster, found),
            "queue": queue_document(cluster, found.beside) if found.beside else None,
            "samePods": [object_key(twin)[1] for twin in twins(cluster, found.key)],
            "condition": {"status": placed.status, "reason": placed.reason, "message": placed.message}
            if placed
            else None,
        }


def _uid(found: Gang) -> str:
    owner = found.object
    return f"{owner.metadata.uid}/{found.key[1]}" if owner else f"name:{found.key}"


def count_devices(cluster: Cluster, found: Gang) -> int:
    """How many different devices the gang's pods have."""
    return len(
        {use.device for pod in found.members if not pod.finished for c in devices_of(cluster, pod) for use in c.devices}
    )


def _priority(found: Gang) -> tuple[int | None, str | None]:
    """The priority and the name of its class, as far as an object says them."""
    if isinstance(found.beside, KueueWorkload):
        return found.beside.spec.priority, found.beside.priority_class
    if found.beside is not None:
        return None, found.beside.spec.priority_class_name
    return (found.group.spec.priority, found.group.spec.priority_class_name) if found.group else (None, None)


def _disruption_mode(found: Gang) -> Literal["all", "single"] | None:
    """As the group says it; None where it says nothing, or something else."""
    mode = found.group.spec.disruption_mode if found.group else None
    return mode.variant if mode else None


def _evidence(diagnosis: Diagnosis, now: float) -> Iterable[Line]:
    for item in diagnosis.evidence:
        age = f"  {format_age(now - item.since)} ago" if item.since is not None else ""
        yield (Cell(f"{item.kind} {item.name}{age}", "dim"),)
        yield (Cell(f"  {item.text}"),)


def _shared(cluster: Cluster, found: Gang) -> Iterable[Line]:
    if found.group is None:
        return
    for entry, key, claim in group_claims(cluster, found.group):
        devices = ", ".join(device_text(result.id) for result in claim.results) if claim else "not created yet"
        template = entry.resource_claim_template_name
        yield (
            Cell(f"{entry.name}  ", "dim"),
            Cell(key[1]),
            Cell(f"  {devices or 'pending'}", "" if devices and claim else "warn"),
            Cell(f"  from template {template}" if template else "", "dim"),
        )


def _shared_documents(cluster: Cluster, found: Gang) -> list[Document]:
    return [
        {
            "name": entry.name,
            "claim": key[1] or None,
            "template": entry.resource_claim_template_name,
            "state": claim_state(claim) if claim else None,
            "devices": [device_full(result.id) for result in claim.results] if claim else [],
        }
        for entry, key, claim in (group_claims(cluster, found.group) if found.group else ())
    ]


def _member(cluster: Cluster, pod: Pod, now: float) -> Line:
    devices = " ".join(device_text(use.device) for c in devices_of(cluster, pod) for use in c.devices)
    scheduled = pod_scheduled(pod)
    said = (scheduled.message or "") if scheduled is not None and scheduled.status == "False" else ""
    created = parse_time(pod.metadata.creation_timestamp)
    age = format_age(now - created) if created is not None else ""
    return (
        Cell(f"{pod.name}  "),
        Cell(f"{status_word(pod)}  ", pod_style(pod)),
        Cell(f"{age}  ", "dim"),
        Cell(f"{pod.spec.node_name or ''}  "),
        Cell(devices or said, "" if devices else "warn"),
    )


VIEW = GangsView()
