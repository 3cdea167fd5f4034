"""A terminal that reads slowly, or not at all, must not stop the program, and shows the newest state when it reads on.

Textual hands its output to a writer thread through a queue of 30 writes; when the terminal stalls, the next write would
block the event loop, and with it every watch. Here what is drawn goes to a canvas, and from there to the terminal when that has
taken what was sent before: one write at a time, a little more than the terminal has acknowledged. So what is on its way is
bounded, and so is what waits. Leaving does not wait for a terminal that reads nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
import time
from queue import Empty
from typing import TYPE_CHECKING, Any, ClassVar, Final, TextIO, cast

from rich.console import Console
from textual import events
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.driver import Driver
from textual.drivers._writer_thread import WriterThread
from textual.drivers.linux_driver import LinuxDriver
from textual.geometry import Offset, Size
from textual.message import Message

from ktui.turns import TURNS
from ktui.ui.canvas import Canvas
from ktui.ui.flow import QUESTION, Flow
from ktui.ui.listener import Listener

if TYPE_CHECKING:
    from textual.app import App

_BEGIN_FRAME: Final = "\x1b[?2026h"
_END_OF_FRAME: Final = "\x1b[?2026l"  # the frame it ends may be among those dropped
_LOOK_AGAIN: Final = 0.05  # seconds; a terminal that acknowledges is not waited for that way
_GATHER: Final = 0.015  # seconds; what a key does is often drawn in parts, and later parts undo earlier ones
_PATIENCE: Final = 1.0  # seconds that leaving waits for the last answer, and for the last output
_QUIET: Final = "\x1b[?1004l"  # nothing is said of the focus any more
_PLAIN_PEN: Final = "\x1b[0m"  # not all terminals have a pen of their own for the screen that is left
_MOMENT: Final = 0.002  # seconds that a terminal takes at most for a frame, if it takes it at once


class PatientDriver(LinuxDriver):
    """Textual's driver whose writes never block. Uses the writer thread's queue, which has no public face."""

    _writer_thread: WriterThread | None
    stuck: ClassVar[bool] = False  # the terminal did not take the last output of an application that has ended

    canvas: Canvas | None = None
    alt_keys: frozenset[str] = frozenset()  # that mean something, e.g. "alt+x"
    _flow: Flow | None = None
    _listener: Listener | None = None
    _synchronised = False
    _cursor = Offset(0, 0)
    _looking: asyncio.TimerHandle | None = None
    _resuming = False

    def __init__(
        self, app: App[Any], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._questions = _Questions()
        self._outlet = _Outlet(cast("TextIO", self._file))
        self._file = self._outlet  # type: ignore[assignment]  # all of a file that the writer thread needs

    def start_application_mode(self) -> None:
        _forget_option_keys()
        self._questions = _Questions()
        super().start_application_mode()  # type: ignore[no-untyped-call]
        self._flow = Flow(time.monotonic)
        if self._writer_thread is not None:
            self._writer_thread._queue.maxsize = 0
            self._listener = Listener(self.fileno, self.process_message, self._hung_up, debug=self._debug)
        self.draw_anew()

    def resume_application_mode(self) -> None:
        """SIGCONT comes after SIGSTOP as well, which nobody can prepare for: how the terminal was set meanwhile is not known."""
        if self._writer_thread is None:
            super().resume_application_mode()
        elif not self._resuming:  # giving up the terminal may stop the process again, in the background
            self._resuming, before = True, self.attrs_before
            try:
                self.suspend_application_mode()
                super().resume_application_mode()
            finally:
                self._resuming, self.attrs_before = False, before

    def draw_anew(self) -> None:
        """Write all of the screen again, whatever the terminal is believed to show."""
        if self.canvas is not None:
            self.canvas.forget()
            self.catch_up()

    def resized(self, size: Size) -> None:
        """The terminal says that it has this size. Where that is the one it had, it may have had another one in between, and lost
        what did not fit."""
        if self.canvas is not None and self.canvas.size == size:
            self.draw_anew()

    def show(
        self, update: CompositorUpdate, size: Size, cursor: Offset, console: Console, *, synchronised: bool
    ) -> None:
        """Have the screen look like that, soon. `cursor` is where the terminal is to leave its own; `synchronised` says that it
        can show a frame all at once."""
        if self.canvas is None:
            self.canvas = Canvas(console.color_system, erases=_erases())
        self._cursor, self._synchronised = cursor, synchronised
        self.canvas.resize(*size)
        draw(self.canvas, update)
        if self._flow is not None and self._flow.is_far:
            self._look_again(_GATHER)
        else:
            self.catch_up()

    def catch_up(self) -> None:
        """Send what differs, or look again when the terminal has taken what was sent before."""
        canvas, flow, writer = self.canvas, self._flow, self._writer_thread
        if canvas is None or flow is None or writer is None or not canvas.changed:
            return
        if writer._queue.qsize() or not flow.may_send():
            self._look_again(_LOOK_AGAIN)
        elif frame := canvas.changes():
            frame += f"\x1b[{self._cursor.y + 1};{self._cursor.x + 1}H"
            output = flow.sending(f"{_BEGIN_FRAME}{frame}{_END_OF_FRAME}" if self._synchronised else frame)
            self._questions.asked(output)
            self._outlet.is_empty.clear()
            writer.write(output)
            # The writer gets the interpreter's lock now, not when the loop has nothing else to do, which may be much later.
            self._outlet.is_empty.wait(_MOMENT)

    def answered(self) -> None:
        """The terminal has answered."""
        if self._flow is not None:
            self._flow.answered()
            self.catch_up()

    @property
    def is_behind(self) -> bool:
        """Whether the terminal still has to take what was drawn before."""
        return self.canvas is not None and self.canvas.changed

    def _look_again(self, seconds: float) -> None:
        if self._looking is None:
            self._looking = asyncio.get_running_loop().call_later(seconds, self._look)

    def _look(self) -> None:
        self._looking = None
        self.catch_up()

    def run_input_thread(self) -> None:
        """The loop reads: Textual's thread for it ends at once."""

    def send_message(self, message: Message) -> None:
        """In the loop's own thread, so that a key is the next thing it looks at."""
        self._app.post_message(message)

    def process_message(self, message: Message) -> None:
        if isinstance(message, events.CursorPosition):
            self._questions.answered()
        if isinstance(message, events.Key):
            TURNS.key_came()
        for each in parted(message, self.alt_keys):
            super().process_message(each)

    def stop_application_mode(self) -> None:
        """What is still queued will not be seen: drop it, so that a slow terminal is put back soon. Then nothing more is to come
        from the terminal, whoever reads there next: its last answer comes after all that it had to say."""
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None
        self._flow = None
        if self._writer_thread is not None:
            with contextlib.suppress(Empty):
                while True:
                    self._questions.dropped(self._writer_thread._queue.get_nowait() or "")
            self._writer_thread.write(_END_OF_FRAME + _PLAIN_PEN)
            self._hear_out()
        super().stop_application_mode()

    def _hear_out(self) -> None:
        self._disable_mouse_support()
        last = _QUIET
        if self._questions.ever_answered:
            last += QUESTION
            self._questions.asked(last)
        self.write(last)
        if self._listener is not None and self._listener.is_listening:
            self._listener.stop()
            self._listener.hear_out(
                lambda: self._questions.are_answered, self._questions.since + _PATIENCE - time.monotonic()
            )

    def _hung_up(self) -> None:
        """The system tells those whose controlling terminal it was by a signal; all others have to leave by themselves."""
        self._app.exit(return_code=128 + signal.SIGHUP)

    def disable_input(self) -> None:
        if self._listener is not None:
            self._listener.stop()
        super().disable_input()

    def close(self) -> None:
        writer, self._writer_thread = self._writer_thread, None
        if writer is not None:
            writer._queue.put(None)
            writer.join(_PATIENCE)
            PatientDriver.stuck = writer.is_alive()
        super().close()


