"""What requests asked and what came of them, for the debug log."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from ktui.errors import KtuiError

_log: Final = logging.getLogger(__name__)


@contextmanager
def journaled(what: str, clock: Callable[[], float]) -> Iterator[Callable[[str], object]]:
    """Write one line when this ends: what was asked, what was noted meanwhile, how it failed, and how long it took."""
    if not _log.isEnabledFor(logging.DEBUG):
        yield _ignore
        return
    began = clock()
    notes: list[str] = []
    try:
        yield notes.append
    except KtuiError as error:
        notes.append(str(error))
        raise
    except BaseException as error:
        notes.append(type(error).__name__)
        raise
    finally:
        _log.debug("%s: %s, %.0f ms", what, ", ".join(notes), (clock() - began) * 1000)


def _ignore(_note: str) -> None:
    """Nobody writes a log."""
