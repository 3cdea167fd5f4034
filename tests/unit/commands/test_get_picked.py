"""`ktui get` asks for what it shows, and leaves choosing to the server: with the answer that it would have of everything.

What each view says of itself (`makers`, `unseen`, `labelled`, `named`) is held to the recordings: what is printed of what was
picked is printed of all. `tests/cluster/test_gentle_real.py` asks a real API server.
"""

from __future__ import annotations

import functools
import json
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs

from ktui.cluster.dirty import Entity
from ktui.cluster.gangs import gang_keys
from ktui.cluster.moment import Stream
from ktui.cluster.state import Cluster
from ktui.commands import labels
from ktui.commands.source import Filled
from ktui.kube.once import ROUTINE
from ktui.kube.owners import Owners
from ktui.kube.picked import Picked
from ktui.model.event import Event
from ktui.model.frame import Frame, Listed, Source, StreamState
from ktui.model.kinds import kind_name
from ktui.model.meta import Object
from ktui.views.registry import VIEWS
from tests.faults import Busy
from tests.recordings import PATHS, cluster_at

from .test_act import Shell, shell
from .test_get import Ktui, Ran

LIVE: Final[tuple[Entity, ...]] = tuple(name for name in VIEWS if name != "timeline")
FORMS: Final = ("table", "wide", "json", "name")

whole = functools.cache(cluster_at)


@pytest.fixture
def ktui(capsys: pytest.CaptureFixture[str]) -> Ktui:
    return Ktui(capsys)


def read(name: str, kinds: Iterable[str] | None, picked: Picked | None = None) -> Filled:
    """What one reading of the recorded cluster gives; `kinds` None for all of them. What owns Workloads is read with them."""
    known, now = whole(name)
    found, owners = Cluster(), Owners()
    wanted = list(known.stores if kinds is None else kinds)
    for kind in wanted:
        for stream in known.streams_of((kind,)):
            frame = _frame(known, stream, picked if picked is not None and picked.kind == kind else None)
            found.apply(frame if kinds is None else _without_routine(frame))
            wanted += [owner for type_ in owners.see(frame) if (owner := kind_name(type_)) not in wanted]
    return Filled(found, now, "")


def _without_routine(frame: Frame) -> Frame:
    if not isinstance(frame, Listed):
        return frame
    told = tuple(obj for obj in frame.items if not isinstance(obj, Event) or obj.reason not in ROUTINE)
    return structs.replace(frame, items=told)


def _frame(known: Cluster, stream: Stream, picked: Picked | None) -> Frame:
    if not stream.synced:
        return StreamState(stream.source, stream.phase, stream.message)
    source = stream.source
    items = tuple(o for o in known.stores[source.kind].objects.values() if _covers(source, picked, o))
    return Listed(structs.replace(source, selector=picked.text if picked else ""), "1", items)


def _covers(source: Source, picked: Picked | None, obj: Object) -> bool:
    if source.namespace and obj.namespace != source.namespace:
        return False
    if picked is None:
        return True
    return (not picked.name or picked.name == obj.name) and labels.parse(picked.labels)(obj.metadata.labels or {})


def answer(ktui: Ktui, name: str, *arguments: str, narrowed: bool, command: str = "get") -> Ran:
    """Of a cluster like the recorded one: narrowed as the command asks, or of everything."""

    def fill(_: object, kinds: tuple[str, ...], *, picked: Picked | None = None, **__: object) -> Filled:
        return read(name, kinds, picked) if narrowed else read(name, None)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"ktui.commands.{command}.fill", fill)
        return ktui(command, *arguments)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("resource", LIVE)
@pytest.mark.parametrize("name", PATHS)
def test_what_is_not_asked_for_changes_nothing(ktui: Ktui, name: str, resource: Entity, form: str) -> None:
    everything, asked = (answer(ktui, name, resource, "-o", form, narrowed=narrowed) for narrowed in (False, True))
    assert asked == everything


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("name", PATHS)
def test_no_diagnosis_rests_on_routine_events(ktui: Ktui, name: str, form: str) -> None:
    for namespace, gang in list(gang_keys(whole(name)[0]))[:8]:
        arguments = (f"{namespace}/{gang.rpartition(':')[2]}", "-o", form)
        everything, asked = (
            answer(ktui, name, *arguments, narrowed=narrowed, command="why") for narrowed in (False, True)
        )
        assert asked == everything


def _selecting() -> st.SearchStrategy[tuple[str, str, str]]:
    """A recording, a view whose labels the server can select by, and a selector of labels that are there."""
    cases: list[tuple[str, str, list[str]]] = []
    for name in PATHS:
        for resource in (resource for resource in LIVE if VIEWS[resource].labelled):
            objects = whole(name)[0].stores[VIEWS[resource].labelled].objects.values()
            pairs = {pair for obj in objects for pair in (obj.metadata.labels or {}).items()}
            terms = {term for key, value in pairs for term in (f"{key}={value}", f"{key}!={value}", key, f"!{key}")}
            if terms:
                cases.append((name, resource, sorted(terms)))
    return st.sampled_from(cases).flatmap(
        lambda case: st.tuples(
            st.just(case[0]), st.just(case[1]), st.lists(st.sampled_from(case[2]), min_size=1, max_size=2).map(",".join)
        )
    )


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_selecting(), st.sampled_from(FORMS))
def test_what_the_server_selects_is_what_we_would(ktui: Ktui, case: tuple[str, str, str], form: str) -> None:
    name, resource, selector = case
    arguments = (resource, "-l", selector, "-o", form)
    everything, selected = (answer(ktui, name, *arguments, narrowed=narrowed) for narrowed in (False, True))
    assert selected == everything


