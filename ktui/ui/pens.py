"""In which style the terminal writes, and the shortest sequence that changes it.

A pen is one cell's style as ECMA-48 parameters. Blank cells have pens of their own, which leave open what does not show on a
blank: two blanks on one ground look the same whatever the colour of the text was.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from rich.color import Color, ColorSystem
from rich.style import Style

_ATTRIBUTES: Final = (
    ("bold", "1"),
    ("dim", "2"),
    ("italic", "3"),
    ("underline", "4"),
    ("blink", "5"),
    ("blink2", "6"),
    ("reverse", "7"),
    ("conceal", "8"),
    ("strike", "9"),
    ("underline2", "21"),
    ("frame", "51"),
    ("encircle", "52"),
    ("overline", "53"),
)
_OFF: Final = {
    "1": "22",
    "2": "22",
    "3": "23",
    "4": "24",
    "5": "25",
    "6": "25",
    "7": "27",
    "8": "28",
    "9": "29",
    "21": "24",
    "51": "54",
    "52": "54",
    "53": "55",
}
_SEEN_ON_BLANKS: Final = frozenset(("4", "7", "9", "21", "51", "52", "53"))
_DEFAULTS: Final = ("39", "49")  # foreground, background


class Pen(NamedTuple):
    """`attributes`, `foreground` and `background` are parameters of SGR; a `foreground` of None may be any."""

    attributes: tuple[str, ...] = ()
    foreground: str | None = ""
    background: str = ""


def change(before: Pen | None, after: Pen) -> tuple[str, Pen]:
    """The sequence that makes the terminal write with `after`, "" where it does so already; and the pen it then has.
    `before` is None where that is not known."""
    if before is None:
        codes = ["0", *after.attributes, after.foreground or "", after.background]
        return _sequence(codes), after._replace(foreground=after.foreground or "")
    foreground, attributes = after.foreground, after.attributes
    if foreground is None:
        foreground = before.foreground
        attributes = tuple(code for code in before.attributes if code not in _SEEN_ON_BLANKS)
    # Some go off together: what is to stay on is said again.
    off = dict.fromkeys(_OFF[code] for code in before.attributes if code not in attributes)
    codes = [*off, *(code for code in attributes if code not in before.attributes or _OFF[code] in off)]
    if foreground != before.foreground:
        codes.append(foreground or _DEFAULTS[0])
    if after.background != before.background:
        codes.append(after.background or _DEFAULTS[1])
    return _sequence(codes), Pen(attributes, foreground, after.background)


def _sequence(codes: list[str]) -> str:
    wanted = [code for code in codes if code]
    return f"\x1b[{';'.join(wanted)}m" if wanted else ""


class PenCase:
    """The pens of the styles in use, by what the terminal can colour. Equal pens are one."""

    def __init__(self, colours: str | None) -> None:
        """`colours` as `rich.console.Console.color_system` names it; None is taken for all."""
        self._colours = _COLOURS.get(colours or "truecolor", ColorSystem.TRUECOLOR)
        self._pens: dict[Style, tuple[Pen, Pen]] = {}
        self._known: dict[Pen, Pen] = {pen: pen for pen in _PLAIN}

    def of(self, style: Style | None) -> tuple[Pen, Pen]:
        """Of a style: the pen for what is seen, and the one for blanks."""
        if style is None:
            return _PLAIN
        found = self._pens.get(style)
        if found is None:
            found = self._pens[style] = self._made(style)
        return found

    def _made(self, style: Style) -> tuple[Pen, Pen]:
        attributes = tuple(code for name, code in _ATTRIBUTES if getattr(style, name))
        pen = Pen(attributes, self._codes(style.color), self._codes(style.bgcolor, foreground=False))
        return self._one(pen), self._one(_blank(pen))

    def _one(self, pen: Pen) -> Pen:
        return self._known.setdefault(pen, pen)

    def _codes(self, colour: Color | None, *, foreground: bool = True) -> str:
        return ";".join(colour.downgrade(self._colours).get_ansi_codes(foreground)) if colour is not None else ""


def _blank(pen: Pen) -> Pen:
    if any(code in _SEEN_ON_BLANKS for code in pen.attributes):
        return pen
    return Pen((), None, pen.background)


_PLAIN: Final = (Pen(), _blank(Pen()))
_COLOURS: Final = {
    "standard": ColorSystem.STANDARD,
    "256": ColorSystem.EIGHT_BIT,
    "truecolor": ColorSystem.TRUECOLOR,
    "windows": ColorSystem.WINDOWS,
}
