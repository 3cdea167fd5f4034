"""What a person is asked to confirm, in words. Pure: a plan and what the dry run said of it, to lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import orjson
from msgspec import Struct

from ktui.views.base import Cell, Line

if TYPE_CHECKING:
    from ktui.actions.audit import AuditContext
    from ktui.actions.plan import Plan
    from ktui.actions.runner import Rehearsal

_LISTED: Final = 40  # pods that are named; more are counted


class Preview(Struct, frozen=True):
    """What a person is asked to confirm, as plain data; all texts raw.

    `who` names context, cluster host and user. `confirm` is what must be typed, letter for letter, before `button` works;
    None when the button alone is enough. `body` is the request as JSON, shown on demand. `countable`: whoever carries it out can
    be asked for a count first.
    """

    title: str
    who: str
    lines: tuple[Line, ...]
    button: str
    warnings: tuple[str, ...] = ()
    confirm: str | None = None
    body: str = ""
    countable: bool = False


def who(where: AuditContext) -> str:
    """Context, host and user, as every dialog names them."""
    user = f"{where.user} as {where.impersonating}" if where.impersonating else where.user or "unknown user"
    return f"context {where.context} · {where.host} · {user}"


def preview(plan: Plan, rehearsal: Rehearsal, where: AuditContext) -> Preview:
    """The plan as the dialog shows it. An insecure or impersonated session has to be confirmed by typing, whatever it does."""
    warnings = (*plan.warnings, *rehearsal.warnings)
    confirm = plan.confirm
    if where.insecure or where.impersonating:
        confirm = confirm or plan.subject[1]
        unusual = "the server's certificate is not checked" if where.insecure else f"you act as {where.impersonating}"
        warnings = (unusual, *warnings)
    return Preview(
        title=plan.title,
        who=who(where),
        lines=tuple(_lines(plan, rehearsal)),
        button=plan.button,
        warnings=warnings,
        confirm=confirm or None,
        body=orjson.dumps(plan.request.body, option=orjson.OPT_INDENT_2).decode(),
        countable=plan.countable,
    )


def _lines(plan: Plan, rehearsal: Rehearsal) -> list[Line]:
    blast = plan.blast
    lines: list[Line] = [
        (Cell(plan.before, "dim"), Cell("  to  ", "dim"), Cell(plan.after, "accent")),
        (Cell(plan.sentence),),
    ]
    for hit in blast.deleted[:_LISTED]:
        after = f"  after {hit.after}s" if hit.after else ""
        of_gang = f"  of {hit.gang_name}" if hit.gang_name else ""
        lines.append((Cell(f"  {hit.key[0]}/{hit.key[1]}", "bad"), Cell(after, "dim"), Cell(of_gang, "dim")))
    if len(blast.deleted) > _LISTED:
        lines.append((Cell(f"  and {len(blast.deleted) - _LISTED} more", "bad"),))
    if blast.tolerating:
        count = len(blast.tolerating)
        lines.append((Cell(f"{count} pods tolerate it" if count > 1 else "1 pod tolerates it", "dim"),))
    lines += [(Cell(note),) for note in plan.notes]
    lines += [
        (),
        (Cell("server dry run  ", "dim"), Cell(rehearsal.message or rehearsal.status)),
        (Cell(f"{plan.request.method} {plan.request.path}", "dim"),),
    ]
    return lines
