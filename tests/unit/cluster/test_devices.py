"""One device with all that is known of it: D10 and the health reports of the kubelet (the API reference, section 4)."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.cluster import devices
from ktui.cluster.devices import DeviceInfo, device_ids, device_ids_in_turn, device_info
from ktui.cluster.health import Health, device_health, pod_health
from ktui.cluster.state import Cluster
from ktui.model.frame import StreamPhase
from ktui.model.meta import Object
from ktui.model.pod import Pod
from tests.unit import builders as b

GPU0, GPU1 = b.one_device("gpu-0"), b.one_device("gpu-1")
PUBLISHED = b.piece("s", ["gpu-0", "gpu-1"], nodeName="node-1")


def info(*objects: Object, device: Any = GPU0) -> DeviceInfo:
    found = device_info(b.cluster_of(*objects), device)
    assert found is not None
    return found


def held(name: str = "c", **more: Any) -> Object:
    return b.claim(name, [b.result("gpu-0", **more)], reserved=[b.pod_consumer("p")])


def reporting(*entries: tuple[str, str, str], claims: tuple[str, ...] = ("gpu",), container: str = "main") -> Pod:
    """A pod that uses claims c-NAME and whose container reports (entry, resource id, health)."""
    spec = {
        "resourceClaims": [{"name": c, "resourceClaimName": f"c-{c}"} for c in claims],
        "containers": [{"name": "main", "resources": {"claims": [{"name": c} for c in claims]}}],
    }
    reported: dict[str, list[b.Document]] = {}
    for entry, resource, health in entries:
        reported.setdefault(entry, []).append({"resourceID": resource, "health": health or None, "message": "m"})
    statuses = [{"name": n, "resources": r} for n, r in reported.items()]
    return b.pod(
        "p", spec=spec, status={"containerStatuses": [{"name": container, "allocatedResourcesStatus": statuses}]}
    )


def claim_of(*devices: str, name: str = "gpu", request: str = "r") -> Object:
    return b.claim(f"c-{name}", [b.result(d, request) for d in devices], reserved=[b.pod_consumer("p")])


# --- states ---


def test_a_device_that_nobody_knows() -> None:
    assert device_info(b.cluster_of(PUBLISHED), b.one_device("gpu-9")) is None


@pytest.mark.parametrize(
    ("objects", "state"),
    [
        ([PUBLISHED], "free"),
        ([PUBLISHED, held()], "used"),
        ([PUBLISHED, held(adminAccess=True)], "free"),
        ([PUBLISHED, b.rule("r", {"device": "gpu-0"}, b.taint(effect="None"))], "free"),
        ([PUBLISHED, b.rule("r", {"device": "gpu-0"}, b.taint(effect="Odd"))], "free"),
        ([PUBLISHED, b.rule("r", {"device": "gpu-0"}, b.taint(effect="NoSchedule"))], "tainted"),
        ([PUBLISHED, held(), b.rule("r", {"device": "gpu-0"})], "tainted"),
        ([b.piece("s", ["gpu-0"], count=2)], "unusable"),
        ([b.piece("s", ["gpu-0"], count=2), held()], "used"),
        ([b.piece("s", ["gpu-0", "gpu-0"])], "unusable"),
        ([held()], "gone"),
        ([held(), b.rule("r", {"device": "gpu-0"})], "gone"),
    ],
)
def test_D10_states(objects: list[Object], state: str) -> None:
    assert info(*objects).state == state


def test_of_many_devices_that_are_published_and_held_it_is_said_that_they_were_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(devices, "_PAUSE", 2)
    names = [f"gpu-{number}" for number in range(6)]
    held = [b.claim(name, [b.result(name)]) for name in (*names, "gone")]
    cluster = b.cluster_of(b.piece("s", names, nodeName="node-1"), *held)
    found = [*map(b.one_device, names), None, None, None, b.one_device("gone")]
    assert list(device_ids_in_turn(cluster)) == found
    assert list(device_ids(cluster)) == [device for device in found if device is not None]


def test_an_unhealthy_device_is_unhealthy_though_tainted() -> None:
    pod = reporting(("claim:gpu", "cdi=0", "Unhealthy"))
    assert info(PUBLISHED, claim_of("gpu-0"), pod, b.rule("r", {})).state == "unhealthy"


def test_nothing_is_called_free_while_not_all_claims_are_seen() -> None:
    cluster = b.cluster_of(PUBLISHED, without=["ResourceClaim"])
    cluster.apply(b.listed("ResourceClaim", namespace="ml"))
    found = device_info(cluster, GPU0)
    assert found is not None
    assert found.state == "unknown"


@pytest.mark.parametrize(("phase", "state"), [("listing", "unknown"), ("no-access", "unknown"), ("absent", "free")])
def test_nothing_is_called_free_while_there_are_taint_rules_nobody_read(phase: StreamPhase, state: str) -> None:
    cluster = b.cluster_of(PUBLISHED, without=["DeviceTaintRule"])
    cluster.apply(b.phase("DeviceTaintRule", phase))
    found = device_info(cluster, GPU0)
    assert found is not None
    assert found.state == state


def partition(name: str, memory: str, *, of: str = "gpu") -> dict[str, Any]:
    return {"name": name, "consumesCounters": [{"counterSet": of, "counters": {"memory": {"value": memory}}}]}


def shared(*sets: str) -> Object:
    counters = [{"name": name, "counters": {"memory": {"value": "80Gi"}}} for name in sets]
    return b.piece("counters", count=2, sharedCounters=counters)


@pytest.mark.parametrize(
    ("claims", "states"),
    [
        ([], "free free free free"),
        (["whole"], "used blocked blocked free"),
        (["half"], "blocked used free free"),
        (["half", "other-half"], "blocked used used free"),
        (["elsewhere"], "free free free used"),
    ],
)
def test_a_device_whose_counters_are_used_up_is_not_free(claims: list[str], states: str) -> None:
    """DRAPartitionableDevices, on since 1.36: a GPU and its partitions cannot be allocated beside each other."""
    names = {"whole": "80Gi", "half": "40Gi", "other-half": "40Gi"}
    devices = [*(partition(name, memory) for name, memory in names.items()), partition("elsewhere", "80Gi", of="gpu2")]
    cluster = b.cluster_of(
        shared("gpu", "gpu2"),
        b.piece("s", devices, count=2),
        *(b.claim(f"c-{name}", [b.result(name)]) for name in claims),
        b.claim("monitor", [b.result("whole", adminAccess=True)]),
    )
    found = [device_info(cluster, b.one_device(d["name"])) for d in devices]
    assert " ".join(info.state for info in found if info is not None) == states


def test_a_device_that_is_shared_draws_on_its_counters_once() -> None:
    devices = [partition("half", "40Gi"), partition("other-half", "40Gi")]
    holders = [b.claim(name, [b.result("half", shareID=name)]) for name in ("a", "b")]
    found = info(shared("gpu"), b.piece("s", devices, count=2), *holders, device=b.one_device("other-half"))
    assert found.state == "free"


@pytest.mark.parametrize(
    ("second", "conflict"),
    [({}, True), ({"adminAccess": True}, False), ({"shareID": "5f1c"}, True)],
)
def test_D10_two_claims_on_one_device(second: dict[str, Any], conflict: bool) -> None:
    assert info(PUBLISHED, held("a"), held("b", **second)).conflict is conflict


def test_D10_shares_of_one_device_are_no_conflict() -> None:
    assert not info(PUBLISHED, held("a", shareID="1"), held("b", shareID="2")).conflict


def test_where_it_is_and_who_has_it() -> None:
    user = b.pod("p", spec={"resourceClaims": [{"name": "x", "resourceClaimName": "c"}]})
    found = info(PUBLISHED, held(), user)
    assert (found.node, [p.name for p in found.pods], [c.name for c, _ in found.holders]) == ("node-1", ["p"], ["c"])


def test_all_devices_also_those_published_no_longer() -> None:
    cluster = b.cluster_of(PUBLISHED, held(), b.claim("d", [b.result("gpu-7")]))
    assert sorted(device_ids(cluster)) == [GPU0, GPU1, b.one_device("gpu-7")]


# --- health ---


def health(pod: Pod, *claims: Object) -> dict[str, str]:
    return {device[2]: report.health for device, report in pod_health(b.cluster_of(pod, *claims), pod).items()}


@pytest.mark.parametrize(
    ("entries", "devices", "expected"),
    [
        pytest.param(
            [("claim:gpu", f"{b.DRIVER}/node-1/gpu-0", "Unhealthy")], ["gpu-0"], {"gpu-0": "Unhealthy"}, id="id"
        ),
        pytest.param([("claim:gpu", "vendor.com/gpu=0", "Unknown")], ["gpu-0"], {"gpu-0": "Unknown"}, id="one and one"),
        pytest.param(
            [("claim:gpu/r", "vendor.com/gpu=0", "Unhealthy")], ["gpu-0"], {"gpu-0": "Unhealthy"}, id="request"
        ),
        pytest.param([("claim:gpu/other", "vendor.com/gpu=0", "Unhealthy")], ["gpu-0"], {}, id="another request"),
        pytest.param([("claim:other", "vendor.com/gpu=0", "Unhealthy")], ["gpu-0"], {}, id="another claim"),
        pytest.param([("nvidia.com/gpu", "GPU-1", "Unhealthy")], ["gpu-0"], {}, id="a device plugin's"),
        pytest.param([("claim:gpu", "vendor.com/gpu=0", "Unhealthy")], ["gpu-0", "gpu-1"], {}, id="one for two"),
        pytest.param(
            [("claim:gpu", "vendor.com/gpu=0", "Unhealthy"), ("claim:gpu", "vendor.com/gpu=1", "Healthy")],
            ["gpu-0", "gpu-1"],
            {},
            id="two for two, by CDI ids",
        ),
        pytest.param(
            [
                ("claim:gpu", f"{b.DRIVER}/node-1/gpu-1", "Unhealthy"),
                ("claim:gpu", f"{b.DRIVER}/node-1/gpu-0", "Healthy"),
            ],
            ["gpu-0", "gpu-1"],
            {"gpu-0": "Healthy", "gpu-1": "Unhealthy"},
            id="two for two, by name in any order",
        ),
        pytest.param([("claim:gpu", "x", "")], ["gpu-0"], {"gpu-0": "Healthy"}, id="health left out"),
        pytest.param([("claim:gpu", "x", "Melting")], ["gpu-0"], {"gpu-0": "Melting"}, id="a word of a newer kubelet"),
        pytest.param([], ["gpu-0"], {}, id="nothing reported"),
    ],
)
def test_pairing(entries: list[tuple[str, str, str]], devices: list[str], expected: dict[str, str]) -> None:
    assert health(reporting(*entries), claim_of(*devices)) == expected


def test_a_subrequest_is_reported_under_its_main_request() -> None:
    pod = reporting(("claim:gpu/r", "cdi", "Unhealthy"))
    assert health(pod, claim_of("gpu-0", request="r/sub")) == {"gpu-0": "Unhealthy"}


def test_a_report_of_a_container_that_is_not_there() -> None:
    assert health(reporting(("claim:gpu", "x", "Unhealthy"), container="gone"), claim_of("gpu-0")) == {}


def test_of_two_containers_the_worse_report_counts() -> None:
    claims = [{"name": "gpu"}]
    pod = b.pod(
        "p",
        spec={
            "resourceClaims": [{"name": "gpu", "resourceClaimName": "c-gpu"}],
            "containers": [{"name": n, "resources": {"claims": claims}} for n in "ab"],
        },
        status={
            "containerStatuses": [
                {
                    "name": name,
                    "allocatedResourcesStatus": [
                        {"name": "claim:gpu", "resources": [{"resourceID": "x", "health": word}]}
                    ],
                }
                for name, word in (("a", "Unhealthy"), ("b", "Healthy"))
            ]
        },
    )
    assert health(pod, claim_of("gpu-0")) == {"gpu-0": "Unhealthy"}


def test_of_two_pods_the_worse_report_counts() -> None:
    def user(name: str, word: str) -> Pod:
        reports = [{"name": "claim:gpu", "resources": [{"resourceID": "x", "health": word, "message": "ecc"}]}]
        return b.pod(
            name,
            spec={
                "resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}],
                "containers": [{"name": "main", "resources": {"claims": [{"name": "gpu"}]}}],
            },
            status={"containerStatuses": [{"name": "main", "allocatedResourcesStatus": reports}]},
        )

    def cluster(*words: str) -> Cluster:
        names = [f"p{i}" for i in range(len(words))]
        claim = b.claim("c", [b.result("gpu-0")], reserved=[b.pod_consumer(n) for n in names])
        return b.cluster_of(claim, *(user(n, w) for n, w in zip(names, words, strict=True)))

    assert device_health(cluster("Healthy", "Unhealthy"), GPU0) == Health("Unhealthy", "ecc")
    assert device_health(cluster("Healthy", "Unknown"), GPU0) == Health("Unknown", "ecc")
    assert device_health(cluster(), GPU0) is None
