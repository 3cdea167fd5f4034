"""What is written is what is read: G03 and G04 in the file, G08, G13, and every recording there and back."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import inspect

from ktui.errors import UsageError
from ktui.model.decode import from_builtins
from ktui.model.frame import ActionTaken, Changed, Frame, Listed, Mark, Source, StreamState
from ktui.model.kinds import KINDS
from ktui.model.meta import Object
from ktui.recording.output import Output
from ktui.recording.reader import Recording, Timed
from ktui.recording.redaction import recorded
from ktui.recording.writer import Facts, Limits, Plain, RecordingEndedError, Writer
from tests.recordings import PATHS
from tests.unit.builders import TRAINER, condition, meta, trainer
from tests.unit.recording.test_reader import frames

START = 1_796_000_000.0
FACTS = Facts("a title", "prod", "v1.37.2")
PODS = Source("Pod", "/api/v1/pods")


def writer(path: Path, *, secrets: Iterable[str] = (), limits: Limits | None = None) -> Writer:
    return Writer(Output(path), lambda: FACTS, Plain(lambda: secrets), limits, started=START)


def written(path: Path, timed: Iterable[Timed], secrets: Iterable[str] = ()) -> Recording:
    to = writer(path, secrets=secrets)
    for t, frame in timed:
        to.take(START + t, frame)
    to.close()
    return Recording(path)


def pod(name: str, version: int = 1, **more: Any) -> Object:
    return from_builtins(KINDS["Pod"], "v1", {"metadata": meta(name, resourceVersion=str(version)), **more})


def as_recorded(frame: Frame) -> Frame:
    if isinstance(frame, Listed):
        return Listed(frame.source, frame.resource_version, tuple(map(recorded, frame.items)), frame.epoch)
    if isinstance(frame, Changed):
        return Changed(frame.source, frame.type, recorded(frame.object), frame.epoch)
    return frame


@pytest.mark.parametrize("name", PATHS)
def test_every_recording_is_the_same_after_it_was_written_again(tmp_path: Path, name: str) -> None:
    """Also those of 1.35 and 1.36: their objects are written in the newest shape under the older path."""
    before = frames(Recording(PATHS[name]))
    again = written(tmp_path / "again.ktui.gz", before)
    after = frames(again)
    assert [(round(t, 3), as_recorded(frame)) for t, frame in before] == list(map(tuple, after))
    assert len(after) > 10
    assert not again.notes
    twice = written(tmp_path / "twice.ktui.zst", after)
    assert frames(twice) == after


@pytest.mark.parametrize("in_header", [True, False])
def test_owners_are_recorded_whenever_they_come(tmp_path: Path, in_header: bool) -> None:
    """Their kind follows from no path, so every line says it."""
    owner = trainer("t", None, condition("Suspended", "True"))
    source = Source(TRAINER.name, "/apis/example.com/v1/namespaces/ml/trainers", "ml")
    state = StreamState(Source("Other.example.com", "/apis/example.com/-/Other"), "no-access", "no")
    pods = Timed(0.0, Listed(PODS, "1", ()))
    later = [Timed(5.0, Listed(source, "7", (owner,))), Timed(6.0, state)]
    before = [*([] if not in_header else [Timed(0.0, StreamState(source, "listing"))]), pods, *later]
    again = written(tmp_path / "owners.ktui", before)
    found = [timed for timed in frames(again) if "example.com" in timed.frame.source.path]  # type: ignore[union-attr]
    assert [timed.frame for timed in found][-2:] == [timed.frame for timed in later]
    assert not again.notes
    known = {resource.kind for resource in again.header.resources}
    assert (TRAINER.name in known) == in_header


def documents(kind: inspect.Type, depth: int = 0) -> st.SearchStrategy[Any]:
    """Documents that fit a struct of the model."""
    match kind:
        case inspect.UnionType(types=types):
            return st.one_of(*(documents(t, depth) for t in types))
        case inspect.StructType(fields=fields):
            optional = {f.encode_name: documents(f.type, depth + 1) for f in fields if depth < 6 or f.required}
            return st.fixed_dictionaries({}, optional=optional)
        case inspect.VarTupleType(item_type=item):
            return st.lists(documents(item, depth), max_size=2)
        case inspect.DictType(value_type=value):
            return st.dictionaries(st.text("abc/.-", min_size=1, max_size=8), documents(value, depth), max_size=2)
        case inspect.StrType():
            return st.text(st.characters(codec="utf-8", exclude_characters="@"), max_size=6)
        case inspect.IntType():
            return st.integers(-(2**31), 2**31)
        case inspect.FloatType():
            return st.floats(allow_nan=False, allow_infinity=False)
        case inspect.BoolType():
            return st.booleans()
        case _:
            return st.none()


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_any_object_of_any_kind_there_and_back(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    sources = []
    for kind in KINDS.values():
        version = data.draw(st.sampled_from(kind.versions))
        document = data.draw(documents(inspect.type_info(kind.type)))
        document["metadata"] = {**document.get("metadata", {}), "name": "x"}
        source = Source(kind.name, kind.path(version))
        sources.append(Timed(0.0, Listed(source, "1", (from_builtins(kind, version, document),))))
    recording = written(tmp_path_factory.mktemp("any") / "any.ktui", sources)
    assert [f.frame for f in frames(recording)] == [as_recorded(f.frame) for f in sources]


def test_g04_what_is_not_modelled_is_not_recorded(tmp_path: Path) -> None:
    """A field that a later version of any kind may bring, on every level that a document has."""

    def planted(kind: inspect.Type) -> Any:
        match kind:
            case inspect.UnionType(types=types):
                return planted(types[0])
            case inspect.StructType(fields=fields):
                return {**{f.encode_name: planted(f.type) for f in fields}, "unknownField": {"deep": "CANARY"}}
            case inspect.VarTupleType(item_type=item):
                return [planted(item)]
            case inspect.DictType(value_type=value):
                return {"key": planted(value)}
            case inspect.StrType():
                return "known"
            case inspect.BoolType():
                return True
            case _:
                return 1

    timed = []
    for kind in KINDS.values():
        for version in kind.versions:
            obj = from_builtins(kind, version, planted(inspect.type_info(kind.type)))
            source = Source(kind.name, kind.path(version))
            timed += [Timed(0.0, Listed(source, "1", (obj,))), Timed(1.0, Changed(source, "MODIFIED", obj))]
    content = written(tmp_path / "a.ktui", timed).path.read_text()
    assert content.count("known") > 100
    assert "CANARY" not in content
    assert "unknownField" not in content


CANARIES = {
    "token": "canary-bearer-token-0001",
    "key": "-----BEGIN PRIVATE KEY-----\nCANARYKEY0002\n-----END PRIVATE KEY-----",
    "proxy": "canary/proxy+password 0003",
    "plugin": "canary-plugin-env-0004",
}


def test_g03_no_canary_in_any_encoding(tmp_path: Path) -> None:
    code = base64.b64encode(f"x{CANARIES['token']}".encode()).decode()
    document = {
        "metadata": meta(
            "a",
            annotations={
                "kubectl.kubernetes.io/last-applied-configuration": "CANARY05",
                "ktui/reason": CANARIES["token"],
            },
            labels={"team": CANARIES["plugin"]},
            managedFields=[{"manager": "CANARY06"}],
        ),
        "spec": {
            "containers": [{"name": "c", "env": [{"name": "A", "value": "CANARY07"}], "args": ["--token=CANARY08"]}],
            "imagePullSecrets": [{"name": "CANARY09"}],
        },
        "status": {
            "message": f"cannot log in with {CANARIES['token']} ({code})",
            "conditions": [
                {"type": "Ready", "message": f"proxy http://u:{CANARIES['proxy']}@proxy:3128: {CANARIES['key']}"},
                {"type": "Pulled", "message": "https://robot:CANARY10@registry/x Bearer CANARY11"},
            ],
        },
    }
    claim = {
        "metadata": meta("c"),
        "spec": {"devices": {"config": [{"opaque": {"driver": "d", "parameters": {"key": "CANARY12"}}}]}},
    }
    claims = KINDS["ResourceClaim"]
    timed = [
        Timed(0, Listed(PODS, "1", (from_builtins(KINDS["Pod"], "v1", document),))),
        Timed(0, Listed(Source("ResourceClaim", claims.path("v1")), "1", (from_builtins(claims, "v1", claim),))),
        Timed(1, StreamState(PODS, "waiting", f"401 for {CANARIES['token']}")),
        Timed(2, Mark(f"I pasted {CANARIES['plugin']}")),
        Timed(
            3,
            ActionTaken(
                "taint", "d/p/gpu-0", "no taint", "x:None", "refused", CANARIES["token"], who=CANARIES["plugin"]
            ),
        ),
    ]
    path = written(tmp_path / "a.ktui.gz", timed, CANARIES.values()).path
    content = gzip.decompress(path.read_bytes()).decode()
    assert "CANARY" not in content
    for canary in CANARIES.values():
        for part in (canary, canary[4:-4]):
            assert part not in content
            assert json.dumps(part)[1:-1] not in content
            for shift in range(3):
                core = base64.b64encode(b"-" * shift + part.encode() + b"-" * (-(shift + len(part)) % 3)).decode()[4:-4]
                assert core not in content
    assert "cannot log in with [redacted] ([redacted])" in content


def test_actions_there_and_back(tmp_path: Path) -> None:
    done = ActionTaken("taint", "d/p/gpu-0", "no taint", "x=79:NoExecute", "applied", "done", "oncall", "accepted")
    bare = ActionTaken("min-replicas", "ml/chat", "minReplicas 0", "minReplicas 1", "unknown")
    recording = written(tmp_path / "a.ktui", [Timed(0, Listed(PODS, "1", ())), Timed(1, done), Timed(2, bare)])
    assert [f.frame for f in frames(recording)[1:]] == [done, bare]
    assert not recording.notes


def test_the_header_waits_for_the_first_list_and_then_names_what_is_known(tmp_path: Path) -> None:
    facts = [Facts()]
    to = Writer(Output(tmp_path / "a.ktui"), lambda: facts[0], started=START)
    to.take(START, StreamState(PODS, "listing"))
    to.sync(START + 1)
    assert (tmp_path / "a.ktui").read_bytes() == b""
    facts[0] = FACTS
    to.take(START + 2, Listed(PODS, "1", ()))
    to.sync(START + 2)
    recording = Recording(tmp_path / "a.ktui")
    assert (recording.header.title, recording.header.context, recording.header.server.git_version) == FACTS_SEEN
    assert [(r.kind, r.path) for r in recording.header.resources] == [("Pod", "/api/v1/pods")]
    assert [f.t for f in frames(recording)] == [0.0, 2.0]
    to.close()


FACTS_SEEN = ("a title", "prod", "v1.37.2")


def test_a_cluster_that_does_not_answer_is_recorded_as_well(tmp_path: Path) -> None:
    to = writer(tmp_path / "a.ktui")
    to.take(START, StreamState(PODS, "waiting", "cannot connect"))
    to.sync(START + 60)
    assert [f.frame for f in frames(Recording(tmp_path / "a.ktui"))] == [StreamState(PODS, "waiting", "cannot connect")]
    to.close()


def test_g13_refusals_single_namespaces_and_upgrades_are_read_back(tmp_path: Path) -> None:
    one = Source("Pod", "/api/v1/namespaces/ml/pods", "ml")
    groups = [Source("PodGroup", KINDS["PodGroup"].path(version)) for version in ("v1alpha3", "v1beta1")]
    timed = [
        Timed(0, Listed(groups[0], "1", ())),
        Timed(1, StreamState(PODS, "no-access", "403")),
        Timed(2, Listed(one, "7", (pod("a"),))),
        Timed(3, StreamState(one, "watching")),
        Timed(4, Listed(groups[1], "9", ())),
    ]
    recording = written(tmp_path / "a.ktui", timed)
    assert [f.frame for f in frames(recording)] == [f.frame for f in timed]
    assert not recording.notes


def test_g13_a_state_that_went_back_in_time_is_marked_and_keeps_its_epoch(tmp_path: Path) -> None:
    timed = [Timed(0, Listed(PODS, "100", (pod("a", 100),))), Timed(1, Listed(PODS, "5", (pod("a", 5),), 1))]
    found = [f.frame for f in frames(written(tmp_path / "a.ktui", timed))]
    assert found == [timed[0].frame, Mark("the server's state of Pod went back in time"), timed[1].frame]


def test_states_that_say_nothing_new_are_left_out(tmp_path: Path) -> None:
    timed = [Timed(i, StreamState(PODS, "listing", progress=(i, 9))) for i in range(9)]
    assert len(frames(written(tmp_path / "a.ktui", timed))) == 1


def test_time_never_falls_when_the_clock_is_set_back(tmp_path: Path) -> None:
    timed = [Timed(5, Mark("a")), Timed(2, Mark("b"))]
    assert [f.t for f in frames(written(tmp_path / "a.ktui", timed))] == [5.0, 5.0]


def test_g08_a_limit_ends_the_recording_with_words(tmp_path: Path) -> None:
    to = writer(tmp_path / "a.ktui", limits=Limits(seconds=60))
    to.take(START, Listed(PODS, "1", ()))
    to.sync(START + 59)
    with pytest.raises(RecordingEndedError, match="limit"):
        to.sync(START + 60)
    to.close("the limit was reached")
    assert frames(Recording(tmp_path / "a.ktui"))[-1].frame == Mark("the limit was reached")


def test_g08_each_file_of_a_rotation_stands_alone(tmp_path: Path) -> None:
    to = writer(tmp_path / "a.ktui.gz", limits=Limits(size=300, files=2))
    to.take(START, Listed(PODS, "1", (pod("a"), pod("b"))))
    to.take(START, StreamState(PODS, "watching"))
    to.take(START + 1, Changed(PODS, "ADDED", pod("c", 2)))
    to.take(START + 1, Changed(PODS, "DELETED", pod("a", 3)))
    to.sync(START + 2)
    assert to.path.name == "a.1.ktui.gz"
    to.take(START + 3, Changed(PODS, "MODIFIED", pod("b", 4)))
    with pytest.raises(RecordingEndedError):
        to.sync(START + 4)
    to.close()
    second = Recording(tmp_path / "a.1.ktui.gz")
    assert second.header.start == START + 2
    assert frames(second) == [
        Timed(0.0, Listed(PODS, "1", (pod("b"), pod("c", 2)))),
        Timed(0.0, StreamState(PODS, "watching")),
        Timed(1.0, Changed(PODS, "MODIFIED", pod("b", 4))),
    ]
    assert frames(Recording(tmp_path / "a.ktui.gz"))[0].frame == Listed(PODS, "1", (pod("a"), pod("b")))


def test_g08_a_rotation_replaces_no_file(tmp_path: Path) -> None:
    (tmp_path / "a.1.ktui").write_text("precious")
    to = writer(tmp_path / "a.ktui", limits=Limits(size=10, files=9))
    to.take(START, Listed(PODS, "1", ()))
    with pytest.raises(UsageError, match="exists already"):
        to.sync(START + 1)
    to.close()
    assert (tmp_path / "a.1.ktui").read_text() == "precious"
