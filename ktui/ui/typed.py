"""What a terminal sends, read as keys and answers.

A slow line delivers an answer in parts. Textual takes a part for keys after `ESCDELAY`, which is short, so that escape is a key
soon: "\\x1b[1" and "2;5R" would be the keys 1, 2 and R. Here a control sequence is read when all of it is there.
"""

from __future__ import annotations

import logging
import re
from codecs import getincrementaldecoder
from collections.abc import Callable
from typing import Final

from textual import constants
from textual._xterm_parser import XTermParser
from textual.message import Message

_BEGUN: Final = re.compile(r"\x1b\[[0-?]*[ -/]*")  # CSI of ECMA-48, without its end
_PARTS: Final = re.compile(r"\x1b[^\x1b]*|[^\x1b]+")
_LONGEST: Final = 64  # characters of a control sequence
PATIENCE: Final = 0.5  # seconds for the rest of a control sequence: alt and "[" look like the beginning of one
_TICK: Final = 0.1  # seconds until it is looked whether that is over

_log = logging.getLogger(__name__)


class Sequences:
    """Text, but not the beginning of a control sequence whose rest may still come."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._begun = ""
        self._since = 0.0

    def whole(self, text: str) -> str:
        """What can be read now; with no more text, what was waited for in vain."""
        if not text:
            return self._overdue()
        if not self._begun:
            self._since = self._clock()
        text = self._begun + text
        self._begun = ""
        place = text.rfind("\x1b[", -_LONGEST)
        if place >= 0 and _BEGUN.fullmatch(text, place):
            text, self._begun = text[:place], text[place:]
            if text:
                self._since = self._clock()
        return text + self._overdue()

    @property
    def is_begun(self) -> bool:
        """Whether the rest of a control sequence is waited for."""
        return bool(self._begun)

    def _overdue(self) -> str:
        if not self._begun or self._clock() - self._since < PATIENCE:
            return ""
        text, self._begun = self._begun, ""
        return text


class Reader:
    """Bytes to messages, in Textual's words. A terminal may send anything: what is no UTF-8 is a character that no key has, and a
    sequence that Textual's parser fails on is left out."""

    def __init__(self, clock: Callable[[], float], *, debug: bool = False) -> None:
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._sequences = Sequences(clock)
        self._debug = debug
        self._parser = XTermParser(debug)

    def read(self, data: bytes) -> list[Message]:
        """To be called without data, too, after a `pause`: what is complete may be told by nothing more coming."""
        messages: list[Message] = []
        for part in _PARTS.findall(self._sequences.whole(self._decoder.decode(data))):
            self._parse(part, messages)
        messages += self._parser.tick()
        return messages

    def _parse(self, part: str, messages: list[Message]) -> None:
        try:
            messages.extend(self._parser.feed(part))
        except (ValueError, ArithmeticError) as error:  # numbers that are none, or too large for what they are to be
            _log.debug("the terminal sent a sequence that cannot be read: %s", type(error).__name__)
            self._parser = XTermParser(self._debug)

    @property
    def pause(self) -> float | None:
        """Seconds after which it is to be read on although nothing came: an escape is a key then. None where none is begun."""
        if self._parser._timeout_time is not None:
            return constants.ESCAPE_DELAY
        return _TICK if self._sequences.is_begun else None
