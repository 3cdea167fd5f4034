"""Untaint one device: the rule that names it and nothing else goes, or it is said why not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ktui.actions.plan import NotPossibleError
from ktui.actions.taint import plan_taint
from ktui.actions.untaint import plan_untaint
from ktui.demo.apiserver import SERVES_1_35, SERVES_1_36, SERVES_1_37
from ktui.errors import UsageError
from ktui.model.resourceslice import DeviceTaint
from tests.unit.actions.rig import DEVICE, RULES, WHERE, lost, rig
from tests.unit.builders import DRIVER, cluster_of, piece, taint

XID = DeviceTaint(key="example.com/xid", value="79", effect="NoExecute")


async def test_removes_our_own_rule(tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        await at.carry_out(await plan_taint(at.api, await at.look(), DEVICE, XID))
        plan = await plan_untaint(at.api, await at.look(), DEVICE)
        assert (plan.before, plan.after, plan.confirm, plan.foreign) == (
            "example.com/xid=79:NoExecute",
            "no taint",
            "",
            False,
        )
        assert "pods that were evicted do not come back by themselves" in plan.sentence
        assert (await at.carry_out(plan)).status == "applied"
        assert at.server.rules() == {}
        assert plan.done(await at.look())
        body = at.server.real_writes[-1].body
        assert set(body["preconditions"]) == {"uid", "resourceVersion"}


async def test_a07_another_ones_rule_needs_its_name_typed(tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        at.server.add_rule("monitor-7")
        plan = await plan_untaint(at.api, await at.look(), DEVICE)
    assert (plan.confirm, plan.foreign) == ("monitor-7", True)
    assert any("ktui did not make the rule monitor-7" in warning for warning in plan.warnings)


@pytest.mark.parametrize(
    ("selector", "scope"),
    [
        ({}, "EVERY device of EVERY driver"),
        ({"driver": DRIVER}, f"all of driver {DRIVER}"),
        ({"driver": DRIVER, "pool": "node-1"}, f"all of pool {DRIVER}/node-1"),
        ({"device": "gpu-0"}, "device gpu-0 in EVERY pool"),
        ({"pool": "node-1"}, "pool node-1 of every driver"),
    ],
)
async def test_a07_a_rule_of_many_devices_is_never_deleted_for_one(
    selector: dict[str, str], scope: str, tmp_path: Path
) -> None:
    async with rig(tmp_path) as at:
        at.server.add_rule("broad", selector=selector)
        at.server.api.create(
            "ResourceSlice",
            {
                "metadata": {"name": "s"},
                "spec": {
                    "driver": DRIVER,
                    "pool": {"name": "node-1", "generation": 1, "resourceSliceCount": 1},
                    "devices": [{"name": "gpu-0"}],
                },
            },
        )
        with pytest.raises(NotPossibleError) as refused:
            await plan_untaint(at.api, await at.look(), DEVICE)
        assert scope in str(refused.value)
        assert "one device cannot be exempted" in str(refused.value)
        assert at.server.writes == []


async def test_a07_a_rule_widened_meanwhile_is_refused_on_what_the_server_says(tmp_path: Path) -> None:
    """The decision is made on the fresh object, not on the state."""
    async with rig(tmp_path) as at:
        at.server.add_rule("r")
        cluster = await at.look()
        at.server.delete_rule("r")
        at.server.add_rule("r", selector={"driver": DRIVER})
        with pytest.raises(NotPossibleError, match="one device cannot be exempted"):
            await plan_untaint(at.api, cluster, DEVICE)


async def test_a07_the_drivers_own_taint_cannot_be_removed(tmp_path: Path) -> None:
    cluster = cluster_of(piece("s", [{"name": "gpu-0", "taints": [taint()]}]))
    async with rig(tmp_path) as at:
        await at.look()
        with pytest.raises(NotPossibleError, match=r"published by the driver.*cannot be removed by a person"):
            await plan_untaint(at.api, cluster, DEVICE)
        assert at.server.writes == []


async def test_says_what_stays(tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        at.server.add_rule("a")
        at.server.add_rule("b", "example.com/hot:NoSchedule", selector={"driver": DRIVER})
        plan = await plan_untaint(at.api, await at.look(), DEVICE, taint="example.com/xid")
        assert "the device stays tainted: example.com/hot:NoSchedule" in plan.warnings
        await at.carry_out(plan)
        assert set(at.server.rules()) == {"b"}


@pytest.mark.parametrize("wanted", ["a", "example.com/xid=79:NoExecute", "example.com/xid=79", "example.com/xid"])
async def test_one_of_several_is_chosen_by_its_text_or_its_rule(wanted: str, tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        at.server.add_rule("a")
        at.server.add_rule("b", "example.com/hot:NoSchedule")
        with pytest.raises(UsageError, match=r"several taints: .*\(rule a\).*\(rule b\); say which one"):
            await plan_untaint(at.api, await at.look(), DEVICE)
        assert (await plan_untaint(at.api, await at.look(), DEVICE, taint=wanted)).request.name == "a"


async def test_two_rules_with_the_same_taint_can_be_told_apart(tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        at.server.add_rule("a")
        at.server.add_rule("b")
        with pytest.raises(UsageError, match="by the name of its rule"):
            await plan_untaint(at.api, await at.look(), DEVICE, taint="example.com/xid=79:NoExecute")
        assert (await plan_untaint(at.api, await at.look(), DEVICE, taint="b")).request.name == "b"


async def test_what_is_not_there(tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        with pytest.raises(NotPossibleError, match=f"{WHERE} is not tainted"):
            await plan_untaint(at.api, await at.look(), DEVICE)
        at.server.add_rule("a")
        with pytest.raises(NotPossibleError, match=r"has no taint other; it has example.com/xid=79:NoExecute"):
            await plan_untaint(at.api, await at.look(), DEVICE, taint="other")


async def test_a18_not_readable_is_not_untainted(tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        await at.look()
        with pytest.raises(NotPossibleError, match=r"devicetaintrules\.resource\.k8s\.io cannot be read"):
            await plan_untaint(at.api, cluster_of(without=("DeviceTaintRule",)), DEVICE)


async def test_a24_not_served_names_the_gate(tmp_path: Path) -> None:
    async with rig(tmp_path, serves={**SERVES_1_37, "DeviceTaintRule": ()}) as at:
        with pytest.raises(NotPossibleError, match=r"does not serve devicetaintrules.*DRADeviceTaintRules=true"):
            await plan_untaint(at.api, await at.look(), DEVICE)


@pytest.mark.parametrize("serves", [SERVES_1_36, SERVES_1_35], ids=["1.36", "1.35"])
async def test_a24_older_versions(serves: Any, tmp_path: Path) -> None:
    async with rig(tmp_path, serves=serves) as at:
        at.server.add_rule("a")
        assert (await at.carry_out(await plan_untaint(at.api, await at.look(), DEVICE))).status == "applied"
        assert at.server.rules() == {}


@pytest.mark.parametrize("anew", [False, True], ids=["changed", "made anew"])
async def test_a08_a_rule_that_is_another_by_now_stays(anew: bool, tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        at.server.add_rule("a")
        plan = await plan_untaint(at.api, await at.look(), DEVICE)
        rehearsal = await at.runner.rehearse(plan)
        if anew:
            at.server.delete_rule("a")
            at.server.add_rule("a")
        else:
            at.server.touch("DeviceTaintRule", "", "a", seen="1")
        outcome = await at.runner.apply(plan, rehearsal)
        assert outcome.status == "conflict"
        assert set(at.server.rules()) == {"a"}
        assert len(at.server.real_writes) == 1


async def test_a09_gone_before_the_plan(tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        at.server.add_rule("a")
        cluster = await at.look()
        at.server.delete_rule("a")
        with pytest.raises(NotPossibleError, match="the rule a is gone already"):
            await plan_untaint(at.api, cluster, DEVICE)


async def test_a09_gone_during_the_dialog_is_as_good_as_done(tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        at.server.add_rule("a")
        plan = await plan_untaint(at.api, await at.look(), DEVICE)
        rehearsal = await at.runner.rehearse(plan)
        at.server.delete_rule("a")
        outcome = await at.runner.apply(plan, rehearsal)
        assert (outcome.status, outcome.message) == ("applied", "it was gone already")
        assert at.audit()[-1]["result"] == "applied: it was gone already"


async def test_a10_an_answer_lost_and_the_rule_made_anew_by_a_monitor(tmp_path: Path) -> None:
    """The object under the name is another one: ours is gone."""
    async with rig(tmp_path) as at:
        at.server.add_rule("a")
        plan = await plan_untaint(at.api, await at.look(), DEVICE)

        async def replaced(request: Any, response: Any) -> Any:
            at.server.add_rule("a")
            return await lost(request, response)

        at.server.after = replaced
        assert (await at.carry_out(plan)).status == "applied"
        assert [sent.method for sent in at.server.real_writes] == ["DELETE"]
        assert at.server.real_writes[0].path == f"{RULES}/a"
