"""The eviction controller is asked first: the rule with effect None, its count, and what becomes of the rule."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from msgspec import structs

from ktui.actions.count import Count, Counting, agree, count_of, take_back, wait_for_count
from ktui.actions.plan import NotPossibleError
from ktui.actions.taint import plan_taint
from ktui.model.resourceslice import DeviceTaint
from ktui.model.taintrule import DeviceTaintRule
from tests.faults import Answer, status_body
from tests.unit.actions.rig import DEVICE, RULES, Rig, Server, rig
from tests.unit.builders import claim, cluster_of, condition, make, meta, piece, pod, pod_consumer, result

XID = DeviceTaint(key="example.com/xid", value="79", effect="NoExecute")
COUNTING = Counting(DEVICE, XID, "broken", "oncall")
SAID = (
    "1 published device selected. 1 allocated device selected. {} would be evicted in {} if the effect was NoExecute."
)
WORLD = cluster_of(
    piece("s", ["gpu-0"]),
    claim("c", [result("gpu-0")], reserved=[pod_consumer("p")]),
    pod("p", node="node-1", spec={"resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}]}),
)


def counts(server: Server, pods: str, namespaces: str = "1 namespace") -> None:
    """The controller's part: it counts as soon as the rule is there."""

    async def after(request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
        if request.method == "POST":
            rule = server.rule()
            said = condition("EvictionInProgress", "False", "NoEffect", SAID.format(pods, namespaces))
            said |= {"observedGeneration": rule["metadata"]["generation"], "lastTransitionTime": "2026-11-30T05:00:00Z"}
            key = ("", rule["metadata"]["name"])
            server.api.database.put("DeviceTaintRule", key, {**rule, "status": {"conditions": [said]}})
        return response

    server.after = after


async def place(at: Rig) -> None:
    plan = await COUNTING.plan_look(at.api, WORLD)
    assert (plan.confirm, plan.button, plan.countable) == ("", "Count", False)
    assert (await at.carry_out(plan)).status == "applied"


def rule(*conditions: Any, generation: int = 2) -> DeviceTaintRule:
    return make(
        DeviceTaintRule, {"metadata": meta("r", "", generation=generation), "status": {"conditions": list(conditions)}}
    )


class TestReading:
    @pytest.mark.parametrize(
        ("text", "pods", "namespaces"),
        [
            (SAID.format("1 pod", "1 namespace"), 1, 1),
            (SAID.format("12 pods", "3 different namespaces"), 12, 3),
            (SAID.format("0 pods", "0 different namespaces") + " 7 pods evicted since starting the controller.", 0, 0),
            ("It would be bad.", None, None),
            ("", None, None),
        ],
    )
    def test_the_numbers_are_found_in_the_words(self, text: str, pods: int | None, namespaces: int | None) -> None:
        said = {**condition("EvictionInProgress", "False", "NoEffect", text), "observedGeneration": 2}
        assert count_of(rule(said)) == Count(text, pods, namespaces)

    @pytest.mark.parametrize(
        "change", [{"observedGeneration": 1}, {"reason": "OtherEffect"}, {"type": "Other"}], ids=lambda c: next(iter(c))
    )
    def test_what_is_not_about_this_spec_does_not_count(self, change: dict[str, Any]) -> None:
        said = {**condition("EvictionInProgress", "False", "NoEffect", SAID.format("1 pod", "1 namespace"))}
        assert count_of(rule({**said, "observedGeneration": 2, **change})) is None
        assert count_of(rule()) is None


class TestPlacing:
    async def test_a03_the_effect_is_none_first_and_noexecute_after(self, tmp_path: Path) -> None:
        async with rig(tmp_path) as at:
            await at.look()
            counts(at.server, "1 pod")
            await place(at)
            assert at.server.rule()["spec"]["taint"]["effect"] == "None"
            count = await wait_for_count(at.api, COUNTING.rule)
            assert count is not None
            assert (count.pods, count.namespaces) == (1, 1)
            plan = await COUNTING.plan_evict(at.api, WORLD, count)
            assert agree(plan, count)
            assert "the controller counts 1 pod in 1 namespace; ktui 1" in plan.notes
            assert (await at.carry_out(plan)).status == "applied"
            assert at.server.rule()["spec"]["taint"]["effect"] == "NoExecute"
            assert [(line["action"], line["after"].rpartition(":")[2]) for line in at.audit()] == [
                ("taint", "None"),
                ("taint", "NoExecute"),
            ]

    async def test_only_a_new_rule_can_be_counted_first(self, tmp_path: Path) -> None:
        async with rig(tmp_path) as at:
            cluster = await at.look()
            assert (await plan_taint(at.api, cluster, DEVICE, XID)).countable
            await at.carry_out(await plan_taint(at.api, cluster, DEVICE, structs.replace(XID, effect="NoSchedule")))
            assert not (await plan_taint(at.api, cluster, DEVICE, XID)).countable
            with pytest.raises(NotPossibleError, match="is there already"):
                await COUNTING.plan_look(at.api, cluster)

    @pytest.mark.parametrize(
        ("count", "words"),
        [
            (Count("…", 3, 2), "the controller counts 3 pods in 2 namespaces; ktui 1: the lists differ"),
            (Count("…", 0, 0), "the controller counts 0 pods in 0 namespaces; ktui 1: the lists differ"),
            (None, "the controller said nothing: where it does not run, nothing is evicted"),
        ],
    )
    async def test_a_difference_is_a_warning(self, count: Count | None, words: str, tmp_path: Path) -> None:
        async with rig(tmp_path) as at:
            await at.look()
            plan = await COUNTING.plan_evict(at.api, WORLD, count)
        assert plan.warnings[-1] == words
        assert not agree(plan, count)

    async def test_words_that_are_not_understood_are_shown(self, tmp_path: Path) -> None:
        async with rig(tmp_path) as at:
            await at.look()
            plan = await COUNTING.plan_evict(at.api, WORLD, Count("many"))
        assert plan.notes[-1] == "the controller says: many"
        assert not agree(plan, Count("many"))

    async def test_waiting_has_an_end(self, tmp_path: Path) -> None:
        async with rig(tmp_path) as at:
            await at.look()
            await place(at)
            assert await wait_for_count(at.api, COUNTING.rule, patience=0.05) is None
            at.server.delete_rule(COUNTING.rule)
            assert await wait_for_count(at.api, COUNTING.rule) is None


class TestTakingBack:
    async def test_what_was_placed_goes_and_is_audited(self, tmp_path: Path) -> None:
        async with rig(tmp_path) as at:
            await at.look()
            await place(at)
            assert await take_back(at.api, at.runner, WORLD, COUNTING) == ""
            assert at.server.rules() == {}
            assert [line["action"] for line in at.audit()] == ["taint", "untaint"]
            assert await take_back(at.api, at.runner, WORLD, COUNTING) == ""

    async def test_the_controllers_writes_do_not_keep_it(self, tmp_path: Path) -> None:
        async with rig(tmp_path) as at:
            await at.look()
            await place(at)
            at.server.faults.script(f"DELETE {RULES}/*", Answer(409, status_body(409, "Conflict", "changed")))
            assert await take_back(at.api, at.runner, WORLD, COUNTING) == ""
            assert at.server.rules() == {}

    async def test_a_rule_that_became_another_stays(self, tmp_path: Path) -> None:
        async with rig(tmp_path) as at:
            await at.look()
            await place(at)
            at.server.change(
                "DeviceTaintRule", ("", COUNTING.rule), spec={"taint": {"key": XID.key, "effect": "NoSchedule"}}
            )
            left = await take_back(at.api, at.runner, WORLD, COUNTING)
            assert left == f"the rule {COUNTING.rule} was left: it is example.com/xid:NoSchedule now"
            assert at.server.rule()["spec"]["taint"]["effect"] == "NoSchedule"

    async def test_what_cannot_be_taken_back_is_named(self, tmp_path: Path) -> None:
        async with rig(tmp_path) as at:
            await at.look()
            await place(at)
            at.server.faults.script(f"DELETE {RULES}/*", Answer(403, status_body(403, "Forbidden", "no")), repeat=True)
            left = await take_back(at.api, at.runner, WORLD, COUNTING)
        assert left.startswith(f"the rule {COUNTING.rule} with effect None is left on {'/'.join(DEVICE)}; untaint it (")


async def test_giving_up_ends_the_waiting(tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        await at.look()
        await place(at)
        waiting = asyncio.create_task(wait_for_count(at.api, COUNTING.rule))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
