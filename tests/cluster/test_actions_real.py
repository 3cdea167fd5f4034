"""Actions on the real control plane: dry runs that change nothing, predictions that come true, conflicts that are noticed."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from ktui.actions.count import Counting, agree, take_back, wait_for_count
from ktui.actions.desk import Desk, open_desk
from ktui.actions.minreplicas import plan_min_replicas
from ktui.actions.plan import NotPossibleError, Plan
from ktui.actions.runner import Rehearsal
from ktui.actions.taint import parse_taint, plan_taint, rule_name
from ktui.actions.untaint import plan_untaint
from ktui.cluster.state import Cluster
from ktui.kube.kubeconfig import LoadOptions
from ktui.kube.once import read_once
from ktui.kube.opening import Wanted, open_transport, resolve
from ktui.model.kinds import KINDS
from ktui.model.resourceslice import DeviceId
from tests.cluster import infra, objects
from tests.cluster.controlplane.api import Api, ApiError, Json, wait_for
from tests.cluster.controlplane.cluster import ControlPlane

RULES = "/apis/resource.k8s.io/v1/devicetaintrules"
DEVICE = (objects.DRIVER, "node-0", "gpu-0")
XID = parse_taint("example.com/xid=79:NoExecute")
LOOK = parse_taint("example.com/xid=79:None")
REHEARSED = Rehearsal("accepted", "accepted")


class Person:
    """Somebody with a desk at the real cluster."""

    def __init__(self, desk: Desk, transport: Any) -> None:
        self.desk = desk
        self.api = desk.api
        self.runner = desk.runner
        self._transport = transport

    async def look(self) -> Cluster:
        cluster = Cluster()
        await read_once(self._transport, KINDS, "", cluster.apply)
        return cluster

    async def carry_out(self, plan: Plan) -> None:
        assert await self.runner.refusal(plan) == ""
        rehearsal = await self.runner.rehearse(plan)
        assert rehearsal == REHEARSED
        outcome = await self.runner.apply(plan, rehearsal)
        assert (outcome.status, outcome.warnings) == ("applied", ())
        assert outcome.audit_id


@asynccontextmanager
async def person(plane: ControlPlane, tmp_path: Path, context: str = "admin") -> AsyncIterator[Person]:
    wanted = Wanted(LoadOptions(kubeconfig=str(plane.kubeconfig), context=context, environ={}))
    target = resolve(wanted)
    async with open_transport(wanted, target) as transport:
        served = await read_once(transport, (), "", lambda _: None)
        yield Person(await open_desk(transport, target, served.versions(), tmp_path / "audit.log"), transport)


@pytest.fixture
def api(real_cluster: ControlPlane) -> Iterator[Api]:
    """The truth; rules that a test leaves behind are removed."""
    api = real_cluster.api()
    yield api
    for rule in api.list(RULES):
        api.delete(f"{RULES}/{rule['metadata']['name']}")


def _without_controllers(obj: Json) -> Json:
    """What a person could have changed: no status, and no trace of who writes it."""
    metadata = {k: v for k, v in obj["metadata"].items() if k not in ("resourceVersion", "managedFields")}
    writers = sorted(f["manager"] for f in obj["metadata"].get("managedFields", ()) if not f.get("subresource"))
    return {"metadata": metadata, "spec": obj["spec"], "writers": writers}


def _settled(api: Api, path: str) -> Json:
    """The rule once the eviction controller has written its condition: after that nothing but a write changes it."""

    def reported() -> Json | None:
        rule = api.get(path)
        conditions = rule.get("status", {}).get("conditions", [])
        return rule if any(c["observedGeneration"] == rule["metadata"]["generation"] for c in conditions) else None

    found = wait_for(reported, f"the controller's condition on {path}")
    assert found is not None
    return found


async def test_a01_a_rehearsed_create_stores_nothing(real_cluster: ControlPlane, api: Api, tmp_path: Path) -> None:
    async with person(real_cluster, tmp_path) as who:
        plan = await plan_taint(who.api, await who.look(), DEVICE, XID, reason="test", user="admin")
        assert await who.runner.rehearse(plan) == REHEARSED
    assert api.list(RULES) == []


async def test_a01_a_rehearsed_change_and_delete_leave_the_rule_as_it_was(
    real_cluster: ControlPlane, api: Api, tmp_path: Path
) -> None:
    """The delete is the trap: with a body the server ignores the query, and would delete."""
    path = f"{RULES}/{rule_name(DEVICE, XID.key)}"
    async with person(real_cluster, tmp_path) as who:
        await who.carry_out(await plan_taint(who.api, await who.look(), DEVICE, LOOK))
        before = _settled(api, path)
        for plan in (
            await plan_taint(who.api, await who.look(), DEVICE, XID),
            await plan_untaint(who.api, await who.look(), DEVICE),
        ):
            assert await who.runner.rehearse(plan) == REHEARSED
            assert api.get(path) == before, plan.action
        await who.carry_out(await plan_untaint(who.api, await who.look(), DEVICE))
    assert api.list(RULES) == []


async def test_a01_a_rehearsed_min_replicas_leaves_the_autoscaler_as_it_was(
    real_cluster: ControlPlane, api: Api, fresh_namespace: str, tmp_path: Path
) -> None:
    api.create(objects.autoscaler(fresh_namespace, "chat", external=True))
    path = f"/apis/autoscaling/v2/namespaces/{fresh_namespace}/horizontalpodautoscalers/chat"
    before = _without_controllers(api.get(path))
    async with person(real_cluster, tmp_path) as who:
        plan = await plan_min_replicas(who.api, (fresh_namespace, "chat"), 0)
        assert await who.runner.rehearse(plan) == REHEARSED
    assert _without_controllers(api.get(path)) == before
    api.delete(path)


# --- predictions ---

FOREVER = [{"operator": "Exists", "effect": "NoExecute"}]
SCENARIOS: dict[str, tuple[list[Json], list[str]]] = {
    # tolerations of the claim, pods that share it
    "plain": ([], ["plain-0"]),
    "bystander": ([], ["bystander-0"]),
    "forever": (FOREVER, ["forever-0"]),
    "seconds": ([{**FOREVER[0], "tolerationSeconds": 2}], ["seconds-0"]),
    "negative": ([{**FOREVER[0], "tolerationSeconds": -7}], ["negative-0"]),
    "empty-effect": ([{"operator": "Exists"}], ["empty-effect-0"]),
    "other-value": ([{"key": XID.key, "value": "31", "effect": "NoExecute"}], ["other-value-0"]),
    "shared": ([], ["shared-0", "shared-1"]),
    "shared-forever": (FOREVER, ["shared-forever-0", "shared-forever-1"]),
}


def _claim(namespace: str, name: str, tolerations: list[Json]) -> Json:
    exactly = {"deviceClassName": objects.DEVICE_CLASS, "tolerations": tolerations}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}},
    }


def _pod(namespace: str, name: str, claim: str) -> Json:
    manifest = objects.pod(namespace, name, "")
    manifest["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": claim}]
    return manifest


def _pods(api: Api, namespace: str) -> dict[str, Json]:
    return {pod["metadata"]["name"]: pod for pod in api.list(f"/api/v1/namespaces/{namespace}/pods")}


def _staying(api: Api, namespace: str) -> set[str]:
    return {name for name, pod in _pods(api, namespace).items() if "deletionTimestamp" not in pod["metadata"]}


def _device(api: Api, namespace: str, claim: str) -> DeviceId:
    found = api.get(f"/apis/resource.k8s.io/v1/namespaces/{namespace}/resourceclaims/{claim}")
    (result,) = found["status"]["allocation"]["devices"]["results"]
    return result["driver"], result["pool"], result["device"]


async def test_a03_the_pods_that_go_are_the_ones_predicted_and_no_other(
    real_cluster: ControlPlane, api: Api, fresh_namespace: str, tmp_path: Path
) -> None:
    for name, (tolerations, pods) in SCENARIOS.items():
        api.create(_claim(fresh_namespace, name, tolerations))
        for pod in pods:
            api.create(_pod(fresh_namespace, pod, name))
    everybody = {pod for _, pods in SCENARIOS.values() for pod in pods}
    wait_for(lambda: all(p["status"]["phase"] == "Running" for p in _pods(api, fresh_namespace).values()), "all to run")
    devices = {name: _device(api, fresh_namespace, name) for name in SCENARIOS if name != "bystander"}

    predicted: dict[str, tuple[dict[str, int], set[str]]] = {}
    async with person(real_cluster, tmp_path) as who:
        cluster = await who.look()
        plans = {name: await plan_taint(who.api, cluster, device, XID) for name, device in devices.items()}
        for name, plan in plans.items():
            going = {hit.key[1]: hit.after for hit in plan.blast.deleted}
            predicted[name] = (going, {key[1] for key in plan.blast.tolerating})
            await who.carry_out(plan)
    assert predicted == {
        "plain": ({"plain-0": 0}, set()),
        "forever": ({}, {"forever-0"}),
        "seconds": ({"seconds-0": 2}, set()),
        "negative": ({"negative-0": 0}, set()),
        "empty-effect": ({"empty-effect-0": 0}, set()),
        "other-value": ({"other-value-0": 0}, set()),
        "shared": ({"shared-0": 0, "shared-1": 0}, set()),
        "shared-forever": ({}, {"shared-forever-0", "shared-forever-1"}),
    }

    evicted = {pod for pods, _ in predicted.values() for pod in pods}
    wait_for(lambda: not _staying(api, fresh_namespace) & evicted, f"{evicted} to be evicted")
    # The controller says itself that it has nothing more to do for any of the rules.
    wait_for(lambda: all(_idle(rule) for rule in api.list(RULES)), "the evictions to be complete")
    assert _staying(api, fresh_namespace) == everybody - evicted


def _idle(rule: Json) -> bool:
    conditions = rule.get("status", {}).get("conditions", [])
    return any(c["type"] == "EvictionInProgress" and c["status"] == "False" for c in conditions)


async def test_a03_access_by_an_administrator_is_evicted_as_predicted(
    real_cluster: ControlPlane, api: Api, fresh_namespace: str, tmp_path: Path
) -> None:
    """It shares the device with whoever has it, and goes with them."""
    label = {"resource.kubernetes.io/admin-access": "true"}
    api.patch(f"/api/v1/namespaces/{fresh_namespace}", {"metadata": {"labels": label}})
    claim = _claim(fresh_namespace, "admin", [])
    claim["spec"]["devices"]["requests"][0]["exactly"]["adminAccess"] = True
    api.create(claim)
    api.create(_pod(fresh_namespace, "admin-0", "admin"))
    wait_for(lambda: _pods(api, fresh_namespace)["admin-0"]["status"]["phase"] == "Running", "the pod to run")
    async with person(real_cluster, tmp_path) as who:
        plan = await plan_taint(who.api, await who.look(), _device(api, fresh_namespace, "admin"), XID)
        assert [hit.key[1] for hit in plan.blast.deleted] == ["admin-0"]
        await who.carry_out(plan)
    wait_for(lambda: not _staying(api, fresh_namespace), "the eviction")


async def test_a03_a_gang_that_loses_a_pod_falls_as_predicted(
    real_cluster: ControlPlane, api: Api, fresh_namespace: str, tmp_path: Path
) -> None:
    api.create(objects.gang_job(fresh_namespace, "train", 4, "one-gpu", min_count=4))
    wait_for(
        lambda: [p["status"]["phase"] for p in _pods(api, fresh_namespace).values()] == ["Running"] * 4,
        "4 running pods",
    )
    claims = api.list(f"/apis/resource.k8s.io/v1/namespaces/{fresh_namespace}/resourceclaims")
    (result,) = claims[0]["status"]["allocation"]["devices"]["results"]
    (holder,) = claims[0]["status"]["reservedFor"]
    async with person(real_cluster, tmp_path) as who:
        plan = await plan_taint(who.api, await who.look(), (result["driver"], result["pool"], result["device"]), XID)
        assert [hit.uid for hit in plan.blast.deleted] == [holder["uid"]]
        assert [(hit.name, hit.running, hit.left, hit.needed) for hit in plan.blast.falling] == [("train", 4, 3, 4)]
        assert plan.confirm == "train"
        before = {p["metadata"]["uid"] for p in _pods(api, fresh_namespace).values()}
        await who.carry_out(plan)
    wait_for(
        lambda: holder["uid"] not in {p["metadata"]["uid"] for p in _pods(api, fresh_namespace).values()},
        "the eviction",
    )
    after = {p["metadata"]["uid"] for p in _pods(api, fresh_namespace).values()}
    assert before - after == {holder["uid"]}


async def test_a03_the_controllers_own_count_is_ktuis(
    real_cluster: ControlPlane, api: Api, fresh_namespace: str, tmp_path: Path
) -> None:
    """With effect None the real controller says what NoExecute would do, in words that are understood; then it does that."""
    api.create(_claim(fresh_namespace, "shared", []))
    for pod in ("shared-0", "shared-1"):
        api.create(_pod(fresh_namespace, pod, "shared"))
    wait_for(lambda: all(p["status"]["phase"] == "Running" for p in _pods(api, fresh_namespace).values()), "all to run")
    device = _device(api, fresh_namespace, "shared")
    counting = Counting(device, XID, "looked at first", "admin")
    async with person(real_cluster, tmp_path) as who:
        await who.carry_out(await counting.plan_look(who.api, await who.look()))
        count = await wait_for_count(who.api, counting.rule)
        assert count is not None
        assert (count.pods, count.namespaces) == (2, 1)
        assert await take_back(who.api, who.runner, await who.look(), counting) == ""
        assert api.list(RULES) == []
        assert _staying(api, fresh_namespace) == {"shared-0", "shared-1"}

        await who.carry_out(await counting.plan_look(who.api, await who.look()))
        count = await wait_for_count(who.api, counting.rule)
        plan = await counting.plan_evict(who.api, await who.look(), count)
        assert agree(plan, count)
        assert "the controller counts 2 pods in 1 namespace; ktui 2" in plan.notes
        await who.carry_out(plan)
    wait_for(lambda: not _staying(api, fresh_namespace), "the eviction")


# --- conflicts and refusals in the real server's words ---


async def test_a06_a08_a09_another_person_in_between(real_cluster: ControlPlane, api: Api, tmp_path: Path) -> None:
    name = rule_name(DEVICE, XID.key)
    async with person(real_cluster, tmp_path) as who:
        create = await plan_taint(who.api, await who.look(), DEVICE, XID)
        theirs = objects.device_taint_rule(name, DEVICE[1], DEVICE[2], effect="None")
        first = api.create(theirs)
        assert (await who.runner.apply(create, REHEARSED)).status == "conflict"
        with pytest.raises(NotPossibleError, match="is not ktui's"):
            await plan_taint(who.api, await who.look(), DEVICE, XID)

        remove = await plan_untaint(who.api, await who.look(), DEVICE)
        api.delete(f"{RULES}/{name}")
        second = api.create({**theirs, "metadata": {"name": name, "labels": {"app.kubernetes.io/managed-by": "ktui"}}})
        assert second["metadata"]["uid"] != first["metadata"]["uid"]
        assert (await who.runner.apply(remove, REHEARSED)).status == "conflict"

        _settled(api, f"{RULES}/{name}")
        change = await plan_taint(who.api, await who.look(), DEVICE, XID)
        api.patch(f"{RULES}/{name}", {"spec": {"taint": {"value": "80"}}})
        assert (await who.runner.apply(change, REHEARSED)).status == "conflict"
        assert api.get(f"{RULES}/{name}")["spec"]["taint"]["effect"] == "None"

        remove = await plan_untaint(who.api, await who.look(), DEVICE)
        api.delete(f"{RULES}/{name}")
        gone = await who.runner.apply(remove, REHEARSED)
        assert (gone.status, gone.message) == ("applied", "it was gone already")


@pytest.mark.parametrize("anew", [False, True], ids=["changed", "made anew"])
async def test_a14_an_autoscaler_changed_in_between(
    anew: bool, real_cluster: ControlPlane, api: Api, fresh_namespace: str, tmp_path: Path
) -> None:
    path = f"/apis/autoscaling/v2/namespaces/{fresh_namespace}/horizontalpodautoscalers/chat"
    manifest = objects.autoscaler(fresh_namespace, "chat")
    api.create(manifest)
    async with person(real_cluster, tmp_path) as who:
        plan = await plan_min_replicas(who.api, (fresh_namespace, "chat"), 3)
        if anew:
            api.delete(path)
            api.create(manifest)
        else:
            api.patch(path, {"spec": {"maxReplicas": 4}})
        assert (await who.runner.apply(plan, REHEARSED)).status == "conflict"
        assert api.get(path)["spec"]["minReplicas"] == 1
    api.delete(path)


async def test_a15_a23_drift_and_type_errors_in_one_short_line(
    real_cluster: ControlPlane, api: Api, fresh_namespace: str, tmp_path: Path
) -> None:
    path = f"/apis/autoscaling/v2/namespaces/{fresh_namespace}/horizontalpodautoscalers/chat"
    manifest = objects.autoscaler(fresh_namespace, "chat")
    manifest["metadata"]["annotations"] = {"note": "x" * 5000}
    api.create(manifest)

    def with_body(plan: Plan, body: Any) -> Plan:
        return structs.replace(plan, request=structs.replace(plan.request, body=body))

    async with person(real_cluster, tmp_path) as who:
        scale = await plan_min_replicas(who.api, (fresh_namespace, "chat"), 3)
        taint = await plan_taint(who.api, await who.look(), DEVICE, XID)
        unknown = json.loads(json.dumps(taint.request.body))
        unknown["spec"]["taint"]["severity"] = 3
        for drifted in (
            with_body(taint, unknown),
            with_body(scale, {"spec": {"minReplicas": 3, "napTime": "1m"}}),
        ):
            refused = await who.runner.rehearse(drifted)
            assert refused.status == "refused"
            assert refused.message.startswith("this ktui and this cluster do not fit together: "), refused
        wrong = await who.runner.rehearse(with_body(scale, {"spec": {"minReplicas": "three"}}))
        assert wrong.status == "refused"
        assert len(wrong.message) <= 400
        assert wrong.message.isprintable()
    assert api.get(path)["spec"]["minReplicas"] == 1
    api.delete(path)


async def test_a17_a_viewer_is_told_before_and_refused_after(
    real_cluster: ControlPlane, api: Api, tmp_path: Path
) -> None:
    async with person(real_cluster, tmp_path, "viewer") as who:
        plan = await plan_taint(who.api, await who.look(), DEVICE, XID)
        assert await who.runner.refusal(plan) == "viewer may not create devicetaintrules.resource.k8s.io"
        outcome = await who.runner.apply(plan, REHEARSED)
        assert outcome.status == "refused"
        assert 'User "viewer" cannot create resource "devicetaintrules"' in outcome.message
    assert api.list(RULES) == []


async def test_a_changed_effect_starts_anew_and_undo_brings_the_old_one_back(
    real_cluster: ControlPlane, api: Api, tmp_path: Path
) -> None:
    """Without timeAdded in the patch the server sets it: an eviction counts from the change, not from the first taint."""
    path = f"{RULES}/{rule_name(DEVICE, XID.key)}"
    async with person(real_cluster, tmp_path) as who:
        await who.carry_out(await plan_taint(who.api, await who.look(), DEVICE, LOOK, reason="first", user="admin"))
        _settled(api, path)
        change = await plan_taint(who.api, await who.look(), DEVICE, XID, reason="second", user="admin")
        await who.carry_out(change)
        rule = _settled(api, path)
        assert rule["spec"]["taint"]["effect"] == "NoExecute"
        assert rule["spec"]["taint"]["timeAdded"]
        assert rule["metadata"]["annotations"]["ktui/reason"] == "second"
        assert change.undo is not None
        await who.carry_out(await who.desk.undo(await who.look(), change.undo))
        assert api.get(path)["spec"]["taint"]["effect"] == "None"


async def test_nothing_of_these_tests_is_left(real_cluster: ControlPlane, api: Api) -> None:
    """The other tests of the session expect free devices."""
    assert api.list(RULES) == []
    assert len(api.list("/apis/resource.k8s.io/v1/resourceslices")) == len(infra.NODES)
    with pytest.raises(ApiError):
        api.get(f"{RULES}/{rule_name(DEVICE, XID.key)}")
