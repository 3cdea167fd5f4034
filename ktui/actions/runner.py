"""The one path to a write: may I → dry run → audit → send → what became of it.

No write is ever repeated on its own: when an answer is lost, the object is read and compared instead.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Literal

from msgspec import Struct, structs

from ktui.actions.api import ActionApi
from ktui.actions.audit import AuditContext, AuditLog, audit_record
from ktui.actions.plan import Document, Plan
from ktui.errors import KtuiError
from ktui.kube.failures import AnswerLost, ApiError, ReadOnlyRefused, UnexpectedAnswer
from ktui.model.frame import ActionResult, ActionTaken
from ktui.model.time import format_time

_MISFIT = "this ktui and this cluster do not fit together"


class Rehearsal(Struct, frozen=True):
    """The server's answer to the dry run. `refused` says no; `unsupported`: it could not be asked, `message` says why."""

    status: Literal["accepted", "refused", "unsupported"]
    message: str = ""
    warnings: tuple[str, ...] = ()


class Outcome(Struct, frozen=True):
    """`conflict`: somebody changed the object meanwhile, plan anew; `unknown`: the answer was lost and the object does not
    tell. `message` is one line for the person."""

    status: ActionResult
    message: str
    warnings: tuple[str, ...] = ()
    audit_id: str = ""


class Runner:
    """Carries out plans against one connection. `where` goes into the audit line of each; `tell` is told of each that was sent,
    for a recording."""

    def __init__(
        self,
        api: ActionApi,
        log: AuditLog,
        where: AuditContext,
        *,
        clock: Callable[[], float] = time.time,
        tell: Callable[[ActionTaken], object] | None = None,
    ) -> None:
        self._api = api
        self._log = log
        self._where = where
        self._clock = clock
        self._tell = tell

    async def refusal(self, plan: Plan) -> str:
        """ "" when the user may do it, otherwise the one line that says what is missing."""
        access = await self._api.may(plan.request)
        if access.allowed:
            return ""
        kind = plan.request.kind
        scope = f" in namespace {plan.request.namespace}" if plan.request.namespace else ""
        why = f": {access.reason}" if access.reason else ""
        return f"{self._where.user or 'you'} may not {plan.request.verb} {kind.resource}{scope}{why}"

    async def rehearse(self, plan: Plan) -> Rehearsal:
        """Send the request as a dry run. Raises KtuiError when the server cannot be asked."""
        try:
            answer = await self._api.send(plan.request, dry_run=True)
        except ApiError as error:
            if error.status == 400 and "does not support dry run" in error.message:
                return Rehearsal("unsupported", "an admission webhook of this cluster cannot do dry runs")
            return Rehearsal("refused", explain(error))
        except ReadOnlyRefused:
            return Rehearsal("unsupported", "the server was not asked: read-only mode sends nothing")
        changed = plan.request.verb != "delete" and not plan.applied(answer.document)
        note = ("the server would change the request before it stores it",) if changed else ()
        return Rehearsal("accepted", "accepted", answer.warnings + note)

    async def apply(self, plan: Plan, rehearsal: Rehearsal) -> Outcome:
        """Send the request for real, once, and write its audit line whatever becomes of it.

        Raises KtuiError when nothing was sent: it cannot be audited, or there was no way to send it.
        """
        self._log.check()
        try:
            outcome = await self._send(plan)
        except KtuiError as error:
            self._audit(plan, rehearsal, Outcome("refused", f"not sent: {error}"))
            raise
        except asyncio.CancelledError:
            self._audit(plan, rehearsal, Outcome("unknown", "given up before the answer came"))
            raise
        return self._audit(plan, rehearsal, outcome)

    async def _send(self, plan: Plan) -> Outcome:
        try:
            answer = await self._api.send(plan.request, dry_run=False)
        except ApiError as error:
            # A server, or a proxy before it, that fails half-way may have stored the change.
            return await self._after_loss(plan, explain(error)) if error.status >= 500 else _refused(plan, error)
        except (AnswerLost, UnexpectedAnswer) as error:
            return await self._after_loss(plan, str(error))
        warnings = answer.warnings
        if plan.request.verb != "delete" and not plan.applied(answer.document):
            warnings = (*warnings, "the server changed the request before it stored it: look at the result")
        return Outcome("applied", f"done: {plan.after}", warnings, answer.audit_id)

    async def _after_loss(self, plan: Plan, why: str) -> Outcome:
        """Read instead of guessing or sending again."""
        request = plan.request
        try:
            document: Document | None = (await self._api.get(request.kind, request.namespace, request.name)).document
        except ApiError as error:
            if error.status != 404:
                return Outcome("unknown", f"{why}; whether it was carried out is unknown ({error})")
            document = None
        except KtuiError as error:
            return Outcome("unknown", f"{why}; whether it was carried out is unknown ({error})")
        if plan.applied(document):
            return Outcome("applied", f"the answer was lost, but it was carried out: {plan.after}")
        return Outcome("refused", f"{why}; the cluster shows that it was not carried out")

    def _audit(self, plan: Plan, rehearsal: Rehearsal, outcome: Outcome) -> Outcome:
        """The outcome, with a warning when its line could not be written: what was done is done, and has to be told."""
        record = audit_record(
            plan,
            self._where,
            time=format_time(self._clock()),
            rehearsal=f"{rehearsal.status}: {rehearsal.message}" if rehearsal.message else rehearsal.status,
            result=f"{outcome.status}: {outcome.message}",
            audit_id=outcome.audit_id,
        )
        if self._tell is not None:
            self._tell(action_taken(plan, self._where, rehearsal, outcome))
        try:
            self._log.write(record)
        except KtuiError as error:
            return structs.replace(
                outcome, warnings=(*outcome.warnings, f"this action is not in the audit log: {error}")
            )
        return outcome


def action_taken(plan: Plan, where: AuditContext, rehearsal: Rehearsal, outcome: Outcome) -> ActionTaken:
    """Less than the audit line: what was done to what, and by whom."""
    return ActionTaken(
        plan.action,
        plan.object,
        plan.before,
        plan.after,
        outcome.status,
        outcome.message,
        where.user,
        rehearsal.status,
    )


def _refused(plan: Plan, error: ApiError) -> Outcome:
    if error.status == 404 and plan.request.verb == "delete":
        return Outcome("applied", "it was gone already")
    # A failed test of a JSON patch is a 422 without causes.
    if error.status == 409 or (error.status == 422 and not error.causes):
        return Outcome("conflict", "somebody changed it meanwhile; nothing was done, look again")
    return Outcome("refused", explain(error))


def explain(error: ApiError) -> str:
    """A refusal in one line, with the field the server names."""
    if "strict decoding error" in error.message:
        return f"{_MISFIT}: {error.message}"
    if any(field == "patch" for _, field, _ in error.causes):
        return f"{_MISFIT}: the server cannot read the patch"  # its message is the whole object, before the reason
    if error.causes:
        return "; ".join(f"{field}: {message}" if field else message for _, field, message in error.causes)
    text = error.message or str(error)
    return f"{text}; the server asks to try again after {error.retry_after} s" if _seconds(error) else text


def _seconds(error: ApiError) -> bool:
    """Whether the server said how long to wait, in the form that can be shown as it is."""
    return error.retry_after is not None and error.retry_after.isascii() and error.retry_after.isdigit()
