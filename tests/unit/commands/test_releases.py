"""The commands on clusters of Kubernetes 1.37, 1.36 and 1.35: the demo, as each of them, answers back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from ktui.demo.cluster import DemoCluster
from ktui.demo.incidents import SICK
from ktui.demo.releases import LATEST, RELEASES, V1_35, V1_36, Release
from tests.unit.demo.world import until

from .test_doctor import findings, kubeconfig
from .test_get import Ktui, Ran, ktui

__all__ = ["ktui"]

EVERY = pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES)
OLDER = pytest.mark.parametrize("release", [V1_36, V1_35], ids=["1.36", "1.35"])
DEVICE = "/".join(SICK)
TAINT = "example.com/xid=79:NoExecute"
VERSIONS = {"1.37": "v1", "1.36": "v1beta2", "1.35": "v1alpha3"}

Command = Callable[..., Awaitable[Ran]]


@asynccontextmanager
async def running(release: Release, ktui: Ktui, home: Path) -> AsyncIterator[tuple[DemoCluster, Command]]:
    """The cluster, once its gangs have been looked at, and a way to run a command on it."""
    async with DemoCluster(release=release, sick=SICK, haste=0.02) as demo:
        demo.server.tokens.clear()  # a kubeconfig's token does not travel over plain http
        file = kubeconfig(home, demo.server.url)
        database = demo.server.database
        await until(lambda: any(each["reason"] == "FailedScheduling" for each in database.objects("Event").values()))

        async def command(*arguments: str) -> Ran:
            return await asyncio.to_thread(ktui, *arguments, "--kubeconfig", str(file))

        yield demo, command


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


async def gangs(command: Command) -> dict[str, tuple[str, str, int]]:
    items = (await command("get", "gangs", "-A", "-o", "json")).items
    return {item["name"].partition("/")[0]: (item["state"], item["cause"], item["pods"]["scheduled"]) for item in items}


@EVERY
async def test_gangs_wait_for_the_same_causes_on_every_release(release: Release, ktui: Ktui, home: Path) -> None:
    async with running(release, ktui, home) as (_, command):
        found = await gangs(command)
        why = json.loads((await command("why", "training/llama-70b", "-o", "json")).out)
    assert {name: cause for name, (state, cause, _) in found.items() if state == "Pending"} == {
        "llama-70b": "NotEnoughDevices",
        "gpt-wide": "NotEnoughDevices",
        "vlm-premium": "DeviceClassMissing",
        "depth-eval": "NodeConstraints",
        "tokenise-all": "NotEnoughNodeResources",
        "held-for-quota": "Gated",
        "late-worker": "WaitingForPods",
    }
    assert {name for name, (state, *_) in found.items() if state == "Running"} == {
        "mixtral-8x22b",
        "sam-finetune",
        "embed-sweep",
        "reward-model",
        "ocr-train",
    }
    assert (why["cause"], why["facts"]["need"], why["funnel"]["needed"]) == ("NotEnoughDevices", 32, 32)


@EVERY
async def test_taint_eviction_and_untaint_in_the_version_that_is_served(
    release: Release, ktui: Ktui, home: Path
) -> None:
    path = f"/apis/resource.k8s.io/{VERSIONS[release.name]}/devicetaintrules"
    async with running(release, ktui, home) as (demo, command):
        rules = demo.server.database.objects("DeviceTaintRule")
        tried = await command("taint", DEVICE, TAINT, "--dry-run")
        assert tried.code == 0
        assert f"POST {path}" in tried.out
        assert "server dry run: accepted" in tried.out
        assert not rules
        placed = await command("taint", DEVICE, TAINT, "--count", "--yes")
        assert placed.code == 0
        assert "the controller counts 1 pod in 1 namespace; ktui 1" in placed.out
        assert f"PATCH {path}/" in placed.out
        ((_, name),) = rules
        spec = rules["", name]["spec"]
        assert spec["deviceSelector"] == dict(zip(("driver", "pool", "device"), SICK, strict=True))
        assert {field: spec["taint"][field] for field in ("key", "value", "effect")} == {
            "key": "example.com/xid",
            "value": "79",
            "effect": "NoExecute",
        }
        await until(lambda: rules["", name]["status"]["conditions"][0]["reason"] == "Completed")
        (taint,) = [each for each in (await command("get", "taints", "-o", "json")).items if each["source"] != "slice"]
        assert (taint["effect"], taint["eviction"]["reason"]) == ("NoExecute", "Completed")
        lifted = await command("untaint", DEVICE, "--yes")
        assert lifted.code == 0
        assert f"DELETE {path}/{name}" in lifted.out
        assert not rules
        nodes = demo.server.database.objects("Pod")
        await until(lambda: sum(bool(pod["spec"].get("nodeName")) for pod in nodes.values() if _of_llama(pod)) == 4)
        assert (await gangs(command))["llama-70b"][2] == 4


def _of_llama(pod: dict[str, dict[str, str]]) -> bool:
    return pod["metadata"]["name"].startswith("llama-70b-")


@OLDER
async def test_doctor_says_what_to_do_before_the_upgrade(release: Release, ktui: Ktui, home: Path) -> None:
    async with running(release, ktui, home) as (_, command):
        found = findings(await command("doctor", "-o", "json"))
    upgrade = found["upgrade"]
    (version,) = release.versions["Workload"]
    assert (upgrade["status"], upgrade["todo"]) == ("warn", "delete them before the upgrade to 1.37")
    assert f"scheduling objects in {version}, which 1.37 cannot read" in upgrade["text"]
    assert "workloads/training/llama-70b" in upgrade["objects"]
    assert ("podgroups/training/llama-70b" in upgrade["objects"]) == (release is V1_36)
    assert found["server-version"]["text"].startswith(f"Kubernetes v{release.name}.")
    assert (found["server-version"]["status"], found["kubelets"]["status"]) == ("ok", "ok")
    assert VERSIONS[release.name] in found["taint-rules"]["text"]
    assert "HPAScaleToZero is off by default before 1.37" in found["scale-to-zero"]["text"]


async def test_nothing_blocks_an_upgrade_of_1_37(ktui: Ktui, home: Path) -> None:
    async with running(LATEST, ktui, home) as (_, command):
        found = findings(await command("doctor", "-o", "json"))
    assert found["upgrade"]["status"] == "ok"
    assert "minReplicas may be 0" in found["scale-to-zero"]["text"]


@OLDER
async def test_min_replicas_0_is_refused_in_the_servers_words(release: Release, ktui: Ktui, home: Path) -> None:
    async with running(release, ktui, home) as (_, command):
        ran = await command("min-replicas", "serving/rerank", "0", "--yes")
        awake = await command("min-replicas", "serving/rerank", "2", "--yes")
    assert ran.code == 1
    assert ran.err.endswith(
        "the server refuses: spec.minReplicas: Invalid value: 0: must be greater than or equal to 1\n"
    )
    assert awake.code == 0


@pytest.mark.parametrize(
    ("release", "wants"),
    [(LATEST, "v1beta1=true"), (V1_36, "v1alpha2=true on 1.36"), (V1_35, "v1alpha1=true on 1.35")],
    ids=RELEASES,
)
async def test_what_is_off_is_said_with_gate_and_api(release: Release, wants: str, ktui: Ktui, home: Path) -> None:
    async with running(release, ktui, home) as (demo, command):
        demo.server.serves = {**demo.server.serves, "PodGroup": (), "Workload": (), "DeviceTaintRule": ()}
        # Where there is nothing to show: what pods, controllers and drivers tell is shown without what is off.
        gangs_, pods = [await command("get", each, "-n", "serving") for each in ("gangs", "pods")]
        workloads = await command("get", "workloads", "-n", "default")
        taints = await command("get", "taints", "of-a-rule")
        refused = await command("taint", DEVICE, TAINT, "--yes")
    for ran in (gangs_, workloads):
        assert wants in ran.err
        assert "--feature-gates=GenericWorkload=true" in ran.err
        assert "before 1.37 GangScheduling=true as well" in ran.err
    assert "device taint rules are not served" in taints.err
    assert "device taint rules are not served" in refused.err
    assert refused.code != 0
    assert (pods.code, pods.err) == (0, "")
