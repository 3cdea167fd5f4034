"""What doctor says of versions, APIs and gates."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.doctor import server
from ktui.doctor.facts import ServerVersion, Unknown
from ktui.doctor.finding import Status
from tests.unit.builders import autoscaler, cluster_of, group, listed, phase, workload

from .facts import facts
from .test_access import only


@pytest.mark.parametrize(
    ("git", "status"),
    [
        ("v1.35.0", "ok"),
        ("v1.37.2-gke.100", "ok"),
        ("v1.34.9", "warn"),
        ("v1.38.0-alpha.1", "warn"),
        ("v2.0.0", "warn"),
        ("\x1b[31m", "warn"),
        ("", "warn"),
    ],
)
def test_versions(git: str, status: Status) -> None:
    assert only(server.version(facts(version=ServerVersion(git)))).status == status


def test_an_emulated_version_is_said() -> None:
    assert "emulating 1.36" in only(server.version(facts(version=ServerVersion("v1.37.2", "1.36")))).text


@pytest.mark.parametrize(
    ("component", "version", "status"),
    [
        ("kube-scheduler", "v1.37.0", "ok"),
        ("kube-scheduler", "v1.36.3", "ok"),
        ("kube-scheduler", "v1.35.3", "fail"),
        ("kube-controller-manager", "v1.38.0", "fail"),
        ("kube-apiserver", "v1.36.0", "ok"),
        ("etcd", "3.6.4-0", "ok"),
        ("kube-scheduler", "mine", "ok"),
    ],
)
def test_components(component: str, version: str, status: Status) -> None:
    found = only(server.components(facts(components=((component, version),))))
    assert (found.status, found.objects) == (status, (f"{component} {version}",))


def test_components_are_not_judged_without_the_servers_version() -> None:
    assert (
        only(server.components(facts(version=Unknown("?"), components=(("kube-scheduler", "v1.1.0"),)))).status == "ok"
    )


def test_features_are_told_from_what_is_served() -> None:
    found = {f.check: f for f in server.apis(facts(served={"Workload": "v1alpha1"}))}
    assert found["gang-scheduling"].text.startswith("workloads v1alpha1 served (inferred from discovery")
    assert (found["taint-rules"].status, "DRADeviceTaintRules" in found["taint-rules"].text) == ("warn", True)
    assert found["dynamic-resource-allocation"].status == "warn"


def test_gang_scheduling_that_is_off_names_gate_and_api() -> None:
    found = next(f for f in server.apis(facts(served={})) if f.check == "gang-scheduling")
    assert found.status == "warn"
    assert "--feature-gates=GenericWorkload=true" in found.text
    assert "--runtime-config=scheduling.k8s.io/v1beta1=true" in found.text


def test_groups_without_an_answer_are_named() -> None:
    found = only(server.stale_apis(facts(stale=("metrics.k8s.io",))))
    assert (found.status, found.text) == ("warn", "no present answer from metrics.k8s.io")
    assert only(server.stale_apis(facts())).status == "ok"


def test_gates_that_matter_are_listed_with_where_they_come_from() -> None:
    found = only(server.gates(facts(gates={"GenericWorkload": True, "CompositePodGroup": False, "Other": True})))
    assert found.text == "of kube-apiserver, from its /metrics: on: GenericWorkload; off: CompositePodGroup"
    assert found.objects == ("GenericWorkload=true", "CompositePodGroup=false")
    assert only(server.gates(facts(gates={"Other": True}))).status == "skipped"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"gates": {"HPAScaleToZero": True}}, "may be 0: HPAScaleToZero is on (from /metrics"),
        ({"gates": {"HPAScaleToZero": False}}, "is refused: HPAScaleToZero is off (from /metrics"),
        ({"gates": Unknown("no")}, "on by default (inferred from the version)"),
        ({"gates": {}, "version": ServerVersion("v1.36.1")}, "off by default before 1.37"),
        ({"gates": {}, "version": Unknown("no")}, "neither the server's gates nor its version"),
    ],
)
def test_scale_to_zero(changes: dict[str, Any], says: str) -> None:
    assert says in only(server.scale_to_zero(facts(**changes))).text


def test_an_autoscaler_with_minreplicas_0_proves_the_gate() -> None:
    asleep = cluster_of(autoscaler("a", {"minReplicas": 0}))
    found = only(server.scale_to_zero(facts(asleep, gates={}, version=ServerVersion("v1.36.1"))))
    assert "inferred from an autoscaler" in found.text


def test_objects_that_block_an_upgrade_are_named() -> None:
    cluster = cluster_of(group("g", 2), workload("w"))
    found = only(server.upgrade(facts(cluster, served={"PodGroup": "v1alpha2", "Workload": "v1alpha2"})))
    assert (found.status, found.objects) == ("warn", ("podgroups/ml/g", "workloads/ml/w"))
    assert "delete them" in found.todo


def test_the_same_objects_block_nothing_in_v1beta1() -> None:
    assert only(server.upgrade(facts(cluster_of(group("g", 2))))).status == "ok"


def test_no_old_objects_is_only_said_of_what_was_read() -> None:
    cluster = cluster_of(without=("PodGroup",))
    old = {"PodGroup": "v1alpha2"}
    assert only(server.upgrade(facts(cluster, served=old))).status == "skipped"
    cluster.apply(phase("PodGroup", "no-access", "403"))
    assert only(server.upgrade(facts(cluster, served=old))).text.endswith("podgroups may not be read")
    cluster.apply(listed("PodGroup", namespace="ml"))
    assert only(server.upgrade(facts(cluster, served=old))).text.startswith("no scheduling objects in namespace ml")
