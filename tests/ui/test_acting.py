"""Actions from the screens: forms, the dialog, what is sent and what never is, and how it is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from msgspec import structs
from textual.pilot import Pilot
from textual.widgets import Button

from ktui.actions.audit import AuditContext, AuditLog
from ktui.actions.desk import Desk
from ktui.actions.runner import Runner
from ktui.errors import KtuiError
from ktui.kube.once import read_once
from ktui.model.frame import Frame
from ktui.model.kinds import KINDS
from ktui.ui.app import KtuiApp
from ktui.ui.parting import LEFT_BEHIND, take_leave
from ktui.ui.screens.dialog import ActionDialog
from ktui.ui.screens.forms import Form
from ktui.ui.screens.main import MainScreen
from ktui.ui.session import Sink, Travel
from tests.faults import Answer, Delay, status_body
from tests.ui.screen import lacks, running, shows, text, wait_for
from tests.ui.world import ScriptedFeed, ScriptedOpener, everything_live
from tests.unit.actions.rig import CONTEXT, HPAS, RULES, WHERE, Rig, rig
from tests.unit.actions.test_count import counts
from tests.unit.builders import autoscaler, claim, group, piece, pod, pod_consumer, result

WORLD = everything_live(
    Pod=[
        pod(
            f"train-{n}", group="train", node="node-1", spec={"resourceClaims": [{"name": "g", "resourceClaimName": c}]}
        )
        for n, c in enumerate(("c0", "c1"))
    ],
    PodGroup=[group("train", 2)],
    ResourceClaim=[claim(f"c{n}", [result(f"gpu-{n}")], reserved=[pod_consumer(f"train-{n}")]) for n in range(2)],
    ResourceSlice=[piece("s", ["gpu-0", "gpu-1"])],
    HorizontalPodAutoscaler=[
        autoscaler(
            "chat", {"minReplicas": 1, "maxReplicas": 5, "scaleTargetRef": {"kind": "Deployment", "name": "chat"}}
        )
    ],
)
WHERE_SHOWN = "context prod-eu · 10.0.0.1:6443 · oncall"


class ActingFeed(ScriptedFeed):
    """A feed with a desk."""

    def __init__(self, sink: Sink, travel: Travel, desk: Desk) -> None:
        super().__init__(sink, travel)
        self.own = desk
        self.trouble: Exception | None = None

    async def desk(self) -> Desk:
        if self.trouble is not None:
            raise self.trouble
        return self.own


class ActingOpener(ScriptedOpener):
    def __init__(self, frames: Sequence[Frame], desk: Desk) -> None:
        super().__init__(frames)
        self.desk = desk

    def _make_feed(self, sink: Sink, travel: Travel) -> ScriptedFeed:
        self.feeds.append(ActingFeed(sink, travel, self.desk))
        return self.feed


class Person:
    """At the screens, with one row under the cursor."""

    def __init__(self, app: KtuiApp, pilot: Pilot[int], at: Rig, opener: ActingOpener) -> None:
        self.app = app
        self.pilot = pilot
        self.at = at
        self.server = at.server
        self.opener = opener
        self.notices: list[str] = []
        show = app.notify

        def note(message: str, **options: Any) -> None:
            self.notices.append(message)
            show(message, **options)

        app.notify = note  # type: ignore[method-assign]  # notices leave the screen by themselves

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def type(self, words: str) -> None:
        await self.pilot.press(*words)

    async def sees(self, *words: str) -> None:
        await shows(self.pilot, *words)

    async def told(self, words: str) -> None:
        """By a notice."""
        await self.until(lambda: any(words in notice for notice in self.notices), f"{words!r} in {self.notices}")

    async def until(self, condition: Callable[[], bool], what: str) -> None:
        await wait_for(self.pilot, condition, what)

    async def watch(self) -> None:
        """The cluster's streams catch up."""
        await read_once(self.at.transport, ("DeviceTaintRule", "HorizontalPodAutoscaler"), "", self.opener.feed.give)

    @property
    def dialog(self) -> bool:
        return isinstance(self.app.screen, ActionDialog)

    @property
    def form(self) -> bool:
        return isinstance(self.app.screen, Form)

    async def taint(self, words: str = "example.com/xid", *, evict: bool = False) -> None:
        """From the devices to the dialog."""
        await self.press("3")
        await self.sees("gpu-0")
        await self.press("g", "T")
        await self.until(lambda: self.form, "the form")
        await self.type(words)
        if evict:
            await self.press("tab", "tab", "down")
        await self.press("enter")

    async def in_dialog(self) -> None:
        await self.until(lambda: self.dialog, "the dialog")

    @property
    def confirm_disabled(self) -> bool:
        return self.app.screen.query_one("#confirm", Button).disabled


