"""What becomes of memory: when the garbage collector looks, and how large blocks go back to the system."""

from __future__ import annotations

import gc
from typing import Final

_YOUNG: Final = 2_000
"""Objects that may come before the collector looks at them: a millisecond, or more where a large table is among them."""

_LOOKS: Final = 5
"""With every so many, it looks at all that have come since the last time."""

_M_MMAP_THRESHOLD: Final = -3
"""The name of the parameter in mallopt(3)."""

_LARGE: Final = 512 * 1024
"""Bytes of a block that is returned to the system when it is freed."""


def hold_collector() -> None:
    """No collection until the first frame is drawn: each would walk all modules that are just being imported."""
    gc.disable()


def let_collector_look() -> None:
    """What was imported stays. Of what comes, the collector looks at a little at a time, and loses its interest in nearly all: in
    structs without cycles from the start, in tuples of texts when it has seen them. It never looks at everything while the first
    lists come in: at 100,000 pods that would be half a second."""
    gc.freeze()
    gc.set_threshold(_YOUNG, _LOOKS, 1_000_000)
    gc.enable()
    _return_large_blocks()


def settle_collector() -> None:
    """The first lists stay as well, or what there is of them. At all else that has grown old the collector looks after some
    ten million objects more came than went: dialogs that were closed, and little else."""
    gc.freeze()
    gc.set_threshold(_YOUNG, _LOOKS, 1_000)


def sweep() -> None:
    """Free what a session leaves behind: its parts refer to each other, and what was frozen is looked at by nobody else. One look
    at everything, most of a second at 100,000 pods, while nothing is shown but that another cluster is connected to."""
    frozen = gc.get_freeze_count() > 0
    gc.unfreeze()
    gc.collect()
    if frozen:
        gc.freeze()


def _return_large_blocks() -> None:
    """glibc keeps freed blocks for later once it has seen one of their size go: tables that grew with a list, and what was read
    of it, would stay as holes, 26 MiB of them at 100,000 pods. Other C libraries have no such habit, or no such parameter; and a
    Python may be built without `ctypes`, or unable to load anything."""
    try:
        import ctypes

        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    except (ImportError, OSError):
        return
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _LARGE)
