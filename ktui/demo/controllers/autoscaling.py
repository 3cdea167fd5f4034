"""The HorizontalPodAutoscaler controller for External metrics, and the demo's own traffic that those metrics measure.

How many replicas a metric calls for is here, in the rules of autoscaling/v2 of 1.37; what becomes of that number is in `scaling`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from ktui.demo import objects
from ktui.demo.mvcc import JSON, Change
from ktui.demo.plane import Item, Plane
from ktui.demo.scaling import Decision, History, Range
from ktui.model.quantity import parse_quantity

_STEP: Final = 20.0  # seconds between two values of a metric


class Proposal(Struct, frozen=True):
    """What one metric calls for, and its place in status.currentMetrics."""

    metric: str
    replicas: int
    status: JSON


class AutoscalerController:
    """`traffic` is metric → its values in turn, over and over. A metric without values cannot be read. `scale_to_zero` is the
    gate HPAScaleToZero."""

    kinds = ("HorizontalPodAutoscaler", "Deployment")

    def __init__(self, plane: Plane, traffic: Mapping[str, Sequence[int]], *, scale_to_zero: bool = True) -> None:
        self._plane = plane
        self._traffic = traffic
        self._scale_to_zero = scale_to_zero
        self._turn = 0
        self._histories: dict[str, History] = {}  # by the autoscaler's uid

    def affected(self, kind: str, change: Change) -> Iterable[Item]:
        if change.type == "DELETED":
            self._histories.pop(change.object["metadata"]["uid"], None)
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
        within = Range(hpa["spec"].get("minReplicas", 1), hpa["spec"]["maxReplicas"])
        history = self._histories.setdefault(hpa["metadata"]["uid"], History(self._plane.clock(), current))
        if current and not within.lowest <= current <= within.highest:
            wanted = min(max(current, within.lowest), within.highest)
            side = "below Spec.MinReplicas" if wanted > current else "above Spec.MaxReplicas"
            self._rescale(hpa, deployment, wanted, f"Current number of replicas {side}")
            return
        proposals, unread = self._proposals(hpa, current, ready)
        most = max(proposals, key=lambda each: each.replicas, default=None)
        if most is None or (unread and most.replicas < current):
            if unread:
                words = f"the HPA was unable to compute the replica count: unable to get external metric {key[0]}/{unread[0]}/nil"
                reason = "FailedGetExternalMetric"
                self._put(objects.conditioned(hpa, now, "ScalingActive", "False", reason, words))
            return
        decision = history.decide(hpa["spec"].get("behavior"), self._plane.clock(), current, most.replicas, within)
        hpa = _measured(hpa, proposals, most, ready, decision, now)
        # What sleeps has no metric that calls for it when a person raises minReplicas.
        wanted = decision.replicas if current else max(decision.replicas, within.lowest)
        why = "All metrics below target"
        if wanted > current:
            above = f"external metric {most.metric}(nil) above target"
            why = above if most.replicas > current else "Current number of replicas below Spec.MinReplicas"
        if wanted != current:
            self._rescale(hpa, deployment, wanted, why)
        else:
            self._put({**hpa, "status": {**hpa["status"], "desiredReplicas": current}})

    def _rescale(self, hpa: JSON, deployment: JSON, wanted: int, why: str) -> None:
        current, now = deployment["spec"].get("replicas", 1), self._plane.now()
        self._plane.put("Deployment", {**deployment, "spec": {**deployment["spec"], "replicas": wanted}})
        self._histories[hpa["metadata"]["uid"]].scaled(self._plane.clock(), wanted - current)
        words = f"New size: {wanted}; reason: {why}"
        self._plane.tell(hpa, "HorizontalPodAutoscaler", "SuccessfulRescale", words, by="horizontal-pod-autoscaler")
        words = f"the HPA controller was able to update the target scale to {wanted}"
        hpa = objects.conditioned(hpa, now, "AbleToScale", "True", "SucceededRescale", words)
        if self._scale_to_zero:
            hpa = _put_to_sleep(hpa, now) if wanted == 0 else _not_put_to_sleep(hpa, now)
        self._put({**hpa, "status": {**hpa["status"], "desiredReplicas": wanted, "lastScaleTime": now}})

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


def _measured(
    hpa: JSON, proposals: Sequence[Proposal], most: Proposal, ready: int, decision: Decision, now: str
) -> JSON:
    status = {**hpa["status"], "currentMetrics": [each.status for each in proposals]}
    if "generation" in hpa["metadata"]:
        status["observedGeneration"] = hpa["metadata"]["generation"]
    status.pop("currentReplicas", None)  # absent when 0
    if ready:
        status["currentReplicas"] = ready
    able, limit = decision.able, decision.limit
    words = f"the HPA was able to successfully calculate a replica count from external metric {most.metric}(nil)"
    hpa = objects.conditioned({**hpa, "status": status}, now, "AbleToScale", "True", able.reason, able.message)
    hpa = objects.conditioned(hpa, now, "ScalingActive", "True", "ValidMetricFound", words)
    return objects.conditioned(hpa, now, "ScalingLimited", str(decision.limited), limit.reason, limit.message)


def _put_to_sleep(hpa: JSON, now: str) -> JSON:
    words = "the HPA controller scaled the workload to zero"
    return objects.conditioned(hpa, now, "ScaledToZero", "True", "ScaledToZero", words)


def _not_put_to_sleep(hpa: JSON, now: str) -> JSON:
    words = "the HPA controller did not scale the workload to zero"
    return objects.conditioned(hpa, now, "ScaledToZero", "False", "NotScaledToZero", words)