@asynccontextmanager
async def person(tmp_path: Path, where: AuditContext = CONTEXT, **server: Any) -> AsyncIterator[Person]:
    async with rig(tmp_path, **server) as at:
        await at.look()
        desk = Desk(at.api, Runner(at.api, AuditLog(at.log), where), where)
        opener = ActingOpener(WORLD, desk)
        async with running(opener, size=(140, 36)) as (app, pilot):
            await shows(pilot, "1 gang")
            yield Person(app, pilot, at, opener)


# --- the form ---


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("", "", "the taint's key '' is not a label name"),
        ("a b", "", "the taint's key 'a b'"),
        ("a", "b c", "value 'b c'"),
    ],
)
async def test_what_is_wrong_is_said_in_the_form(key: str, value: str, words: str, tmp_path: Path) -> None:
    async with person(tmp_path) as who:
        await who.press("3", "g", "T")
        await who.sees(f"Taint {WHERE}", WHERE_SHOWN)
        await who.type(key)
        await who.press("tab")
        await who.type(value)
        await who.press("enter")
        await who.sees(words)
        assert who.form
        await who.press("escape")
        await who.until(lambda: not who.form, "the form to close")
        assert who.server.faults.asked(f"* {RULES}*")[1:] == []  # one list when the test began
        assert who.server.writes == []


async def test_what_is_typed_behind_a_tab_goes_into_the_next_field(tmp_path: Path) -> None:
    async with person(tmp_path) as who:
        await who.press("3", "g", "T")
        await who.until(lambda: who.form, "the form")
        await who.press(*"example.com/xid", "tab", "7", "9", "tab", "up", "tab", *"why", "enter")
        await who.sees("example.com/xid=79:None")
        await who.press("b")
        await who.sees('"ktui/reason": "why"')


@pytest.mark.parametrize("typed", ["-1", "1.5", "", "null", "0x1", "1e2", "2147483648"])
async def test_a13_replicas_that_are_no_number(typed: str, tmp_path: Path) -> None:
    async with person(tmp_path) as who:
        await who.press("6", "g", "M")
        await who.sees("minReplicas of ml/chat, now 1")
        await who.press("delete", "ctrl+u")
        await who.type(typed)
        await who.press("enter")
        await who.sees("whole number from 0 to 2147483647")
        assert who.form
        assert who.server.faults.asked(f"* {HPAS}*") == []


async def test_a11_two_enters_in_the_form_confirm_nothing(tmp_path: Path) -> None:
    """A paste with line ends: the second lands on the dialog, whose default is Cancel."""
    async with person(tmp_path) as who:
        await who.taint("a")
        await who.press("enter", "enter")
        await who.until(lambda: len(who.app.screen_stack) == 1, "the main screen")
        assert who.server.real_writes == []


# --- the dialog ---


@pytest.mark.parametrize("keys", [("escape",), ("n",), ("enter",)], ids="".join)
async def test_cancel_sends_nothing(keys: tuple[str, ...], tmp_path: Path) -> None:
    async with person(tmp_path) as who:
        await who.taint()
        await who.in_dialog()
        await who.sees("server dry run  accepted", WHERE_SHOWN, f"POST {RULES}")
        await who.press(*keys)
        await who.told("cancelled, nothing was sent")
        assert who.server.real_writes == []
        assert who.at.audit() == []


async def test_a11_confirmed_twice_is_sent_once_and_told_when_the_cluster_shows_it(tmp_path: Path) -> None:
    async with person(tmp_path) as who:
        await who.taint()
        await who.in_dialog()
        await who.press("y", "y", "enter")
        await who.until(lambda: bool(who.at.audit()), "the audit line")
        assert len(who.server.real_writes) == 1
        assert not any("done:" in notice for notice in who.notices)
        await who.watch()
        await who.told("done: example.com/xid:NoSchedule")


