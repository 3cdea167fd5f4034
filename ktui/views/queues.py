"""The queue of a gang of Kueue or Volcano: what its detail shows, and its part of the gang's JSON."""

from __future__ import annotations

from collections.abc import Iterator

from ktui.cluster.beside import Beside, cluster_queue, local_queue, place
from ktui.cluster.state import Cluster
from ktui.diagnose.queueing import quotas_text
from ktui.model.kueue import AdmissionCheckState, KueueAdmissionCheck, KueueResourceFlavor, KueueWorkload
from ktui.model.time import format_age, parse_time
from ktui.model.volcano import VolcanoPodGroup, VolcanoQueue
from ktui.views.base import Document, Line, Style, pairs

_RUNNING = "None"  # a stop policy that stops nothing


def queue_lines(cluster: Cluster, found: Beside, now: float) -> tuple[Line, ...]:
    """Where it queues up, what is ahead of it, what it was given."""
    return _volcano(cluster, found) if isinstance(found, VolcanoPodGroup) else _kueue(cluster, found, now)


def queue_document(cluster: Cluster, found: Beside) -> Document:
    """`position`: how many come before it, null when it does not wait or that is not known."""
    where = place(cluster, found)
    document: Document = {
        "name": where.name or None,
        "clusterQueue": where.cluster_queue or None,
        "position": where.position,
        "flavors": list(where.flavors),
    }
    if isinstance(found, VolcanoPodGroup):
        return {**document, "phase": found.status.phase, "admissionChecks": [], "requeues": None, "cluster": None}
    requeue = found.status.requeue_state
    return {
        **document,
        "phase": None,
        "admissionChecks": [
            {"name": check.name, "state": check.state or None, "message": check.message or None}
            for check in found.status.admission_checks or ()
        ],
        "requeues": requeue.count if requeue else None,
        "cluster": found.status.cluster_name,
    }


def _kueue(cluster: Cluster, found: KueueWorkload, now: float) -> tuple[Line, ...]:
    where = place(cluster, found)
    behind = cluster_queue(cluster, where.cluster_queue)
    local = local_queue(cluster, found)
    requeue = found.status.requeue_state
    tries = f"{requeue.count} times" if requeue is not None and requeue.count else ""
    again = _next_try(requeue.requeue_at if requeue else None, now)
    policies = [queue.spec.stop_policy for queue in (local, behind) if queue is not None]
    stopped = next((policy for policy in policies if policy not in (None, "", _RUNNING)), "")
    return pairs(
        ("queue", where.name),
        ("cluster queue", where.cluster_queue),
        ("before it", where.position),
        ("flavors", ", ".join(_flavor(cluster, name) for name in where.flavors)),
        ("quota", quotas_text(behind) if behind is not None else ""),
        ("cohort", behind.cohort if behind is not None else ""),
        ("stopped", stopped, "warn"),
        *_checks(cluster, found),
        ("requeued", ", ".join(text for text in (tries, again) if text)),
        ("runs on", found.status.cluster_name),
        ("tried on", ", ".join(found.status.nominated_cluster_names or ())),
    )


def _checks(cluster: Cluster, found: KueueWorkload) -> Iterator[tuple[str, object, Style]]:
    for check in found.status.admission_checks or ():
        style: Style = "ok" if check.state == "Ready" else "warn"
        yield "check", _check(cluster, check), style


def _check(cluster: Cluster, check: AdmissionCheckState) -> str:
    known = cluster.stores["KueueAdmissionCheck"].get(("", check.name))
    controller = f" by {known.spec.controller_name}" if isinstance(known, KueueAdmissionCheck) else ""
    return f"{check.name} {check.state}{controller}{f': {check.message}' if check.message else ''}"


def _flavor(cluster: Cluster, name: str) -> str:
    """With the labels of the nodes that it stands for."""
    known = cluster.stores["KueueResourceFlavor"].get(("", name))
    labels = (known.spec.node_labels or {}) if isinstance(known, KueueResourceFlavor) else {}
    return f"{name} ({', '.join(f'{key}={value}' for key, value in sorted(labels.items()))})" if labels else name


def _next_try(text: str | None, now: float) -> str:
    """When Kueue puts it into the queue again."""
    at = parse_time(text)
    if at is None:
        return ""
    return f"next try in {format_age(at - now)}" if at > now else f"next try due since {format_age(now - at)}"


def _volcano(cluster: Cluster, found: VolcanoPodGroup) -> tuple[Line, ...]:
    queue = cluster.stores["VolcanoQueue"].get(("", found.queue))
    known = queue if isinstance(queue, VolcanoQueue) else None
    capability = (known.spec.capability or {}) if known else {}
    allocated = (known.status.allocated or {}) if known else {}
    return pairs(
        ("queue", found.queue),
        ("queue state", known.status.state if known else ""),
        ("phase", found.status.phase),
        (
            "quota",
            ", ".join(f"{name} {allocated.get(name, 0)} of {amount}" for name, amount in sorted(capability.items())),
        ),
    )
