"""The HorizontalPodAutoscaler controller for External metrics, and the demo's own traffic that those metrics measure.

Rules of autoscaling/v2 in 1.37, without the five minutes that a scale-down waits: nobody watches a demo that long.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from ktui.demo import objects
from ktui.demo.mvcc import JSON, Change
from ktui.demo.plane import Item, Plane
from ktui.model.quantity import parse_quantity

_STEP: Final = 20.0  # seconds between two values of a metric


class Proposal(Struct, frozen=True):
    """What one metric calls for, and its place in status.currentMetrics."""

    metric: str
    replicas: int
    status: JSON


class AutoscalerController:
    """`traffic` is metric → its values in turn, over and over. A metric without values cannot be read."""

    kinds = ("HorizontalPodAutoscaler", "Deployment")

    def __init__(self, plane: Plane, traffic: Mapping[str, Sequence[int]]) -> None:
        self._plane = plane
        self._traffic = traffic
        self._turn = 0

    def affected(self, kind: str, change: Change) -> Iterable[Item]:
        if change.type == "DELETED":
            return ()
        if change.type == "ADDED" and kind == "HorizontalPodAutoscaler" and not self._turn:
            self._turn = 1
            self._plane.later(_STEP, self, ("traffic",))
        return (change.key,)

    def sync(self, item: Item) -> None:
        """Of a key: scale. Of "traffic": let every metric take its next value, and scale all."""
        match item:
            case ("traffic",):
                self._turn += 1
                self._plane.later(_STEP, self, item)
                for key in self._plane.database.objects("HorizontalPodAutoscaler"):
                    self._plane.enqueue(self, key)
            case (namespace, name):
                hpa = self._plane.get("HorizontalPodAutoscaler", (namespace, name))
                if hpa is not None:
                    self._scale(hpa)

    def _scale(self, hpa: JSON) -> None:
        key = objects.key_of(hpa)
        deployment = self._plane.get("Deployment", (key[0], hpa["spec"]["scaleTargetRef"]["name"]))
        if deployment is None:
            return
        current = deployment["spec"].get("replicas", 1)
        now = self._plane.now()
        if current == 0 and not _asleep(hpa):
            words = "scaling is disabled since the replica count of the target is zero"
            self._put(objects.conditioned(hpa, now, "ScalingActive", "False", "ScalingDisabled", words))
            return
        ready = (deployment.get("status") or {}).get("readyReplicas", 0)
        proposals, unread = self._proposals(hpa, current, ready)
        most = max(proposals, key=lambda each: each.replicas, default=None)
        if most is None or (unread and most.replicas < current):
            if unread:
                words = f"the HPA was unable to compute the replica count: unable to get external metric {key[0]}/{unread[0]}/nil"
                reason = "FailedGetExternalMetric"
                self._put(objects.conditioned(hpa, now, "ScalingActive", "False", reason, words))
            return
        wanted = min(max(most.replicas, hpa["spec"].get("minReplicas", 1)), hpa["spec"]["maxReplicas"])
        hpa = _measured(hpa, proposals, most, ready, now)
        if wanted != current:
            hpa = _rescaled(hpa, wanted, current, now)
            spec = {**deployment["spec"], "replicas": wanted}
            self._plane.put("Deployment", {**deployment, "spec": spec})
            side = "above" if wanted > current else "below"
            words = f"New size: {wanted}; reason: external metric {most.metric}(nil) {side} target"
            by = "horizontal-pod-autoscaler"
            self._plane.tell(hpa, "HorizontalPodAutoscaler", "SuccessfulRescale", words, by=by)
        self._put({**hpa, "status": {**hpa["status"], "desiredReplicas": wanted}})

    def _put(self, hpa: JSON) -> None:
        self._plane.put("HorizontalPodAutoscaler", hpa)

    def _proposals(self, hpa: JSON, current: int, ready: int) -> tuple[list[Proposal], list[str]]:
        """Of the External metrics that can be read, in their order, and the names of the others. Metrics of other types are not
        measured here, and say nothing."""
        proposals, unread = [], []
        for each in hpa["spec"].get("metrics") or ():
            if each.get("type") == "External":
                name = each["external"]["metric"]["name"]
                values = self._traffic.get(name)
                if values:
                    queue = values[max(0, self._turn - 1) % len(values)]
                    proposals.append(proposal(each["external"], queue, current, ready))
                else:
                    unread.append(name)
        return proposals, unread


def proposal(external: JSON, queue: int, current: int, ready: int) -> Proposal:
    """How many replicas a metric of this value calls for. A target of type AverageValue says how much of it one replica takes,
    one of type Value what the whole should come to with the replicas that are ready."""
    target, metric = external["target"], external["metric"]
    each = float(parse_quantity(target.get("averageValue") or target.get("value")) or 1)
    if "averageValue" in target:
        replicas, measured = math.ceil(queue / each), {"averageValue": str(math.ceil(queue / max(1, ready)))}
    else:
        # From zero, one replica for each time that the target is reached.
        replicas, measured = math.ceil(queue / each * (ready if current else 1)), {"value": str(queue)}
    return Proposal(metric["name"], replicas, {"type": "External", "external": {"metric": metric, "current": measured}})


def _asleep(hpa: JSON) -> bool:
    """Only what the autoscaler itself put to sleep is woken by it."""
    conditions = hpa["status"].get("conditions") or ()
    return any(each["type"] == "ScaledToZero" and each["status"] == "True" for each in conditions)


def _measured(hpa: JSON, proposals: Sequence[Proposal], most: Proposal, ready: int, now: str) -> JSON:
    status = {
        **hpa["status"],
        "observedGeneration": hpa["metadata"]["generation"],
        "currentMetrics": [each.status for each in proposals],
    }
    status.pop("currentReplicas", None)  # absent when 0
    if ready:
        status["currentReplicas"] = ready
    words = "the HPA was able to successfully calculate a replica count from external metric"
    able = objects.conditioned({**hpa, "status": status}, now, "AbleToScale", "True", "ReadyForNewScale")
    return objects.conditioned(able, now, "ScalingActive", "True", "ValidMetricFound", f"{words} {most.metric}(nil)")


def _rescaled(hpa: JSON, wanted: int, current: int, now: str) -> JSON:
    asleep = wanted == 0 and current > 0
    reason = "ScaledToZero" if asleep else "NotScaledToZero"
    marked = objects.conditioned(hpa, now, "ScaledToZero", "True" if asleep else "False", reason)
    return {**marked, "status": {**marked["status"], "lastScaleTime": now}}
