"""Kinds that own Workloads: found by what references name, read as far as they may be read, never asked for without need."""

from __future__ import annotations

from typing import Any

import pytest
from aiohttp import web

from ktui.cluster.state import Cluster
from ktui.demo import apiserver
from ktui.demo.access import Attributes, User
from ktui.demo.apiserver import SERVES_1_37, ApiServer
from ktui.kube.discovery import Discovery
from ktui.kube.once import read_once
from ktui.kube.owners import Owners
from ktui.model.frame import Frame, Listed
from ktui.model.kinds import KINDS, Kind, kind_at, kind_name
from ktui.model.meta import Object
from ktui.model.owner import Owner, OwnerType, named_type
from tests.faults import Fault
from tests.unit import builders as b
from tests.unit.kube.harness import StaticCredentials, fast, rig, transport_to

JOBSET = OwnerType("jobset.x-k8s.io", "JobSet")
TRAINJOB = OwnerType("trainer.kubeflow.org", "TrainJob")
SERVES = {**SERVES_1_37, "JobSet": ("v1alpha2", "v1alpha1"), "TrainJob": ("v1",)}
TOKEN = "token-0816"
CUSTOM = {
    "JobSet": Kind("JobSet", JOBSET.group, "jobsets", ("v1alpha2", "v1alpha1"), True, Owner),
    "TrainJob": Kind("TrainJob", TRAINJOB.group, "trainjobs", ("v1",), True, Owner),
}


