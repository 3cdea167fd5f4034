"""What members of a gang wait for that it runs without: those beyond its minCount. The scheduler places them one by one, so each
is looked at as a pod outside any gang."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from ktui.cluster.gangs import Gang, pod_scheduled
from ktui.diagnose.diagnosis import Diagnosis
from ktui.diagnose.pods import diagnose_pod
from ktui.diagnose.supply import Supply
from ktui.model.pod import Pod

_LOOKED_AT = 5  # different words of the scheduler


class Beyond(NamedTuple):
    """Pods that wait for the same, by name. The diagnosis is that of the first of them; None for pods of which too many different
    things were said."""

    pods: tuple[Pod, ...]
    diagnosis: Diagnosis | None


def waiting_beyond(supply: Supply, gang: Gang) -> tuple[Beyond, ...]:
    """By what they wait for, most pods first; () unless the gang runs and some of it waits."""
    if gang.state != "Running":
        return ()
    told: dict[Hashable, list[Pod]] = {}
    for pod in gang.members:
        if not (pod.finished or pod.spec.node_name or pod.metadata.deletion_timestamp is not None):
            told.setdefault(_told(pod), []).append(pod)
    groups = sorted(told.values(), key=len, reverse=True)
    found: dict[str, Beyond] = {}
    for pods in groups[:_LOOKED_AT]:
        diagnosis = diagnose_pod(supply, pods[0])
        alike = found.get(diagnosis.message)
        found[diagnosis.message] = (
            Beyond((*alike.pods, *pods), alike.diagnosis) if alike else Beyond(tuple(pods), diagnosis)
        )
    rest = tuple(pod for pods in groups[_LOOKED_AT:] for pod in pods)
    looked_at = sorted(found.values(), key=lambda each: -len(each.pods))
    return (*looked_at, Beyond(rest, None)) if rest else tuple(looked_at)


def _told(pod: Pod) -> Hashable:
    """What was said of the pod, and what holds it back before the scheduler looks at it."""
    refused = pod_scheduled(pod)
    return (refused.message if refused else None, pod.spec.scheduling_gates, pod.spec.scheduler_name)