async def test_a03_what_is_evicted_is_typed_exactly(tmp_path: Path) -> None:
    async with person(tmp_path) as who:
        await who.taint(evict=True)
        await who.in_dialog()
        await who.sees("ml/train-0", "falls to 1 of 2", "type  train  to confirm", "Evict 1 pod")
        for wrong in ("trai", "Train", "train "):
            who.app.screen.query_one("#dialog-typed").value = wrong  # type: ignore[attr-defined]
            await who.pilot.pause()
            assert who.confirm_disabled, wrong
        who.app.screen.query_one("#dialog-typed").value = ""  # type: ignore[attr-defined]
        await who.type("train")
        await who.press("enter", "enter")
        await who.until(lambda: bool(who.server.real_writes), "the request")


@pytest.mark.parametrize(
    ("where", "words"),
    [
        (structs.replace(CONTEXT, impersonating="admin"), "you act as admin"),
        (structs.replace(CONTEXT, insecure=True), "the server's certificate is not checked"),
    ],
    ids=["impersonated", "insecure"],
)
async def test_a18_an_unusual_session_has_to_type(where: AuditContext, words: str, tmp_path: Path) -> None:
    async with person(tmp_path, where) as who:
        who.server.add_autoscaler()
        await who.press("6", "g", "M")
        await who.sees("minReplicas of ml/chat")
        await who.press("3", "enter")
        await who.in_dialog()
        await who.sees(words, "type  chat  to confirm")
        assert who.confirm_disabled
        await who.type("chat")
        await who.press("enter", "enter")
        await who.until(lambda: bool(who.server.real_writes), "the request")
        assert who.server.autoscaler()["spec"]["minReplicas"] == 3


# --- what the server says ---


async def test_a12_a_refused_dry_run_is_explained_and_nothing_is_asked(tmp_path: Path) -> None:
    async with person(tmp_path) as who:
        who.server.add_autoscaler(metric="Resource")
        await who.press("6", "g", "M")
        await who.sees("minReplicas of ml/chat")
        await who.press("0", "enter")
        await who.sees("the server refuses: spec.metrics: Forbidden: must specify at least one Object or External")
        assert who.server.real_writes == []


async def test_a16_a_denial_with_escapes_is_drawn_and_not_obeyed(tmp_path: Path) -> None:
    async with person(tmp_path) as who:
        said = "denied: \x1b]0;owned\x07 [bold]no[/bold]"
        who.server.faults.script(f"POST {RULES}", Answer(403, status_body(403, "Forbidden", said)))
        await who.taint()
        await who.sees("the server refuses: denied:", "[bold]no[/bold]")
        assert "\x1b" not in text(who.app)


async def test_a14_a_change_in_between_is_planned_and_asked_again(tmp_path: Path) -> None:
    async with person(tmp_path) as who:
        who.server.add_autoscaler()
        await who.press("6", "g", "M")
        await who.sees("minReplicas of ml/chat")
        await who.press("3", "enter")
        await who.in_dialog()
        first = who.app.screen
        who.server.change("HorizontalPodAutoscaler", ("ml", "chat"), spec={"maxReplicas": 4})
        await who.press("y")
        await who.until(lambda: who.dialog and who.app.screen is not first, "a new dialog")
        assert len(who.server.real_writes) == 1
        assert who.server.autoscaler()["spec"]["minReplicas"] == 1
        await who.press("y")
        await who.until(lambda: who.server.autoscaler()["spec"]["minReplicas"] == 3, "the change")
        assert [line["result"].split(":")[0] for line in who.at.audit()] == ["conflict", "applied"]


async def test_what_somebody_else_did_meanwhile_is_good_news(tmp_path: Path) -> None:
    """A conflict after which there is nothing left to do."""
    async with person(tmp_path) as who:
        who.server.add_autoscaler()
        await who.press("6", "g", "M")
        await who.sees("minReplicas of ml/chat")
        await who.press("3", "enter")
        await who.in_dialog()
        who.server.api.registry.update(
            KINDS["HorizontalPodAutoscaler"],
            ("ml", "chat"),
            lambda old: {**old, "spec": {**old["spec"], "minReplicas": 3}},
        )
        await who.press("y")
        await who.told("minReplicas of ml/chat is 3 already")
        assert len(who.app.screen_stack) == 1


async def test_a17_who_may_not_is_told_before_the_dialog(tmp_path: Path) -> None:
    def authorizer(asked: Any) -> bool:
        return asked.verb in ("get", "list", "watch")

    async with person(tmp_path, authorizer=authorizer) as who:
        await who.taint()
        await who.sees("oncall may not create devicetaintrules.resource.k8s.io")
        assert who.server.writes == []


