"""Lines of cells broken to a width: at spaces where possible, continuation lines under the value they continue."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ktui.ui.safe import cell_width, cut, safe
from ktui.views.base import Cell, Line

LINE_LIMIT: Final = 4000  # cells of one logical line; longer text is cut and counted, the YAML view has it whole

_WORDS: Final = re.compile(r"\n| +|[^ \n]+")
_WIDEST_INDENT: Final = 16


def wrap(line: Line, width: int) -> tuple[Line, ...]:
    """The screen lines of one line of cells, each at most `width` cells; texts come back safe. At least one line."""
    width = max(1, width)
    indent = _indent(line, width)
    lines: list[list[Cell]] = [[]]
    used = 0
    for cell in line:
        for word in _words(cell.text):
            if word == "\n" or (used + cell_width(word) > width and used > indent):
                lines.append([Cell(" " * indent)] if indent else [])
                used = indent
                if word == "\n" or word.isspace():
                    continue
            for piece in _pieces(word, width - used, width - indent):
                if used + cell_width(piece) > width:
                    lines.append([Cell(" " * indent)] if indent else [])
                    used = indent
                lines[-1].append(Cell(piece, cell.style))
                used += cell_width(piece)
    return tuple(_joined(cells) for cells in lines)


def _indent(line: Line, width: int) -> int:
    """Cells a continuation starts with: the width of a label in front, or the line's own indent."""
    if not line:
        return 0
    first = line[0].text
    own = len(first) - len(first.lstrip(" "))
    label = cell_width(safe(first, _WIDEST_INDENT)) if len(line) > 1 and first.endswith(" ") else own
    return label if label <= min(_WIDEST_INDENT, width // 3) else 0


def _words(text: str) -> Iterator[str]:
    return (found[0] for found in _WORDS.finditer(safe(text, LINE_LIMIT, multiline=True)))


def _pieces(word: str, first: int, rest: int) -> Iterator[str]:
    """`word` in pieces of at most `first`, then `rest` cells."""
    room = first
    while word:
        piece = cut(word, room) or (cut(word, rest) or word[0])
        yield piece
        word = word[len(piece) :]
        room = rest


def _joined(cells: list[Cell]) -> Line:
    """Neighbours of one style as one cell."""
    joined: list[Cell] = []
    for cell in cells:
        if joined and joined[-1].style == cell.style:
            joined[-1] = Cell(joined[-1].text + cell.text, cell.style)
        else:
            joined.append(cell)
    return tuple(joined)
