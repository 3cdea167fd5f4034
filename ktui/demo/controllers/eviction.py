"""The device taint eviction controller: DeviceTaintRules with effect NoExecute delete the pods that use what they select."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final, NamedTuple

from ktui.demo import objects
from ktui.demo.ledger import device_of, results, selects
from ktui.demo.mvcc import JSON, Change, Key
from ktui.demo.placement import tolerates
from ktui.demo.plane import Item, Plane
from ktui.model.time import parse_time

_ANNOUNCED: Final = 1.0  # seconds between the condition that says so and the deletion, so that a person sees both
_BY: Final = "device-taint-eviction"
_CONDITION: Final = "EvictionInProgress"


class Victim(NamedTuple):
    """A pod to be deleted, and when (Unix seconds)."""

    pod: Key
    uid: str
    due: float


class EvictionController:
    kinds = ("DeviceTaintRule", "ResourceClaim")

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._announced: set[tuple[str, str]] = set()  # uids of rule and pod
        self._evicted: dict[str, int] = defaultdict(int)  # by the rule's uid

    def affected(self, kind: str, change: Change) -> Iterable[Item]:
        if kind == "DeviceTaintRule":
            unchanged = change.previous is not None and change.previous.get("spec") == change.object.get("spec")
            return () if change.type == "DELETED" or unchanged else (change.key,)
        if change.type == "DELETED" or results(change.object) == results(change.previous):
            return ()
        rules = self._plane.database.objects("DeviceTaintRule")
        return [key for key, rule in rules.items() if rule["spec"]["taint"]["effect"] == "NoExecute"]

    def sync(self, item: Item) -> None:
        rule = self._plane.get("DeviceTaintRule", (item[0], item[1]))
        if rule is None:
            return
        match rule["spec"]["taint"]["effect"]:
            case "NoExecute":
                self._evict(item, rule)
            case "None":
                self._say(rule, "False", "NoEffect", self._what_if(rule))
            case _:
                self._say(rule, "False", "OtherEffect", "Eviction only happens for the NoExecute effect.")

    def _evict(self, item: Item, rule: JSON) -> None:
        uid = rule["metadata"]["uid"]
        now = datetime.now(UTC).timestamp()
        left = []
        for victim in self._victims(rule):
            if victim.due <= now and (uid, victim.uid) in self._announced:
                self._delete(victim)
                self._announced.discard((uid, victim.uid))
                self._evicted[uid] += 1
            else:
                self._announced.add((uid, victim.uid))
                left.append(victim)
        if left:
            self._plane.later(max(_ANNOUNCED, min(victim.due for victim in left) - now), self, item)
            namespaces = len({victim.pod[0] for victim in left})
            message = f"{_count(len(left), 'pod')} {'needs' if len(left) == 1 else 'need'} to be evicted in "
            self._say(rule, "True", "PodsPendingEviction", f"{message}{_count(namespaces, 'namespace')}.")
        elif done := self._evicted[uid]:
            self._say(rule, "False", "Completed", f"{_count(done, 'pod')} evicted since starting the controller.")
        else:
            self._say(rule, "False", "NotStarted", "")

    def _victims(self, rule: JSON) -> Iterator[Victim]:
        """Who uses what the rule selects and does not tolerate the taint, each once, at the earliest time that counts."""
        due: dict[tuple[Key, str], float] = {}
        for claim in self._claims(rule):
            times = [
                time
                for result in results(claim)
                if selects(rule["spec"], device_of(result))
                if (time := due_time(rule["spec"]["taint"], result.get("tolerations") or ())) is not None
            ]
            for user in (claim["status"].get("reservedFor") or ()) if times else ():
                key = (claim["metadata"]["namespace"], user["name"])
                pod = self._plane.get("Pod", key)
                if pod is not None and pod["metadata"]["uid"] == user["uid"] and pod["spec"].get("nodeName"):
                    due[key, user["uid"]] = min([*times, due.get((key, user["uid"]), times[0])])
        return (Victim(key, uid, time) for (key, uid), time in due.items())

    def _claims(self, rule: JSON) -> Iterator[JSON]:
        selector = rule["spec"].get("deviceSelector") or {}
        names = (selector.get("driver", ""), selector.get("pool", ""), selector.get("device", ""))
        if all(names):
            keys: Iterable[Key] = self._plane.ledger.holders[names]
        else:
            keys = list(self._plane.database.objects("ResourceClaim"))
        for key in keys:
            claim = self._plane.get("ResourceClaim", key)
            if claim is not None and any(selects(rule["spec"], device_of(result)) for result in results(claim)):
                yield claim

    def _what_if(self, rule: JSON) -> str:
        """What effect None reports: the numbers of an eviction that does not take place."""
        published = self._plane.ledger.published(rule["spec"])
        held = {
            device_of(result)
            for claim in self._claims(rule)
            for result in results(claim)
            if selects(rule["spec"], device_of(result))
        }
        pods = list(self._victims(rule))
        namespaces = len({victim.pod[0] for victim in pods})
        would = f"{_count(len(pods), 'pod')} would be evicted in {_count(namespaces, 'namespace')} if the effect was NoExecute."
        return f"{_count(published, 'published device')} selected. {_count(len(held), 'allocated device')} selected. {would}"

    def _delete(self, victim: Victim) -> None:
        pod = self._plane.get("Pod", victim.pod)
        if pod is None:
            return
        self._plane.tell(pod, "Pod", "DeviceTaintManagerEviction", "Marking for deletion", by=_BY)
        reason, message = "DeletionByDeviceTaintManager", "Device Taint manager: deleting due to NoExecute taint"
        self._plane.put("Pod", objects.conditioned(pod, self._plane.now(), "DisruptionTarget", "True", reason, message))
        self._plane.remove("Pod", victim.pod)

    def _say(self, rule: JSON, status: str, reason: str, message: str) -> None:
        self._plane.put(
            "DeviceTaintRule", objects.conditioned(rule, self._plane.now(), _CONDITION, status, reason, message)
        )


def due_time(taint: JSON, tolerations: Iterable[JSON]) -> float | None:
    """When a pod with these tolerations has to go (Unix seconds), None for never. Only tolerations whose effect is literally
    NoExecute count here (pkg/controller/devicetainteviction)."""
    since = parse_time(taint.get("timeAdded")) or 0.0
    matching = [each for each in tolerations if each.get("effect") == "NoExecute" and tolerates(each, taint)]
    if not matching:
        return since
    limits = [each["tolerationSeconds"] for each in matching if each.get("tolerationSeconds") is not None]
    return since + max(0, min(limits)) if len(limits) == len(matching) else None


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number != 1 else ''}"