@pytest.fixture
def custom(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that also serves what nobody here knows."""
    monkeypatch.setattr(apiserver, "KINDS", KINDS | CUSTOM)


def reference(type_: OwnerType, name: str) -> dict[str, Any]:
    return {"apiVersion": f"{type_.group}/v0", "kind": type_.kind, "name": name, "uid": "", "controller": True}


def fill(server: ApiServer) -> None:
    """TrainJob t → JobSet s → Workload w."""
    meta = {"namespace": "ml"}
    controller = {"apiGroup": JOBSET.group, "kind": JOBSET.kind, "name": "s"}
    server.create("Workload", {"metadata": {"name": "w", **meta}, "spec": {"controllerRef": controller}})
    owned = {"name": "s", **meta, "ownerReferences": [reference(TRAINJOB, "t")]}
    status = {"conditions": [{"type": "StartupPolicyCompleted", "status": "True"}]}
    server.registry.create(CUSTOM["JobSet"], {"metadata": owned, "status": status})
    server.registry.create(CUSTOM["TrainJob"], {"metadata": {"name": "t", **meta}})


def owners(cluster: Cluster) -> list[tuple[str, str, bool]]:
    found = cluster.lineage.owners(("ml", "Workload", "w"))
    return [(ref.type.kind, ref.step[2], cluster.lineage.object(ref) is not None) for ref in found]


@pytest.mark.usefixtures("custom")
async def test_owners_are_read_one_above_the_other() -> None:
    """Issue 6, item 1: references name the kinds, discovery knows where they are, and in which version."""
    cluster = Cluster()
    async with ApiServer(serves=SERVES) as at:
        fill(at)
        async with transport_to(at.url, timers=fast()) as transport:
            await read_once(transport, ("Workload",), "", cluster.apply)
    assert owners(cluster) == [("TrainJob", "t", True), ("JobSet", "s", True)]
    (stream,) = cluster.streams_of((JOBSET.name,))
    assert stream.source.path == "/apis/jobset.x-k8s.io/v1alpha2/jobsets"


@pytest.mark.usefixtures("custom")
async def test_owners_of_groups_and_pods_are_read_where_they_are_asked_for() -> None:
    """`ktui get pods` has no use for the objects above pods, `ktui get workloads` has."""
    async with ApiServer(serves=SERVES) as at:
        fill(at)
        above = {"namespace": "ml", "ownerReferences": [reference(JOBSET, "s")]}
        devices = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}], "containers": [{"name": "main"}]}
        at.create("Pod", {"metadata": {"name": "p", **above}, "spec": devices})
        for followed, read in (((), []), (("Pod",), [JOBSET.name, TRAINJOB.name])):
            frames: list[Frame] = []
            async with transport_to(at.url, timers=fast()) as transport:
                await read_once(transport, ("Pod",), "", frames.append, followed=followed)
            assert [f.source.kind for f in frames if isinstance(f, Listed) and f.source.kind != "Pod"] == read


@pytest.mark.usefixtures("custom")
async def test_what_may_not_be_read_is_known_by_its_name() -> None:
    def authorizer(asked: Attributes) -> bool:
        return asked.resource != "jobsets"

    cluster = Cluster()
    async with ApiServer(serves=SERVES, tokens={TOKEN: User("viewer")}, authorizer=authorizer) as at:
        fill(at)
        async with transport_to(at.url, timers=fast(), credentials=StaticCredentials(TOKEN)) as transport:
            await read_once(transport, ("Workload",), "", cluster.apply)
    assert owners(cluster) == [("JobSet", "s", False)]
    assert [stream.phase for stream in cluster.streams_of((JOBSET.name,))] == ["no-access"]


async def test_what_is_not_served_is_said_to_be_so() -> None:
    cluster = Cluster()
    async with ApiServer() as at:
        controller = {"apiGroup": JOBSET.group, "kind": JOBSET.kind, "name": "s"}
        spec = {"controllerRef": controller}
        at.create("Workload", {"metadata": {"name": "w", "namespace": "ml"}, "spec": spec})
        async with transport_to(at.url, timers=fast()) as transport:
            await read_once(transport, ("Workload",), "", cluster.apply)
    (stream,) = cluster.streams_of((JOBSET.name,))
    assert (stream.phase, stream.message) == ("absent", "the server's discovery has no JobSet of jobset.x-k8s.io")


@pytest.mark.usefixtures("custom")
async def test_a_live_connection_follows_owners_as_they_come() -> None:
    async with rig(pods=0, serves=SERVES) as r:
        await r.live(kinds=("Workload",))
        assert not r.faults.asked("GET /apis/jobset.x-k8s.io/*")
        fill(r.server)
        await r.view.until(lambda: r.view.names(JOBSET.name) == {"s"} and r.view.names(TRAINJOB.name) == {"t"})
        r.server.registry.create(CUSTOM["JobSet"], {"metadata": {"name": "other", "namespace": "ml"}})
        await r.view.until(lambda: r.view.names(JOBSET.name) == {"s", "other"})


@pytest.mark.usefixtures("custom")
async def test_a_kind_that_is_served_later_is_read_then() -> None:
    async with rig(pods=0, serves={**SERVES, "JobSet": ()}) as r:
        connection = await r.live(kinds=("Workload",))
        fill(r.server)
        await r.view.until(lambda: r.view.phase(JOBSET.name) == "absent")
        r.server.serves = SERVES
        connection.retry_now()
        await r.view.until(lambda: r.view.names(JOBSET.name) == {"s"})


@pytest.mark.usefixtures("custom")
async def test_discovery_knows_where_owners_are() -> None:
    async with ApiServer(serves=SERVES) as at, transport_to(at.url, timers=fast()) as transport:
        served = await Discovery(transport).refresh()
    kind = served.owner(JOBSET)
    assert kind is not None
    assert (kind.plural, kind.versions, kind.namespaced) == ("jobsets", ("v1alpha2", "v1alpha1"), True)
    assert served.version(kind) == "v1alpha2"
    assert served.owner(OwnerType("example.com", "Nothing")) is None


class _NotAggregated(Fault):
    """A server, or a proxy before it, that knows older discovery only."""

    async def before(self, request: web.Request) -> web.StreamResponse | None:
        if "apidiscovery" not in request.headers.get("Accept", ""):
            return None
        if request.path == "/api":
            return web.json_response({"kind": "APIVersions", "versions": ["v1"]})
        versions = {"scheduling.k8s.io": ["v1beta1"], JOBSET.group: ["v1alpha2", "v1alpha1"], TRAINJOB.group: ["v1"]}
        groups = [
            {"name": name, "versions": [{"version": version} for version in found]}
            for name, found in {**versions, "other.example.com": ["v1"]}.items()
        ]
        return web.json_response({"kind": "APIGroupList", "groups": groups})


@pytest.mark.usefixtures("custom")
async def test_without_aggregated_discovery_groups_of_owners_are_asked_for_one_by_one() -> None:
    """Issue 6, item 1: from the reference's group, no other."""
    cluster = Cluster()
    async with rig(pods=0, serves=SERVES) as r, transport_to(r.server.url, timers=fast()) as transport:
        r.faults.script("GET *", _NotAggregated(), repeat=True)
        fill(r.server)
        await read_once(transport, ("Workload",), "", cluster.apply)
        assert owners(cluster) == [("TrainJob", "t", True), ("JobSet", "s", True)]
        (stream,) = cluster.streams_of((JOBSET.name,))
        assert stream.source.path == "/apis/jobset.x-k8s.io/v1alpha2/jobsets"
        assert not r.faults.asked("* /apis/other.example.com*")


@pytest.mark.usefixtures("custom")
async def test_a_live_connection_asks_older_discovery_again_for_an_owner_that_turns_up() -> None:
    async with rig(pods=0, serves=SERVES) as r:
        r.faults.script("GET *", _NotAggregated(), repeat=True)
        await r.live(kinds=("Workload",))
        assert not r.faults.asked("GET /apis/jobset.x-k8s.io*")
        fill(r.server)
        await r.view.until(lambda: r.view.names(JOBSET.name) == {"s"} and r.view.names(TRAINJOB.name) == {"t"})


async def test_a_group_that_older_discovery_does_not_name_is_said_to_be_missing() -> None:
    cluster = Cluster()
    async with rig(pods=0) as r, transport_to(r.server.url, timers=fast()) as transport:
        r.faults.script("GET *", _NotAggregated(), repeat=True)
        spec = {"controllerRef": {"apiGroup": "nowhere.example.com", "kind": "Job", "name": "s"}}
        r.server.create("Workload", {"metadata": {"name": "w", "namespace": "ml"}, "spec": spec})
        await read_once(transport, ("Workload",), "", cluster.apply)
    (stream,) = cluster.streams_of(("Job.nowhere.example.com",))
    assert stream.phase == "absent"


def listed(*objects: Object) -> Frame:
    known = KINDS.get(type(objects[0]).__name__, b.TRAINER)
    return Listed(b.source(known.name), "1", objects)


TRAINER = named_type(b.TRAINER.name)
DEVICES = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}]}
OF_W = {"workloadRef": {"workloadName": "w", "templateName": "t"}}
BY_TRAINER = b.workload("w", spec={"controllerRef": {"apiGroup": "example.com", "kind": "Trainer", "name": "t"}})


