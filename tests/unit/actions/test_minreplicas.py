"""minReplicas: one number, bound to the object that was read, and said beforehand what it does."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.actions.minreplicas import parse_replicas, plan_min_replicas
from ktui.actions.plan import AlreadyDoneError, NotPossibleError
from ktui.errors import UsageError
from tests.unit.actions.rig import HPAS, rig

KEY = ("ml", "chat")


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("1", 1), ("007", 7), ("2147483647", 2**31 - 1)])
def test_a_number(text: str, number: int) -> None:
    assert parse_replicas(text) == number


@pytest.mark.parametrize(
    "text",
    [
        *("-1", "+1", "2147483648", "99999999999", "1.5", '"1"', "", " ", " 1", "1 ", "null", "None", "0x1", "1e2"),
        # An Arabic digit, a superscript, what Python's int takes, a line end, too long, broken bytes.
        *("\u0661", "\u00b2", "1_0", "1\n", "9" * 5000, "\udcff", "true"),
    ],
)
def test_a13_what_is_no_plain_number_is_refused_with_the_reason(text: str) -> None:
    with pytest.raises(UsageError, match="minReplicas must be a whole number from 0 to 2147483647") as refused:
        parse_replicas(text)
    assert len(str(refused.value)) < 200


@given(st.text(max_size=12))
def test_a13_any_text_is_a_number_in_range_or_refused(text: str) -> None:
    try:
        number = parse_replicas(text)
    except UsageError:
        return
    assert 0 <= number < 2**31
    assert text.isascii()
    assert int(text) == number


@pytest.mark.parametrize(
    "key",
    [
        ("ml", ""),
        ("", "chat"),
        ("ml", ".."),
        ("ml", "."),
        ("ml", "a/b"),
        ("a/b", "c"),
        ("ml", "\udcff"),
        ("ml", "a?b"),
        ("ml", "A"),
    ],
)
async def test_a13_what_cannot_be_a_name_is_not_asked_for(key: tuple[str, str], tmp_path: Path) -> None:
    """An empty name would read the whole collection, dots another path."""
    async with rig(tmp_path) as at:
        await at.look()
        asked = len(at.server.faults.journal)
        with pytest.raises(UsageError, match="does not name an autoscaler; write NAMESPACE/NAME"):
            await plan_min_replicas(at.api, key, 1)
        assert len(at.server.faults.journal) == asked


async def test_says_before_and_after(tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        await at.look()
        made = at.server.add_autoscaler(status={"currentReplicas": 2})
        plan = await plan_min_replicas(at.api, KEY, 3)
        assert (plan.before, plan.after, plan.button) == ("minReplicas 1", "minReplicas 3", "Set minReplicas 3")
        assert plan.sentence == "Deployment chat is scaled from 2 to at least 3, if a metric can be read"
        assert (plan.confirm, plan.warnings) == ("", ())
        assert (plan.request.method, plan.request.path) == ("PATCH", f"{HPAS}/chat")
        assert plan.request.body == [
            {"op": "test", "path": "/metadata/uid", "value": made["metadata"]["uid"]},
            {"op": "test", "path": "/spec/maxReplicas", "value": made["spec"]["maxReplicas"]},
            {"op": "test", "path": "/spec/minReplicas", "value": 1},
            {"op": "add", "path": "/spec/minReplicas", "value": 3},
        ]
        assert plan.undo is not None
        assert plan.undo.sentence == "set minReplicas of ml/chat back to 1"
        assert (await at.carry_out(plan)).message == "done: minReplicas 3"
        assert at.server.autoscaler()["spec"] == {**made["spec"], "minReplicas": 3}
        assert plan.done(await at.look())


@pytest.mark.parametrize(
    ("replicas", "running", "sentence"),
    [
        (0, 2, "may fall asleep when its metrics say so; it has 2 now, and nothing scales down at once"),
        (2, 3, "keeps its 3; it may fall to 2 when its metrics say so"),
        (3, 3, "keeps its 3; it may fall to 3 when its metrics say so"),
    ],
)
async def test_the_sentence(replicas: int, running: int, sentence: str, tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        await at.look()
        at.server.add_autoscaler(status={"currentReplicas": running})
        assert (await plan_min_replicas(at.api, KEY, replicas)).sentence == f"Deployment chat {sentence}"


async def test_a12_zero_without_a_metric_that_wakes_it(tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        await at.look()
        at.server.add_autoscaler(metric="Resource")
        plan = await plan_min_replicas(at.api, KEY, 0)
        assert plan.warnings == ("it has no Object or External metric: the server will refuse minReplicas 0",)
        rehearsal = await at.runner.rehearse(plan)
        assert rehearsal.status == "refused"
        assert rehearsal.message.startswith("spec.metrics: Forbidden: must specify at least one Object or External")
        assert at.server.real_writes == []


@pytest.mark.parametrize("metric", ["External", "Object"])
async def test_a12_zero_with_one(metric: str, tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        await at.look()
        at.server.add_autoscaler(metric=metric)
        plan = await plan_min_replicas(at.api, KEY, 0)
        assert plan.warnings == ("from zero the first request waits for a cold start: scheduling, image, model load",)
        assert (await at.carry_out(plan)).status == "applied"
        assert at.server.autoscaler()["spec"]["minReplicas"] == 0


async def test_a13_more_than_the_maximum(tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        await at.look()
        at.server.add_autoscaler()
        with pytest.raises(
            NotPossibleError, match="minReplicas 6 is more than maxReplicas 5 of ml/chat; raise that first"
        ):
            await plan_min_replicas(at.api, KEY, 6)


async def test_nothing_to_do_and_nothing_there(tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        await at.look()
        with pytest.raises(NotPossibleError, match="there is no autoscaler chat in namespace ml"):
            await plan_min_replicas(at.api, KEY, 1)
        at.server.add_autoscaler()
        with pytest.raises(AlreadyDoneError, match="minReplicas of ml/chat is 1 already"):
            await plan_min_replicas(at.api, KEY, 1)
        assert at.server.writes == []


@pytest.mark.parametrize("anew", [False, True], ids=["changed", "made anew"])
async def test_a14_an_autoscaler_that_is_another_by_now_stays(anew: bool, tmp_path: Path) -> None:
    from ktui.model.kinds import KINDS

    async with rig(tmp_path) as at:
        await at.look()
        at.server.add_autoscaler()
        plan = await plan_min_replicas(at.api, KEY, 3)
        rehearsal = await at.runner.rehearse(plan)
        if anew:
            at.server.api.registry.delete(KINDS["HorizontalPodAutoscaler"], KEY)
            at.server.add_autoscaler()
        else:
            at.server.change("HorizontalPodAutoscaler", KEY, spec={"maxReplicas": 4})
        assert (await at.runner.apply(plan, rehearsal)).status == "conflict"
        assert at.server.autoscaler()["spec"]["minReplicas"] == 1
        again = await plan_min_replicas(at.api, KEY, 3)
        assert (await at.carry_out(again)).status == "applied"


async def test_what_its_controller_writes_meanwhile_is_no_conflict(tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        await at.look()
        at.server.add_autoscaler()
        plan = await plan_min_replicas(at.api, KEY, 3)
        rehearsal = await at.runner.rehearse(plan)
        at.server.change("HorizontalPodAutoscaler", KEY, status={"currentReplicas": 3, "desiredReplicas": 3})
        assert (await at.runner.apply(plan, rehearsal)).status == "applied"


@pytest.mark.parametrize(
    ("manager", "warned"),
    [
        ("argocd-controller", True),
        ("kustomize-controller", True),
        ("flux-client-side-apply", True),
        ("Helm", True),
        ("kubectl", False),
    ],
)
async def test_a25_owned_by_git(manager: str, warned: bool, tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        await at.look()
        fields = [{"manager": manager, "operation": "Apply"}, {"manager": "ktui"}, {}]
        at.server.add_autoscaler(metadata={"managedFields": fields})
        plan = await plan_min_replicas(at.api, KEY, 2)
        expected = (f"managed by {manager}: the change may be reverted",) if warned else ()
        assert plan.warnings == expected


@pytest.mark.parametrize(
    ("before", "now", "after", "notes"),
    [
        (1, 2, 3, ("1 pod more, if there is room for them",)),
        (1, 1, 5, ("4 pods more, if there is room for them",)),
        (3, 4, 1, ("up to 3 pods may go",)),
        (1, 4, 3, ()),  # it could fall further before
        (1, 3, 3, ()),
    ],
)
async def test_how_many_pods_come_or_may_go(
    before: int, now: int, after: int, notes: tuple[str, ...], tmp_path: Path
) -> None:
    async with rig(tmp_path) as at:
        await at.look()
        at.server.add_autoscaler(status={"currentReplicas": now, "desiredReplicas": now})
        at.server.change("HorizontalPodAutoscaler", KEY, spec={"minReplicas": before})
        assert (await plan_min_replicas(at.api, KEY, after)).notes == notes
