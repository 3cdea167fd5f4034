"""Cluster text made safe to print: the one function between raw text and a terminal.

Whoever may create an Event, label or device attribute chooses what an on-call terminal prints, and the widget library
hands escape sequences through. After `safe`, a string holds only characters that draw a glyph: everything that moves
the cursor, talks to the terminal, reorders, hides or piles up is replaced by a visible form. Pure: no Textual, no Rich.

Widths are in terminal cells, by the tables of Unicode 16 that Textual's own layout uses, so columns stay straight.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

MAX_MARKS: Final = 3  # combining marks one base character may carry; Vietnamese, Hebrew and Thai need at most three

_TAB: Final = " " * 4
_KNOWN_LIMIT: Final = 8192  # hostile text may use every code point; the table of known ones stays small

# Draw nothing, or a blank that passes for "no character", though Unicode calls them letters or marks.
_INVISIBLE: Final = frozenset(
    (
        *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x3164, 0xFFA0),
        *range(0xFE00, 0xFE10),
        *range(0xE0000, 0xE1000),
    )
)
# Format (bidi controls and zero width among them), line and paragraph separators, private use, surrogates, unassigned.
_HIDDEN_CATEGORIES: Final = frozenset(("Cf", "Zl", "Zp", "Co", "Cs", "Cn"))
_WIDE_SINCE_UNICODE_16: Final = (
    (0x2630, 0x2637),
    (0x268A, 0x268F),
    (0x4DC0, 0x4DFF),
    (0x1D300, 0x1D356),
    (0x1D360, 0x1D376),
)
_CONJOINING_JAMO: Final = ((0x1160, 0x11FF), (0xD7B0, 0xD7FF))  # vowels and finals join the syllable before them
_SKIN_TONES: Final = (0x1F3FB, 0x1F3FF)

_PLAIN: Final = re.compile(r"[\x20-\x7e]*")
_PLAIN_LINES: Final = re.compile(r"[\x20-\x7e\n]*")
_OBJECT_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9./-]*[a-z0-9])?")


@lru_cache(maxsize=4096)
def _character_width(character: str) -> int:
    """Cells of one character that `safe` lets through: 0 (it joins the one before it), 1 or 2."""
    code = ord(character)
    if unicodedata.category(character) in ("Mn", "Me", "Mc") or _within(code, (_SKIN_TONES, *_CONJOINING_JAMO)):
        return 0
    if unicodedata.east_asian_width(character) in "WF" or _within(code, _WIDE_SINCE_UNICODE_16):
        return 2
    return 1


def _within(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code <= last for first, last in ranges)


def cell_width(text: str) -> int:
    """Terminal cells that `text` takes. `text` has been through `safe`; a newline counts as one."""
    return len(text) if text.isascii() else sum(map(_character_width, text))


class _VisibleForms(dict[int, int | str]):
    """A table for `str.translate` that learns the code points it meets: known ones cost one lookup in C."""

    def __init__(self, *, multiline: bool) -> None:
        super().__init__({10: 10, 9: _TAB} if multiline else {})

    def __missing__(self, code: int) -> int | str:
        form = _visible_form(code)
        if len(self) < _KNOWN_LIMIT:
            self[code] = form
        return form


def _visible_form(code: int) -> int | str:
    if code < 0x20:
        return 0x2400 + code  # control pictures: ESC is drawn as one small "ESC"
    if code == 0x7F:
        return 0x2421
    if code == 0x85:
        return _named(code)  # NEL is a line separator like U+2028 and shown like it
    if 0x80 <= code < 0xA0:
        return f"\\x{code:02x}"
    if code in _INVISIBLE or unicodedata.category(chr(code)) in _HIDDEN_CATEGORIES:
        return _named(code)
    return code


def _named(code: int) -> str:
    return f"‹U+{code:04X}›"


_ONE_LINE: Final = _VisibleForms(multiline=False)
_MANY_LINES: Final = _VisibleForms(multiline=True)


def _visible(text: str, *, multiline: bool) -> str:
    if (_PLAIN_LINES if multiline else _PLAIN).fullmatch(text):
        return text
    shown = text.translate(_MANY_LINES if multiline else _ONE_LINE)
    return shown if shown.isascii() else _thin_marks(shown)


def _thin_marks(text: str) -> str:
    """At most MAX_MARKS zero-width marks on a base; the number dropped stands there. Marks without a base are named."""
    marks = "".join(sorted(character for character in set(text) if not _character_width(character)))
    if not marks:
        return text
    any_mark = f"[{re.escape(marks)}]"
    text = re.sub(rf"(?m)^{any_mark}+", lambda found: "".join(_named(ord(mark)) for mark in found[0]), text)
    return re.sub(rf"({any_mark}{{{MAX_MARKS}}})({any_mark}+)", lambda found: f"{found[1]}‹+{len(found[2])}›", text)


def safe(text: str, limit: int | None = None, *, multiline: bool = False) -> str:
    """`text` with everything that does not draw a glyph replaced by a visible form; idempotent.

    C0 and DEL become control pictures, C1 \\xNN; bidi controls, invisible, private, unassigned and surrogate code
    points ‹U+XXXX›. With `multiline`, newlines stay and a tab is four spaces; otherwise both are pictures, so a field
    cannot leave its line. `limit` is in cells: what does not fit is cut and counted in characters, "… +n", and the work
    is bounded by it.
    """
    if limit is None:
        return _visible(text, multiline=multiline)
    shown, rest = _head(text, limit, multiline=multiline)
    if not rest and cell_width(shown) <= limit:
        return shown
    tail_width = len(f"… +{len(shown) + rest}")
    if tail_width > limit:
        return cut(shown, limit - 1) + "…" if limit > 0 else ""
    kept = cut(shown, limit - tail_width)
    return f"{kept}… +{len(shown) - len(kept) + rest}"


def fit(text: str, width: int, ellipsis: str = "…") -> str:
    """`text`, safe and on one line, in at most `width` cells; for columns, where a count would not fit."""
    shown, rest = _head(text, width, multiline=False)
    if not rest and cell_width(shown) <= width:
        return shown
    return cut(shown, width - len(ellipsis)) + ellipsis if width >= len(ellipsis) else ""


def _head(text: str, limit: int, *, multiline: bool) -> tuple[str, int]:
    """The visible form of enough of `text` to fill `limit` cells, and how many characters were not looked at."""
    window = (limit + 1) * (MAX_MARKS + 1)
    return _visible(text[:window], multiline=multiline), max(0, len(text) - window)


def cut(shown: str, width: int) -> str:
    """The longest beginning of safe text that fits; a wide character is never split, marks stay with their base."""
    if shown.isascii():
        return shown[: max(0, width)]
    used = 0
    for index, character in enumerate(shown):
        used += _character_width(character)
        if used > width:
            return shown[:index]
    return shown


_ASCII_FORMS: Final = str.maketrans(
    {
        "…": "...",
        "·": "|",
        "—": "-",
        "–": "-",
        "−": "-",
        "×": "x",
        "→": "->",
        "←": "<-",
        "≥": ">=",
        "≤": "<=",
        "◀": "<",
        "█": "#",
    }
    | {"▲": "!", "●": "o", "○": ".", "✖": "x"}  # as `ktui.ui.glyphs` has them
)


def to_ascii(text: str) -> str:
    """Safe text for a terminal that draws ASCII only: "…" is "...", anything else "\\u00e9"-style; it grows."""
    if text.isascii():
        return text
    return text.translate(_ASCII_FORMS).encode("ascii", "backslashreplace").decode("ascii")


def odd_name(text: str) -> bool:
    """Whether `text`, which should be an object's name (RFC 1123, with "/" between parts), holds anything else."""
    return not _OBJECT_NAME.fullmatch(text)