class _Outlet:
    """The terminal's file as the writer thread uses it; `is_empty` when the terminal has taken what was written."""

    def __init__(self, file: TextIO) -> None:
        self.write = file.write
        self.fileno = file.fileno
        self._flush = file.flush
        self.is_empty = threading.Event()

    def flush(self) -> None:
        self._flush()
        self.is_empty.set()


class _Questions:
    """How many the terminal still has to answer."""

    def __init__(self) -> None:
        self._open = 0
        self.since = 0.0  # when the last was asked
        self.ever_answered = False  # by this terminal

    @property
    def are_answered(self) -> bool:
        return self._open <= 0

    def asked(self, output: str) -> None:
        if questions := output.count(QUESTION):
            self._open += questions
            self.since = time.monotonic()

    def dropped(self, output: str) -> None:
        self._open -= output.count(QUESTION)

    def answered(self) -> None:
        self._open = max(0, self._open - 1)  # of a key that looks like an answer, or a late one, nothing is made
        self.ever_answered = True


def parted(message: Message, alt_keys: frozenset[str]) -> tuple[Message, ...]:
    """Escape and a key after it arrive as one read from a slow line, which looks like that key with alt. It was two keys unless
    alt means something there; vim does so, too."""
    if isinstance(message, events.Key) and message.key.startswith("alt+") and message.key not in alt_keys:
        character = message.character
        if character is not None and len(character) == 1 and character.isalnum():
            return events.Key("escape", "\x1b"), events.Key(character, character)
    return (message,)


def _forget_option_keys() -> None:
    """Textual takes escape and a digit for what a Mac writes with Option (5 is ∞ there): then the digit could not be told."""
    known = cast("dict[str, object]", ANSI_SEQUENCES_KEYS)
    for sequence in [each for each, keys in known.items() if len(each) == 2 and isinstance(keys, str)]:
        del known[sequence]


def draw(canvas: Canvas, update: CompositorUpdate) -> None:
    """What the compositor has drawn anew."""
    if isinstance(update, LayoutUpdate):
        for y, strips in enumerate(update.strips, update.region.y):
            x = update.region.x
            for part in strips:
                canvas.draw(x, y, part)
                x += part.cell_length
    elif isinstance(update, ChopsUpdate):
        for y, left, right in update.spans:
            # What lies outside of the spans was drawn without the widgets that stand in front there.
            for (x, strip), end in zip(update.chops[y].items(), update.chop_ends[y], strict=False):
                if strip is not None and x < right and end > left:
                    canvas.draw(x, y, strip)


def _erases() -> bool:
    """Whether the terminal erases any number of cells, to the ground of the pen."""
    try:
        import curses

        curses.setupterm(os.environ.get("TERM"), 2)
        return bool(curses.tigetflag("bce") > 0 and curses.tigetstr("ech"))
    except (ImportError, OSError, ValueError):
        return False
    except curses.error:
        return False


def is_behind(driver: Driver | None) -> bool:
    """Whether there is output that the terminal cannot take yet; never where output goes nowhere."""
    return isinstance(driver, PatientDriver) and driver.is_behind


def redraw(app: App[Any]) -> None:
    """Write all of the screen again, whatever the terminal is believed to show."""
    if isinstance(app._driver, PatientDriver):
        app._driver.draw_anew()