async def test_a21_without_an_audit_log_nothing_is_sent(tmp_path: Path) -> None:
    async with person(tmp_path) as who:
        who.at.log.mkdir()
        await who.taint()
        await who.in_dialog()
        await who.press("y")
        await who.sees("Not done", "cannot write the audit log")
        assert who.server.real_writes == []


async def test_trouble_with_the_connection_is_explained_and_the_screens_live_on(tmp_path: Path) -> None:
    async with person(tmp_path) as who:
        feed = who.opener.feed
        assert isinstance(feed, ActingFeed)
        feed.trouble = KtuiError("there is no connection to act on yet")
        await who.press("3", "g", "T")
        await who.sees("Not possible now", "there is no connection to act on yet")
        await who.press("escape")
        feed.trouble = None
        await who.taint()
        await who.in_dialog()


async def test_a16_a_slow_answer_is_explained_and_can_be_left(tmp_path: Path) -> None:
    """An admission webhook may think for half a minute."""
    async with person(tmp_path) as who:
        who.server.faults.script(f"POST {RULES}", Delay(30))
        await who.taint()
        await who.told("waiting for the server's answer to the dry run")
        assert who.server.real_writes == []


# --- several taints, undo ---


async def test_a07_of_several_taints_one_is_chosen(tmp_path: Path) -> None:
    async with person(tmp_path) as who:
        who.server.add_rule("monitor-a", "a:NoSchedule")
        who.server.add_rule("monitor-b", "b:NoSchedule")
        await who.watch()
        await who.press("3")
        await who.sees("gpu-0")
        await who.press("g", "U")
        await who.sees("Which taint", "a:NoSchedule  rule monitor-a", "b:NoSchedule  rule monitor-b")
        await who.press("down", "enter")
        await who.in_dialog()
        await who.sees("type  monitor-b  to confirm", "ktui did not make the rule monitor-b")
        await who.type("monitor-b")
        await who.press("enter", "enter")
        await who.until(lambda: set(who.server.rules()) == {"monitor-a"}, "the rule to go")


async def test_undo_is_confirmed_like_any_action(tmp_path: Path) -> None:
    async with person(tmp_path) as who:
        await who.press("Z")
        await who.taint()
        await who.in_dialog()
        await who.press("y")
        await who.until(lambda: bool(who.server.rules()), "the rule")
        await who.watch()
        await who.told("done: example.com/xid:NoSchedule")
        await who.press("Z")
        await who.in_dialog()
        await who.sees(f"Untaint {WHERE}")
        assert who.server.rules()
        await who.press("y")
        await who.until(lambda: not who.server.rules(), "the undo")


# --- the session goes ---


async def test_a20_a_context_switch_closes_the_dialog_and_sends_nothing(tmp_path: Path) -> None:
    async with person(tmp_path) as who:
        await who.taint()
        await who.in_dialog()
        main = who.app.screen_stack[0]
        assert isinstance(main, MainScreen)
        main.sessions.open("prod-us")
        await who.until(lambda: who.opener.opened[-1] == "prod-us" and len(who.app.screen_stack) == 1, "the switch")
        await lacks(who.pilot, "server dry run")
        await who.press("y", "enter")
        assert who.server.real_writes == []
        assert who.at.audit() == []


async def test_a20_a_context_switch_closes_a_form(tmp_path: Path) -> None:
    async with person(tmp_path) as who:
        await who.press("3", "g", "T")
        await who.until(lambda: who.form, "the form")
        main = who.app.screen_stack[0]
        assert isinstance(main, MainScreen)
        main.sessions.open("prod-us")
        await who.until(lambda: len(who.app.screen_stack) == 1, "the form to close")
        assert who.server.writes == []


async def test_a20_a_request_under_way_when_the_session_goes_is_audited_and_told(tmp_path: Path) -> None:
    async with person(tmp_path) as who:
        who.server.faults.script(f"POST {RULES}", Delay(0), Delay(30))
        await who.taint()
        await who.in_dialog()
        await who.press("y")
        await who.told("sent, waiting for the server's answer")
        main = who.app.screen_stack[0]
        assert isinstance(main, MainScreen)
        main.sessions.open("prod-us")
        await who.until(lambda: bool(who.at.audit()), "the audit line")
        assert who.at.audit()[0]["result"] == "unknown: given up before the answer came"
        await who.told("left while it was being sent; look whether it was done")


