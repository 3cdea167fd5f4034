"""Container to device, case by case: the algorithm of the API reference, section 2.7."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from ktui.cluster.allocation import (
    POD_LEVEL,
    ContainerDevices,
    devices_of,
    group_claims,
    holders,
    reserved_for,
    users,
)
from ktui.cluster.state import Cluster
from ktui.model.claim import ResourceClaim
from ktui.model.meta import Object
from ktui.model.pod import Pod
from tests.unit import builders as b

BY_NAME = {"name": "gpu", "resourceClaimName": "c"}
BY_TEMPLATE = {"name": "gpu", "resourceClaimTemplateName": "one-gpu"}


def container(name: str = "main", *claims: str, requests: dict[str, Any] | None = None, **more: Any) -> b.Document:
    """A container that references claims: "gpu" the whole, "gpu/request" one request of it."""
    references = []
    for claim in claims:
        claim_name, _, request = claim.partition("/")
        references.append({"name": claim_name, "request": request} if request else {"name": claim_name})
    return {"name": name, "resources": {"claims": references, "requests": requests or {}}, **more}


def pod(
    claims: Iterable[b.Document] = (BY_NAME,),
    containers: Iterable[b.Document] = (container("main", "gpu"),),
    made: Iterable[b.Document] = (),
    group: str = "",
    **more: Any,
) -> Pod:
    spec = {"resourceClaims": list(claims), "containers": list(containers), **more.get("spec", {})}
    status = {"resourceClaimStatuses": list(made), **more.get("status", {})}
    return b.pod(more.get("name", "p"), group=group, spec=spec, status=status)


def made(claim: str | None, name: str = "gpu") -> b.Document:
    return {"name": name, "resourceClaimName": claim} if claim else {"name": name}


def shown(found: Iterable[ContainerDevices]) -> list[str]:
    """One text a container: "main app: gpu-0 gpu-1 | gpu pending"."""
    return [
        f"{c.name} {c.kind}: {' '.join(u.device[2] for u in c.devices)}"
        + "".join(f" | {name} {state}" for name, state in c.waiting)
        for c in found
    ]


def seen(subject: Pod, *others: Object, without: Iterable[str] = ()) -> list[str]:
    return shown(devices_of(b.cluster_of(subject, *others, without=without), subject))


ONE = [b.result("gpu-0")]
OWN = b.owner("Pod", "p")
BY_GROUP = b.owner("PodGroup", "g", api_version="scheduling.k8s.io/v1beta1")


@pytest.mark.parametrize(
    ("subject", "claims", "expected"),
    [
        pytest.param(pod(), [b.claim("c", ONE)], "main app: gpu-0", id="by name"),
        pytest.param(pod(), [b.claim("c", ONE, owner_=b.owner("Pod", "q"))], "main app: gpu-0", id="by name, anyone's"),
        pytest.param(pod(), [], "main app:  | gpu missing", id="by name, not there"),
        pytest.param(pod(), [b.claim("c")], "main app:  | gpu pending", id="pending"),
        pytest.param(pod(), [b.claim("c", [])], "main app: ", id="allocated, and nothing in it"),
        pytest.param(
            pod([BY_TEMPLATE], made=[made("c")]), [b.claim("c", ONE, owner_=OWN)], "main app: gpu-0", id="template"
        ),
        pytest.param(
            pod([BY_TEMPLATE]), [b.claim("c", ONE, owner_=OWN)], "main app:  | gpu not created", id="no status"
        ),
        pytest.param(pod([BY_TEMPLATE], made=[made(None)]), [], "main app: ", id="none needed"),
        pytest.param(
            pod([BY_TEMPLATE], made=[made("c")]),
            [b.claim("c", ONE, owner_=b.owner("Pod", "p", uid="uid of the pod before"))],
            "main app:  | gpu foreign",
            id="another pod's",
        ),
        pytest.param(
            pod([BY_TEMPLATE], made=[made("c")]), [b.claim("c", ONE)], "main app:  | gpu foreign", id="nobody's"
        ),
        pytest.param(
            pod([BY_TEMPLATE], made=[made("c")]),
            [b.claim("c", ONE, owner_={**OWN, "controller": False})],
            "main app:  | gpu foreign",
            id="owned, not controlled",
        ),
        pytest.param(pod([BY_TEMPLATE], made=[made("c")]), [], "main app:  | gpu missing", id="made, not there"),
        pytest.param(
            pod([BY_TEMPLATE], made=[made("c")], group="g"),
            [b.claim("c", ONE, owner_=BY_GROUP)],
            "main app: gpu-0",
            id="the group's own",
        ),
        pytest.param(
            pod([BY_TEMPLATE], made=[made("c")], group="h"),
            [b.claim("c", ONE, owner_=BY_GROUP)],
            "main app:  | gpu foreign",
            id="another group's",
        ),
        pytest.param(
            pod([BY_TEMPLATE], made=[made("c")], group="g"),
            [b.claim("c", ONE, owner_={**BY_GROUP, "apiVersion": "example.com/v1"})],
            "main app:  | gpu foreign",
            id="a PodGroup of another API group",
        ),
        pytest.param(
            pod([BY_TEMPLATE], made=[made("c")]),
            [b.claim("c", ONE, owner_=BY_GROUP)],
            "main app:  | gpu foreign",
            id="a group's, for a pod without one",
        ),
        pytest.param(
            pod(), [b.claim("c", [b.result("gpu-0"), b.result("gpu-1")])], "main app: gpu-0 gpu-1", id="count 2"
        ),
        pytest.param(
            pod(containers=[container("main", "gpu/big")]),
            [b.claim("c", [b.result("gpu-0", "big"), b.result("gpu-1", "small")])],
            "main app: gpu-0",
            id="one request of it",
        ),
        pytest.param(
            pod(containers=[container("main", "gpu/big")]),
            [b.claim("c", [b.result("gpu-0", "big/h200"), b.result("gpu-1", "bigger")])],
            "main app: gpu-0",
            id="main/sub",
        ),
        pytest.param(
            pod(containers=[container("main", "gpu/a", "gpu/b")]),
            [b.claim("c", [b.result("gpu-0", "a"), b.result("gpu-1", "b"), b.result("gpu-2", "x")])],
            "main app: gpu-0 gpu-1",
            id="two requests of it",
        ),
        pytest.param(pod(containers=[container("main", "nic")]), [], "main app: ", id="a reference to nothing"),
        pytest.param(pod([]), [], "main app: ", id="a reference without any claim in the pod"),
    ],
)
def test_one_container(subject: Pod, claims: list[ResourceClaim], expected: str) -> None:
    assert seen(subject, *claims)[0] == expected


@pytest.mark.parametrize("claims", [[BY_NAME], [BY_TEMPLATE]])
def test_a_claim_that_cannot_be_read_is_unknown_not_missing(claims: list[b.Document]) -> None:
    assert seen(pod(claims, made=[made("c")]), without=["ResourceClaim"]) == ["main app:  | gpu unknown"]


def test_every_kind_of_container_in_the_order_they_start() -> None:
    inits = [container("fetch", "gpu"), container("mesh", restartPolicy="Always")]
    ephemeral = {"initContainers": inits, "ephemeralContainers": [container("debug", "gpu")]}
    subject = pod(spec={**ephemeral, "containers": [container("a", "gpu"), container("b")]})
    assert seen(subject, b.claim("c", ONE)) == ["fetch init: gpu-0", "mesh sidecar: ", "a app: gpu-0", "b app: "]


def test_a_claim_that_no_container_references_is_the_pods() -> None:
    subject = pod(containers=[container("main")])
    assert seen(subject, b.claim("c", ONE)) == ["main app: ", f"{POD_LEVEL} pod: gpu-0"]


def test_a_pod_also_waits_for_a_claim_that_no_container_references() -> None:
    """The kubelet prepares all claims of a pod before it starts any container."""
    subject = pod(containers=[container("main")])
    assert seen(subject, b.claim("c", None)) == ["main app: ", f"{POD_LEVEL} pod:  | gpu pending"]


def test_one_of_two_claims_is_not_referenced() -> None:
    claims = [BY_NAME, {"name": "nic", "resourceClaimName": "n"}]
    others = (b.claim("c", ONE), b.claim("n", [b.result("nic-0", driver="net.example.com")]))
    assert seen(pod(claims), *others) == ["main app: gpu-0", f"{POD_LEVEL} pod: nic-0"]


def test_what_a_result_says_comes_along() -> None:
    results = [b.result("gpu-0", "a", adminAccess=True), b.result("gpu-1", "b", shareID="5f1c")]
    (found,) = devices_of(b.cluster_of(pod(), b.claim("c", results)), pod())
    assert [(u.result.admin_access, u.result.share_id, u.claim, u.claim_object) for u in found.devices] == [
        (True, None, "gpu", ("ml", "c")),
        (None, "5f1c", "gpu", ("ml", "c")),
    ]


# --- extended resources ---

GPU = "example.com/gpu"


def extended(
    mappings: Iterable[tuple[str, str, str]], containers: list[b.Document], inits: Iterable[b.Document] = ()
) -> Pod:
    status = {
        "resourceClaimName": "x",
        "requestMappings": [
            {"containerName": c, "resourceName": resource, "requestName": request} for c, resource, request in mappings
        ],
    }
    spec = {"containers": containers, "initContainers": list(inits)}
    return b.pod("p", spec=spec, status={"extendedResourceClaimStatus": status})


def scheduler_claim(*devices: tuple[str, str], owner: b.Document = OWN) -> ResourceClaim:
    return b.claim("x", [b.result(device, request) for device, request in devices], owner_=owner)


def wants(name: str, amount: str | int = "1", resource: str = GPU, **more: Any) -> b.Document:
    return container(name, requests={resource: amount}, **more)


def test_extended_resources_go_through_the_mappings() -> None:
    subject = extended(
        [("a", GPU, "container-0-request-0"), ("b", GPU, "container-1-request-0")], [wants("a"), wants("b")]
    )
    claim = scheduler_claim(("gpu-0", "container-0-request-0"), ("gpu-1", "container-1-request-0"))
    assert seen(subject, claim) == ["a app: gpu-0", "b app: gpu-1"]


def test_an_init_container_may_see_more_than_it_asked_for() -> None:
    mappings = [("fetch", GPU, "r1"), ("fetch", GPU, "r2"), ("mesh", GPU, "r1"), ("main", GPU, "r2")]
    subject = extended(mappings, [wants("main")], [wants("fetch"), wants("mesh", restartPolicy="Always")])
    claim = scheduler_claim(("gpu-0", "r1"), ("gpu-1", "r2"))
    assert seen(subject, claim) == ["fetch init: gpu-0 gpu-1", "mesh sidecar: gpu-0", "main app: gpu-1"]


@pytest.mark.parametrize("amount", ["0", 0, "0m", "many"])
def test_who_asks_for_none_gets_none(amount: str | int) -> None:
    assert seen(extended([("a", GPU, "r")], [wants("a", amount)]), scheduler_claim(("gpu-0", "r"))) == ["a app: "]


def test_a_mapping_of_another_resource_does_not_count() -> None:
    subject = extended([("a", "example.com/nic", "r")], [wants("a")])
    assert seen(subject, scheduler_claim(("gpu-0", "r"))) == ["a app: "]


def test_request_names_are_never_guessed() -> None:
    assert seen(extended([], [wants("a")]), scheduler_claim(("gpu-0", "container-0-request-0"))) == ["a app: "]


def test_the_scheduler_claim_of_another_pod_does_not_count() -> None:
    claim = scheduler_claim(("gpu-0", "r"), owner=b.owner("Pod", "q"))
    assert seen(extended([("a", GPU, "r")], [wants("a")]), claim) == ["a app: "]


def test_both_ways_in_one_container() -> None:
    status = {
        "extendedResourceClaimStatus": {
            "resourceClaimName": "x",
            "requestMappings": [{"containerName": "main", "resourceName": GPU, "requestName": "r"}],
        }
    }
    subject = pod(containers=[container("main", "gpu", requests={GPU: 1})], status=status)
    others = (b.claim("c", ONE), scheduler_claim(("gpu-7", "r")))
    assert seen(subject, *others) == ["main app: gpu-0 gpu-7"]


# --- who uses a claim ---


def shared(*names: str, group: str = "") -> list[Pod]:
    return [pod(name=name, group=group) for name in names]


def users_of(cluster: Cluster) -> list[str]:
    return [p.name for p in users(cluster, ("ml", "c"))]


def test_a_claim_shared_by_name() -> None:
    claim = b.claim("c", ONE, reserved=[b.pod_consumer("b"), b.pod_consumer("a")])
    cluster = b.cluster_of(*shared("b", "a", "later"), claim)
    assert users_of(cluster) == ["a", "b"]
    assert all(shown(devices_of(cluster, p)) == ["main app: gpu-0"] for p in shared("a", "b"))


def test_a_claim_reserved_for_a_group_is_held_by_members_that_name_it() -> None:
    claim = b.claim("c", ONE, owner_=BY_GROUP, reserved=[b.group_consumer("g")])
    stranger = pod([], name="member-without-it", group="g")
    cluster = b.cluster_of(*shared("a", "b", group="g"), *shared("c", group="h"), stranger, claim)
    assert users_of(cluster) == ["a", "b"]


@pytest.mark.parametrize(
    "consumer",
    [
        {"resource": "pods", "name": "p", "uid": "another"},
        {"resource": "pods", "name": "p", "uid": ""},
        {"apiGroup": "example.com", "resource": "podgroups", "name": "g"},
        {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "h"},
    ],
)
def test_a_claim_reserved_for_others_is_not_held(consumer: b.Document) -> None:
    assert not reserved_for(pod(group="g"), b.claim("c", ONE, reserved=[consumer]))


def test_a_pod_without_uid_holds_nothing() -> None:
    nobody = b.make(Pod, {"metadata": {"name": "p"}})
    assert not reserved_for(nobody, b.claim("c", ONE, reserved=[{"resource": "pods", "name": "p", "uid": ""}]))


def test_users_of_a_claim_that_is_gone() -> None:
    assert users_of(b.cluster_of(pod())) == []


def test_holders_of_a_device() -> None:
    cluster = b.cluster_of(b.claim("z", ONE), b.claim("c", [b.result("gpu-1"), b.result("gpu-0", "second")]))
    found = holders(cluster, b.one_device("gpu-0"))
    assert [(claim.name, result.request) for claim, result in found] == [("c", "second"), ("z", "gpu")]
    assert holders(cluster, b.one_device("gpu-9")) == []


def test_claims_of_a_group() -> None:
    spec = {
        "resourceClaims": [
            {"name": "fabric", "resourceClaimName": "net"},
            {"name": "gpu", "resourceClaimTemplateName": "t"},
            {"name": "disk", "resourceClaimTemplateName": "t"},
        ]
    }
    group = b.group("g", 2, spec=spec, status={"resourceClaimStatuses": [made("g-gpu-x7")]})
    cluster = b.cluster_of(group, b.claim("net", ONE))
    assert [(entry.name, key, claim and claim.name) for entry, key, claim in group_claims(cluster, group)] == [
        ("fabric", ("ml", "net"), "net"),
        ("gpu", ("ml", "g-gpu-x7"), None),
        ("disk", ("ml", ""), None),
    ]
