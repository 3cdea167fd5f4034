"""Discovery: versions, fallbacks, and what is kept when an answer is bad (fault plan W39 to W43)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aiohttp import web

from ktui.demo.apiserver import SERVES_1_35, SERVES_1_36, SERVES_1_37
from ktui.kube.discovery import Discovery, Served
from ktui.kube.failures import ApiError, UnexpectedAnswer
from ktui.model.kinds import KINDS
from ktui.model.version import numbers
from tests.faults import Answer, Fault
from tests.unit.kube.harness import rig, transport_to

GANGS = ("PodGroup", "Workload", "DeviceTaintRule", "ResourceClaim", "Pod")


@pytest.mark.parametrize(
    ("serves", "versions"),
    [
        (SERVES_1_37, ("v1beta1", "v1beta1", "v1", "v1", "v1")),
        (SERVES_1_36, ("v1alpha2", "v1alpha2", "v1beta2", "v1", "v1")),
        (SERVES_1_35, (None, "v1alpha1", "v1alpha3", "v1", "v1")),
        ({"Pod": ("v1",)}, (None, None, None, None, "v1")),
    ],
    ids=["1.37", "1.36", "1.35", "core only"],
)
@pytest.mark.parametrize("legacy", [False, True], ids=["aggregated", "legacy"])
async def test_the_first_preferred_version_that_is_served(serves: Any, versions: Any, legacy: bool) -> None:
    async with rig(serves=serves) as r, transport_to(r.server.url) as transport:
        if legacy:
            r.faults.script("GET *", _Old(), repeat=True)
        served = await Discovery(transport).refresh()
        assert tuple(served.version(KINDS[name]) for name in GANGS) == versions
        assert served.git_version == "v1.37.2"
        assert len(r.faults.journal) == 3 or legacy


class _Old(Fault):
    """A server from before aggregated discovery."""

    async def before(self, request: web.Request) -> web.StreamResponse | None:
        if "apidiscovery" not in request.headers["Accept"]:
            return None
        body = {"/api": {"versions": ["v1"]}}.get(request.path)
        return web.json_response(body or {"kind": "APIGroupList", "groups": _groups()})


def _groups() -> list[dict[str, Any]]:
    versions = [
        {"version": version} for version in ("v1", "v1beta2", "v1beta1", "v1alpha3", "v1alpha2", "v1alpha1", "v2")
    ]
    names = ("resource.k8s.io", "scheduling.k8s.io", "batch", "autoscaling", "unrelated.example.com")
    return [{"name": name, "versions": versions} for name in names]


async def test_legacy_discovery_asks_for_our_groups_only() -> None:
    async with rig() as r, transport_to(r.server.url) as transport:
        r.faults.script("GET *", _Old(), repeat=True)
        await Discovery(transport).refresh()
        assert not r.faults.asked("* /apis/unrelated.example.com*")


async def test_a_group_is_wanted_of_older_discovery_only() -> None:
    """Where everything is told at once, asking again would tell no more: it would go on for ever."""
    async with rig() as r, transport_to(r.server.url) as transport:
        discovery = Discovery(transport)
        r.faults.script("GET *", _Old(), repeat=True)
        await discovery.refresh()
        assert discovery.want("unrelated.example.com")
        r.faults.clear()
        await discovery.refresh()
        assert not discovery.want("unrelated.example.com")
        assert not discovery.want("batch")


async def test_w43_an_unchanged_answer_is_not_sent_again() -> None:
    async with rig() as r, transport_to(r.server.url) as transport:
        discovery = Discovery(transport)
        first = await discovery.refresh()
        before = transport.ledger.received
        second = await discovery.refresh()
        assert second == first
        assert transport.ledger.received - before < 200
        assert all("If-None-Match" in each.headers for each in r.faults.asked("GET /apis")[1:])
        r.server.serves = SERVES_1_36
        assert (await discovery.refresh()).version(KINDS["PodGroup"]) == "v1alpha2"


AGGREGATED = {"Content-Type": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}


def _document(freshness: str, *resources: str) -> str:
    listed = [{"resource": name, "verbs": ["list", "watch"], "scope": "Namespaced"} for name in resources]
    versions = [{"version": "v1beta1", "freshness": freshness, "resources": listed}]
    group = {"metadata": {"name": "scheduling.k8s.io"}, "versions": versions}
    return json.dumps({"kind": "APIGroupDiscoveryList", "items": [group]})


async def test_w42_a_stale_group_keeps_its_last_good_answer() -> None:
    async with rig() as r, transport_to(r.server.url) as transport:
        discovery = Discovery(transport)
        good, stale = _document("Current", "podgroups"), _document("Stale")
        r.faults.script("GET /apis", Answer(200, good, headers=AGGREGATED), Answer(200, stale, headers=AGGREGATED))
        first, second = await discovery.refresh(), await discovery.refresh()
        assert first.version(KINDS["PodGroup"]) == second.version(KINDS["PodGroup"]) == "v1beta1"
        assert first.stale == frozenset()
        assert second.stale == frozenset({"scheduling.k8s.io"})


async def test_w42_without_an_answer_everything_is_kept() -> None:
    async with rig() as r, transport_to(r.server.url) as transport:
        discovery = Discovery(transport)
        first = await discovery.refresh()
        r.faults.script("GET /apis", Answer(503, "", "text/plain"))
        with pytest.raises(ApiError):
            await discovery.refresh()
        assert discovery.served is not None
        assert discovery.served.groups == first.groups
        assert "resource.k8s.io" in discovery.served.stale
        assert (await discovery.refresh()).stale == frozenset()


async def test_w42_a_legacy_group_version_that_fails_is_stale() -> None:
    async with rig() as r, transport_to(r.server.url) as transport:
        r.faults.script("GET *", _Old(), repeat=True)
        discovery = Discovery(transport)
        await discovery.refresh()
        r.faults.script("GET /apis/scheduling.k8s.io/v1beta1", Answer(503, b""))
        served = await discovery.refresh()
        assert served.version(KINDS["PodGroup"]) == "v1beta1"
        assert set(served.stale) == {"scheduling.k8s.io"}


async def test_the_first_failure_is_told() -> None:
    async with rig() as r, transport_to(r.server.url) as transport:
        r.faults.script("GET /apis", Answer(500, b""))
        with pytest.raises(ApiError):
            await Discovery(transport).refresh()


@pytest.mark.parametrize("body", ["not json", "[]", '{"items": 5}', "null"])
async def test_another_service_at_the_address(body: str) -> None:
    async with rig() as r, transport_to(r.server.url) as transport:
        r.faults.script("GET *", Answer(200, body), repeat=True)
        with pytest.raises(UnexpectedAnswer, match="unexpected answer from host"):
            await Discovery(transport).refresh()


async def test_listing_is_what_counts() -> None:
    """A resource without the verb list, like an access review, is nothing to watch."""
    document = _document("Current", "podgroups").replace('"list", ', "")
    async with rig() as r, transport_to(r.server.url) as transport:
        r.faults.script("GET /apis", Answer(200, document, headers=AGGREGATED))
        assert (await Discovery(transport).refresh()).version(KINDS["PodGroup"]) is None


@pytest.mark.parametrize(
    ("text", "parsed", "streams"),
    [
        ("v1.37.2", (1, 37), True),
        ("v1.34.0-gke.1", (1, 34), True),
        ("v1.33.9+k3s1", (1, 33), False),
        ("v1.33-eks-a18cd3a", (1, 33), False),
        ("v1.²", (0, 0), True),
        pytest.param("v1." + "9" * 5000, (0, 0), True, id="too many digits"),
        ("strange", (0, 0), True),
        ("", (0, 0), True),
    ],
)
def test_streaming_lists_are_tried_from_1_34_on(text: str, parsed: tuple[int, int], streams: bool) -> None:
    assert numbers(text) == parsed
    assert Served(text, {}).streaming_lists is streams