@pytest.mark.parametrize("resource", [name for name in LIVE if VIEWS[name].named])
@pytest.mark.parametrize("name", PATHS)
def test_one_by_its_name_is_as_it_is_among_all(ktui: Ktui, name: str, resource: Entity) -> None:
    objects = list(whole(name)[0].stores[VIEWS[resource].named].objects.values())
    for obj in [*objects[:2], *objects[-1:]]:
        for form in FORMS:
            arguments = (resource, obj.name, "-o", form)
            everything, one = (answer(ktui, name, *arguments, narrowed=narrowed) for narrowed in (False, True))
            assert one == everything


def test_each_view_says_what_it_joins() -> None:
    for view in VIEWS.values():
        assert set(view.makers) <= set(view.joins)
        assert set(view.unseen) <= set(view.joins)
        assert not set(view.makers).intersection(view.unseen)
        assert {view.labelled, view.named} <= {"", view.kinds[0]}


@pytest.fixture
async def at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Shell]:
    """Two namespaces with pods of two teams."""
    async with shell(tmp_path, capsys, monkeypatch) as found:
        for namespace in ("ml", "lab"):
            for team in ("red", "blue"):
                metadata = {"name": f"{team}-0", "namespace": namespace, "labels": {"team": team}}
                found.server.api.create("Pod", {"metadata": metadata, "spec": {"nodeName": "node-1"}})
        yield found


def _lists(at: Shell) -> dict[str, dict[str, str]]:
    """Path → query."""
    return {asked.path: asked.query for asked in at.server.faults.journal if asked.verb == "list"}


async def test_the_server_is_asked_for_what_is_shown(at: Shell) -> None:
    ended = await at.run("get", "pods", "-l", "team=red", "-o", "name")
    assert ended == (0, "pod/red-0\n", "")
    assert _lists(at) == {"/api/v1/namespaces/ml/pods": {"limit": "500", "labelSelector": "team=red"}}


async def test_one_pod_is_asked_for_by_its_name_and_no_node_or_event_for_a_table(at: Shell) -> None:
    ended = await at.run("get", "pod", "blue-0", "-n", "lab")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines()[1].split()[:2] == ["lab", "blue-0"]
    asked = _lists(at)
    assert asked["/api/v1/namespaces/lab/pods"] == {"limit": "500", "fieldSelector": "metadata.name=blue-0"}
    assert not [path for path in asked if path.endswith(("/nodes", "/events"))]
    namespaced = [path for path in asked if path.rsplit("/", 1)[-1] in ("pods", "resourceclaims", "podgroups")]
    assert all("/namespaces/lab/" in path for path in namespaced)


@pytest.mark.parametrize("chosen", [("preemptor",), ("-l", "app=a")], ids=["by name", "by label"])
async def test_victims_of_a_pod_are_told_of_as_they_are(at: Shell, chosen: tuple[str, ...]) -> None:
    """They are pods, too, and were not picked."""
    target = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
    victim = at.server.api.create(
        "Pod",
        {
            "metadata": {"name": "victim", "namespace": "ml"},
            "spec": {"nodeName": "node-1", "priority": 3},
            "status": {"phase": "Running", "conditions": [target]},
        },
    )
    metadata = {"name": "preemptor", "namespace": "ml", "labels": {"app": "a"}}
    preemptor = at.server.api.create("Pod", {"metadata": metadata, "status": {"phase": "Pending"}})
    about, by = (
        {"kind": "Pod", "namespace": "ml", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}
        for pod in (victim, preemptor)
    )
    event = {
        "metadata": {"name": "e", "namespace": "ml"},
        "involvedObject": about,
        "related": by,
        "reason": "Preempted",
    }
    at.server.api.create("Event", event)
    ended = await at.run("get", "pods", *chosen, "-o", "json")
    (item,) = json.loads(ended.out)["items"]
    told = {"namespace": "ml", "name": "victim", "state": "chosen", "gang": None, "priority": 3}
    assert item["preemption"]["victims"] == [told]


async def test_who_has_to_wait_is_told_why(at: Shell) -> None:
    at.server.faults.script("list *", Busy(retry_after=1))
    ended = await at.run("get", "pods", "-o", "name")
    assert ended == (0, "pod/blue-0\npod/red-0\n", "ktui: the server asks to wait 1 s\n")


def test_a_name_that_no_object_can_have_stays_one_name() -> None:
    assert Picked("Pod", name="a,b=c").query == {"fieldSelector": r"metadata.name=a\,b\=c"}
