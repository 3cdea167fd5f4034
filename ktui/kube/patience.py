"""Requests that are made again when the server says how long to wait first (429 or 503 with Retry-After)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from ktui.kube.failures import ApiError
from ktui.kube.gate import Hold
from ktui.kube.retry_after import retry_after
from ktui.kube.transport import Transport

TRIES: Final = 4
"""Of one request of a command, which a person waits for."""

T = TypeVar("T")


def in_silence(_: Hold) -> None:
    """Nobody is told: commands print what they have read."""


async def patiently(
    transport: Transport,
    ask: Callable[[], Awaitable[T]],
    on_hold: Callable[[Hold], None] = in_silence,
    tries: int | None = TRIES,
) -> T:
    """The answer, asked for again as often as that (None: for ever). While one waits all requests wait, then a single one tries,
    and the others follow (see `Gate`). Of several requests that belong together each is best asked for by itself: what was
    answered need not be asked again."""
    while True:
        try:
            async with transport.gate.admission(on_hold):
                return await ask()
        except ApiError as error:
            tries = None if tries is None else tries - 1
            if tries == 0 or not _asks_to_wait(transport, error):
                raise


def _asks_to_wait(transport: Transport, error: ApiError) -> bool:
    if error.status not in (429, 503):
        return False
    return retry_after(error.retry_after, transport.clock.wall(), transport.timers.retry_after_cap) is not None
