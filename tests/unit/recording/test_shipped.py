"""The recordings that ktui ships: whole, valid, small, and each of them shows what its story in recordings/README.md says."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

import kubernetes_validate
import pytest

from ktui import resources
from ktui.cluster.allocation import devices_of
from ktui.cluster.devices import device_ids, device_info
from ktui.cluster.gangs import display_name, gangs
from ktui.cluster.state import Cluster
from ktui.diagnose.diagnosis import Diagnosis
from ktui.diagnose.gang import diagnose
from ktui.model.autoscaler import HorizontalPodAutoscaler
from ktui.model.kinds import KINDS
from ktui.model.resourceslice import DeviceId
from ktui.recording.reader import Recording
from ktui.views.autoscalers import autoscaler_state
from tests.recordings import Document, cluster_at, raw_lines, raw_objects, raw_state

NAMES: Final = [path.name.removesuffix(".ktui.gz") for path in resources.recordings()]
SETTLED: Final = 2.0
"""Seconds after a mark: what it announces has reached every watch by then, and the next thing has not happened yet."""
LARGEST: Final = 60_000  # bytes of one file

Devices = set[DeviceId]


def marks(name: str) -> list[tuple[float, str]]:
    return [(line["t"], line["text"]) for line in raw_lines(name) if line.get("type") == "MARK"]


def moment(name: str, pattern: str) -> float:
    """A while after the only mark that the pattern is found in."""
    (t,) = (t for t, text in marks(name) if re.search(pattern, text))
    return t + SETTLED


def at_mark(name: str, pattern: str) -> Cluster:
    return cluster_at(name, moment(name, pattern))[0]


def diagnoses(cluster: Cluster) -> dict[str, Diagnosis]:
    return {found.key[1]: diagnose(cluster, found) for found in gangs(cluster)}


def states(cluster: Cluster) -> dict[str, str]:
    """Of each gang, by the name that people know it by."""
    return {display_name(cluster, found.key): found.state for found in gangs(cluster)}


def of_pods(cluster: Cluster) -> dict[str, dict[str, Devices]]:
    """Pod → container → devices."""
    return {
        pod.name: {c.name: {use.device for use in c.devices} for c in devices_of(cluster, pod)}
        for key in cluster.stores["Pod"].objects
        if (pod := cluster.pod(key)) is not None
    }


# ---------------------------------------------------------------------- every recording


@pytest.mark.parametrize("name", NAMES)
def test_it_is_read_without_a_note_and_is_small(name: str) -> None:
    (path,) = (path for path in resources.recordings() if path.name == f"{name}.ktui.gz")
    recording = Recording(path)
    assert sum(1 for _ in recording.frames()) > 50
    assert not recording.notes
    assert recording.header.title
    assert recording.header.server.git_version == "v1.37.2"
    assert path.stat().st_size < LARGEST


def written_stories() -> dict[str, tuple[str, list[tuple[int, str]]]]:
    """Name → title and (seconds, what happens), as the README has them."""
    text = (resources.recordings()[0].parent / "README.md").read_text()
    found = {}
    for section in text.split("\n## ")[1:]:
        title, *lines = section.splitlines()
        (name,) = re.findall(r"^`([\w.-]+)\.ktui\.gz`", section, re.MULTILINE)
        steps = [match for line in lines if (match := re.fullmatch(r"- (\d+) s: (.+)", line))]
        found[name] = (title, [(int(step[1]), step[2]) for step in steps])
    return found


@pytest.mark.parametrize("name", NAMES)
def test_its_story_is_told_with_the_seconds_at_which_it_happens(name: str) -> None:
    title, steps = written_stories()[name]
    assert title == raw_lines(name)[0]["title"]
    assert steps
    if told := marks(name):
        assert steps == [(int(t), text) for t, text in told]


def test_no_story_is_told_of_a_recording_that_is_not_there() -> None:
    assert sorted(written_stories()) == sorted(NAMES)


UNMODELLED: Final[dict[str, tuple[tuple[str, Any], ...]]] = {
    "Pod": (("status.containerStatuses[].image", ""), ("status.containerStatuses[].imageID", "")),
    "Node": tuple(
        (f"status.nodeInfo.{field}", "")
        for field in (
            "architecture",
            "bootID",
            "containerRuntimeVersion",
            "kernelVersion",
            "kubeProxyVersion",
            "kubeletVersion",
            "machineID",
            "operatingSystem",
            "osImage",
            "systemUUID",
        )
    ),
    "Job": (("spec.template", {}),),
    "Deployment": (("spec.template", {}), ("spec.selector", {})),
}
"""Fields that the API requires and ktui has no use for: a recording holds only what the model has, so they are not in it."""


def complete(kind: str, document: Document) -> Document:
    """A copy of the document with the fields that a recording leaves out by design."""
    whole: Document = json.loads(json.dumps(document))
    for path, value in UNMODELLED.get(kind, ()):
        *parents, field = path.split(".")
        for holder in _holders(whole, parents):
            holder.setdefault(field, value)
    return whole


def _holders(document: Document, parents: list[str]) -> Iterator[Document]:
    if not parents:
        yield document
        return
    first, *rest = parents
    found = document.get(first.removesuffix("[]"))
    for each in found or () if first.endswith("[]") else () if found is None else (found,):
        yield from _holders(each, rest)


def distinct(documents: Iterable[tuple[str, Document]]) -> dict[str, tuple[str, Document]]:
    return {json.dumps([path, document], sort_keys=True): (path, document) for path, document in documents}


@pytest.fixture(autouse=True)
def schemas_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading them anew for each object is most of what validation costs."""
    monkeypatch.setattr("kubernetes_validate.utils.schema_contents", _schema)