async def test_a_row_of_the_taints_says_which_taint_goes(tmp_path: Path) -> None:
    """Two rules on one device: U on the row of one asks nothing more and removes that one."""
    async with person(tmp_path) as who:
        who.server.add_rule("a-other", "example.com/other=1:NoSchedule")
        who.server.add_rule("b-meant", "example.com/xid=79:NoSchedule")
        await who.watch()
        await who.press("5")
        await who.sees("rule b-meant")
        await who.press("g", "j", "U")
        await who.in_dialog()
        await who.sees("type  b-meant  to confirm")
        await who.type("b-meant")
        await who.press("enter", "enter")
        await who.until(lambda: set(who.server.rules()) == {"a-other"}, "the rule to go")


async def test_what_is_under_way_is_not_dropped_for_what_comes_next(tmp_path: Path) -> None:
    """The request of the first action is on its way when the second one is asked for."""
    arrived, go_on = asyncio.Event(), asyncio.Event()

    async def slow(_request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
        arrived.set()
        await go_on.wait()
        return response

    async with person(tmp_path) as who:
        who.server.add_autoscaler()
        await who.press("6", "g", "M")
        await who.sees("minReplicas of ml/chat")
        await who.press("3", "enter")
        await who.in_dialog()
        who.server.after = slow
        await who.press("y")
        await who.until(arrived.is_set, "the request")
        await who.press("M")
        await who.told("still under way")
        go_on.set()
        await who.until(lambda: len(who.at.audit()) == 1, "the audit line")
        assert [line["result"].split(":")[0] for line in who.at.audit()] == ["applied"]


# --- the controller's count ---


class TestCount:
    """A03: the taint with effect None first."""

    async def counted(self, who: Person, pods: str) -> None:
        """To the dialog that shows the count."""
        counts(who.server, pods)
        await who.taint(evict=True)
        await who.in_dialog()
        await who.sees("ctrl+t count first")
        first = who.app.screen
        await who.press("ctrl+t")
        await who.until(lambda: who.dialog and who.app.screen is not first, "the dialog of the first step")
        await who.sees("evicts nobody", "Count")
        await who.press("y")
        await who.until(lambda: bool(who.server.real_writes), "the first step")
        await who.watch()
        await who.sees("the controller counts")

    async def test_it_is_shown_beside_the_own_one_and_the_effect_is_changed(self, tmp_path: Path) -> None:
        async with person(tmp_path) as who:
            await self.counted(who, "1 pod")
            await who.sees("the controller counts 1 pod in 1 namespace; ktui 1", "type  train  to confirm")
            assert who.server.rule()["spec"]["taint"]["effect"] == "None"
            assert LEFT_BEHIND
            await who.type("train")
            await who.press("enter", "enter")
            await who.until(lambda: len(who.server.real_writes) == 2, "the second step")
            await who.until(lambda: not LEFT_BEHIND, "nothing to be left")
            assert who.server.rule()["spec"]["taint"]["effect"] == "NoExecute"

    async def test_a_difference_is_said_and_a_cancel_takes_it_back(self, tmp_path: Path) -> None:
        async with person(tmp_path) as who:
            await self.counted(who, "3 pods")
            await who.sees("the controller counts 3 pods in 1 namespace; ktui 1: the lists differ")
            await who.press("escape")
            await who.told("the taint with effect None was taken back")
            assert who.server.rules() == {}
            assert not LEFT_BEHIND
            assert not who.app.screen.query("#dialog")

    async def test_giving_up_the_wait_takes_it_back(self, tmp_path: Path) -> None:
        async with person(tmp_path) as who:
            await who.taint(evict=True)
            await who.in_dialog()
            first = who.app.screen
            await who.press("ctrl+t")
            await who.until(lambda: who.dialog and who.app.screen is not first, "the dialog of the first step")
            await who.press("y")
            await who.until(lambda: bool(who.server.real_writes), "the first step")
            await who.watch()
            await who.sees("waiting for the eviction controller's count")
            await who.press("escape")
            await who.told("the taint with effect None was taken back")
            assert who.server.rules() == {}

    async def test_what_cannot_be_taken_back_is_named_there_and_at_the_end(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        async with person(tmp_path) as who:
            refused = Answer(403, status_body(403, "Forbidden", "no"))
            who.server.faults.script(f"DELETE {RULES}/*", refused, repeat=True)
            await self.counted(who, "3 pods")
            await who.press("escape")
            (name,) = who.server.rules()
            await who.sees("Not taken back", f"the rule {name} with effect None is left on {WHERE}")
            assert list(LEFT_BEHIND) == [name]
        take_leave()
        assert name in capsys.readouterr().err
        LEFT_BEHIND.clear()
