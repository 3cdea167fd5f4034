"""What feeds a session with frames, and what else a feed may be able to do: a recording can be played, a cluster asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from ktui.model.frame import Frame
from ktui.model.meta import Key
from ktui.model.usage import Wanted

if TYPE_CHECKING:
    from ktui.model.cost import Cost
    from ktui.recording.tape import Tape


class Feed(Protocol):
    """A source of frames, made with the sink it feeds."""

    async def run(self) -> None:
        """Feed until cancelled. Raises KtuiError."""
        ...

    def now(self) -> float:
        """Unix seconds on the feed's clock: of the recording when it replays one."""
        ...


@runtime_checkable
class Playing(Feed, Protocol):
    """A feed that plays a recording: `ktui.recording.player.Player`. Positions are seconds from its start."""

    paused: bool
    speed: float

    @property
    def position(self) -> float: ...

    @property
    def duration(self) -> float: ...

    def pause(self, paused: bool | None = None) -> None: ...

    def set_speed(self, steps: int) -> None: ...

    def step(self, direction: int) -> None: ...

    def seek(self, t: float) -> None: ...

    def seek_to(self, direction: int, wanted: Callable[[Frame], bool]) -> bool: ...


@runtime_checkable
class Remembering(Protocol):
    """A feed that knows what is still to come, as a recording does."""

    def history(self, given_up: Callable[[], bool]) -> Iterator[tuple[float, Frame]]:
        """All its frames with their times in Unix seconds; waits for those that are not known yet, unless `given_up`. For a
        thread."""
        ...


@runtime_checkable
class Retrying(Protocol):
    """A feed whose waiting sources can be told to try again at once."""

    def retry_now(self) -> None: ...


@runtime_checkable
class Reading(Protocol):
    """A feed that can fetch a whole object, with the fields ktui does not keep."""

    async def read(self, kind: str, key: Key) -> dict[str, object] | None:
        """The object as JSON values; None when it is gone. Raises KtuiError."""
        ...


@runtime_checkable
class Measuring(Protocol):
    """A feed that can be asked what is used, and gives what it learns to `Session.measure`."""

    def measure(self, wanted: Wanted) -> None:
        """What figures are shown of from now on; nothing else is asked for."""
        ...


@runtime_checkable
class Spending(Protocol):
    """A feed that asks an API server, and counts what."""

    def costs(self) -> Sequence[Cost]:
        """The most expensive first."""
        ...


@runtime_checkable
class LoggingIn(Protocol):
    """A feed whose credentials may come from a plug-in, which may want something done in a browser."""

    def awaited(self) -> tuple[str, float] | None:
        """The plug-in that is waited for, and since when (Unix seconds); None while there is none."""
        ...

    def stop_waiting(self) -> None:
        """End the plug-in's run; whoever waited for it needs a login."""
        ...


@runtime_checkable
class Taped(Protocol):
    """A feed that remembers its last minutes, and can be recorded."""

    @property
    def tape(self) -> Tape: ...
