"""The themes. Only colours are here; what has which colour is said in styles/*.tcss by token.

Each theme defines the tones of cells as `$tone-ok` and so on. In the colour-blind-safe theme no two tones are told apart
by red against green (Okabe and Ito's palette); the ansi theme leaves every colour to the terminal.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from textual.theme import BUILTIN_THEMES, Theme


def _theme(name: str, *, dark: bool, ground: tuple[str, str, str, str], tones: tuple[str, str, str, str, str]) -> Theme:
    """`ground`: background, surface, cursor line, foreground. `tones`: dim, ok, warn, bad, accent."""
    background, surface, cursor, foreground = ground
    dim, ok, warn, bad, accent = tones
    return Theme(
        name=name,
        dark=dark,
        primary=accent,
        secondary=dim,
        success=ok,
        warning=warn,
        error=bad,
        accent=accent,
        background=background,
        surface=surface,
        panel=surface,
        foreground=foreground,
        variables={
            "tone-dim": dim,
            "tone-ok": ok,
            "tone-warn": warn,
            "tone-bad": bad,
            "tone-accent": accent,
            "cursor-line": cursor,
            "alarm-text": background if dark else "#ffffff",
            "scrollbar": dim,
            "scrollbar-background": background,
            "scrollbar-background-hover": surface,
            "scrollbar-background-active": surface,
        },
    )


DARK: Final = _theme(
    "dark",
    dark=True,
    ground=("#11151a", "#1a2028", "#2b3542", "#d7dde4"),
    tones=("#8b96a3", "#6fc48d", "#e3b256", "#f4807f", "#7db8f5"),
)
LIGHT: Final = _theme(
    "light",
    dark=False,
    ground=("#fbfbf8", "#f0f0eb", "#d9e4f0", "#23272c"),
    tones=("#646b73", "#1a7440", "#8a5600", "#b3261e", "#1c5aa0"),
)
COLOUR_BLIND: Final = _theme(
    "colorblind",
    dark=True,
    ground=("#11151a", "#1a2028", "#2b3542", "#e4e8ec"),
    tones=("#939daa", "#56b4e9", "#f0e442", "#ff8f45", "#d99bc0"),
)
_ANSI_BRIGHT_BLACK: Final = "ansi_bright_black"
_TERMINAL: Final = BUILTIN_THEMES["ansi-dark"]
ANSI: Final = replace(
    _TERMINAL,
    name="ansi",
    variables={
        **_TERMINAL.variables,
        "tone-dim": _ANSI_BRIGHT_BLACK,
        "tone-ok": "ansi_green",
        "tone-warn": "ansi_yellow",
        "tone-bad": "ansi_red",
        "tone-accent": "ansi_cyan",
        "cursor-line": "ansi_default",
        "alarm-text": "ansi_black",
        "scrollbar": _ANSI_BRIGHT_BLACK,
        "scrollbar-background": "ansi_default",
    },
)

THEMES: Final = {theme.name: theme for theme in (DARK, LIGHT, COLOUR_BLIND, ANSI)}
