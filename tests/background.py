"""Servers for tests that are not asynchronous themselves: a person's terminal is read and typed into, and waits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import TypeVar

_LIMIT = 60.0  # seconds to start or stop

T = TypeVar("T")


@contextmanager
def in_background(manager: AbstractAsyncContextManager[T]) -> Iterator[T]:
    """What `manager` gives, served by an event loop in a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        served = asyncio.run_coroutine_threadsafe(manager.__aenter__(), loop).result(_LIMIT)
        try:
            yield served
        finally:
            asyncio.run_coroutine_threadsafe(manager.__aexit__(None, None, None), loop).result(_LIMIT)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_LIMIT)
        loop.close()
