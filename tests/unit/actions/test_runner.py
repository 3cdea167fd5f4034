"""The path of every write: asked, rehearsed with the very same body, sent once, audited, and never guessed about."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from ktui.actions.audit import AuditContext, AuditLog
from ktui.actions.minreplicas import plan_min_replicas
from ktui.actions.plan import Plan
from ktui.actions.runner import Rehearsal, Runner
from ktui.actions.taint import plan_taint
from ktui.actions.untaint import plan_untaint
from ktui.demo.access import Attributes
from ktui.errors import KtuiError
from ktui.kube.failures import ReadOnlyRefused, Unreachable
from ktui.model.frame import ActionTaken
from ktui.model.resourceslice import DeviceTaint
from tests.faults import Answer, Delay, Drop, Fault, status_body
from tests.unit.actions.rig import DEVICE, REHEARSED, Rig, lost, rig
from tests.unit.kube.harness import StaticCredentials, fast

XID = DeviceTaint(key="example.com/xid", value="79", effect="NoExecute")

Planning = Callable[[Rig], Awaitable[Plan]]


async def create(at: Rig) -> Plan:
    return await plan_taint(at.api, await at.look(), DEVICE, XID)


async def change(at: Rig) -> Plan:
    before = DeviceTaint(key=XID.key, value="79", effect="None")
    await at.carry_out(await plan_taint(at.api, await at.look(), DEVICE, before))
    at.server.writes.clear()
    return await create(at)


async def scale(at: Rig) -> Plan:
    await at.look()
    at.server.add_autoscaler()
    return await plan_min_replicas(at.api, ("ml", "chat"), 3)


async def remove(at: Rig) -> Plan:
    at.server.add_rule("a")
    return await plan_untaint(at.api, await at.look(), DEVICE)


VERBS = pytest.mark.parametrize("planning", [create, change, scale, remove])


def state(at: Rig) -> dict[Any, Any]:
    database = at.server.api.database
    return {kind: database.snapshot(kind) for kind in ("DeviceTaintRule", "HorizontalPodAutoscaler")}


def match(plan: Plan) -> str:
    return f"{plan.request.method} {plan.request.path}"


@VERBS
async def test_a01_a_rehearsal_leaves_everything_as_it_was(planning: Planning, tmp_path: Path) -> None:
    """A DELETE with a body ignores ?dryRun=All: for it the body has to say so."""
    async with rig(tmp_path) as at:
        plan = await planning(at)
        before = state(at)
        assert (await at.runner.rehearse(plan)).status == "accepted"
        assert state(at) == before
        assert [sent.dry_run for sent in at.server.writes] == [True]


@VERBS
async def test_a11_one_request_each_with_the_same_body(planning: Planning, tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        plan = await planning(at)
        await at.carry_out(plan)
        dry, real = at.server.writes
        assert (dry.method, dry.path) == (real.method, real.path) == (plan.request.method, plan.request.path)
        assert (dry.dry_run, real.dry_run) == (True, False)
        if plan.request.verb == "delete":
            assert dry.body.pop("dryRun") == ["All"]
        assert dry.body == real.body == plan.request.body
        if plan.request.verb != "delete":
            assert real.query == {"fieldManager": "ktui", "fieldValidation": "Strict"}


@VERBS
async def test_a10_carried_out_and_the_answer_lost(planning: Planning, tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        plan = await planning(at)
        at.server.after = lost
        outcome = await at.carry_out(plan)
        assert outcome.status == "applied"
        assert "the answer was lost, but it was carried out" in outcome.message
        assert len(at.server.real_writes) == 1, "a write is never repeated"
        assert at.audit()[-1]["result"].startswith("applied: ")


@VERBS
@pytest.mark.parametrize("reset", [False, True], ids=["FIN", "RST"])
async def test_a10_lost_before_it_was_carried_out(planning: Planning, reset: bool, tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        plan = await planning(at)
        rehearsal = await at.runner.rehearse(plan)
        before = state(at)
        at.server.faults.script(match(plan), Drop(reset))
        outcome = await at.runner.apply(plan, rehearsal)
        assert outcome.status == "refused"
        assert "it was not carried out" in outcome.message
        assert len(at.server.real_writes) == 1
        assert state(at) == before


@VERBS
async def test_a10_lost_and_nobody_to_ask(planning: Planning, tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        plan = await planning(at)
        rehearsal = await at.runner.rehearse(plan)
        at.server.after = lost
        at.server.faults.script("GET /apis*", Drop(), repeat=True)
        outcome = await at.runner.apply(plan, rehearsal)
        assert outcome.status == "unknown"
        assert "whether it was carried out is unknown" in outcome.message
        assert len(at.server.real_writes) == 1
        assert at.audit()[-1]["result"].startswith("unknown: ")


async def test_a10_an_answer_that_takes_too_long_is_an_answer_lost(tmp_path: Path) -> None:
    """A16: an admission webhook that thinks for half a minute may still say yes."""
    async with rig(tmp_path, transport={"timers": fast(short_get=0.5)}) as at:
        plan = await create(at)
        rehearsal = await at.runner.rehearse(plan)

        async def slow(request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
            await asyncio.sleep(0.9)
            return response

        at.server.after = slow
        outcome = await at.runner.apply(plan, rehearsal)
        assert outcome.status == "applied"
        assert len(at.server.real_writes) == 1


@pytest.mark.parametrize("status", [500, 502, 503, 504])
@pytest.mark.parametrize("stored", [False, True])
async def test_a02_a_failing_server_or_proxy_may_have_stored_it(status: int, stored: bool, tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        plan = await create(at)
        rehearsal = await at.runner.rehearse(plan)

        async def fail(request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
            return web.Response(status=status, text="upstream request timeout")

        if stored:
            at.server.after = fail
        else:
            at.server.faults.script(match(plan), Answer(status, "upstream request timeout", "text/plain"))
        outcome = await at.runner.apply(plan, rehearsal)
        assert outcome.status == ("applied" if stored else "refused")
        assert "upstream request timeout" in outcome.message or stored
        assert len(at.server.real_writes) == 1


async def test_a02_an_answer_that_is_none(tmp_path: Path) -> None:
    """A login page after the write: read and compare, do not believe either way."""
    async with rig(tmp_path) as at:
        plan = await create(at)

        async def page(request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
            return web.Response(text="<html>", content_type="text/html")

        at.server.after = page
        assert (await at.carry_out(plan)).status == "applied"


@pytest.mark.parametrize(
    ("status", "reason", "causes", "outcome"),
    [
        (403, "Forbidden", [], "refused"),
        (409, "Conflict", [], "conflict"),
        (409, "AlreadyExists", [], "conflict"),
        (422, "Invalid", [], "conflict"),
        (422, "Invalid", [{"reason": "FieldValueInvalid", "field": "spec.x", "message": "bad"}], "refused"),
        (401, "Unauthorized", [], "refused"),
        (429, "TooManyRequests", [], "refused"),
    ],
)
async def test_a02_yes_in_the_dry_run_and_no_afterwards(
    status: int, reason: str, causes: list[Any], outcome: str, tmp_path: Path
) -> None:
    async with rig(tmp_path, transport={"credentials": _Stubborn()}) as at:
        plan = await create(at)
        rehearsal = await at.runner.rehearse(plan)
        answer = Answer(status, status_body(status, reason, "scripted", causes=causes))
        at.server.faults.script(match(plan), answer, repeat=True)
        found = await at.runner.apply(plan, rehearsal)
        assert found.status == outcome
        assert at.server.rules() == {}
        (line,) = at.audit()
        assert line["dryRun"] == "accepted: accepted"
        assert line["result"].startswith(f"{outcome}: ")


class _Stubborn(StaticCredentials):
    async def on_unauthorized(self, used_headers: Any, /) -> bool:
        return False


@pytest.mark.parametrize("status", [429, 503])
@VERBS
async def test_a26_busy_is_told_and_not_tried_again(planning: Planning, status: int, tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        plan = await planning(at)
        rehearsal = await at.runner.rehearse(plan)
        before = state(at)
        busy = Answer(status, status_body(status, "TooManyRequests", "busy"), headers={"Retry-After": "7"})
        at.server.faults.script(match(plan), busy, repeat=True)
        outcome = await at.runner.apply(plan, rehearsal)
        assert outcome.status == "refused"
        assert "busy; the server asks to try again after 7 s" in outcome.message
        assert len(at.server.real_writes) == 1
        assert state(at) == before


async def test_a15_a_message_with_the_whole_object_is_cut_and_redacted(tmp_path: Path) -> None:
    credentials = StaticCredentials("s3cr3t-token")
    async with rig(tmp_path, transport={"credentials": credentials}) as at:
        plan = await scale(at)
        long = 'cannot decode {"annotations":{"password":"s3cr3t-token"}} \x1b]0;x\x07' + "x" * 20_000
        answer = Answer(422, status_body(422, "Invalid", long, causes=[{"field": "", "message": long}]))
        at.server.faults.script(match(plan), answer, repeat=True)
        for message in ((await at.runner.rehearse(plan)).message, (await at.runner.apply(plan, REHEARSED)).message):
            assert len(message) <= 300
            assert message.isprintable()
            assert "s3cr3t-token" not in message
        assert "s3cr3t-token" not in at.log.read_text()


async def test_a16_a_denial_is_shown_as_the_webhook_said_it(tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        plan = await create(at)
        said = 'admission webhook "policy.example.com" denied the request: \x1b[31mnot today[/]'
        at.server.faults.script(match(plan), Answer(403, status_body(403, "Forbidden", said)))
        rehearsal = await at.runner.rehearse(plan)
        assert rehearsal.status == "refused"
        assert rehearsal.message == said.replace("\x1b", "\ufffd")


async def test_a16_warnings_of_both_answers_are_kept(tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        plan = await create(at)

        async def warn(request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
            response.headers.add("Warning", '299 - "say \\"please\\""')
            response.headers.add("Warning", '299 - "one", 299 - "two"')
            return response

        at.server.after = warn
        outcome = await at.carry_out(plan)
        assert outcome.warnings == ('say "please"', "one", "two")


@pytest.mark.parametrize("when", ["rehearsal", "sending"])
async def test_a16_a_webhook_that_changes_the_request_is_noticed(when: str, tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        plan = await create(at)
        softer = json.loads(json.dumps(plan.request.body))
        softer["spec"]["taint"]["effect"] = "NoSchedule"
        answers = [Answer(201, json.dumps(softer))]
        if when == "rehearsal":
            at.server.faults.script(match(plan), *answers)
            rehearsal = await at.runner.rehearse(plan)
            assert rehearsal.warnings == ("the server would change the request before it stores it",)
        else:
            at.server.faults.script(match(plan), Fault(), *answers)
            outcome = await at.carry_out(plan)
            assert outcome.status == "applied"
            assert outcome.warnings == ("the server changed the request before it stored it: look at the result",)


async def test_a16_a_webhook_that_cannot_rehearse(tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        plan = await create(at)
        said = 'admission webhook "w" does not support dry run'
        at.server.faults.script(match(plan), Answer(400, status_body(400, "BadRequest", said)))
        rehearsal = await at.runner.rehearse(plan)
        assert rehearsal.status == "unsupported"
        assert (await at.runner.apply(plan, rehearsal)).status == "applied"
        assert at.audit()[0]["dryRun"].startswith("unsupported: ")


@VERBS
async def test_a17_who_may_not_is_told_before(planning: Planning, tmp_path: Path) -> None:
    allowed = True

    def authorizer(asked: Attributes) -> bool:
        return allowed or asked.verb in ("get", "list", "watch")

    async with rig(tmp_path, authorizer=authorizer) as at:
        plan = await planning(at)
        assert await at.runner.refusal(plan) == ""
        allowed = False
        refusal = await at.runner.refusal(plan)
        kind = plan.request.kind
        scope = " in namespace ml" if plan.request.namespace else ""
        assert refusal == f"oncall may not {plan.request.verb} {kind.resource}{scope}"
        # And when that changes later, the 403 is handled.
        outcome = await at.runner.apply(plan, REHEARSED)
        assert outcome.status == "refused"
        assert "cannot" in outcome.message


@VERBS
async def test_a19_read_only_lets_only_questions_out(planning: Planning, tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        plan = await planning(at)
        at.transport.read_only = True
        at.server.writes.clear()
        at.server.faults.journal.clear()
        assert await at.runner.refusal(plan) == ""
        assert (await at.runner.rehearse(plan)).status == "unsupported"
        before = state(at)
        with pytest.raises(ReadOnlyRefused, match=f"read-only mode: {plan.request.method} {plan.request.path}"):
            await at.runner.apply(plan, REHEARSED)
        assert [asked.path.rsplit("/", 1)[-1] for asked in at.server.faults.journal] == ["selfsubjectaccessreviews"]
        assert state(at) == before
        assert at.audit()[-1]["result"].startswith("refused: not sent: read-only mode")


async def test_a23_a_field_that_the_server_does_not_know(tmp_path: Path) -> None:
    from msgspec import structs

    async with rig(tmp_path) as at:
        plan = await create(at)
        body = json.loads(json.dumps(plan.request.body))
        body["spec"]["taint"]["severity"] = 3
        drifted = structs.replace(plan, request=structs.replace(plan.request, body=body))
        rehearsal = await at.runner.rehearse(drifted)
        assert rehearsal.status == "refused"
        assert rehearsal.message.startswith("this ktui and this cluster do not fit together: ")
        assert 'unknown field "spec.taint.severity"' in rehearsal.message


async def test_a23_a_patch_that_the_server_cannot_read(tmp_path: Path) -> None:
    """A real server's 422 for an unknown field repeats the whole object, and its annotations, before it says why."""
    async with rig(tmp_path) as at:
        plan = await scale(at)
        echo = 'Invalid value: "{\\"metadata\\":{\\"annotations\\":{\\"password\\":\\"hunter2\\"' + "x" * 5000
        causes = [{"reason": "FieldValueInvalid", "field": "patch", "message": echo}]
        at.server.faults.script(match(plan), Answer(422, status_body(422, "Invalid", f"patch: {echo}", causes=causes)))
        message = (await at.runner.rehearse(plan)).message
        assert message == "this ktui and this cluster do not fit together: the server cannot read the patch"


