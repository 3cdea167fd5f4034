"""`ktui doctor` on the real control plane: what it finds is there, and everybody gets an answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from ktui.cli import main
from tests.cluster import objects
from tests.cluster.controlplane.access import TENANT_NAMESPACE
from tests.cluster.controlplane.api import wait_for
from tests.cluster.controlplane.cluster import ControlPlane

Findings = dict[str, dict[str, Any]]
Look = Callable[..., tuple[int, Findings]]


@pytest.fixture
def look(real_cluster: ControlPlane, capsys: pytest.CaptureFixture[str]) -> Look:
    """Run `ktui doctor` as somebody: (exit code, findings by check)."""

    def run(context: str = "admin", *arguments: str) -> tuple[int, Findings]:
        code = main(
            ["doctor", "-o", "json", "--kubeconfig", str(real_cluster.kubeconfig), "--context", context, *arguments]
        )
        out, err = capsys.readouterr()
        assert err == ""
        return code, {finding["check"]: finding for finding in json.loads(out)["findings"]}

    return run


def test_an_administrator_is_told_everything(look: Look) -> None:
    code, found = look()
    assert code == 0
    assert (found["credentials"]["status"], "system:masters" in found["credentials"]["text"]) == ("warn", True)
    assert found["reading"]["status"] == "ok"
    assert found["actions"]["text"] == "may: taint, untaint, list budgets, min-replicas"
    assert found["server-version"]["text"].startswith("Kubernetes v1.37.")
    assert {"GenericWorkload=true", "CompositePodGroup=false"} <= set(found["feature-gates"]["objects"])
    assert "from /metrics of kube-apiserver" in found["scale-to-zero"]["text"]
    assert found["gang-scheduling"]["text"].startswith("podgroups v1beta1, workloads v1beta1 served")
    for check in ("files", "tls", "clock", "upgrade", "pools", "slices-without-node"):
        assert found[check]["status"] == "ok", found[check]


def test_a_viewer_reads_and_does_not_act(look: Look) -> None:
    code, found = look("viewer")
    assert code == 0
    assert found["credentials"]["text"].startswith("viewer: context viewer")
    assert (found["reading"]["status"], found["actions"]["status"]) == ("ok", "ok")
    assert found["actions"]["text"].startswith("may not: taint")
    assert (found["feature-gates"]["status"], found["scale-to-zero"]["status"]) == ("skipped", "ok")


def test_a_tenant_gets_what_a_tenant_may_see(look: Look) -> None:
    code, found = look("tenant")
    assert code == 0
    assert found["reading"]["status"] == "warn"
    assert {"list nodes", "watch devicetaintrules", "pods"} <= set(found["reading"]["objects"])
    for check in ("kubelets", "pools", "drivers", "broad-taint-rules", "control-plane"):
        assert (found[check]["status"], "may not be read" in found[check]["text"]) == ("skipped", True), found[check]
    assert f"in namespace {TENANT_NAMESPACE}" in found["pending-gangs"]["text"]


def test_gangs_that_wait_are_counted_by_cause(look: Look, real_cluster: ControlPlane, fresh_namespace: str) -> None:
    api = real_cluster.api()
    api.create(objects.gang_job(fresh_namespace, "waits", 40, "one-gpu"))

    def explained() -> str:
        pending = look("viewer")[1]["pending-gangs"]
        mine = [name for name in pending["objects"] if name.startswith(f"{fresh_namespace}/")]
        return pending["text"] if mine and "NotEnoughDevices" in pending["text"] else ""

    assert "NotEnoughDevices 1" in wait_for(explained, "the gang to be explained", limit=90)


def test_an_incomplete_pool_and_a_slice_without_a_node(look: Look, real_cluster: ControlPlane) -> None:
    piece = objects.resource_slice("doctor-node")
    piece["spec"]["pool"]["resourceSliceCount"] = 2
    with real_cluster.api().created(piece):
        code, found = look()
    assert code == 1
    assert found["pools"]["objects"] == [f"{objects.DRIVER}/doctor-node"]
    assert (found["slices-without-node"]["status"], found["slices-without-node"]["objects"]) == (
        "warn",
        ["doctor-node"],
    )


def test_a_rule_for_a_whole_driver(look: Look, real_cluster: ControlPlane) -> None:
    rule = objects.device_taint_rule("doctor-broad", "any", "any", effect="NoSchedule")
    rule["spec"]["deviceSelector"] = {"driver": objects.DRIVER}
    with real_cluster.api().created(rule):
        code, found = look()
    assert code == 1
    assert found["broad-taint-rules"]["objects"] == ["devicetaintrules/doctor-broad"]
    assert f"all of driver {objects.DRIVER}" in found["broad-taint-rules"]["text"]


def test_a_kubelet_that_is_too_new_and_without_root(look: Look, real_cluster: ControlPlane) -> None:
    node = objects.node("doctor-new", "z9")
    node["metadata"]["annotations"].clear()  # nobody plays its kubelet, so what it tells stays
    node["status"]["nodeInfo"] = {"kubeletVersion": "v1.99.0", "runningInUserNamespace": True}
    with real_cluster.api().created(node):
        code, found = look()
    assert code == 1
    assert found["kubelets"]["objects"] == found["rootless"]["objects"] == ["nodes/doctor-new"]


def test_an_autoscaler_that_nothing_wakes(look: Look, real_cluster: ControlPlane, fresh_namespace: str) -> None:
    """Issue 6, item 13: somebody scaled its target to 0, so the controller leaves it there."""
    api = real_cluster.api()
    api.create(objects.deployment(fresh_namespace, "chat", 0))
    api.create(objects.autoscaler(fresh_namespace, "chat", external=True))
    name = f"horizontalpodautoscalers/{fresh_namespace}/chat"

    def told() -> bool:
        found = look("viewer")[1]["autoscalers"]
        return found["status"] == "warn" and name in found["objects"] and "paused" in found["text"]

    wait_for(told, "the autoscaler to be called paused", limit=90)
