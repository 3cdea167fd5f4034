"""The demo as an older Kubernetes: what it serves and writes has the shapes that real clusters of that release have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from ktui.demo import gangs
from ktui.demo.cluster import DemoCluster
from ktui.demo.fleet import Fleet
from ktui.demo.incidents import SICK
from ktui.demo.ledger import device_of, results
from ktui.demo.mvcc import JSON, Database
from ktui.demo.releases import LATEST, RELEASES, V1_35, V1_36, Release
from ktui.demo.squads import PODS
from ktui.demo.status import Refused
from ktui.model.kinds import KINDS
from tests.recordings import raw_lines
from tests.unit.demo.world import until

OLDER = pytest.mark.parametrize("release", [V1_36, V1_35], ids=["1.36", "1.35"])
EVERY = pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES)
GANG = ("training", "llama-70b")


def recorded(release: Release, kind: str) -> Iterator[JSON]:
    for line in raw_lines(f"v{release.name}"):
        if line.get("path", "").endswith(f"/{KINDS[kind].plural}"):
            yield from line.get("items") or ([line["object"]] if "object" in line else ())


def fields(value: Any, below: str = "") -> Iterator[str]:
    """Paths of all fields, those of lists' items together."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield f"{below}.{name}"
            yield from fields(each, f"{below}.{name}")
    elif isinstance(value, list):
        for each in value:
            yield from fields(each, f"{below}[]")


def all_of(demo: DemoCluster, kind: str) -> list[JSON]:
    return list(demo.server.database.objects(kind).values())


def members(demo: DemoCluster) -> list[JSON]:
    return [pod for pod in all_of(demo, "Pod") if pod["metadata"]["name"].startswith(f"{GANG[1]}-")]


def messages(pods: list[JSON]) -> set[str]:
    return {each.get("message", "") for pod in pods for each in pod["status"].get("conditions") or ()}


@OLDER
async def test_gangs_have_no_field_that_the_release_does_not_know(release: Release) -> None:
    """As recorded, but for the links between a Job, its Workload and its PodGroup, which the recorded gangs do not have: these
    are from the types of scheduling.k8s.io v1alpha2 and v1alpha1."""
    shapes = {"PodGroup": _of_both(recorded(release, "PodGroup")), "Workload": _of_both(recorded(release, "Workload"))}
    shapes["PodGroup"] |= {
        f"spec.podGroupTemplateRef.workload{each}" for each in ("", ".workloadName", ".podGroupTemplateName")
    }
    shapes["Workload"] |= {f"spec.controllerRef{each}" for each in ("", ".apiGroup", ".kind", ".name")}
    if release is V1_36:
        policy = ("", "[].name", "[].schedulingPolicy", "[].schedulingPolicy.gang", "[].schedulingPolicy.gang.minCount")
        shapes["Workload"] |= {f"spec.podGroupTemplates{each}" for each in policy}
    async with DemoCluster(release=release, haste=0.02) as demo:
        await until(lambda: any("cannot allocate all claims" in each for each in messages(members(demo))))
        for kind, known in shapes.items():
            assert _of_both(all_of(demo, kind)) - known == set(), kind
            assert bool(all_of(demo, kind)) == bool(release.versions[kind])
        link = {"schedulingGroup", "workloadRef"}
        (wanted,) = {tuple(link & pod["spec"].keys()) for pod in recorded(release, "Pod")}
        assert {tuple(link & pod["spec"].keys()) for pod in members(demo)} == {wanted}


def _of_both(objects: Iterable[JSON]) -> set[str]:
    """The fields of spec and status."""
    return {path for each in objects for part in ("spec", "status") for path in fields(each.get(part), part)}


@OLDER
async def test_the_scheduler_says_what_that_release_says(release: Release) -> None:
    async with DemoCluster(release=release, haste=0.02) as demo:
        await until(lambda: any("cannot allocate all claims" in each for each in messages(members(demo))))
        refused = "10 cannot allocate all claims. still not schedulable, preemption: 0/10 nodes are available"
        real = messages(list(recorded(release, "Pod")))
        said = messages(members(demo))
        assert any(refused in each for each in said)
        assert {each for each in said if "nodes are available" not in each} <= real
        group = demo.server.database.get("PodGroup", GANG)
        conditions = {(each["type"], each["status"], each["reason"], each["message"]) for each in _conditions(group)}
        expected = {("PodGroupScheduled", "False", "Unschedulable", "pod group is unschedulable")}
        assert conditions == (expected if release is V1_36 else set())
        assert all("observedGeneration" not in each for each in _conditions(group))


