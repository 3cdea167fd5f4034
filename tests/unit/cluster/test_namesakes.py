"""Texts that a pod and its claim say of each other are kept once, in whatever order the two come; nothing else changes by it."""

from __future__ import annotations

import copy
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from ktui.cluster import inventory
from ktui.cluster.index import Index
from ktui.cluster.state import Cluster
from ktui.model.claim import ResourceClaim
from ktui.model.decode import decode_object
from ktui.model.frame import Frame
from ktui.model.kinds import KINDS
from ktui.model.meta import Object
from ktui.model.pod import Pod
from tests.unit import builders as b
from tests.unit.cluster import worlds


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inventory, "WORTH_IT", -1)


def afresh(obj: Object) -> Object:
    """With texts of its own, as objects come from the wire."""
    return decode_object(KINDS[type(obj).__name__], "v1", msgspec.json.encode(obj))


def pod_and_claim(*, templated: bool) -> tuple[Object, Object]:
    claims = {"gpu": "worker-0-gpu-x7k2p"}
    made = {"status": {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": claims["gpu"]}]}}
    spec = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one"}]}
    named = {"spec": {"resourceClaims": [{"name": "gpu", "resourceClaimName": claims["gpu"]}]}}
    meta = {"name": "worker-0", "namespace": "ml", "uid": "8f6c5c7e-0b5e-4c36-9a3b-1de3a1f4b001"}
    pod = b.make(Pod, {"metadata": meta, **({"spec": spec, **made} if templated else named)})
    owner = {"kind": "Pod", "name": meta["name"], "uid": meta["uid"], "controller": True}
    consumer = {"resource": "pods", "name": meta["name"], "uid": meta["uid"]}
    claim = b.make(
        ResourceClaim,
        {
            "metadata": {"name": claims["gpu"], "namespace": "ml", "uid": "c-1", "ownerReferences": [owner]},
            "status": {"reservedFor": [consumer]},
        },
    )
    return afresh(pod), afresh(claim)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("templated", [True, False])
@pytest.mark.parametrize("pod_first", [True, False])
def test_each_says_the_others_texts(templated: bool, pod_first: bool) -> None:
    pair = pod_and_claim(templated=templated)
    before = copy.deepcopy(pair)
    cluster = Cluster()
    for obj in pair if pod_first else reversed(pair):
        cluster.apply(b.added(obj))
    assert pair == before
    pod, claim = pair
    assert isinstance(pod, Pod)
    assert isinstance(claim, ResourceClaim)
    (owner,), (consumer,) = claim.metadata.owner_references or (), claim.status.reserved_for or ()
    assert owner.name is consumer.name is pod.name
    assert owner.uid is consumer.uid is pod.metadata.uid
    (used,) = (pod.status.resource_claim_statuses if templated else pod.spec.resource_claims) or ()
    assert used.resource_claim_name is claim.name
    (key,), (indexed,) = cluster.stores["ResourceClaim"].objects, cluster.pods_by_claim.values()
    assert indexed is key
    assert key[1] is claim.name


def known(cluster: Cluster) -> dict[str, Any]:
    indexes = {name: index for name, index in vars(cluster).items() if isinstance(index, Index)}
    found = {name: {value: list(index[value]) for value in index.values()} for name, index in indexes.items()}
    return found | {kind: store.objects for kind, store in cluster.stores.items()}


@pytest.mark.usefixtures("always")
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(worlds.steps(24))
def test_nothing_is_known_otherwise(course: list[worlds.Step]) -> None:
    frames: list[Frame] = [worlds.frame(step, version) for version, step in enumerate(course, start=2)]
    untouched = copy.deepcopy(frames)
    shared, plain = Cluster(), Cluster()
    for frame in frames:
        shared.apply(frame)
    assert frames == untouched
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inventory, "WORTH_IT", 10**9)
        for frame in untouched:
            plain.apply(frame)
    assert known(shared) == known(plain)


def test_of_a_small_cluster_nothing_is_looked_at() -> None:
    pod, claim = pod_and_claim(templated=True)
    cluster = Cluster()
    for obj in (pod, claim):
        cluster.apply(b.added(obj))
    (owner,) = claim.metadata.owner_references or ()
    assert owner.uid is not pod.metadata.uid
