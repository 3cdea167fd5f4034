"""G05: no name is left, and everything still belongs to what it belonged to."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ktui.cluster.allocation import devices_of
from ktui.cluster.devices import device_ids, device_info
from ktui.cluster.gangs import gangs
from ktui.cluster.state import Cluster
from ktui.diagnose.gang import diagnose
from ktui.model.decode import from_builtins
from ktui.model.deviceclass import DeviceClass
from ktui.model.frame import ActionTaken, Changed, Listed, Mark, Source, StreamState
from ktui.model.kinds import KINDS
from ktui.model.resourceslice import ResourceSlice
from ktui.recording.anonymise import Anonymous
from ktui.recording.output import Output
from ktui.recording.reader import Recording, Timed
from ktui.recording.writer import Facts, Writer
from tests.recordings import PATHS
from tests.unit.builders import make, meta
from tests.unit.recording.test_reader import frames

FACTS = Facts("the night at acme", "prod-acme", "v1.37.2")


def anonymised(path: Path, timed: list[Timed], start: float) -> Recording:
    writer = Writer(Output(path), lambda: FACTS, Anonymous(), started=start)
    for t, frame in timed:
        writer.take(start + t, frame)
    writer.close()
    return Recording(path)


def shape(cluster: Cluster) -> Any:
    """What is joined, without names: gangs by state and counts, pods by their devices, devices by state and taints."""
    waiting = Counter(
        (found.state, found.cause, len(g.members), g.needed, len(found.evidence))
        for g in gangs(cluster)
        if (found := diagnose(cluster, g))
    )
    pods = Counter(
        tuple((c.kind, len(c.devices), len({use.device for use in c.devices})) for c in devices_of(cluster, pod))
        for key in cluster.stores["Pod"].objects
        if (pod := cluster.pod(key))
    )
    devices = Counter(
        (info.state, len(info.taints)) for device in device_ids(cluster) if (info := device_info(cluster, device))
    )
    return waiting, pods, devices


def names_in(recording: Path) -> set[str]:
    """Every name, namespace, node and uid of the original that is not an ordinary word."""
    found: set[str] = set()

    def look(document: Any, key: str) -> None:
        if isinstance(document, dict):
            for inner, value in document.items():
                look(value, inner)
        elif isinstance(document, list):
            for value in document:
                look(value, key)
        elif key in ("name", "namespace", "nodeName", "uid", "resourceClaimName", "podGroupName", "pool", "device"):
            found.update(str(document).split("/"))

    for _, frame in frames(Recording(recording)):
        if isinstance(frame, Listed | Changed):
            look(msgspec.to_builtins(frame.items if isinstance(frame, Listed) else frame.object), "")
    return {name for name in found if re.search(r"[a-z].*[-\d]", name) and "." not in name}


@pytest.mark.parametrize("name", PATHS)
def test_the_same_states_and_joins_at_every_moment_and_no_name(tmp_path: Path, name: str) -> None:
    original = Recording(PATHS[name])
    before = frames(original)
    again = anonymised(tmp_path / "a.ktui", before, original.header.start)
    after = frames(again)
    one, other = Cluster(), Cluster()
    assert len(before) == len(after)
    for number, (left, right) in enumerate(zip(before, after, strict=True)):
        one.apply(left.frame)
        other.apply(right.frame)
        if number % 20 == 0 or number == len(before) - 1:
            assert shape(one) == shape(other)
    assert any(shape(one))
    content = again.path.read_text()
    originals = names_in(PATHS[name])
    assert len(originals) > 10
    assert originals.isdisjoint(re.findall(r"[\w-]+", content))
    assert "acme" not in content


def test_what_is_not_a_name_stays() -> None:
    slice_ = make(
        ResourceSlice,
        {
            "metadata": meta("s", ""),
            "spec": {
                "driver": "gpu.example.com",
                "pool": {"name": "node-a/left"},
                "nodeName": "node-a",
                "devices": [
                    {
                        "name": "gpu-0",
                        "attributes": {
                            "model": {"string": "H100"},
                            "uuid": {"string": "GPU-12345678-1234-1234-1234-123456789abc"},
                            "host": {"string": "node-a"},
                        },
                        "capacity": {"memory": {"value": "80Gi"}},
                        "taints": [{"key": "example.com/xid", "value": "79", "effect": "NoExecute"}],
                    }
                ],
            },
        },
    )
    spec = Anonymous().object(slice_).spec
    device = spec.devices[0]
    assert spec.driver == "gpu.example.com"
    assert device.attributes["model"].string == "H100"
    assert device.attributes["host"].string == spec.node_name != "node-a"
    assert spec.pool.name.split("/")[0] == spec.node_name
    assert "1234" not in device.attributes["uuid"].string
    assert device.capacity["memory"].value == "80Gi"
    assert (device.taints[0].key, device.taints[0].value, device.taints[0].effect) == (
        "example.com/xid",
        "79",
        "NoExecute",
    )


def test_expressions_still_select_what_they_selected() -> None:
    ours = Anonymous()
    expression = (
        'device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].model == "H100"'
        ' && device.attributes["gpu.example.com"].uuid != "GPU-12345678-1234-1234-1234-123456789abc"'
    )
    cls = make(DeviceClass, {"metadata": meta("big", ""), "spec": {"selectors": [{"cel": {"expression": expression}}]}})
    found = ours.object(cls).spec.selectors[0].cel.expression
    assert found.startswith(expression[: expression.index("GPU-")])
    assert "GPU-" not in found


@pytest.mark.parametrize(
    ("text", "gone", "left"),
    [
        (
            "0/4 nodes are available: 3 cannot allocate all claims.",
            (),
            "0/4 nodes are available: 3 cannot allocate all claims.",
        ),
        ('User "alice" cannot list pods in "team"', ("alice", "team"), "cannot list pods"),
        ("Assigned ml-prod/train-0 to gpu-17.dc3.example.com", ("ml-prod", "train-0", "dc3", "gpu-17"), "Assigned"),
        ("cannot reach https://10.1.2.3:6443 as bob@example.com", ("10.1.2.3", "bob", "example"), "cannot reach https"),
        ("Bearer abcdefgh", ("abcdefgh",), "Bearer"),
    ],
)
def test_free_texts_keep_their_words_and_lose_their_names(text: str, gone: tuple[str, ...], left: str) -> None:
    told = Anonymous().text(text)
    assert left in told
    for name in gone:
        assert name not in told


def test_actions_keep_what_was_done_and_lose_whom_it_names() -> None:
    ours = Anonymous()
    taken = ActionTaken(
        "taint",
        "gpu.example.com/node-a/gpu-0",
        "no taint",
        "example.com/xid=79:NoExecute",
        "applied",
        "on node-a",
        "alice",
    )
    told = ours.action(taken)
    assert (told.verb, told.result) == ("taint", "applied")
    assert (told.before, told.after) == ("no taint", "example.com/xid=79:NoExecute")
    driver, node, device = told.object.split("/")
    assert driver == "gpu.example.com"
    assert told.message == f"on {node}"
    assert {node, device, told.who} & {"node-a", "gpu-0", "alice"} == set()
    scaled = ours.action(ActionTaken("min-replicas", "ml-prod/chat", "minReplicas 0", "minReplicas 2", "applied"))
    assert (scaled.before, scaled.after, scaled.who) == ("minReplicas 0", "minReplicas 2", "")
    assert "ml-prod" not in scaled.object
    secret = Anonymous(lambda: ["canary-1234"])
    secret.refresh()
    assert "canary" not in str(
        secret.action(ActionTaken("taint", "d/p/canary-1234", "a", "b=canary-1234:None", "applied"))
    )


def test_single_namespaces_marks_states_and_the_header(tmp_path: Path) -> None:
    source = Source("Pod", "/api/v1/namespaces/ml-prod/pods", "ml-prod")
    pod = from_builtins(KINDS["Pod"], "v1", {"metadata": meta("a-1", "ml-prod")})
    timed = [
        Timed(0, Listed(source, "1", (pod,))),
        Timed(1, StreamState(source, "no-access", 'pods is forbidden: User "alice" in ml-prod')),
        Timed(2, Mark("ml-prod fell over")),
    ]
    recording = anonymised(tmp_path / "a.ktui", timed, 0.0)
    listed, state, mark = (f.frame for f in frames(recording))
    assert isinstance(listed, Listed)
    assert listed.source.namespace == listed.items[0].namespace
    assert isinstance(state, StreamState)
    assert state.source == listed.source
    assert isinstance(mark, Mark)
    assert mark.text == f"{listed.source.namespace} fell over"
    content = recording.path.read_text()
    assert '"anonymised":true' in content
    for name in ("ml-prod", "alice", "acme"):
        assert name not in content