def test_only_kinds_that_lead_to_a_workload_are_followed() -> None:
    found = Owners()
    stranger = b.trainer("t", {**reference(JOBSET, "s")})
    assert found.see(listed(stranger)) == []
    assert found.see(listed(BY_TRAINER)) == [TRAINER, JOBSET]
    assert found.see(listed(BY_TRAINER)) == []


@pytest.mark.parametrize(
    ("obj", "found"),
    [
        (b.pod("p", meta_={"ownerReferences": [reference(JOBSET, "s")]}, spec=DEVICES), [JOBSET]),
        (b.pod("p", meta_={"ownerReferences": [reference(JOBSET, "s")]}), []),
        (b.pod("p", meta_={"ownerReferences": [reference(JOBSET, "s")]}, group="g", spec=DEVICES), []),
        (b.group("g", 1, meta_={"ownerReferences": [reference(JOBSET, "s")]}), [JOBSET]),
        (b.group("g", 1, meta_={"ownerReferences": [reference(JOBSET, "s")]}, spec=OF_W), []),
    ],
    ids=["with devices", "without", "in a group", "a group of no Workload", "a group of one"],
)
def test_what_has_no_place_in_the_tree_leads_to_no_kind(obj: Object, found: list[OwnerType]) -> None:
    assert Owners().see(listed(obj)) == found


def test_references_cannot_make_it_read_without_end() -> None:
    found = Owners()
    many = [
        b.workload(f"w{n}", spec={"controllerRef": {"apiGroup": "x.example.com", "kind": f"K{n}", "name": "t"}})
        for n in range(100)
    ]
    assert len(found.see(listed(*many))) == 20


@pytest.mark.parametrize(
    ("name", "path", "version"),
    [
        ("Pod", "/api/v1/pods", "v1"),
        ("JobSet.jobset.x-k8s.io", "/apis/jobset.x-k8s.io/v1alpha2/namespaces/ml/jobsets", "v1alpha2"),
        ("JobSet.jobset.x-k8s.io", "/apis/jobset.x-k8s.io/v1/jobsets", "v1"),
    ],
)
def test_a_source_says_its_kind(name: str, path: str, version: str) -> None:
    kind = kind_at(name, path)
    assert kind is not None
    assert (kind.name, kind.versions[0]) == (name, version)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("Other", "/api/v1/others"),
        ("JobSet.a", "/apis/b/v1/jobsets"),
        ("JobSet.", "/apis//v1/jobsets"),
        ("X.y", "/apis/y"),
    ],
)
def test_what_is_no_kind(name: str, path: str) -> None:
    assert kind_at(name, path) is None


def test_kinds_of_kubernetes_keep_their_names() -> None:
    assert kind_name(OwnerType("batch", "Job")) == "Job"
    assert kind_name(OwnerType("example.com", "Job")) == "Job.example.com"
    assert kind_name(OwnerType("kueue.x-k8s.io", "Workload")) == "Workload.kueue.x-k8s.io"