_schema: Final = functools.cache(kubernetes_validate.utils.schema_contents)


@pytest.mark.parametrize("name", NAMES)
def test_each_object_is_valid_against_the_schemas_of_kubernetes_1_37(name: str) -> None:
    """Strictly: no field that the API does not have. Every kind has a schema, and no line is of any other kind."""
    checked = validated = 0
    for kind in KINDS.values():
        found = list(raw_objects(name, kind.name))
        validated += len(found)
        for path, document in distinct(found).values():
            version = path.split("/")[-2]
            group_version = f"{kind.group}/{version}" if kind.group else version
            whole = complete(kind.name, document) | {"apiVersion": group_version, "kind": kind.name}
            assert kubernetes_validate.validate(whole, "1.37", strict=True) == "1.37"
            checked += 1
    assert checked > 50
    # A bookmark's object is empty but for its version.
    lines = [line for line in raw_lines(name) if line.get("type") != "BOOKMARK"]
    assert validated == sum(len(line.get("items", ())) + ("object" in line) for line in lines)


def test_the_schemas_would_notice() -> None:
    _, claim = next(raw_objects(NAMES[0], "ResourceClaim"))
    claim |= {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim"}
    wrongs: tuple[Document, ...] = (
        {"spec": {"device": {}}},
        {"status": {"allocation": {"devices": {"results": [{"pool": 1}]}}}},
    )
    for wrong in wrongs:
        with pytest.raises(kubernetes_validate.ValidationError):
            kubernetes_validate.validate(claim | wrong, "1.37", strict=True)


def reserved(name: str, at: float) -> dict[str, Devices]:
    """Pod → devices of the claims that are reserved for it or for its group, from the plain documents alone."""
    state = raw_state(name, at)
    held: dict[str, Devices] = {pod: set() for _, pod in state("Pod")}
    for (namespace, _), claim in state("ResourceClaim").items():
        allocation = claim.get("status", {}).get("allocation") or {}
        devices = {(r["driver"], r["pool"], r["device"]) for r in allocation.get("devices", {}).get("results") or []}
        for consumer in claim.get("status", {}).get("reservedFor") or []:
            for pod in _consumers(state("Pod"), namespace, consumer):
                held[pod] |= devices
    return held


def _consumers(pods: dict[tuple[str, str], Document], namespace: str, consumer: Document) -> Iterator[str]:
    for (where, name), pod in pods.items():
        group = pod["spec"].get("schedulingGroup", {}).get("podGroupName")
        is_it = name == consumer["name"] if consumer["resource"] == "pods" else group == consumer["name"]
        if where == namespace and is_it:
            yield name


@pytest.mark.parametrize("name", NAMES)
def test_every_container_is_joined_to_its_devices_at_every_mark(name: str) -> None:
    moments = [t + SETTLED for t, _ in marks(name)] or [10.0, 40.0, 90.0]
    for at in moments:
        cluster, _ = cluster_at(name, at)
        joined = {pod: set().union(*containers.values()) for pod, containers in of_pods(cluster).items()}
        expected = reserved(name, at)
        assert joined == expected, at
        assert any(expected.values()), at


# ---------------------------------------------------------------------- each story


def test_xid_eviction_is_counted_first_then_done_then_undone() -> None:
    name = "xid-eviction"
    before = at_mark(name, r"hold all 16 GPUs")
    assert states(before) == {"llm-train": "Running", "ckpt-eval": "Running"}
    looked_at = at_mark(name, r"effect None")
    assert states(looked_at) == {"llm-train": "Running", "ckpt-eval": "Running"}
    assert _rule_reason(name, r"effect None") == "NoEffect"
    short = at_mark(name, r"one short")
    assert states(short) == {"llm-train": "Degraded", "ckpt-eval": "Running"}
    assert _rule_reason(name, r"replacement waits") == "Completed"
    assert states(at_mark(name, r"replacement waits"))["llm-train"] == "Degraded"
    after = at_mark(name, r"whole again")
    assert states(after) == {"llm-train": "Running", "ckpt-eval": "Running"}
    assert not after.stores["DeviceTaintRule"].objects


def _rule_reason(name: str, pattern: str) -> str:
    (rule,) = raw_state(name, moment(name, pattern))("DeviceTaintRule").values()
    reason: str = rule["status"]["conditions"][0]["reason"]
    return reason


BLOCKED: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "short": ("WaitingForPods", {"have": 3, "need": 4}),
    "orphan": ("GroupMissing", {"pods": 2}),
    "gated": ("Gated", {"gates": ["example.com/quota"]}),
    "no-template": ("ClaimNotCreated", {"template": "does-not-exist"}),
    "no-scheduler": ("NoScheduler", {"schedulerName": "volcano"}),
    "mixed-priority": ("GroupInvalid", {}),
}
"""Gangs whose own objects tell the cause."""

