"""The device taint eviction controller: pods that use a device with a NoExecute taint are deleted, whether its driver publishes
the taint or a DeviceTaintRule adds it (pkg/controller/devicetainteviction).

Unlike the real one it does not wait ten seconds before it writes a rule's status again: a person is watching.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct

from ktui.demo import objects
from ktui.demo.gangs import group_of
from ktui.demo.ledger import claim_names, device_of, results, selects, terminating, users
from ktui.demo.mvcc import JSON, Change, Key
from ktui.demo.placement import tolerates
from ktui.demo.plane import Item, Plane
from ktui.model.resourceslice import DeviceId
from ktui.model.time import parse_time

_ANNOUNCED: Final = 1.0  # seconds between the condition that says so and the deletion, so that a person sees both
_BY: Final = "device-taint-eviction"
_CONDITION: Final = "EvictionInProgress"


class Eviction(Struct, frozen=True):
    """When a pod has to go (Unix seconds), and the uids of the rules that make it go; none when only drivers do."""

    due: float
    rules: frozenset[str]


class EvictionController:
    kinds = ("DeviceTaintRule", "ResourceClaim", "ResourceSlice", "Pod")

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._planned: dict[str, Eviction] = {}  # by the pod's uid
        self._evicted: dict[str, int] = defaultdict(int)  # pods, by the rule's uid

    def affected(self, kind: str, change: Change) -> Iterable[Item]:
        match kind:
            case "DeviceTaintRule":
                return self._after_rule(change)
            case "ResourceClaim":
                before, after = change.previous or {}, change.object if change.type != "DELETED" else {}
                if (results(before), users(before)) == (results(after), users(after)):
                    return ()
                return self._pods(before, after)
            case "ResourceSlice":
                devices = _retainted(change.previous, change.object if change.type != "DELETED" else None)
                return self._pods(*self._holding(devices))
            case _:
                return self._after_pod(change)

    def _after_rule(self, change: Change) -> Iterable[Item]:
        old, new = change.previous, change.object if change.type != "DELETED" else None
        if old is not None and new is not None and old["spec"] == new["spec"]:
            return ()
        evicting = [rule["spec"] for rule in (old, new) if rule is not None and _effect(rule) == "NoExecute"]
        items = [item for spec in evicting for item in self._pods(*self._selected(spec))]
        return [*items, ("rule", change.key[1])]

    def _after_pod(self, change: Change) -> Iterable[Item]:
        pod, before = change.object, change.previous
        if change.type == "DELETED":
            planned = self._planned.pop(pod["metadata"]["uid"], None)
            return self._rules(planned)
        if before is not None and (before["spec"].get("nodeName"), claim_names(before), terminating(before)) == (
            pod["spec"].get("nodeName"),
            claim_names(pod),
            terminating(pod),
        ):
            return ()
        return (("pod", *change.key),) if claim_names(pod) else ()

    def sync(self, item: Item) -> None:
        match item:
            case ("pod", namespace, name):
                self._plan((namespace, name))
            case ("due", namespace, name, uid, due):
                self._carry_out((namespace, name), uid, float(due))
            case ("rule", name):
                rule = self._plane.get("DeviceTaintRule", ("", name))
                if rule is not None:
                    self._report(rule)

    def _plan(self, key: Key) -> None:
        """Note when a pod has to go, or that it may stay after all."""
        pod = self._plane.get("Pod", key)
        if pod is None or terminating(pod):
            return
        uid = pod["metadata"]["uid"]
        before, eviction = self._planned.pop(uid, None), self.eviction(pod)
        if eviction is not None:
            self._planned[uid] = eviction
            if before is None or before.due != eviction.due:
                wait = max(_ANNOUNCED, eviction.due - datetime.now(UTC).timestamp())
                self._plane.later(wait, self, ("due", *key, uid, repr(eviction.due)))
        elif before is not None:
            self._plane.tell(pod, "Pod", "DeviceTaintManagerEviction", "Cancelling deletion", by=_BY)
        for item in self._rules(before, eviction):
            self._plane.enqueue(self, item)

    def _carry_out(self, key: Key, uid: str, due: float) -> None:
        """Delete a pod whose time has come, unless something else was planned meanwhile."""
        planned, pod = self._planned.get(uid), self._plane.get("Pod", key)
        if planned is None or planned.due != due or pod is None or pod["metadata"]["uid"] != uid or terminating(pod):
            return
        if self.eviction(pod) is None:
            self._plan(key)
            return
        self._plane.tell(pod, "Pod", "DeviceTaintManagerEviction", "Marking for deletion", by=_BY)
        reason, message = "DeletionByDeviceTaintManager", "Device Taint manager: deleting due to NoExecute taint"
        self._plane.put("Pod", objects.conditioned(pod, self._plane.now(), "DisruptionTarget", "True", reason, message))
        self._plane.delete_pod(key)
        for rule in planned.rules:
            self._evicted[rule] += 1
        for item in self._rules(planned):
            self._plane.enqueue(self, item)

    def eviction(self, pod: JSON, pretended: JSON | None = None) -> Eviction | None:
        """None for a pod that may stay. `pretended` is a rule that counts as if its effect were NoExecute."""
        if not pod["spec"].get("nodeName"):
            return None
        rules = [
            rule for rule in self._plane.database.objects("DeviceTaintRule").values() if _effect(rule) == "NoExecute"
        ]
        if pretended is not None:
            rules.append(pretended)
        found = [
            (due, rule)
            for claim in self._reserved(pod)
            for result in results(claim)
            for taint, rule in self._taints(device_of(result), rules)
            if (due := due_time(taint, result.get("tolerations") or ())) is not None
        ]
        if not found:
            return None
        return Eviction(min(due for due, _ in found), frozenset(rule for _, rule in found if rule))

    def _taints(self, device: DeviceId, rules: Iterable[JSON]) -> Iterator[tuple[JSON, str]]:
        """NoExecute taints of a device with the uid of the rule they are from, "" for its driver's. Rules count for devices that
        are published no longer too."""
        for taint in (self._plane.ledger.device(device) or {}).get("taints") or ():
            if taint.get("effect") == "NoExecute":
                yield taint, ""
        for rule in rules:
            if selects(rule["spec"], device):
                yield rule["spec"]["taint"], rule["metadata"]["uid"]

    def _reserved(self, pod: JSON) -> Iterator[JSON]:
        """The claims that the pod names and that are its own to use, by itself or with its group."""
        namespace, _ = objects.key_of(pod)
        group = group_of(pod)
        for name in claim_names(pod).values():
            claim = self._plane.get("ResourceClaim", (namespace, name))
            for user in users(claim) if claim is not None else ():
                is_group = user.get("resource") == "podgroups" and (namespace, user["name"]) == group
                if claim is not None and (is_group or user.get("uid") == pod["metadata"]["uid"]):
                    yield claim
                    break

    def _pods(self, *claims: JSON) -> list[Item]:
        """The pods that claims are reserved for."""
        keys: dict[Key, None] = {}
        for claim in claims:
            for user in users(claim):
                key = (claim["metadata"]["namespace"], user["name"])
                for each in self._plane.ledger.members[key] if user.get("resource") == "podgroups" else (key,):
                    keys[each] = None
        return [("pod", *key) for key in keys]

    def _holding(self, devices: Iterable[DeviceId]) -> Iterator[JSON]:
        keys = {key: None for device in devices for key in self._plane.ledger.holders[device]}
        return (claim for key in keys if (claim := self._plane.get("ResourceClaim", key)) is not None)

    def _selected(self, spec: JSON) -> Iterator[JSON]:
        """Claims with a device that a rule's spec selects."""
        selector = spec.get("deviceSelector") or {}
        names = (selector.get("driver", ""), selector.get("pool", ""), selector.get("device", ""))
        if all(names):
            yield from self._holding([names])
            return
        for claim in list(self._plane.database.objects("ResourceClaim").values()):
            if any(selects(spec, device_of(result)) for result in results(claim)):
                yield claim

    def _rules(self, *evictions: Eviction | None) -> list[Item]:
        """The rules that have a part in them, whose status may have to say something else now."""
        uids = {uid for each in evictions if each is not None for uid in each.rules}
        rules = self._plane.database.objects("DeviceTaintRule")
        return [("rule", key[1]) for key, rule in rules.items() if rule["metadata"]["uid"] in uids]

    def _report(self, rule: JSON) -> None:
        uid = rule["metadata"]["uid"]
        match _effect(rule):
            case "NoExecute":
                pending = self._pending(rule)
                if pending:
                    state = ("True", "PodsPendingEviction")
                    need = "pod needs" if len(pending) == 1 else "pods need"
                    message = f"{len(pending)} {need} to be evicted in {_namespaces(pending)}."
                else:
                    state = ("False", "Completed" if self._evicted[uid] else "NotStarted")
                    message = ""
            case "None":
                state, message = ("False", "NoEffect"), self._what_if(rule)
            case _:
                state, message = ("False", "OtherEffect"), "Eviction only happens for the NoExecute effect."
        if done := self._evicted[uid]:
            message = f"{message} {_count(done, 'pod')} evicted since starting the controller.".strip()
        now = self._plane.now()
        self._plane.put("DeviceTaintRule", objects.conditioned(rule, now, _CONDITION, *state, message))

    def _pending(self, rule: JSON, *, pretended: bool = False) -> list[Key]:
        """The pods that have to go because of a rule and are not going yet."""
        found = []
        for _, namespace, name in self._pods(*self._selected(rule["spec"])):
            pod = self._plane.get("Pod", (namespace, name))
            if pod is not None and not terminating(pod):
                eviction = self.eviction(pod, rule if pretended else None)
                if eviction is not None and rule["metadata"]["uid"] in eviction.rules:
                    found.append((namespace, name))
        return found

    def _what_if(self, rule: JSON) -> str:
        """What effect None reports: the numbers of an eviction that does not take place."""
        published = self._plane.ledger.published(rule["spec"])
        allocated = sum(
            selects(rule["spec"], device_of(result))
            for claim in self._selected(rule["spec"])
            for result in results(claim)
        )
        pods = self._pending(rule, pretended=True)
        would = f"{_count(len(pods), 'pod')} would be evicted in {_namespaces(pods)} if the effect was NoExecute."
        again = "This information will not be updated again. Recreate the DeviceTaintRule to trigger an update."
        selected = (
            f"{_count(published, 'published device')} selected. {_count(allocated, 'allocated device')} selected."
        )
        return f"{selected} {would} {again}"


