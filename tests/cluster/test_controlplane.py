"""The rig itself: other cluster tests may believe what it says only if these pass."""

from __future__ import annotations

import os
import signal
import ssl
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ktui.model.kinds import KINDS, Kind
from tests.cluster import infra, objects
from tests.cluster.controlplane import build
from tests.cluster.controlplane.access import TENANT_NAMESPACE, Access
from tests.cluster.controlplane.api import Api, ApiError, Json, wait_for
from tests.cluster.controlplane.cluster import ControlPlane, ControlPlaneError, Options
from tests.cluster.controlplane.process import Process

WRITES = ("create", "update", "patch", "delete")


def pods(api: Api, namespace: str, job: str) -> list[Json]:
    return api.list(f"/api/v1/namespaces/{namespace}/pods", labelSelector=f"batch.kubernetes.io/job-name={job}")


def running(api: Api, namespace: str, job: str) -> list[Json]:
    """The job's pods that run and are not being deleted."""
    return [
        pod
        for pod in pods(api, namespace, job)
        if pod["status"]["phase"] == "Running" and "deletionTimestamp" not in pod["metadata"]
    ]


def allocated(api: Api, namespace: str) -> dict[tuple[str, str], str]:
    """(pool, device) -> name of the pod that a claim of the namespace reserves it for."""
    return {
        (result["pool"], result["device"]): user["name"]
        for claim in api.list(f"/apis/resource.k8s.io/v1/namespaces/{namespace}/resourceclaims")
        for result in claim.get("status", {}).get("allocation", {}).get("devices", {}).get("results", [])
        for user in claim["status"].get("reservedFor", [])
    }


def test_it_is_the_version_that_the_build_names(real_cluster: ControlPlane) -> None:
    assert real_cluster.api().get("/version")["gitVersion"] == f"v{build.KUBERNETES}"


@pytest.mark.parametrize("user", ["admin", "admin-cert"])
def test_an_administrator_may_do_anything(real_cluster: ControlPlane, user: str) -> None:
    assert real_cluster.api(user).can("*", "*", "*")


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_the_viewer_reads_every_kind_that_ktui_knows_and_writes_none(real_cluster: ControlPlane, kind: Kind) -> None:
    viewer = real_cluster.api("viewer")
    assert all(viewer.can(verb, kind.group, kind.plural) for verb in ("get", "list", "watch"))
    assert not any(viewer.can(verb, kind.group, kind.plural) for verb in WRITES)


def test_the_tenant_reads_one_namespace_and_nothing_of_the_cluster(real_cluster: ControlPlane) -> None:
    tenant = real_cluster.api("tenant")
    for kind in KINDS.values():
        allowed = tenant.can("list", kind.group, kind.plural, TENANT_NAMESPACE)
        assert allowed == (kind.namespaced), kind.name
        assert not tenant.can("list", kind.group, kind.plural), kind.name
        assert not any(tenant.can(verb, kind.group, kind.plural, TENANT_NAMESPACE) for verb in WRITES), kind.name


def test_rights_hold_for_real_requests_too(real_cluster: ControlPlane) -> None:
    tenant = real_cluster.api("tenant")
    assert tenant.list(f"/api/v1/namespaces/{TENANT_NAMESPACE}/pods")
    with pytest.raises(ApiError) as refused:
        tenant.list("/apis/resource.k8s.io/v1/resourceslices")
    assert refused.value.status == 403


def test_an_unknown_token_is_refused(real_cluster: ControlPlane) -> None:
    stranger = Api(real_cluster.url, ssl._create_unverified_context(), "not-a-token")
    with pytest.raises(ApiError) as refused:
        stranger.list("/api/v1/pods")
    assert refused.value.status == 401


def test_a_gang_of_eight_runs_each_pod_with_a_device_of_its_own(
    real_cluster: ControlPlane, fresh_namespace: str
) -> None:
    api = real_cluster.api()
    api.create(objects.gang_job(fresh_namespace, "train", 8, "one-gpu"))
    wait_for(lambda: len(running(api, fresh_namespace, "train")) == 8, "8 running pods")
    devices = allocated(api, fresh_namespace)
    assert len(devices) == 8
    assert len(set(devices.values())) == 8
    groups = api.list(f"/apis/scheduling.k8s.io/v1beta1/namespaces/{fresh_namespace}/podgroups")
    assert [group["spec"]["schedulingPolicy"]["gang"]["minCount"] for group in groups] == [8]


def test_a_gang_larger_than_the_cluster_places_no_pod_at_all(real_cluster: ControlPlane, fresh_namespace: str) -> None:
    api = real_cluster.api()
    too_many = infra.DEVICES + 1
    api.create(objects.gang_job(fresh_namespace, "huge", too_many, "one-gpu"))

    def refusal() -> bool:
        conditions = [
            condition
            for group in api.list(f"/apis/scheduling.k8s.io/v1beta1/namespaces/{fresh_namespace}/podgroups")
            for condition in group.get("status", {}).get("conditions", [])
        ]
        return any(c["reason"] == "Unschedulable" and c["status"] == "False" for c in conditions)

    wait_for(refusal, "the scheduler to refuse the gang")
    assert len(pods(api, fresh_namespace, "huge")) == too_many
    assert not allocated(api, fresh_namespace)


