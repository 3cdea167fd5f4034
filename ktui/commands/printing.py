"""Print rows the way kubectl does: columns by content, three spaces apart, no colours; and lines of text."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Sequence

from ktui.model.time import format_age
from ktui.ui.safe import cell_width, safe, to_ascii
from ktui.ui.wrap import wrap
from ktui.views.base import Column, Line, Row

_GAP = "   "
_LIMIT = 200  # cells; a longer text is cut in the table and whole in -o json and -o wide

_NARROWEST = 40  # cells; what is narrower yet is broken by the terminal


def paragraphs(lines: Iterable[Line]) -> str:
    """Lines for a terminal, broken to its width, or as they are for whoever reads a pipe. Cluster text is made safe here."""
    if sys.stdout.isatty():
        width = max(_NARROWEST, shutil.get_terminal_size().columns)
        lines = (broken for line in lines for broken in wrap(line, width))
    plain = "utf" not in (sys.stdout.encoding or "").lower()
    texts = ("".join(safe(cell.text) for cell in line).rstrip() for line in lines)
    return "".join(f"{to_ascii(text) if plain else text}\n" for text in texts)


def table(columns: Sequence[Column], rows: Iterable[Row], now: float, *, wide: bool = False) -> str:
    """The table as text with a final newline. Cluster text is made safe here, where it leaves for a terminal."""
    limit = None if wide else _LIMIT
    lines = [[column.title for column in columns]]
    lines += [[_text(row, i, column, now, limit) for i, column in enumerate(columns)] for row in rows]
    widths = [max(cell_width(line[i]) for line in lines) for i in range(len(columns))]
    return "".join(_line(line, widths) for line in lines)


def _text(row: Row, index: int, column: Column, now: float, limit: int | None) -> str:
    if column.kind == "age":
        return format_age(now - row.since) if row.since is not None else "-"
    return safe(row.cells[index].text, limit) or "-"


def _line(texts: list[str], widths: list[int]) -> str:
    padded = (text + " " * (width - cell_width(text)) for text, width in zip(texts, widths, strict=True))
    return _GAP.join(padded).rstrip() + "\n"
