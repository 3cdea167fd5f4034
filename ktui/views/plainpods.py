"""Pods of a controller that are in no group, as nodes of a tree: each stands for itself, so they are counted one by one.

Pods that finished or are on their way out say nothing while others are there: a Deployment leaves the ones it replaced behind.
"""

from __future__ import annotations

from collections.abc import Iterable

from ktui.cluster.gangs import GangState
from ktui.cluster.state import Cluster
from ktui.cluster.stems import Step
from ktui.model.pod import Pod
from ktui.views.gangs import STYLES, WORST_FIRST
from ktui.views.workloadtree import Node, pod_nodes


def plain_node(cluster: Cluster, owner: Step, stems: Iterable[Step]) -> Node:
    """Their owner, with the pods of these stems: several if it was made anew under its name."""
    keys = (key for stem in stems for key in cluster.pods_by_stem[stem])
    pods = [pod for key in keys if (pod := cluster.pod(key)) is not None]
    active = [pod for pod in pods if _is_active(pod)]
    state = plain_state(pods)
    running = sum(pod.status.phase == "Running" for pod in active)
    return Node(owner[1], owner[2], state, STYLES[state], running, len(active), pod_nodes(pods))


def plain_state(pods: Iterable[Pod]) -> GangState:
    """That of the worst of those that are to run; when there are none, how it ended."""
    pods = tuple(pods)
    if states := [_state(pod) for pod in pods if _is_active(pod)]:
        return min(states, key=WORST_FIRST.index)
    if any(not pod.finished for pod in pods):
        return "Deleting"
    return "Completed" if any(pod.status.phase == "Succeeded" for pod in pods) else "Failed"


def _is_active(pod: Pod) -> bool:
    return not pod.finished and pod.metadata.deletion_timestamp is None


def _state(pod: Pod) -> GangState:
    """Of one that is to run, as of a group of one."""
    if pod.status.phase == "Running":
        return "Running"
    return "Scheduling" if pod.spec.node_name else "Pending"
