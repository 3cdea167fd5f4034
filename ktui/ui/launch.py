"""Start the application in a terminal. What must happen before Textual is imported is here."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from ktui import crash
from ktui.errors import UsageError
from ktui.settings import Settings
from ktui.ui.heap import hold_collector, let_collector_look, settle_collector

if TYPE_CHECKING:
    from ktui.ui.session import Opener

_FOR_TEXTUAL: Final = {
    "ESCDELAY": "25",  # milliseconds after esc, where the terminal does not tell keys apart: 100 otherwise
    "TEXTUAL_ANIMATIONS": "none",
    "TEXTUAL_FPS": "200",  # a key that comes right after a frame is drawn with the next: a sixtieth of a second later otherwise
}


def run(opener: Opener, settings: Settings) -> int:
    """Run the UI until it is left; returns the exit code. Raises UsageError where there is no terminal for it, and whatever the
    UI failed with unexpectedly, once the terminal is as it was."""
    check_terminal()
    hold_collector()
    with _textual_told():
        from ktui.ui.app import KtuiApp
    from ktui.ui.driver import PatientDriver
    from ktui.ui.parting import take_leave

    app = KtuiApp(
        opener,
        theme=settings.theme,
        ascii_only=needs_ascii(settings),
        keys=settings.keys,
        on_painted=let_collector_look,
        on_settled=settle_collector,
    )
    app.run()
    code = app.return_code or 0
    if not PatientDriver.stuck:
        take_leave()
    if app.failure is not None and not PatientDriver.stuck:
        raise app.failure
    if PatientDriver.stuck:
        if app.failure is not None:
            crash.end(app.failure)  # the line for the person has no terminal to go to
        # The writer thread holds the buffer of stderr while it waits for the terminal; the interpreter's end would wait for it.
        os._exit(code)
    return code


@contextmanager
def _textual_told() -> Iterator[None]:
    """Textual asks the environment as it is imported. A person may say otherwise there; programs ktui starts are not meant."""
    said = {name: value for name, value in _FOR_TEXTUAL.items() if name not in os.environ}
    os.environ.update(said)
    try:
        yield
    finally:
        for name in said:
            del os.environ[name]


def check_terminal() -> None:
    """Raises UsageError where there is no terminal that can show screens."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("the screens need a terminal; `ktui get` prints to anything")
    term = os.environ.get("TERM", "") or "dumb"
    if term.lower() in (
        "dumb",
        "unknown",
    ):  # terminfo's names for what has no addressable cursor; Rich takes no size from them
        raise UsageError(f"TERM={term} cannot show screens; `ktui get` prints to anything")


def needs_ascii(settings: Settings) -> bool:
    """What the person chose; without a choice, whether the terminal's encoding has no more."""
    if settings.ascii is not None:
        return settings.ascii
    return "utf" not in (sys.stderr.encoding or "").lower()
