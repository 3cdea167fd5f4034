"""Who has a claim or a device together with others, as details and JSON tell it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import pytest

from ktui.cluster.dirty import Entity
from ktui.cluster.state import Cluster
from ktui.views.registry import VIEWS
from tests.unit import builders as b

SHARE = {"shareID": "f2cb8a3c-1f0b-4b7c-9d51-0a4f5c8c1f3a"}
OTHER = {"shareID": "0d7b9d1e-6a6d-4b92-a0a3-2b3b8f4f2a11"}
ADMIN = {"adminAccess": True}


def told(cluster: Cluster, view: Entity, key: Hashable) -> Any:
    item = VIEWS[view].item(cluster, key)
    assert item is not None
    return item


def shown(cluster: Cluster, view: Entity, key: Hashable) -> str:
    lines = (line for section in VIEWS[view].detail(cluster, key, 0.0) for line in section.lines)
    return "\n".join("".join(cell.text for cell in line) for line in lines)


@pytest.mark.parametrize(
    ("uses", "sharing", "words"),
    [
        pytest.param([{}], [], "", id="one claim"),
        pytest.param([{}, {}], ["conflict"], "which is for one at a time", id="two claims"),
        pytest.param([SHARE, OTHER], ["shares"], "a share of it each", id="shares"),
        pytest.param([SHARE, {}], ["conflict"], "which is for one at a time", id="a share and the whole"),
        pytest.param([{}, ADMIN], ["adminAccess"], "looks on", id="one uses, one looks on"),
        pytest.param([ADMIN], [], "", id="looked at only"),
        pytest.param([ADMIN, {}, {}], ["conflict", "adminAccess"], "looks on", id="all at once"),
    ],
)
def test_a_device_held_twice_is_explained_or_a_conflict(uses: list[Any], sharing: list[str], words: str) -> None:
    """Issue 6, item 3."""
    claims = [b.claim(f"c{n}", [b.result("gpu-0", **use)]) for n, use in enumerate(uses)]
    cluster = b.cluster_of(b.piece("s", ["gpu-0"]), *claims)
    device = b.one_device("gpu-0")
    assert told(cluster, "devices", device)["sharing"] == sharing
    assert words in shown(cluster, "devices", device)
    row = VIEWS["devices"].row(cluster, device)
    assert row is not None
    assert row.problem == ("conflict" in sharing)


def test_a_claim_of_several_pods() -> None:
    reserved = [b.pod_consumer("a"), b.pod_consumer("b")]
    cluster = b.cluster_of(b.piece("s", ["gpu-0"]), b.claim("c", [b.result("gpu-0")], reserved=reserved))
    found = told(cluster, "claims", ("ml", "c"))
    assert (found["shared"], found["gangs"]) == (True, [])
    assert "2 pods" in shown(cluster, "claims", ("ml", "c"))
    assert told(cluster, "devices", b.one_device("gpu-0"))["sharing"] == ["sharedClaim"]


def test_a_claim_of_one_pod_is_not_shared() -> None:
    cluster = b.cluster_of(b.claim("c", [b.result("gpu-0")], reserved=[b.pod_consumer("a")]))
    assert told(cluster, "claims", ("ml", "c"))["shared"] is False
    assert "shared by" not in shown(cluster, "claims", ("ml", "c"))


def test_a_claim_of_a_gang() -> None:
    """Made from a template for the group, and held by it as a whole."""
    entries = {"resourceClaims": [{"name": "gpus", "resourceClaimTemplateName": "eight"}]}
    made = {"resourceClaimStatuses": [{"name": "gpus", "resourceClaimName": "g-gpus"}]}
    claim = b.claim("g-gpus", [b.result("gpu-0")], reserved=[b.group_consumer("g")])
    cluster = b.cluster_of(b.group("g", 1, spec=entries, status=made), claim)
    found = told(cluster, "claims", claim.key)
    assert (found["shared"], found["gangs"]) == (True, ["g"])
    assert "all pods of gang g" in shown(cluster, "claims", claim.key)
    assert told(cluster, "gangs", ("ml", "g"))["sharedClaims"] == [
        {
            "name": "gpus",
            "claim": "g-gpus",
            "template": "eight",
            "state": "allocated,reserved",
            "devices": ["gpu.example.com/node-1/gpu-0"],
        }
    ]
    assert "from template eight" in shown(cluster, "gangs", ("ml", "g"))


def test_a_claim_that_a_gang_names_and_does_not_hold() -> None:
    entries = {"resourceClaims": [{"name": "gpus", "resourceClaimName": "c"}]}
    cluster = b.cluster_of(b.group("g", 1, spec=entries), b.claim("c"))
    assert told(cluster, "claims", ("ml", "c"))["gangs"] == ["g"]
    assert "gang g (not held yet)" in shown(cluster, "claims", ("ml", "c"))


def test_a_claim_that_is_not_made_yet() -> None:
    entries = {"resourceClaims": [{"name": "gpus", "resourceClaimTemplateName": "eight"}]}
    cluster = b.cluster_of(b.group("g", 1, spec=entries))
    (found,) = told(cluster, "gangs", ("ml", "g"))["sharedClaims"]
    assert (found["claim"], found["state"], found["devices"]) == (None, None, [])


def test_a_group_of_another_api_does_not_hold_it() -> None:
    other = {"apiGroup": "example.com", "resource": "podgroups", "name": "g", "uid": "x"}
    cluster = b.cluster_of(b.claim("c", [b.result("gpu-0")], reserved=[other]))
    assert told(cluster, "claims", ("ml", "c"))["shared"] is False
