"""Where text becomes something Textual draws: the only module of the UI that builds segments and content.

Every text is put through `safe` here and never parsed as markup, so no caller can forget it; a static check in the tests
holds the rest of the UI to these functions. Callers name tones ("ok", "bad"), themes give them colours.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.content import Content
from textual.strip import Strip

from ktui.crash import NOTICES
from ktui.ui.safe import cell_width, fit, safe, to_ascii
from ktui.views.base import Cell

if TYPE_CHECKING:
    from textual.app import App
    from textual.notifications import SeverityLevel

TONES: Final = ("dim", "ok", "warn", "bad", "accent")

_log = logging.getLogger(__name__)

NOTICE_LIMIT: Final = 300  # cells of a notice: about what a server may say before it drowns the screen


class Piece(NamedTuple):
    """Text in one style. With a `width` it takes exactly that many cells, cut or padded."""

    text: str
    style: RichStyle
    width: int | None = None
    right: bool = False  # pad on the left


def strip(pieces: Iterable[Piece], width: int, fill: RichStyle, *, ascii_only: bool = False) -> Strip:
    """One line of exactly `width` cells; what does not fit is cut, what is left over is filled."""
    segments: list[Segment] = []
    left = width
    for piece in pieces:
        room = left if piece.width is None else min(piece.width, left)
        if room <= 0:
            continue
        text = _fitted(piece.text, room, ascii_only=ascii_only)
        used = cell_width(text)
        if piece.width is not None and used < room:
            padding = " " * (room - used)
            text = padding + text if piece.right else text + padding
            used = room
        segments.append(Segment(text, piece.style))
        left -= used
    if left > 0:
        segments.append(Segment(" " * left, fill))
    return Strip(segments, width).simplify()


def _fitted(text: str, width: int, *, ascii_only: bool) -> str:
    shown = fit(text, width)
    return fit(to_ascii(shown), width, "...") if ascii_only and not shown.isascii() else shown


def content(*parts: Cell | str, multiline: bool = False, limit: int | None = None) -> Content:
    """Text for a standard widget (Static, Label, Button, Option): cells in the colours of their tones."""
    return Content.assemble(
        *(
            (safe(part.text, limit, multiline=multiline), f"$tone-{part.style}" if part.style else "")
            if isinstance(part, Cell)
            else safe(part, limit, multiline=multiline)
            for part in parts
        )
    )


def plain(text: str, limit: int | None = None) -> str:
    """Safe one-line text for parameters that take a string and, unlike most, do not parse it as markup."""
    return safe(text, limit)


def notify(app: App[object], text: str, severity: SeverityLevel = "information") -> None:
    """Show a notice; the text may come from a cluster. A crash report and the debug log say it again."""
    NOTICES.append(text)
    _log.debug("notice: %s", text)
    app.notify(safe(text, NOTICE_LIMIT), severity=severity, markup=False)