def _conditions(obj: JSON | None) -> list[JSON]:
    return list(((obj or {}).get("status") or {}).get("conditions") or ())


@EVERY
async def test_taint_eviction_replacement_untaint_recovery(release: Release) -> None:
    async with DemoCluster(release=release, sick=SICK, haste=0.02) as demo:
        kind = KINDS["DeviceTaintRule"]
        selector = dict(zip(("driver", "pool", "device"), SICK, strict=True))
        taint = {"key": "example.com/xid", "effect": "NoExecute"}
        holders = [claim for claim in all_of(demo, "ResourceClaim") if SICK in map(device_of, results(claim))]
        victim = holders[0]["status"]["reservedFor"][0]["uid"]
        demo.server.create(
            "DeviceTaintRule", {"metadata": {"name": "xid"}, "spec": {"deviceSelector": selector, "taint": taint}}
        )
        await until(lambda: victim not in {pod["metadata"]["uid"] for pod in all_of(demo, "Pod")})
        rule = demo.server.registry.get
        await until(lambda: _conditions(rule(kind, ("", "xid")))[0]["reason"] == "Completed")
        assert "".join({pod["spec"].get("nodeName", "") for pod in members(demo)}) == ""
        demo.server.registry.delete(kind, ("", "xid"))
        await until(lambda: [pod["status"]["phase"] for pod in members(demo)] == ["Running"] * 4)
        condition = {each["type"]: each["status"] for each in _conditions(demo.server.database.get("PodGroup", GANG))}
        assert condition == ({release.condition: "True"} if release.condition else {})


@EVERY
async def test_min_replicas_0_is_for_releases_that_let_autoscalers_sleep(release: Release) -> None:
    async with DemoCluster(release=release, haste=0.02) as demo:
        key, kind = ("serving", "chat-llm"), KINDS["HorizontalPodAutoscaler"]

        def sleep(hpa: JSON) -> JSON:
            return {**hpa, "spec": {**hpa["spec"], "minReplicas": 0}}

        if release is LATEST:
            changed = demo.server.registry.update(kind, key, sleep)
            assert (changed["spec"]["minReplicas"], changed["metadata"]["generation"]) == (0, 2)
            return
        with pytest.raises(Refused, match="must be greater than or equal to 1"):
            demo.server.registry.update(kind, key, sleep)
        assert all(hpa["spec"]["minReplicas"] for hpa in all_of(demo, "HorizontalPodAutoscaler"))
        await until(lambda: len(_conditions(demo.server.database.get("HorizontalPodAutoscaler", key))) > 1)
        for hpa in all_of(demo, "HorizontalPodAutoscaler"):
            assert "ScaledToZero" not in {each["type"] for each in _conditions(hpa)}
            assert "generation" not in hpa["metadata"]
            assert "observedGeneration" not in hpa["status"]


@EVERY
def test_a_large_fleet_has_the_same_shapes(release: Release) -> None:
    database = Database()
    (squad, *_) = Fleet(database, 3 * PODS, release=release).fill()
    for kind in ("PodGroup", "Workload", "Job", "Pod"):
        laid = {key for key in database.objects(kind) if key not in database.active(kind)}
        assert bool(laid) == (kind != "PodGroup" or bool(release.condition))
    pods = [pod for pod in database.objects("Pod").values() if pod["metadata"]["name"].startswith("pretrain-0000-")]
    (key,) = {gangs.group_of(pod) for pod in pods}
    assert key in squad.names
    found = gangs.find(database.get, key) if key else None
    assert found is not None
    assert found.min_count == PODS == len(pods)


@EVERY
async def test_the_server_says_which_release_it_is(release: Release) -> None:
    async with DemoCluster(release=release) as demo:
        assert demo.server.git_version.startswith(f"v{release.name}.")
        kubelets = {node["status"]["nodeInfo"]["kubeletVersion"] for node in all_of(demo, "Node")}
        assert kubelets == {demo.server.git_version}
        for kind in ("PodGroup", "Workload", "DeviceTaintRule"):
            assert set(demo.server.serves[kind]) <= set(KINDS[kind].versions)
