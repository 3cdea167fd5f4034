"""The eviction controller's own count of what a taint would evict, asked for before it evicts anything.

The rule is placed with effect None, and the controller writes into its status what NoExecute would do (reason NoEffect,
Kubernetes 1.35 to 1.37). Then its effect is changed, or it is taken back; nothing is left behind without a word.
"""

from __future__ import annotations

import asyncio
import re
from typing import Final, cast

from msgspec import Struct, structs

from ktui.actions.api import ActionApi
from ktui.actions.plan import Document, NotPossibleError, Plan
from ktui.actions.runner import Rehearsal, Runner
from ktui.actions.taint import ANNOTATION_REASON, ANNOTATION_USER, RULE, plan_taint, rule_name
from ktui.actions.untaint import plan_untaint
from ktui.cluster.state import Cluster
from ktui.errors import KtuiError
from ktui.kube.failures import ApiError
from ktui.model.decode import from_builtins
from ktui.model.meta import condition
from ktui.model.resourceslice import DeviceId, DeviceTaint
from ktui.model.taintrule import EVICTION_IN_PROGRESS, DeviceTaintRule

PATIENCE: Final = 20.0
"""Seconds to wait for the count. A controller that runs writes it at once, unless it has much else to do."""

_LOOK: Final = 0.3
_TRIES: Final = 4  # of taking the rule back: the controller's own writes get in between
_COUNT: Final = re.compile(r"(\d+) pods? would be evicted in (\d+)")


class Count(Struct, frozen=True):
    """What the controller says. The numbers are None where its words, which are declared unstable, are not understood."""

    text: str
    pods: int | None = None
    namespaces: int | None = None


class Counting(Struct, frozen=True):
    """A NoExecute taint that is placed with effect None first."""

    device: DeviceId
    taint: DeviceTaint
    reason: str = ""
    user: str = ""

    @classmethod
    def of(cls, plan: Plan) -> Counting:
        """The taint that a countable plan would place."""
        body = cast("Document", plan.request.body)
        selector, taint = body["spec"]["deviceSelector"], body["spec"]["taint"]
        notes = body["metadata"]["annotations"]
        return cls(
            (selector["driver"], selector["pool"], selector["device"]),
            DeviceTaint(key=taint["key"], value=taint.get("value"), effect=taint["effect"]),
            notes.get(ANNOTATION_REASON, ""),
            notes.get(ANNOTATION_USER, ""),
        )

    @property
    def rule(self) -> str:
        return rule_name(self.device, self.taint.key)

    @property
    def look(self) -> DeviceTaint:
        return DeviceTaint(key=self.taint.key, value=self.taint.value, effect="None")

    async def plan_look(self, api: ActionApi, cluster: Cluster) -> Plan:
        """Place it with effect None. Raises NotPossibleError where the device has the rule already."""
        plan = await plan_taint(api, cluster, self.device, self.look, reason=self.reason, user=self.user)
        if plan.request.verb != "create":
            raise NotPossibleError(f"the rule {self.rule} is there already: its count would be of another time")
        sentence = "placed with effect None, it evicts nobody; the controller says whom NoExecute would evict"
        return structs.replace(plan, sentence=sentence, button="Count", countable=False)

    async def plan_evict(self, api: ActionApi, cluster: Cluster, count: Count | None) -> Plan:
        """Change the effect of what was placed, with the controller's count beside ktui's own."""
        plan = await plan_taint(api, cluster, self.device, self.taint, reason=self.reason, user=self.user)
        ours = len(plan.blast.deleted)
        plan = structs.replace(plan, countable=False)
        if count is None:
            silent = "the controller said nothing: where it does not run, nothing is evicted"
            return structs.replace(plan, warnings=(*plan.warnings, silent))
        if count.pods is None:
            return structs.replace(plan, notes=(*plan.notes, f"the controller says: {count.text}"))
        note = f"the controller counts {_pods(count.pods)} in {_namespaces(count.namespaces or 0)}; ktui {ours}"
        if count.pods == ours:
            return structs.replace(plan, notes=(*plan.notes, note))
        return structs.replace(plan, warnings=(*plan.warnings, f"{note}: the lists differ"))


def agree(plan: Plan, count: Count | None) -> bool:
    """Whether the controller counts as many pods as the plan lists."""
    return count is not None and count.pods == len(plan.blast.deleted)


def count_of(rule: DeviceTaintRule) -> Count | None:
    """The count in the rule's status, None while there is none for the spec as it is."""
    said = condition(rule.status.conditions, EVICTION_IN_PROGRESS)
    if said is None or said.reason != "NoEffect" or said.observed_generation != rule.metadata.generation:
        return None
    text = said.message or ""
    numbers = _COUNT.search(text)
    return Count(text, int(numbers[1]), int(numbers[2])) if numbers else Count(text)


async def wait_for_count(api: ActionApi, rule: str, patience: float = PATIENCE) -> Count | None:
    """The controller's count, None when it does not come in time or the rule is gone."""
    try:
        async with asyncio.timeout(patience):
            while True:
                document = (await api.get(RULE, "", rule)).document
                found = count_of(cast("DeviceTaintRule", from_builtins(RULE, api.version(RULE), document)))
                if found is not None:
                    return found
                await asyncio.sleep(_LOOK)
    except (TimeoutError, ApiError):
        return None


async def take_back(api: ActionApi, runner: Runner, cluster: Cluster, counting: Counting) -> str:
    """Delete the rule that was placed, unless it is no longer as it was placed. Returns "" when it is gone, otherwise what is
    left, and why, in one line."""
    for _ in range(_TRIES):
        try:
            plan = await plan_untaint(api, cluster, counting.device, rule=counting.rule)
            if not plan.before.endswith(":None") or plan.foreign:
                return f"the rule {counting.rule} was left: it is {plan.before} now"
            outcome = await runner.apply(
                plan, Rehearsal("unsupported", "not asked: it takes back what was just placed")
            )
        except NotPossibleError:
            return ""  # gone already
        except KtuiError as error:
            return left_behind(counting, str(error))
        if outcome.status == "applied":
            return ""
    return left_behind(counting, outcome.message)


def left_behind(counting: Counting, why: str) -> str:
    """That the rule is still there, and how to be rid of it."""
    return f"the rule {counting.rule} with effect None is left on {'/'.join(counting.device)}; untaint it ({why})"


def _pods(count: int) -> str:
    return f"{count} pod{'s' if count != 1 else ''}"


def _namespaces(count: int) -> str:
    return f"{count} namespace{'s' if count != 1 else ''}"
