"""All views by id, in the order of their keys on screen."""

from __future__ import annotations

from typing import Final

from ktui.cluster.dirty import Entity
from ktui.views import autoscalers, claims, devices, gangs, pods, taints, timeline, triage, workloads
from ktui.views.base import View

VIEWS: Final[dict[Entity, View]] = {
    "triage": triage.VIEW,
    "gangs": gangs.VIEW,
    "devices": devices.VIEW,
    "claims": claims.VIEW,
    "taints": taints.VIEW,
    "autoscalers": autoscalers.VIEW,
    "workloads": workloads.VIEW,
    "pods": pods.VIEW,
    "timeline": timeline.VIEW,
}