REFUSED: Final = {
    "too-big": "NotEnoughDevices",
    "no-product": "NoMatchingDevice",
    "no-class": "DeviceClassMissing",
    "numa": "DeviceConstraint",
    "stale-pool": "PoolIncomplete",
    "tainted": "DevicesTainted",
    "cpu-hog": "NotEnoughNodeResources",
    "wrong-zone": "NodeConstraints",
}
"""Gangs that the scheduler refused, and the cause by how each was made."""


def test_pending_has_a_gang_for_each_cause() -> None:
    found = diagnoses(at_mark("pending", r"tried and refused"))
    assert set(found) == {"healthy", *BLOCKED, *REFUSED}
    assert found["healthy"].state == "Running"
    for name, (cause, facts) in BLOCKED.items():
        assert (found[name].state, found[name].cause) == ("Pending", cause), name
        assert facts.items() <= found[name].facts.items(), name
    for name, cause in REFUSED.items():
        assert found[name].state == "Pending", name
        assert found[name].cause in (cause, "Unexplained"), "a wrong cause is worse than none"


def test_shared_claims_have_the_same_devices_for_all_who_use_them() -> None:
    name = "shared-claims"
    both = of_pods(at_mark(name, r"Two notebooks"))
    gang = [both[f"tensor-parallel-{index}"]["train"] for index in range(3)]
    assert gang[0] == gang[1] == gang[2]
    assert len(gang[0]) == 2
    assert both["notebook-ana"] == both["notebook-ben"]
    evicted = of_pods(at_mark(name, r"both notebooks are deleted"))
    assert not [pod for pod in evicted if pod.startswith("notebook")]
    again = of_pods(at_mark(name, r"was given another GPU"))
    assert again["notebook-cleo"]["train"]
    assert again["notebook-cleo"]["train"].isdisjoint(both["notebook-ana"]["train"])
    assert states(at_mark(name, r"was given another GPU")) == {"tensor-parallel": "Running"}


