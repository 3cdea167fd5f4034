"""A pod's state in one word, as kubectl's STATUS column puts it (k8s.io/kubernetes pkg/printers printPod)."""

from __future__ import annotations

from typing import Final

from ktui.model.meta import condition
from ktui.model.pod import ContainerStatus, Pod

NORMAL: Final = frozenset(
    (
        "Pending",
        "SchedulingGated",
        "ContainerCreating",
        "PodInitializing",
        "Running",
        "Succeeded",
        "Completed",
        "Terminating",
    )
)
"""Words that a healthy pod goes through; any other tells of trouble."""


def status_word(pod: Pod) -> str:
    """E.g. "Running", "Terminating", "CrashLoopBackOff", "Init:ErrImagePull"; "Unknown" without any state."""
    if pod.metadata.deletion_timestamp is not None:
        return "Terminating"
    if pod.status.reason:
        return pod.status.reason
    scheduled = condition(pod.status.conditions, "PodScheduled")
    if scheduled is not None and scheduled.status == "False" and scheduled.reason == "SchedulingGated":
        return "SchedulingGated"
    return _initialising(pod) or _containers(pod) or pod.status.phase or "Unknown"


def in_trouble(pod: Pod) -> bool:
    """Whether the word is one that a healthy pod has no reason to have. A pod that failed is told by its phase."""
    word = status_word(pod)
    return word not in NORMAL and not word.startswith("Init:PodInitializing") and not pod.finished


def _initialising(pod: Pod) -> str:
    sidecars = {c.name for c in pod.spec.init_containers or () if c.restart_policy == "Always"}
    for status in pod.status.init_container_statuses or ():
        state = status.state
        if state is None or (state.terminated is not None and state.terminated.exit_code == 0):
            continue
        if state.terminated is not None:
            return f"Init:{state.terminated.reason or 'Error'}"
        if state.waiting is not None and state.waiting.reason not in (None, "", "PodInitializing"):
            return f"Init:{state.waiting.reason}"
        if status.name not in sidecars:
            return ""  # an ordinary one still runs, or waits for its turn
    return ""


def _containers(pod: Pod) -> str:
    """The first container that waits or has ended says it; while all run there is nothing to say."""
    for status in pod.status.container_statuses or ():
        if word := _word(status):
            return word
    return ""


def _word(status: ContainerStatus) -> str:
    state = status.state
    if state is None:
        return ""
    if state.waiting is not None:
        return state.waiting.reason or ""
    if state.terminated is not None:
        return state.terminated.reason or "Error"
    return ""