def test_a_no_execute_rule_evicts_the_pod_that_uses_the_device(
    real_cluster: ControlPlane, fresh_namespace: str
) -> None:
    api = real_cluster.api()
    api.create(objects.gang_job(fresh_namespace, "train", 4, "one-gpu"))
    wait_for(lambda: len(running(api, fresh_namespace, "train")) == 4, "4 running pods")
    (pool, device), victim = next(iter(allocated(api, fresh_namespace).items()))
    with api.created(objects.device_taint_rule(f"{fresh_namespace}-rule", pool, device)):

        def evicted() -> bool:
            return victim not in {pod["metadata"]["name"] for pod in running(api, fresh_namespace, "train")}

        wait_for(evicted, f"{victim} to be evicted", limit=30)
        wait_for(lambda: len(running(api, fresh_namespace, "train")) == 4, "a replacement on another device")
        assert (pool, device) not in allocated(api, fresh_namespace)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_objects_outlive_the_api_server(
    real_cluster: ControlPlane, fresh_namespace: str, number: signal.Signals
) -> None:
    api = real_cluster.api()
    made = api.create(objects.pod_group(fresh_namespace, "kept", 2))
    path = f"/apis/scheduling.k8s.io/v1beta1/namespaces/{fresh_namespace}/podgroups/kept"
    before = real_cluster.url
    real_cluster.stop_api_server(number, limit=1)
    assert not api.ready()
    real_cluster.start_api_server()
    assert real_cluster.url == before
    assert api.get(path)["metadata"]["uid"] == made["metadata"]["uid"]
    # The controllers must have found their way back too.
    api.create(objects.gang_job(fresh_namespace, "after", 2, "one-gpu"))
    wait_for(lambda: len(running(api, fresh_namespace, "after")) == 2, "2 running pods after the restart")


def test_options_decide_what_is_served(control_plane_binaries: Path) -> None:
    without_gangs = Options(feature_gates={}, runtime_config={"resource.k8s.io/v1beta2": True})
    with ControlPlane(control_plane_binaries, without_gangs) as plane:
        groups = {group["name"]: group for group in plane.api().get("/apis")["groups"]}
        assert [version["version"] for version in groups["scheduling.k8s.io"]["versions"]] == ["v1"]
        assert "v1beta2" in [version["version"] for version in groups["resource.k8s.io"]["versions"]]
        directory = plane.directory
    assert not directory.exists()


def test_a_wrong_option_is_one_error_with_the_reason_and_leaves_nothing(control_plane_binaries: Path) -> None:
    plane = ControlPlane(control_plane_binaries, Options(feature_gates={"NoSuchGate": True}))
    with pytest.raises(ControlPlaneError, match="NoSuchGate"):
        plane.start()
    assert not plane.directory.exists()


def test_secrets_are_private_files_and_in_no_repr(tmp_path: Path) -> None:
    access = Access.generate(tmp_path)
    kubeconfig = access.write_kubeconfig("https://127.0.0.1:1")
    for path in (access.token_file, kubeconfig, access.serving.private, access.admin.private):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    assert not any(token in repr(access) for token in access.tokens.values())


def test_a_guarded_process_ends_with_whoever_started_it(tmp_path: Path) -> None:
    script = (
        "import os, sys; from pathlib import Path; from tests.cluster.controlplane.process import Process\n"
        "process = Process('sleep', ['sleep', '600'], Path(sys.argv[1]))\n"
        "print(process.pid, flush=True); os.kill(os.getpid(), 9)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "log")], capture_output=True, text=True, timeout=60, check=False
    )
    assert answer.returncode == -signal.SIGKILL
    pid = int(answer.stdout)
    wait_for(lambda: not alive(pid), "the process to end", limit=30)


def test_a_process_that_ignores_the_signal_is_killed(tmp_path: Path) -> None:
    deaf = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(600)"
    )
    with Process("deaf", [sys.executable, "-c", deaf], tmp_path / "log") as process:
        wait_for(lambda: "deaf" in process.log_tail(), "the process to ignore SIGTERM")
        process.stop(limit=0.2)
        assert not process.running


def test_waiting_says_what_for_and_what_was_seen_last() -> None:
    started = time.monotonic()
    with pytest.raises(AssertionError, match=r"still waiting for the moon; last seen: \[\]"):
        wait_for(list, "the moon", limit=0.05)
    assert time.monotonic() - started >= 0.05


def alive(pid: int) -> bool:
    """A zombie counts as ended: whoever inherits it may take its time."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
