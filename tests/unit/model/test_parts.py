"""Objects of a list stay the values that they are, however much of them is kept only once; and what they have in common is."""

from __future__ import annotations

import copy
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.demo.squads import Forms, Squad
from ktui.model import parts as module
from ktui.model.decode import decode_object
from ktui.model.frame import Listed
from ktui.model.kinds import KINDS
from ktui.model.meta import Object
from ktui.model.node import Node
from ktui.model.parts import Names, Parts
from ktui.model.pod import Pod
from ktui.model.resourceslice import ResourceSlice
from ktui.recording.reader import Recording
from tests.recordings import PATHS
from tests.unit import builders as b

TEXTS = st.sampled_from(["a", "b", "", "é"])
PODS = st.fixed_dictionaries(
    {},
    optional={
        "metadata": st.fixed_dictionaries(
            {"name": TEXTS, "uid": TEXTS},
            optional={"labels": st.dictionaries(TEXTS, TEXTS), "annotations": st.dictionaries(TEXTS, TEXTS)},
        ),
        "spec": st.fixed_dictionaries(
            {},
            optional={
                "nodeName": TEXTS,
                "priority": st.sampled_from([0, 1]),
                "overhead": st.dictionaries(TEXTS, st.sampled_from([1, 1.0, "1"])),
                "containers": st.lists(st.fixed_dictionaries({"name": TEXTS}), max_size=2),
                "nodeSelector": st.dictionaries(TEXTS, TEXTS),
            },
        ),
        "status": st.fixed_dictionaries(
            {},
            optional={
                "phase": TEXTS,
                "observedGeneration": st.sampled_from([0, 1, 1_000]),
                "resourceClaimStatuses": st.lists(st.fixed_dictionaries({"name": TEXTS}), max_size=2),
            },
        ),
    },
)


@given(st.lists(PODS, max_size=6))
def test_objects_stay_the_values_that_they_are(documents: list[dict[str, Any]]) -> None:
    parts = Parts(worth_it=0)
    read = [b.make(Pod, document) for document in documents]
    wanted = [(copy.deepcopy(pod), msgspec.json.encode(pod)) for pod in read]
    shared = [parts.share(pod) for pod in read]
    assert [(pod, msgspec.json.encode(pod)) for pod in shared] == wanted


@pytest.mark.parametrize("name", sorted(PATHS))
def test_recorded_objects_stay_what_they_are(name: str) -> None:
    for timed in Recording(PATHS[name]).frames():
        if isinstance(timed.frame, Listed):
            before = [(copy.deepcopy(obj), msgspec.json.encode(obj)) for obj in timed.frame.items]
            parts = Parts(worth_it=0)
            shared = [parts.share(obj) for obj in timed.frame.items]
            assert [(obj, msgspec.json.encode(obj)) for obj in shared] == before


MEMORY = {"memory": {"value": "40Gi"}}
DRAWS = {"consumesCounters": [{"counterSet": "gpu-0", "counters": MEMORY}]}
ASKS = {"name": "main", "resources": {"requests": {"cpu": "1"}}}


def test_what_is_only_written_alike_is_not_the_same() -> None:
    """Counters are written as capacities are, which have policies; a container's report as the container."""
    devices: list[b.Document] = [{"name": "a", **DRAWS}, {"name": "b", "capacity": MEMORY}, {"name": "c", **DRAWS}]
    pods = [b.pod("a", spec={"containers": [ASKS]}), b.pod("b", status={"containerStatuses": [ASKS]})]
    objects: list[Object] = [*pods, *(b.piece(f"s{n}", [device]) for n, device in enumerate(devices))]
    wanted = copy.deepcopy(objects)
    parts = Parts(worth_it=0)
    assert [parts.share(obj) for obj in objects] == wanted


def fleet(squads: int) -> dict[str, list[Object]]:
    """Pods and claims of that many gangs of 64, no two of one gang one after the other."""
    forms = Forms()
    found: dict[str, list[Object]] = {"Pod": [], "ResourceClaim": []}
    laid = [dict(Squad(forms, number, 7, 5, f"2026-11-30T10:{number:02}:00Z").laid()) for number in range(squads)]
    for kind, objects in found.items():
        for together in zip(*(each[kind].values() for each in laid), strict=True):
            objects += [decode_object(KINDS[kind], "v1", lazy.encoded()) for lazy in together]
    return found


def distinct(values: list[Any]) -> int:
    return len({id(value) for value in values})


def test_what_objects_have_in_common_is_kept_once_in_whatever_order_they_come() -> None:
    squads = 5
    found = fleet(squads)
    parts = Parts(worth_it=0)
    pods = [parts.share(obj) for obj in found["Pod"] if isinstance(obj, Pod)]
    assert distinct([pod.metadata.creation_timestamp for pod in pods]) == squads
    assert distinct([pod.metadata.owner_references for pod in pods]) == squads
    assert distinct([pod.status.conditions for pod in pods]) == squads
    assert distinct([pod.spec.containers for pod in pods]) == 1
    assert distinct([pod.spec.node_selector for pod in pods]) == squads
    assert distinct([pod.spec.node_name for pod in pods]) == squads * 8
    assert distinct([pod.spec for pod in pods]) == squads * 8
    assert distinct([key for pod in pods for key in pod.metadata.labels or ()]) == 2
    claims: list[Any] = [parts.share(obj) for obj in found["ResourceClaim"]]
    assert distinct([claim.status.allocation.node_selector for claim in claims]) == squads * 8
    assert distinct([claim.metadata.annotations for claim in claims]) == 1
    assert distinct([claim.spec for claim in claims]) == 1
    for claim in claims:
        assert claim.status.reserved_for[0].uid is claim.metadata.owner_references[0].uid