def due_time(taint: JSON, tolerations: Iterable[JSON]) -> float | None:
    """When a pod with these tolerations has to go (Unix seconds), None for never. Only tolerations whose effect is literally
    NoExecute count here, though for an allocation an empty effect stands for all."""
    since = parse_time(taint.get("timeAdded")) or 0.0
    matching = [each for each in tolerations if each.get("effect") == "NoExecute" and tolerates(each, taint)]
    if not matching:
        return since
    limits = [each["tolerationSeconds"] for each in matching if each.get("tolerationSeconds") is not None]
    return since + max(0, min(limits)) if len(limits) == len(matching) else None


def _effect(rule: JSON) -> str:
    return str(rule["spec"]["taint"]["effect"])


def _retainted(old: JSON | None, new: JSON | None) -> Iterator[DeviceId]:
    """The devices of a slice whose taints are not what they were. Another generation may bring other taints for all of them."""
    before, after = _taints_of(old), _taints_of(new)
    moved = old is not None and new is not None and old["spec"]["pool"] != new["spec"]["pool"]
    for device in before.keys() | after.keys():
        if moved or before.get(device) != after.get(device):
            yield device


def _taints_of(slice_: JSON | None) -> dict[DeviceId, Sequence[JSON]]:
    """Only what has taints: the others cannot make anybody go."""
    if slice_ is None:
        return {}
    spec = slice_["spec"]
    return {
        (spec["driver"], spec["pool"]["name"], device["name"]): device["taints"]
        for device in spec.get("devices") or ()
        if device.get("taints")
    }


def _namespaces(pods: Iterable[Key]) -> str:
    count = len({namespace for namespace, _ in pods})
    return "1 namespace" if count == 1 else f"{count} different namespaces"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number != 1 else ''}"
