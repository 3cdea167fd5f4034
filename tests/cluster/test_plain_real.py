"""A real control plane with the gates off and no devices: pods and autoscalers are shown, and what is off is said."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ktui.cli import main
from tests.cluster import objects
from tests.cluster.controlplane.api import Json, wait_for
from tests.cluster.controlplane.cluster import ControlPlane, Options

NAMESPACE = "web"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def plain(control_plane_binaries: Path) -> Iterator[ControlPlane]:
    gates = {"HPAScaleToZero": False, "DRADeviceTaintRules": False}
    with ControlPlane(control_plane_binaries, Options(feature_gates=gates, runtime_config={})) as plane:
        api = plane.api()
        api.create(objects.namespace(NAMESPACE))
        api.create(objects.deployment(NAMESPACE, "chat", 1))
        api.create(objects.autoscaler(NAMESPACE, "chat", external=True))
        scaler = f"/apis/autoscaling/v2/namespaces/{NAMESPACE}/horizontalpodautoscalers/chat"
        wait_for(lambda: api.list(f"/api/v1/namespaces/{NAMESPACE}/pods"), "the pod")
        wait_for(lambda: len(api.get(scaler)["status"].get("conditions") or ()) > 1, "the autoscaler to be looked at")
        yield plane


@pytest.fixture
def ktui(plain: ControlPlane, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str) -> tuple[int, str, str]:
        code = main([*arguments, "-n", NAMESPACE, "--kubeconfig", str(plain.kubeconfig)])
        out, err = capsys.readouterr()
        return code, out, err

    return run


def items(ran: tuple[int, str, str]) -> list[Json]:
    code, out, err = ran
    assert (code, err) == (0, "")
    found: list[Json] = json.loads(out)["items"]
    return found


def test_pods_and_autoscalers_are_shown(ktui: Run) -> None:
    (pod,) = items(ktui("get", "pods", "-o", "json"))
    assert (pod["name"].startswith("chat-"), pod["phase"], pod["gang"]) == (True, "Pending", None)
    (scaler,) = items(ktui("get", "autoscalers", "-o", "json"))
    assert (scaler["name"], scaler["state"], scaler["sleepObstacle"]) == ("chat", "no metric", "minReplicas")
    assert scaler["metrics"][0]["current"] is None


def test_what_is_off_is_said_with_its_gate(ktui: Run) -> None:
    code, out, err = ktui("get", "gangs")
    assert (code, out) == (0, "")
    assert err.startswith(f"No gangs found in namespace {NAMESPACE}.\nktui: gang scheduling is off: ")
    assert "--feature-gates=GenericWorkload=true" in err
    code, out, err = ktui("get", "workloads")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "GenericWorkload=true" in err


def test_views_of_what_is_served_and_not_there_are_empty(ktui: Run) -> None:
    """A 1.37 server serves rules even where the gate of their controller is off."""
    for view in ("claims", "devices", "taints", "triage"):
        code, out, err = ktui("get", view, "-o", "json")
        assert (code, err) == (0, "")
        assert view == "triage" or json.loads(out)["items"] == []


def test_scale_to_zero_with_its_gate_off_is_refused_in_one_line(ktui: Run, plain: ControlPlane) -> None:
    code, out, err = ktui("min-replicas", "chat", "0", "--yes")
    assert (code, "must be greater than or equal to 1" in err + out) == (1, True)
    scaler = f"/apis/autoscaling/v2/namespaces/{NAMESPACE}/horizontalpodautoscalers/chat"
    assert plain.api().get(scaler)["spec"]["minReplicas"] == 1
