"""Real control planes as the judge: devices, gangs and states, against what the raw JSON says by itself."""

from __future__ import annotations

import pytest

from ktui.cluster.allocation import devices_of
from ktui.cluster.gangs import gang, gangs
from ktui.cluster.state import Cluster
from ktui.recording.reader import Recording
from tests.recordings import PATHS, Document, cluster_at, raw_state

Devices = dict[tuple[str, str, str], list[tuple[str, ...]]]
"""(namespace, pod, container) → (driver, pool, device, request) of each device."""


def oracle(name: str, at: float | None) -> Devices:
    """Devices of every container, worked out from plain documents by the API reference alone."""
    state = raw_state(name, at)
    claims = state("ResourceClaim")
    found: Devices = {}
    for (namespace, pod_name), pod in state("Pod").items():
        made = {s["name"]: s.get("resourceClaimName") for s in pod.get("status", {}).get("resourceClaimStatuses") or []}
        names = {
            c["name"]: c.get("resourceClaimName") or made.get(c["name"])
            for c in pod["spec"].get("resourceClaims") or []
        }
        for container in [*(pod["spec"].get("initContainers") or []), *pod["spec"]["containers"]]:
            devices: list[tuple[str, ...]] = []
            for reference in container.get("resources", {}).get("claims") or []:
                claim = claims.get((namespace, names[reference["name"]] or ""))
                devices += _results(claim, reference.get("request"))
            found[namespace, pod_name, container["name"]] = devices
    return found


def _results(claim: Document | None, request: str | None) -> list[tuple[str, ...]]:
    allocation = (claim or {}).get("status", {}).get("allocation") or {}
    return [
        (r["driver"], r["pool"], r["device"], r["request"])
        for r in allocation.get("devices", {}).get("results") or []
        if request is None or r["request"].split("/")[0] == request
    ]


def computed(cluster: Cluster) -> Devices:
    return {
        (pod.namespace, pod.name, container.name): [(*use.device, use.result.request) for use in container.devices]
        for key in cluster.stores["Pod"].objects
        if (pod := cluster.pod(key)) is not None
        for container in devices_of(cluster, pod)
    }


@pytest.mark.parametrize(
    ("name", "at"),
    [("xid79", 40.0), ("xid79", 10.0), ("xid79", None), ("causes", None), ("v1.36", None), ("v1.35", None)],
)
def test_every_container_has_the_devices_that_the_raw_json_says(name: str, at: float | None) -> None:
    cluster, _ = cluster_at(name, at)
    expected = oracle(name, at)
    assert computed(cluster) == expected
    assert any(expected.values())


def test_every_allocated_device_of_the_causes_is_accounted_for() -> None:
    cluster, _ = cluster_at("causes")
    allocated = {
        result[:3] for claim in raw_state("causes")("ResourceClaim").values() for result in _results(claim, None)
    }
    assert {device[:3] for devices in computed(cluster).values() for device in devices} == allocated
    assert set(cluster.claims_by_device.values()) == allocated


@pytest.mark.parametrize("name", ["v1.36", "v1.35"])
def test_older_gangs(name: str) -> None:
    cluster, _ = cluster_at(name)
    found = {g.key[1].partition("/")[0]: g for g in gangs(cluster)}
    assert {n: (g.min_count, len(g.members), g.running, g.state) for n, g in found.items()} == {
        "fits": (4, 4, 4, "Running"),
        "toolarge": (8, 8, 0, "Pending"),
        "waiting": (3, 2, 0, "Pending"),
    }
    for n, g in found.items():
        assert {pod.name for pod in g.members} == {f"{n}-{i}" for i in range(len(g.members))}
        assert g.key[0] == "older"


def test_1_35_gangs_are_named_after_workload_and_group() -> None:
    cluster, _ = cluster_at("v1.35")
    assert {g.key[1] for g in gangs(cluster)} == {"fits/workers", "toolarge/workers", "waiting/workers"}
    assert all(g.workload is not None and g.group is None for g in gangs(cluster))


def test_the_course_of_the_incident() -> None:
    """The gang of eight: pending, running, short of one after the taint, and running again in the end."""
    recording = Recording(PATHS["xid79"])
    cluster = Cluster()
    states: list[tuple[float, str]] = []
    for t, frame in recording.frames():
        cluster.apply(frame)
        for key in {key for key in cluster.stores["PodGroup"].objects if key[1].startswith("llm-train")}:
            found = gang(cluster, key)
            if found is not None and (not states or states[-1][1] != found.state):
                states.append((t, found.state))
    order = [state for _, state in states]
    assert order[0] == "Pending"
    assert order[-1] == "Running"
    assert [s for s in order if s in ("Pending", "Running", "Degraded")] == [
        "Pending",
        "Running",
        "Degraded",
        "Running",
    ]
    (degraded,) = [t for t, state in states if state == "Degraded"]
    assert 25 < degraded < 70, "soon after the taint, which came 27 s into the recording"
