"""What should be on the terminal, what is there, and the fewest bytes from one to the other.

Screens draw whole regions: one line scrolled is a table drawn anew, 10 KB on a wide terminal, half a second of a slow line. Here
drawing only says what is wanted. `changes` is asked for when the terminal can take more; whatever was drawn in between is one
step then, from what the terminal shows to the newest state, and what lies between is never sent.

Words are written whole, so that what is on the screen can be found in the output, by people's tools as well as by tests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from operator import ne
from typing import Final, NamedTuple

from rich.cells import get_character_cell_size, split_graphemes
from rich.segment import Segment

from ktui.ui.pens import Pen, PenCase, change

_BLANK: Final = " "
_CONTROLS: Final = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)))  # of C0 and C1
_JOINING: Final = frozenset("\u200d\ufe0f")  # change how wide what they stand beside is
_GAP: Final = 4  # cells that are cheaper to write again than to move over
_WORTH_ERASING: Final = 8  # blanks that are cheaper to erase than to write
_WORTH_SCROLLING: Final = 4  # lines that move together, at least
_SCROLL_COST: Final = 24  # cells that could be written instead of moving lines


class _Line(NamedTuple):
    """One character a cell: "" where a wide one goes on, more than one where marks are put on one."""

    characters: list[str]
    pens: list[Pen]

    def same(self, other: _Line | None) -> bool:
        return other is not None and self.characters == other.characters and self.pens == other.pens

    def copy(self) -> _Line:
        return _Line(self.characters.copy(), self.pens.copy())

    @property
    def is_odd(self) -> bool:
        """Whether terminals may disagree about how wide it is: then only the whole of it can be drawn anew."""
        return "" in self.characters or max(map(len, self.characters)) > 1

    def differing(self, other: _Line) -> list[int]:
        """Cells that look different."""
        cells = zip(self.characters, other.characters, self.pens, other.pens, strict=True)
        return [x for x, (mine, its, pen, its_pen) in enumerate(cells) if mine != its or pen is not its_pen]

    def distance(self, other: _Line | None) -> int:
        """How many characters differ."""
        return len(self.characters) if other is None else sum(map(ne, self.characters, other.characters))


class _Piece(NamedTuple):
    """Output at a place of a line, and where it leaves the cursor."""

    start: int
    ends_at: int
    pen: Pen
    output: str


class Scroll(NamedTuple):
    """Lines `top` to `bottom` move by `by` lines, up where that is positive."""

    top: int
    bottom: int
    by: int


class Canvas:
    """`erases` says that erased cells get the ground of the pen (terminfo's bce)."""

    def __init__(self, colours: str | None = "truecolor", *, erases: bool = False) -> None:
        self._pens = PenCase(colours)
        self._erases = erases
        self._width = self._height = 0
        self._wanted: list[_Line | None] = []
        self._shown: list[_Line | None] = []
        self._dirty: set[int] = set()
        self._pen: Pen | None = None  # that the terminal writes with

    @property
    def size(self) -> tuple[int, int]:
        """Columns and lines."""
        return self._width, self._height

    @property
    def changed(self) -> bool:
        """Whether something was drawn that may not be on the terminal."""
        return bool(self._dirty)

    def resize(self, width: int, height: int) -> None:
        """What a terminal of another size shows is not known; everything is about to be drawn again."""
        if (width, height) != (self._width, self._height):
            self._width, self._height = width, height
            self._wanted = [None] * height
            self._shown = [None] * height
            self._dirty.clear()
            self._pen = None

    def forget(self) -> None:
        """Something else wrote to the terminal: everything is to be written again."""
        self._shown = [None] * self._height
        self._dirty = {y for y, line in enumerate(self._wanted) if line is not None}
        self._pen = None

    def draw(self, x: int, y: int, segments: Iterable[Segment]) -> None:
        """Want these from a cell on; what lies outside of the screen is left out."""
        if not 0 <= y < self._height or x >= self._width:
            return
        line = self._wanted[y]
        if line is None:
            blank = self._pens.of(None)[1]
            line = self._wanted[y] = _Line([_BLANK] * self._width, [blank] * self._width)
        characters, pens = self._cells(segments)
        skipped, room = max(0, -x), self._width - x
        _cut(characters, skipped)
        _cut(characters, room)
        characters, pens = characters[skipped:room], pens[skipped:room]
        start = max(0, x)
        end = start + len(characters)
        _cut(line.characters, start)
        _cut(line.characters, end)
        line.characters[start:end] = characters
        line.pens[start:end] = pens
        self._dirty.add(y)

    def _cells(self, segments: Iterable[Segment]) -> tuple[list[str], list[Pen]]:
        characters: list[str] = []
        pens: list[Pen] = []
        for text, style, control in segments:
            if control:
                continue
            pen, blank = self._pens.of(style)
            if text.isascii() and text.isprintable():
                characters += text
                pens += [blank if character == _BLANK else pen for character in text]
                continue
            for glyph, width in _glyphs(text):
                if width:
                    characters += (glyph, *[""] * (width - 1))
                    pens += [blank if glyph == _BLANK else pen] * width
                elif characters and glyph:
                    place = len(characters) - 1 - (not characters[-1] and len(characters) > 1)
                    characters[place] += glyph
                    pens[place] = pen  # the mark is seen, whatever it stands on
        return characters, pens

    # --- from what is there to what is wanted ---

    def changes(self) -> str:
        """What to write; afterwards the terminal is taken to show what is wanted. "" where it does."""
        lines = [y for y in sorted(self._dirty) if not self._is_shown(y)]
        self._dirty.clear()
        written: list[str] = []
        if (scroll := self._scroll(lines)) is not None:
            written.append(self._scrolled(scroll))
            lines = [y for y in range(self._height) if y in lines or scroll.top <= y <= scroll.bottom]
        for y in lines:
            wanted, shown = self._wanted[y], self._shown[y]
            if wanted is not None and not wanted.same(shown):
                written += self._line(y, wanted, shown)
                self._shown[y] = wanted.copy()
        return "".join(written)

    def _is_shown(self, y: int) -> bool:
        wanted = self._wanted[y]
        return wanted is None or wanted.same(self._shown[y])

    def _line(self, y: int, wanted: _Line, shown: _Line | None) -> Iterator[str]:
        """Lines wrap nowhere: a cell in the last column leaves the cursor there. Where a terminal may take other numbers of cells
        for characters, nothing of the old line is left, and what is written with another pen begins in its column again."""
        at = -1  # where the cursor is, -1 while that is not known
        anew = wanted.is_odd or (shown is not None and shown.is_odd)
        if anew:
            sequence, self._pen = change(self._pen, wanted.pens[0])
            yield f"{_move(0, y)}{sequence}\x1b[K"
        for start, end in _joined(_runs(wanted, shown), wanted):
            for piece in self._pieces(wanted, start, end):
                yield "" if at == piece.start else f"\x1b[{piece.start - at}C" if at >= 0 else _move(piece.start, y)
                sequence, self._pen = change(self._pen, piece.pen)
                yield sequence + piece.output
                at = -1 if anew else piece.ends_at

    def _pieces(self, line: _Line, start: int, end: int) -> Iterator[_Piece]:
        """What is written with one pen."""
        x = start
        while x < end:
            pen = line.pens[x]
            stop = next((n for n in range(x + 1, end) if line.pens[n] != pen), end)
            blanks = stop - x if pen.foreground is None else 0
            if self._erases and blanks >= _WORTH_ERASING:
                yield _Piece(x, x, pen, "\x1b[K" if stop == self._width else f"\x1b[{blanks}X")
            else:
                yield _Piece(x, stop, pen, "".join(line.characters[x:stop]))
            x = stop

    # --- lines that moved ---

    def _scroll(self, lines: Sequence[int]) -> Scroll | None:
        """The movement that spares the most, None where writing the lines is as cheap."""
        if len(lines) < _WORTH_SCROLLING:
            return None
        places = {
            "".join(line.characters[: self._width // 2]): y for y, line in enumerate(self._shown) if line is not None
        }
        moves: dict[int, int] = {}
        for y in lines:
            wanted = self._wanted[y]
            if wanted is not None and not wanted.is_odd:
                text = "".join(wanted.characters[: self._width // 2])
                if not text.isspace() and (place := places.get(text, y)) != y:
                    moves[y] = place - y
        if not moves:
            return None
        (by, votes), *_ = Counter(moves.values()).most_common(1)
        moved = [y for y, distance in moves.items() if distance == by]
        if votes < _WORTH_SCROLLING:
            return None
        scroll = Scroll(min(*moved, *(y + by for y in moved)), max(*moved, *(y + by for y in moved)), by)
        region = range(scroll.top, scroll.bottom + 1)
        if any(self._wanted[y] is None for y in region):
            return None
        kept = sum(self._cost(y, y) for y in region)
        after = sum(self._cost(y, y + by if y + by in region else None) for y in region)
        return scroll if after + _SCROLL_COST < kept else None

    def _cost(self, y: int, place: int | None) -> int:
        wanted = self._wanted[y]
        shown = self._shown[place] if place is not None else None
        return wanted.distance(shown) if wanted is not None else 0

    def _scrolled(self, scroll: Scroll) -> str:
        """By a region that scrolls, as terminals have had them from the VT100 on. What comes in at its edge is not known: it has
        the ground of the pen, or none."""
        count, size = abs(scroll.by), scroll.bottom - scroll.top + 1
        lines = self._shown[scroll.top : scroll.bottom + 1]
        new: list[_Line | None] = [None] * min(count, size)
        if scroll.by > 0:
            edge, step = scroll.bottom, "\n"
            self._shown[scroll.top : scroll.bottom + 1] = [*lines[count:], *new]
        else:
            edge, step = scroll.top, "\x1bM"
            self._shown[scroll.top : scroll.bottom + 1] = [*new, *lines[: size - len(new)]]
        return f"\x1b[{scroll.top + 1};{scroll.bottom + 1}r\x1b[{edge + 1}H{step * len(new)}\x1b[r"


def _glyphs(text: str) -> Iterator[tuple[str, int]]:
    """What is drawn together, and its cells as Textual counts them: 0 for what belongs to the one before. Controls are left out:
    a terminal would obey them."""
    text = text.translate(_CONTROLS)
    if _JOINING.isdisjoint(text):
        for character in text:
            yield character, get_character_cell_size(character)
        return
    for start, end, width in split_graphemes(text)[0]:
        yield text[start:end], width


def _cut(characters: list[str], place: int) -> None:
    """Make blanks of a wide character that is cut in two there."""
    if 0 < place < len(characters) and characters[place] == "":
        characters[place - 1] = characters[place] = _BLANK


def _runs(wanted: _Line, shown: _Line | None) -> Iterator[tuple[int, int]]:
    """Cells to write, as (start, end): those that differ, whole words of them, and what little lies between."""
    width = len(wanted.characters)
    if shown is None or wanted.is_odd or shown.is_odd:
        yield 0, width
        return
    start = end = -1
    for x in wanted.differing(shown):
        if x < end:
            continue
        first, last = _word(wanted, x)
        if start < 0:
            start = first
        elif first - end > _GAP:
            yield start, end
            start = first
        end = last
    if start >= 0:
        yield start, end


def _joined(runs: Iterable[tuple[int, int]], line: _Line) -> Iterator[tuple[int, int]]:
    """Runs with nothing but blanks of one ground between them are one: erasing more costs nothing."""
    start = end = -1
    for first, last in runs:
        if start < 0:
            start = first
        elif (ground := line.pens[end - 1]).foreground is not None or any(
            p != ground for p in line.pens[end : first + 1]
        ):
            yield start, end
            start = first
        end = last
    if start >= 0:
        yield start, end


def _move(x: int, y: int) -> str:
    return f"\x1b[{y + 1};{x + 1}H" if x else f"\x1b[{y + 1}H"


def _word(line: _Line, x: int) -> tuple[int, int]:
    """The blanks or the word that a cell is part of."""
    if line.characters[x] == _BLANK:
        return x, x + 1
    start, end = x, x + 1
    while start > 0 and line.characters[start - 1] != _BLANK:
        start -= 1
    while end < len(line.characters) and line.characters[end] != _BLANK:
        end += 1
    return start, end
