"""Why a pod outside any gang waits: it is looked at as a gang of one, so causes and words are the same."""

from __future__ import annotations

from ktui.cluster.gangs import Gang, GangState, pod_scheduled
from ktui.cluster.preemption import preempted
from ktui.cluster.state import Cluster
from ktui.diagnose.diagnosis import Diagnosis, Evidence
from ktui.diagnose.gang import Tried, conclude, look_at
from ktui.diagnose.supply import Supply
from ktui.diagnose.verdict import judge
from ktui.model.pod import Pod
from ktui.model.podstatus import status_word
from ktui.model.time import parse_time


def diagnose_pod(supply: Supply, pod: Pod) -> Diagnosis:
    """The diagnosis of one pod outside a gang, with what nodes and devices are now."""
    found = look_at_pod(supply.cluster, pod)
    return found if isinstance(found, Diagnosis) else conclude(found, judge(supply, found.demand, found.named))


def look_at_pod(cluster: Cluster, pod: Pod) -> Diagnosis | Tried:
    """What the pod's own objects say, as `look_at` does of a gang."""
    victims = _victims(cluster, pod)
    found = alone(pod)
    if found.state != "Pending":
        return Diagnosis(found.state, None, status_word(pod))
    return _preempting(victims) if victims else look_at(cluster, found)


def alone(pod: Pod) -> Gang:
    """The pod as a gang of one."""
    bound = bool(pod.spec.node_name) and not pod.finished and pod.metadata.deletion_timestamp is None
    phase = pod.status.phase
    return Gang(
        key=pod.key,
        group=None,
        workload=None,
        min_count=1,
        members=(pod,),
        active=int(not pod.finished),
        bound=int(bound),
        running=int(bound and phase == "Running"),
        succeeded=int(phase == "Succeeded"),
        failed=int(phase == "Failed"),
        state=_state(pod),
    )


def _state(pod: Pod) -> GangState:
    match pod.status.phase:
        case "Succeeded":
            return "Completed"
        case "Failed":
            return "Failed"
    if pod.metadata.deletion_timestamp is not None:
        return "Deleting"
    if pod.spec.node_name:
        return "Running" if pod.status.phase == "Running" else "Scheduling"
    return "Pending"


def _victims(cluster: Cluster, pod: Pod) -> list[Pod]:
    """The pods that are on their way out for this one. A nominated node alone does not tell: it is also written while a binding
    waits for something else (KEP-5278)."""
    refused = pod_scheduled(pod)
    node = pod.status.nominated_node_name
    if not node or pod.spec.node_name or refused is None or refused.status != "False":
        return []
    on_node = (found for key in cluster.pods_by_node[node] if (found := cluster.pod(key)) is not None)
    return sorted(
        (p for p in on_node if p.metadata.deletion_timestamp and preempted(p) is not None), key=lambda p: p.key
    )


def _preempting(victims: list[Pod]) -> Diagnosis:
    text = f"waiting for {len(victims)} victim{'s' if len(victims) != 1 else ''} of preemption to go"
    evidence = tuple(
        Evidence("Pod", p.namespace, p.name, "is being deleted for it", parse_time(p.metadata.deletion_timestamp))
        for p in victims[:3]
    )
    return Diagnosis("Preempting", "WaitingForPreemption", text, {"victims": len(victims)}, evidence)
