"""PodDisruptionBudgets of the pods that a taint evicts: named, though they do not help, and never in the way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ktui.actions.plan import Plan
from ktui.actions.taint import plan_taint
from ktui.cluster.state import Cluster
from ktui.model.meta import Object
from ktui.model.resourceslice import DeviceTaint
from tests.faults import Answer, Drop, Fault, status_body
from tests.unit.actions.rig import DEVICE, rig
from tests.unit.builders import claim, cluster_of, piece, pod, pod_consumer, result

XID = DeviceTaint(key="example.com/xid", effect="NoExecute")


def path(namespace: str) -> str:
    return f"/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets"


def budgets(**selectors: Any) -> Answer:
    items = [{"metadata": {"name": name}, "spec": {"selector": selector}} for name, selector in selectors.items()]
    return Answer(200, json.dumps({"kind": "PodDisruptionBudgetList", "apiVersion": "policy/v1", "items": items}))


def world() -> Cluster:
    """Two pods of two namespaces on the device, each with its name as label."""
    objects: list[Object] = [piece("s", ["gpu-0"])]
    for namespace in ("ml", "web"):
        named = [{"name": "c", "resourceClaimName": "c"}]
        labels = {"labels": {"app": namespace}}
        objects += [
            pod("p", namespace=namespace, node="node-1", meta_=labels, spec={"resourceClaims": named}),
            claim("c", [result("gpu-0")], namespace=namespace, reserved=[pod_consumer("p", namespace)]),
        ]
    return cluster_of(*objects)


async def planned(tmp_path: Path, effect: str = "NoExecute", **answers: Fault) -> tuple[Plan, list[str]]:
    """The plan, and the lists of budgets that were asked for."""
    async with rig(tmp_path) as at:
        await at.look()
        for namespace, answer in answers.items():
            at.server.faults.script(f"* {path(namespace)}", answer, repeat=True)
        plan = await plan_taint(at.api, world(), DEVICE, DeviceTaint(key=XID.key, effect=effect))
        return plan, [asked.path for asked in at.server.faults.asked("* /apis/policy/*")]


async def test_those_that_cover_a_pod_are_named(tmp_path: Path) -> None:
    keep = budgets(keep={"matchLabels": {"app": "ml"}}, other={"matchLabels": {"app": "web"}}, none=None)
    plan, _ = await planned(tmp_path, ml=keep, web=budgets(every={}))
    assert plan.budgets == (("ml", "keep"), ("web", "every"))
    assert "2 PodDisruptionBudgets will not help: ml/keep, web/every" in plan.notes


async def test_each_namespace_is_read_once_and_others_never(tmp_path: Path) -> None:
    _, asked = await planned(tmp_path, ml=budgets(), web=budgets())
    assert asked == [path("ml"), path("web")]
    _, asked = await planned(tmp_path / "again", "NoSchedule")
    assert asked == []


async def test_a_server_without_them_has_none(tmp_path: Path) -> None:
    plan, _ = await planned(tmp_path)
    assert plan.budgets == ()
    assert not any("Budget" in note for note in plan.notes)


@pytest.mark.parametrize(
    "trouble",
    [Answer(403, status_body(403, "Forbidden", "no")), Answer(200, '{"items": 3}'), Drop()],
    ids=["forbidden", "no list", "no answer"],
)
async def test_what_cannot_be_read_is_said_and_keeps_nobody_from_acting(trouble: Fault, tmp_path: Path) -> None:
    plan, _ = await planned(tmp_path, ml=trouble, web=budgets())
    assert plan.budgets is None
    assert "PodDisruptionBudgets could not be read; none would help" in plan.notes
    assert [hit.key for hit in plan.blast.deleted] == [("ml", "p"), ("web", "p")]