def test_extended_resources_come_from_the_same_devices_as_claims() -> None:
    cluster = at_mark("extended-resources", r"no node has more than 4")
    pods = of_pods(cluster)
    kinds = {pod: {len(devices) for devices in containers.values()} for pod, containers in pods.items()}
    assert sorted(sizes for pod, sizes in kinds.items() if pod.startswith("infer")) == [{2}, {2}]
    assert [sizes for pod, sizes in kinds.items() if pod.startswith("wide")] == [{0}]
    assert pods["mixed"]["train"]
    assert pods["mixed"]["draft"]
    assert pods["mixed"]["train"].isdisjoint(pods["mixed"]["draft"])
    used = [device for containers in pods.values() for devices in containers.values() for device in devices]
    assert len(used) == len(set(used)) == 2 * 2 + 4 + 2
    assert states(cluster) == {"finetune": "Running"}


def test_scale_to_zero_sleeps_wakes_and_waits_for_devices() -> None:
    name = "scale-to-zero"
    awake = at_mark(name, r"runs on 3 GPUs")
    assert _replicas(awake) == 3
    assert states(at_mark(name, r"night-train needs")) == {"night-train": "Pending", "nightly-eval": "Running"}
    asleep = at_mark(name, r"sleeps at zero")
    assert (_replicas(asleep), _scaler(asleep)) == (0, "asleep")
    assert states(asleep) == {"night-train": "Running", "nightly-eval": "Running"}
    waking = at_mark(name, r"chat wakes")
    assert [d for pod, c in of_pods(waking).items() if pod.startswith("chat") for d in c.values()] == [set(), set()]
    served = at_mark(name, r"serves again")
    assert all(d for pod, c in of_pods(served).items() if pod.startswith("chat") for d in c.values())
    assert _replicas(served) == 2


def _replicas(cluster: Cluster) -> int:
    return len([pod for pod in of_pods(cluster) if pod.startswith("chat")])


def _scaler(cluster: Cluster) -> str:
    (scaler,) = cluster.all(HorizontalPodAutoscaler)
    return autoscaler_state(scaler)[0]


def test_driver_upgrade_leaves_one_pool_incomplete_until_its_second_slice_comes() -> None:
    name = "driver-upgrade"
    (node,) = {m[1] for _, text in marks(name) if (m := re.search(r"new driver on (\S+) crashes", text))}
    incomplete = at_mark(name, r"sweep needs 8 GPUs")
    broken = {pool.id[1]: pool.status for pool in incomplete.pools() if pool.status != "ok"}
    assert broken == {node: "incomplete"}
    assert {pool.generation for pool in incomplete.pools()} == {2}
    assert {device[2]: _info_state(incomplete, device) for device in device_ids(incomplete) if device[1] == node} == {
        "gpu-0": "gone",
        "gpu-1": "gone",
        "gpu-2": "unusable",
        "gpu-3": "unusable",
    }
    assert states(incomplete) == {"llm-train": "Running", "sweep": "Pending"}
    healed = at_mark(name, r"sweep runs")
    assert {pool.status for pool in healed.pools()} == {"ok"}
    assert states(healed) == {"llm-train": "Running", "sweep": "Running"}
    held = [device for containers in of_pods(healed).values() for devices in containers.values() for device in devices]
    assert len(set(held)) == 16
    assert all(_info_state(healed, device) == "used" for device in held)


def _info_state(cluster: Cluster, device: DeviceId) -> str:
    found = device_info(cluster, device)
    assert found is not None
    return found.state
