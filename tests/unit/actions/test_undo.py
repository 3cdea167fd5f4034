"""Undo: the reverse of what was done, planned and confirmed like any action, and there and back is where it began."""

from __future__ import annotations

from pathlib import Path

from ktui.actions.desk import Desk
from ktui.actions.minreplicas import plan_min_replicas
from ktui.actions.plan import Plan
from ktui.actions.taint import plan_taint
from ktui.actions.untaint import plan_untaint
from ktui.model.resourceslice import DeviceTaint
from tests.unit.actions.rig import DEVICE, WHERE, Rig, rig


async def _undo(at: Rig, plan: Plan) -> Plan:
    assert plan.undo is not None
    desk: Desk = at.desk
    back = await desk.undo(await at.look(), plan.undo)
    assert (await at.carry_out(back)).status == "applied"
    return back


async def test_taint_and_back(tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        plan = await plan_taint(at.api, await at.look(), DEVICE, DeviceTaint(key="a", effect="NoSchedule"))
        await at.carry_out(plan)
        back = await _undo(at, plan)
        assert at.server.rules() == {}
        # And once more: the undo of the undo.
        await _undo(at, back)
        assert at.server.rule()["spec"]["taint"]["effect"] == "NoSchedule"


async def test_taint_undone_where_others_taint_the_device_too(tmp_path: Path) -> None:
    """It is our rule that goes, without asking which."""
    async with rig(tmp_path) as at:
        at.server.add_rule("monitor", "a:NoSchedule")
        plan = await plan_taint(at.api, await at.look(), DEVICE, DeviceTaint(key="a", effect="NoSchedule"))
        await at.carry_out(plan)
        await _undo(at, plan)
        assert set(at.server.rules()) == {"monitor"}


async def test_a_changed_effect_and_back(tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        before = DeviceTaint(key="a", value="1", effect="None")
        await at.carry_out(await plan_taint(at.api, await at.look(), DEVICE, before))
        plan = await plan_taint(at.api, await at.look(), DEVICE, DeviceTaint(key="a", value="2", effect="NoExecute"))
        assert plan.undo is not None
        assert plan.undo.sentence == f"set the taint of {WHERE} back to a=1:None"
        await at.carry_out(plan)
        await _undo(at, plan)
        taint = at.server.rule()["spec"]["taint"]
        assert (taint["value"], taint["effect"]) == ("1", "None")


async def test_untaint_and_back(tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        at.server.add_rule("monitor", "a=1:NoSchedule")
        plan = await plan_untaint(at.api, await at.look(), DEVICE)
        await at.carry_out(plan)
        back = await _undo(at, plan)
        assert back.after == "a=1:NoSchedule"
        rule = at.server.rule()
        assert rule["spec"]["taint"]["value"] == "1"
        assert rule["metadata"]["annotations"]["ktui/user"] == "oncall"


async def test_min_replicas_and_back(tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        await at.look()
        at.server.add_autoscaler()
        plan = await plan_min_replicas(at.api, ("ml", "chat"), 0)
        await at.carry_out(plan)
        await _undo(at, plan)
        assert at.server.autoscaler()["spec"]["minReplicas"] == 1
