"""The HorizontalPodAutoscaler controller for External metrics, and the demo's own traffic that those metrics measure.

Rules of autoscaling/v2 in 1.37, without the five minutes that a scale-down waits: nobody watches a demo that long.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ktui.demo import objects
from ktui.demo.mvcc import JSON, Change
from ktui.demo.plane import Item, Plane

_STEP: Final = 20.0  # seconds between two values of a metric


class AutoscalerController:
    """`traffic` is metric → its values in turn, over and over. A metric without values cannot be read."""

    kinds = ("HorizontalPodAutoscaler", "Deployment")

    def __init__(self, plane: Plane, traffic: Mapping[str, Sequence[int]]) -> None:
        self._plane = plane
        self._traffic = traffic
        self._turn = dict.fromkeys(traffic, 0)

    def affected(self, kind: str, change: Change) -> Iterable[Item]:
        if change.type == "DELETED":
            return ()
        if change.type == "ADDED" and kind == "HorizontalPodAutoscaler" and metric_of(change.object) in self._traffic:
            self._plane.later(_STEP, self, ("traffic", *change.key))
        return (change.key,)

    def sync(self, item: Item) -> None:
        """Of a key: scale. Of "traffic" and a key: let the metric take its next value, and scale."""
        if item[0] == "traffic":
            item = item[1:]
            self._plane.later(_STEP, self, ("traffic", *item))
            hpa = self._plane.get("HorizontalPodAutoscaler", (item[0], item[1]))
            if hpa is not None and (metric := metric_of(hpa)) in self._turn:
                self._turn[metric] += 1
        hpa = self._plane.get("HorizontalPodAutoscaler", (item[0], item[1]))
        if hpa is not None:
            self._scale(hpa)

    def _scale(self, hpa: JSON) -> None:
        key = objects.key_of(hpa)
        deployment = self._plane.get("Deployment", (key[0], hpa["spec"]["scaleTargetRef"]["name"]))
        metric = metric_of(hpa)
        if deployment is None or metric not in self._traffic:
            return
        values = self._traffic[metric]
        queue = values[self._turn[metric] % len(values)]
        current = deployment["spec"].get("replicas", 1)
        now = self._plane.now()
        if current == 0 and not _asleep(hpa):
            words = "scaling is disabled since the replica count of the target is zero"
            self._plane.put(
                "HorizontalPodAutoscaler",
                objects.conditioned(hpa, now, "ScalingActive", "False", "ScalingDisabled", words),
            )
            return
        wanted = desired(hpa["spec"], queue)
        hpa = _measured(hpa, metric, queue, deployment, now)
        if wanted != current:
            hpa = _rescaled(hpa, wanted, current, now)
            spec = {**deployment["spec"], "replicas": wanted}
            self._plane.put("Deployment", {**deployment, "spec": spec})
            words = f"New size: {wanted}; reason: external metric {metric}(nil) {'above' if wanted > current else 'below'} target"
            by = "horizontal-pod-autoscaler"
            self._plane.tell(hpa, "HorizontalPodAutoscaler", "SuccessfulRescale", words, by=by)
        self._plane.put("HorizontalPodAutoscaler", {**hpa, "status": {**hpa["status"], "desiredReplicas": wanted}})


def metric_of(hpa: JSON) -> str:
    """The name of the first External metric, "" without one."""
    metrics = hpa["spec"].get("metrics") or ()
    return next((each["external"]["metric"]["name"] for each in metrics if each.get("type") == "External"), "")


def desired(spec: JSON, queue: int) -> int:
    """Replicas for a queue of this length, each replica taking averageValue of it."""
    external = next(each["external"] for each in spec["metrics"] if each.get("type") == "External")
    wanted = math.ceil(queue / max(1, int(external["target"]["averageValue"])))
    lowest: int = spec.get("minReplicas", 1)
    highest: int = spec["maxReplicas"]
    return min(max(wanted, lowest), highest)


def _asleep(hpa: JSON) -> bool:
    """Only what the autoscaler itself put to sleep is woken by it."""
    conditions = hpa["status"].get("conditions") or ()
    return any(each["type"] == "ScaledToZero" and each["status"] == "True" for each in conditions)


def _measured(hpa: JSON, metric: str, queue: int, deployment: JSON, now: str) -> JSON:
    replicas = (deployment.get("status") or {}).get("readyReplicas", 0)
    external = {"metric": {"name": metric}, "current": {"averageValue": str(math.ceil(queue / max(1, replicas)))}}
    status = {
        **hpa["status"],
        "observedGeneration": hpa["metadata"]["generation"],
        "currentMetrics": [{"type": "External", "external": external}],
    }
    status.pop("currentReplicas", None)  # absent when 0
    if replicas:
        status["currentReplicas"] = replicas
    words = "the HPA was able to successfully calculate a replica count from external metric"
    able = objects.conditioned({**hpa, "status": status}, now, "AbleToScale", "True", "ReadyForNewScale")
    return objects.conditioned(able, now, "ScalingActive", "True", "ValidMetricFound", f"{words} {metric}(nil)")


def _rescaled(hpa: JSON, wanted: int, current: int, now: str) -> JSON:
    asleep = wanted == 0 and current > 0
    reason = "ScaledToZero" if asleep else "NotScaledToZero"
    marked = objects.conditioned(hpa, now, "ScaledToZero", "True" if asleep else "False", reason)
    return {**marked, "status": {**marked["status"], "lastScaleTime": now}}