def test_lists_that_are_read_at_the_same_time_have_the_names_in_common() -> None:
    found, names = fleet(2), Names()
    claims: list[Any] = [Parts(worth_it=0, names=names).share(obj) for obj in found["ResourceClaim"]]
    parts = Parts(worth_it=0, names=names)
    pods = {pod.metadata.uid: parts.share(pod) for pod in found["Pod"] if isinstance(pod, Pod)}
    for claim in claims:
        (consumer,), (owner,) = claim.status.reserved_for, claim.metadata.owner_references
        pod = pods[consumer.uid]
        (used,) = pod.status.resource_claim_statuses or ()
        assert used.resource_claim_name is claim.name
        assert consumer.name is owner.name is pod.name
        assert consumer.uid is owner.uid is pod.metadata.uid
    assert not [version for version in names if version.isdigit()]


def test_what_is_looked_among_does_not_grow_with_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_KEPT", 100)
    parts = Parts(worth_it=0)
    for number in range(1_000):
        parts.share(b.pod(f"pod-{number}", spec={"nodeName": f"node-{number}", "schedulerName": "the same"}))
    assert len(parts._new) <= 110
    assert len(parts._old) <= 110
    first, second = (parts.share(b.pod(name, spec={"schedulerName": "the same"})) for name in ("x", "y"))
    assert first.spec.scheduler_name is second.spec.scheduler_name


def test_numbers_that_are_equal_and_written_differently_stay_as_they_are() -> None:
    parts = Parts(worth_it=0)
    quantities = [
        parts.share(b.pod(name, spec={"overhead": {"cpu": value}})).spec.overhead
        for name, value in (("x", 1), ("y", 1.0), ("z", "1"))
    ]
    assert [repr((overhead or {})["cpu"]) for overhead in quantities] == ["1", "1.0", "'1'"]


@given(
    st.lists(st.sampled_from(["int", "bool", "ints", "bools"]), max_size=8),
    st.lists(st.sampled_from([1, 1.0, "1"]), max_size=8),
)
def test_attributes_and_capacities_stay_of_their_type(
    attributes: list[str], capacities: list[int | float | str]
) -> None:
    """1, 1.0 and true are equal to Python, and so are lists of them."""
    values = {"int": 1, "bool": True, "ints": [1], "bools": [True]}
    devices = [{"name": str(number), "attributes": {"a": {of: values[of]}}} for number, of in enumerate(attributes)] + [
        {"name": f"c{number}", "capacity": {"c": {"value": value}}} for number, value in enumerate(capacities)
    ]
    document = {"metadata": {"name": "s"}, "spec": {"driver": "d", "devices": devices}}
    obj = b.make(ResourceSlice, document)
    wanted = msgspec.json.encode(obj)
    assert msgspec.json.encode(Parts(worth_it=0).share(obj)) == wanted


@pytest.mark.parametrize(("listed", "shared"), [(20, False), (21, True), (30, True), (90, True)])
def test_a_list_is_looked_at_when_it_is_long(listed: int, shared: bool) -> None:
    """Those that came before it was long are looked at, too, some with each that comes later."""
    parts = Parts(worth_it=20)
    pods = [parts.share(b.pod(f"pod-{number}", spec={"nodeName": f"node {number % 2}"})) for number in range(listed)]
    kept = distinct([pod.spec.node_name for pod in pods])
    looked_at = (listed - 20) * 4 if shared else 0
    assert kept == (listed - min(looked_at, listed) + 2 if shared else listed)
    assert {pod.spec.node_name for pod in pods} == {"node 0", "node 1"}


def test_a_list_of_nodes_is_as_long_as_they_have_pods() -> None:
    parts = Parts(worth_it=20)
    document = {"status": {"nodeInfo": {"kubeletVersion": "v1.37.2"}}}
    nodes = [parts.share(b.make(Node, {"metadata": {"name": f"n{number}"}, **document})) for number in range(10)]
    assert distinct([node.status.node_info for node in nodes]) == 1


def test_a_list_of_slices_is_as_long_as_it_has_devices() -> None:
    parts = Parts(worth_it=20)
    devices = [{"name": f"gpu-{number}", "attributes": {"model": {"string": "H200"}}} for number in range(8)]
    slices = [
        parts.share(
            b.make(ResourceSlice, {"metadata": {"name": f"s{number}"}, "spec": {"driver": "d", "devices": devices}})
        )
        for number in range(8)
    ]
    models = [
        device.attributes["model"].string for each in slices for device in each.spec.devices or () if device.attributes
    ]
    assert len(models) == 64
    assert distinct(models) == 1
