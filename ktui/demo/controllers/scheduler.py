"""kube-scheduler: gangs all or none, devices of claims included. What it writes, and in which words, is that of each release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ktui.demo import gangs, objects
from ktui.demo.controllers.claims import missing_claims
from ktui.demo.gangs import Gang, group_of
from ktui.demo.ledger import claim_names, finished, requests_of, results, terminating
from ktui.demo.mvcc import JSON, Change, Key
from ktui.demo.placement import (
    NO_DEVICES,
    UNTOLERATED,
    Constraint,
    Plan,
    Request,
    Spot,
    Wish,
    group_refusal,
    place,
    refusal,
)
from ktui.demo.plane import Item, Plane
from ktui.demo.releases import LATEST, Release

_NAME = "default-scheduler"
_NO_VICTIMS = ", pod group preemption: No preemption victims found for incoming preemptor"
_WAITS = "waiting for minCount pods from a gang to be scheduled, one or more plugins asked to wait and no plugin rejected pod"
_UNHELPFUL = "Preemption is not helpful for scheduling"
_GANG = "Gang"


class Unit(NamedTuple):
    """What is placed at once: a gang, or a pod without one."""

    kind: str
    namespace: str
    name: str

    @property
    def key(self) -> Key:
        return (self.namespace, self.name)


class Refusal(NamedTuple):
    """What the scheduler says of a gang that it cannot place: of the PodGroup, of a pod that fits on no node, and of each pod by
    key, where "" is nothing."""

    group: str
    refused: str
    pods: dict[Key, str]
    reason: str = "Unschedulable"


class NoSuchClass(Exception):
    """A claim names a DeviceClass that does not exist."""


class Scheduler:
    kinds = ("Pod", "PodGroup", "Workload", "ResourceClaim", "ResourceSlice", "DeviceClass", "DeviceTaintRule", "Node")

    def __init__(self, plane: Plane, release: Release = LATEST) -> None:
        self._plane = plane
        self._release = release

    def affected(self, kind: str, change: Change) -> Iterable[Item]:
        match kind:
            case "Pod":
                return self._after_pod(change)
            case "PodGroup":
                return (Unit(_GANG, *change.key),) if _spec_changed(change) else ()
            case "Workload":
                return [Unit(_GANG, *key) for key in gangs.keys_of(change.object)] if _spec_changed(change) else ()
            case "ResourceClaim":
                before = change.previous if change.type == "DELETED" else None
                return self._everybody_waiting() if results(before) else ()
            case _:
                return self._everybody_waiting() if _spec_changed(change) else ()

    def _after_pod(self, change: Change) -> Iterable[Item]:
        pod, before = change.object, change.previous
        if change.type == "DELETED" or finished(pod):
            return self._everybody_waiting() if pod["spec"].get("nodeName") else ()
        if pod["spec"].get("nodeName"):
            return ()
        if before is None or before["spec"] != pod["spec"] or any(missing_claims(before)):
            return (_unit(pod),)
        return ()

    def _everybody_waiting(self) -> Iterable[Item]:
        pods = (self._plane.get("Pod", key) for key in self._plane.ledger.waiting)
        return dict.fromkeys(_unit(pod) for pod in pods if pod is not None)

    def sync(self, item: Item) -> None:
        unit = Unit(*item)
        gang = gangs.find(self._plane.get, unit.key) if unit.kind == _GANG else None
        if unit.kind == _GANG and gang is None:
            return
        members = self._plane.ledger.members[unit.key] if gang is not None else [unit.key]
        pods = [pod for key in members if (pod := self._plane.get("Pod", key)) is not None and _counts(pod)]
        least = gang.min_count if gang is not None else 1
        waiting = sorted((pod for pod in pods if not pod["spec"].get("nodeName")), key=objects.key_of)
        placed = len(pods) - len(waiting)
        if not waiting or len(pods) < least or any(self._held_back(pod) for pod in waiting):
            return
        needed = max(0, least - placed)
        try:
            wishes = [self._wish(pod) for pod in waiting]
        except NoSuchClass as error:
            nodes = len(self._plane.database.objects("Node"))
            message = f"0/{nodes} nodes are available: {error}."
            plan, words = Plan({}, objects.key_of(waiting[0])), message
        else:
            with_devices = all(wish.requests for wish in wishes)
            wants_all = any(wish.wants_all is not None for wish in wishes)
            rooms = list(self._plane.ledger.rooms(with_devices=with_devices, with_others=wants_all))
            plan = place(wishes, needed, rooms)
            nodes = len(self._plane.database.objects("Node"))
            # Nodes at rest are a team's own, as their taint says.
            plan.why[NO_DEVICES if with_devices else UNTOLERATED] += nodes - len(rooms)
            words = refusal(plan.why, nodes)
        if plan.spots and len(plan.spots) >= needed:
            self._bind(waiting, plan, gang)
        elif needed:
            self._refuse(waiting, plan, gang, placed, words)

    def _held_back(self, pod: JSON) -> bool:
        """Gated, another scheduler's, or without a claim it needs: nothing is written about it."""
        spec = pod["spec"]
        claims = ((pod["metadata"].get("namespace", ""), name) for name in claim_names(pod).values())
        return (
            bool(spec.get("schedulingGates"))
            or spec.get("schedulerName", _NAME) != _NAME
            or any(missing_claims(pod))
            or any(self._plane.get("ResourceClaim", claim) is None for claim in claims)
        )

    def _wish(self, pod: JSON) -> Wish:
        namespace, _ = objects.key_of(pod)
        requests: list[Request] = []
        constraints: list[Constraint] = []
        for name in claim_names(pod).values():
            key = (namespace, name)
            claim = self._plane.get("ResourceClaim", key)
            if claim is not None and not results(claim):
                devices = claim["spec"].get("devices") or {}
                requests += [self._request(key, request) for request in devices.get("requests") or ()]
                constraints += _constraints(key, devices)
        cpu, memory = requests_of(pod)
        return Wish(
            objects.key_of(pod),
            cpu,
            memory,
            pod["spec"].get("nodeSelector") or {},
            tuple(requests),
            tuple(constraints),
            pod["spec"].get("tolerations") or (),
        )

    def _request(self, claim: Key, request: JSON) -> Request:
        name = request["name"]
        if not (alternatives := request.get("firstAvailable")):
            return self._exactly(claim, name, request.get("exactly") or {})
        options = (self._exactly(claim, f"{name}/{each['name']}", each) for each in alternatives)
        return Request(claim, name, alternatives=tuple(options))

    def _exactly(self, claim: Key, name: str, asked: JSON) -> Request:
        class_name = asked.get("deviceClassName", "")
        found = self._plane.get("DeviceClass", ("", class_name))
        if found is None:
            raise NoSuchClass(f"request {name}: device class {class_name} does not exist")
        selectors = [*(found["spec"].get("selectors") or ()), *(asked.get("selectors") or ())]
        return Request(
            claim,
            name,
            asked.get("count", 1),
            tuple(selector["cel"]["expression"] for selector in selectors),
            asked.get("tolerations") or (),
            asked.get("allocationMode") == "All",
        )

    def _bind(self, waiting: Iterable[JSON], plan: Plan, gang: Gang | None) -> None:
        now = self._plane.now()
        if gang is not None and gang.group is not None:
            self._plane.put("PodGroup", gangs.placed(self._release, gang.group, now))
        for pod in waiting:
            spot = plan.spots.get(objects.key_of(pod))
            if spot is not None:
                self._give(pod, spot, now)

    def _give(self, pod: JSON, spot: Spot, now: str) -> None:
        for key, pairs in spot.devices.items():
            claim = self._plane.get("ResourceClaim", key)
            if claim is not None:
                self._plane.put("ResourceClaim", objects.allocated(claim, pairs, spot.node, pod, now))
        self._plane.put("Pod", objects.bound(pod, spot.node, now))
        words = f"Successfully assigned {'/'.join(objects.key_of(pod))} to {spot.node}"
        self._plane.tell(pod, "Pod", "Scheduled", words, by=_NAME)

    def _refuse(self, waiting: list[JSON], plan: Plan, gang: Gang | None, placed: int, words: str) -> None:
        said = self._words(waiting, plan, gang, placed, words)
        now = self._plane.now()
        group = gang.group if gang is not None else None
        if group is not None and not gangs.was_placed(self._release, group):
            condition = (self._release.condition, "False", said.reason, said.group)
            self._plane.put("PodGroup", objects.conditioned(group, now, *condition))
        for pod in waiting:
            message = said.pods[objects.key_of(pod)]
            changed = objects.conditioned(pod, now, "PodScheduled", "False", said.reason, message)
            if message and changed != pod:
                self._plane.put("Pod", changed)
                if message == said.refused:
                    self._plane.tell(pod, "Pod", "FailedScheduling", message, by=_NAME, warning=True)

    def _words(self, waiting: list[JSON], plan: Plan, gang: Gang | None, placed: int, words: str) -> Refusal:
        keys = [objects.key_of(pod) for pod in waiting]
        if plan.error:
            others = f"failed to schedule other pod from a pod group: {plan.error}"
            pods = {key: plan.error if key == plan.refused else others for key in keys}
            return Refusal(plan.error, plan.error, pods, "SchedulerError")
        if gang is None or self._release.jobs:
            least, fitting = gang.min_count if gang is not None else 1, len(plan.spots)
            of_group = group_refusal(least, placed + fitting, len(waiting) - fitting - 1)
            fitted = f"pod group is unschedulable, {of_group}"
            pods = {key: words if key == plan.refused else fitted if key in plan.spots else of_group for key in keys}
            return Refusal(of_group + _NO_VICTIMS, words, pods)
        # Before 1.37 every member is tried, and those that fit are let wait; of 1.35 nobody says so.
        nodes = len(self._plane.database.objects("Node"))
        refused = f"{words} still not schedulable, preemption: {refusal(Counter({_UNHELPFUL: nodes}), nodes)}"
        waits = f"pod group is unschedulable, {_WAITS}" if self._release.condition else ""
        pods = {key: waits if key in plan.spots else refused for key in keys}
        return Refusal("pod group is unschedulable", refused, pods)


def _constraints(claim: Key, devices: JSON) -> Iterator[Constraint]:
    for each in devices.get("constraints") or ():
        requests = frozenset(each.get("requests") or ())
        for field, distinct in (("matchAttribute", False), ("distinctAttribute", True)):
            if each.get(field):
                yield Constraint(claim, each[field], requests, distinct)


def _unit(pod: JSON) -> Unit:
    group = group_of(pod)
    return Unit(_GANG, *group) if group else Unit("Pod", *objects.key_of(pod))


def _counts(pod: JSON) -> bool:
    """A pod that is on its way out is no member any more."""
    return not finished(pod) and not terminating(pod)


def _spec_changed(change: Change) -> bool:
    return change.type != "MODIFIED" or (change.previous or {}).get("spec") != change.object.get("spec")