async def test_a21_what_cannot_be_audited_is_not_sent(tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        plan = await create(at)
        at.log.mkdir()
        with pytest.raises(
            KtuiError, match=r"cannot write the audit log .*: Is a directory; without it no action is sent"
        ):
            await at.carry_out(plan)
        assert at.server.real_writes == []


async def test_a21_what_was_done_is_told_even_when_the_log_fails_afterwards(tmp_path: Path) -> None:
    """A disk that fills up between the check and the line must not make a done action look undone."""
    async with rig(tmp_path) as at:
        plan = await create(at)

        async def fill(request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
            at.log.unlink()
            at.log.mkdir()
            return response

        at.server.after = fill
        outcome = await at.carry_out(plan)
        assert outcome.status == "applied"
        assert len(outcome.warnings) == 1
        assert outcome.warnings[0].startswith("this action is not in the audit log: ")


async def test_given_up_while_it_is_sent_is_audited(tmp_path: Path) -> None:
    """A20, ctrl+c: the session goes while the request is under way."""
    async with rig(tmp_path) as at:
        plan = await create(at)
        rehearsal = await at.runner.rehearse(plan)
        at.server.faults.script(match(plan), Delay(30))
        task = asyncio.create_task(at.runner.apply(plan, rehearsal))
        async with asyncio.timeout(30):
            while not at.server.real_writes:
                await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert [line["result"] for line in at.audit()] == ["unknown: given up before the answer came"]


async def test_a20_a_closed_session_sends_nothing(tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        plan = await create(at)
        rehearsal = await at.runner.rehearse(plan)
        await at.transport.close()
        with pytest.raises(KtuiError, match="closed"):
            await at.runner.apply(plan, rehearsal)
        assert at.server.real_writes == []


async def test_a02_nobody_there_is_not_sent_and_not_unknown(tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        plan = await create(at)
        await at.server.api.stop()
        await at.transport.reset()  # a connection from before could not tell whether the request arrived
        with pytest.raises(Unreachable, match="cannot be reached"):
            await at.runner.apply(plan, Rehearsal("accepted"))
        assert at.audit()[-1]["result"].startswith("refused: not sent: ")


async def test_what_was_sent_is_told_for_a_recording_and_what_was_not_is_not(tmp_path: Path) -> None:
    told: list[ActionTaken] = []
    async with rig(tmp_path) as at:
        where = AuditContext("prod", "example.com", "oncall")
        runner = Runner(at.api, AuditLog(at.log), where, tell=told.append)
        plan = await create(at)
        await runner.rehearse(plan)
        assert told == []
        await runner.apply(plan, REHEARSED)
        thing, after = "/".join(DEVICE), "example.com/xid=79:NoExecute"
        done = ActionTaken("taint", thing, "no taint", after, "applied", f"done: {after}", "oncall", "accepted")
        assert told == [done]
        again = await runner.apply(plan, REHEARSED)
    assert again.status == "conflict"
    assert [taken.result for taken in told] == ["applied", "conflict"]
