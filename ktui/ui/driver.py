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
import time
from queue import Empty
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from rich.console import Console
from textual import events
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.driver import Driver
from textual.drivers._writer_thread import WriterThread
from textual.drivers.linux_driver import LinuxDriver
from textual.geometry import Offset, Size
from textual.message import Message

from ktui.ui.canvas import Canvas
from ktui.ui.flow import Flow

if TYPE_CHECKING:
    from textual.app import App

_BEGIN_FRAME: Final = "\x1b[?2026h"
_END_OF_FRAME: Final = "\x1b[?2026l"  # the frame it ends may be among those dropped
_LOOK_AGAIN: Final = 0.05  # seconds; a terminal that acknowledges is not waited for that way
_GATHER: Final = 0.015  # seconds; what a key does is often drawn in parts, and later parts undo earlier ones
_PATIENCE: Final = 1.0  # seconds that leaving waits for the last output


class PatientDriver(LinuxDriver):
    """Textual's driver whose writes never block. Uses the writer thread's queue, which has no public face."""

    _writer_thread: WriterThread | None
    stuck: ClassVar[bool] = False  # the terminal did not take the last output of an application that has ended

    canvas: Canvas | None = None
    alt_keys: frozenset[str] = frozenset()  # that mean something, e.g. "alt+x"
    _flow: Flow | None = None
    _synchronised = False
    _cursor = Offset(0, 0)
    _looking: asyncio.TimerHandle | None = None

    def start_application_mode(self) -> None:
        _forget_option_keys()
        super().start_application_mode()  # type: ignore[no-untyped-call]
        self._flow = Flow(time.monotonic)
        if self.canvas is not None:
            self.canvas.forget()
        if self._writer_thread is not None:
            self._writer_thread._queue.maxsize = 0

    def show(
        self, update: CompositorUpdate, size: Size, cursor: Offset, console: Console, *, synchronised: bool
    ) -> None:
        """Have the screen look like that, soon. `cursor` is where the terminal is to leave its own; `synchronised` says that it
        can show a frame all at once."""
        if self.canvas is None:
            self.canvas = Canvas(console.color_system, erases=_erases())
        self._cursor, self._synchronised = cursor, synchronised
        self.canvas.resize(*size)
        _draw(self.canvas, update)
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
            writer.write(flow.sending(f"{_BEGIN_FRAME}{frame}{_END_OF_FRAME}" if self._synchronised else frame))

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

    def process_message(self, message: Message) -> None:
        for each in parted(message, self.alt_keys):
            super().process_message(each)

    def stop_application_mode(self) -> None:
        """What is still queued will not be seen: drop it, so that a slow terminal is put back soon."""
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None
        self._flow = None
        if self._writer_thread is not None:
            with contextlib.suppress(Empty):
                while True:
                    self._writer_thread._queue.get_nowait()
            self._writer_thread.write(_END_OF_FRAME)
        super().stop_application_mode()

    def close(self) -> None:
        writer, self._writer_thread = self._writer_thread, None
        if writer is not None:
            writer._queue.put(None)
            writer.join(_PATIENCE)
            PatientDriver.stuck = writer.is_alive()
        super().close()


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


def _draw(canvas: Canvas, update: CompositorUpdate) -> None:
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
    """Whether the terminal erases to the ground of the pen."""
    try:
        import curses

        curses.setupterm(os.environ.get("TERM"), 2)
        return bool(curses.tigetflag("bce") > 0)
    except (ImportError, OSError, ValueError):
        return False
    except curses.error:
        return False


def is_behind(driver: Driver | None) -> bool:
    """Whether there is output that the terminal cannot take yet; never where output goes nowhere."""
    return isinstance(driver, PatientDriver) and driver.is_behind


def redraw(app: App[Any]) -> None:
    """Write all of the screen again, whatever the terminal is believed to show."""
    driver = app._driver
    if isinstance(driver, PatientDriver) and driver.canvas is not None:
        driver.canvas.forget()
        driver.catch_up()
