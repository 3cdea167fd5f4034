"""What happened to one device: its taints, its health as kubelets report it, who got it and gave it back, what was done to it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ktui.cluster.state import Cluster
from ktui.cluster.timeline import MOST, Change
from ktui.model.resourceslice import DeviceId


def device_history(cluster: Cluster, device: DeviceId) -> Iterator[Change]:
    """Of the changes that the timeline shows (the last of them, where there are very many), newest first."""
    name = "/".join(device)
    for number in islice(reversed(cluster.timeline.numbers()), MOST):
        change = cluster.timeline.get(number)
        if change is not None and _is_about(change, device, name):
            yield change


def _is_about(change: Change, device: DeviceId, name: str) -> bool:
    match change.view:
        case "devices":
            return change.key == device
        case "claims":
            return name in change.before.split() or name in change.after.split()
        case "taints" if change.key[0] == "slice":
            return change.key[1:4] == device
        case "taints":
            return change.selector is not None and change.selector.matches(device)
        case _:
            return False
