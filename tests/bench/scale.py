"""`python -m tests.bench.scale`: what a fleet of 100,000 pods costs inside the program: memory, the longest turns of the event
loop, the collections of the garbage collector, the work for a key, and for 5,000 events.

The screens run without a terminal, on the demo cluster or on a recording. CPU time is counted, so that others on the machine
matter little.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final, cast

import msgspec
from msgspec import Struct, field

from ktui import cli
from ktui.cluster.dirty import Entity
from ktui.model.decode import decode_event
from ktui.model.frame import Changed
from ktui.model.kinds import KINDS
from ktui.model.pod import Pod
from ktui.ui.app import KtuiApp
from ktui.ui.heap import hold_collector, let_collector_look, settle_collector
from ktui.ui.rowindex import Filter
from ktui.ui.screens.main import MainScreen
from ktui.ui.session import Opener, Session
from tests.bench import machine, recorded

_SIZE: Final = (200, 50)
_QUIET: Final = 1.0
"""Seconds in which nothing was left to do: all that was begun is done then."""
_LOOKED_FOR: Final = "00012"
_SHOWN: Final[tuple[Entity, ...]] = ("triage", "gangs", "pods")
_EVENTS: Final = 5_000
_FLUSHES: Final = 10
_STRIDE: Final = 7_919  # a prime: one pod after another changes, all over the fleet
_VIEWS: Final[tuple[Entity, ...]] = ("gangs", "pods", "devices", "claims")


def memory() -> float:
    """Of this process now, in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


class Watch(Struct):
    """CPU seconds of turns of the event loop, and of collections, since the last `take`."""

    turns: list[float] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)
    began: float = 0.0

    @contextmanager
    def watching(self) -> Iterator[None]:
        """All that the loop runs, it runs in handles: each is one turn, in which no key is looked at."""
        handle, run = asyncio.Handle, asyncio.Handle._run

        def timed(self_: asyncio.Handle) -> None:
            began = time.thread_time()
            run(self_)
            self.turns.append(time.thread_time() - began)

        handle._run = timed  # type: ignore[method-assign, assignment]
        gc.callbacks.append(self._collected)
        try:
            yield
        finally:
            handle._run = run  # type: ignore[method-assign]
            gc.callbacks.remove(self._collected)

    def _collected(self, phase: str, _: dict[str, int]) -> None:
        if phase == "start":
            self.began = time.thread_time()
        else:
            self.pauses.append(time.thread_time() - self.began)

    def take(self) -> tuple[float, float]:
        """The longest turn and the longest collection, in seconds."""
        found = max(self.turns, default=0.0), max(self.pauses, default=0.0)
        self.turns.clear()
        self.pauses.clear()
        return found


class Table:
    """Lines of what was done: CPU, longest turn, longest collection, memory after it."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        print(f"| {'':34} | CPU ms | longest turn ms | longest collection ms | memory MiB |")
        print("| --- | ---: | ---: | ---: | ---: |")

    @asynccontextmanager
    async def line(self, name: str) -> AsyncIterator[None]:
        await asyncio.sleep(0)  # the turn that ends here is not of this line
        self._watch.take()
        began = time.process_time()
        yield
        self.add(name, time.process_time() - began)

    def add(self, name: str, seconds: float) -> None:
        turn, pause = self._watch.take()
        cells = f"{seconds * 1000:,.1f} | {turn * 1000:.1f} | {pause * 1000:.1f} | {memory():.0f}"
        print(f"| {name:34} | {cells} |", flush=True)


async def measure(opener: Opener) -> None:
    hold_collector()
    watch = Watch()
    app = KtuiApp(opener, on_painted=let_collector_look, on_settled=settle_collector)
    with watch.watching():
        table = Table(watch)
        began = time.process_time()
        async with app.run_test(size=_SIZE):
            screen = cast("MainScreen", app.screen)
            async with table.line("start, all drawn"):
                await _quiet(screen)
            async with table.line("idle for 10 s"):
                await asyncio.sleep(10)
            for view in _VIEWS:
                await _view(table, screen, view)
            for view in _VIEWS:
                async with table.line(f"back to {view}"):
                    screen.showing.show_view(view)
                    await _quiet(screen)
                await _keys(table, screen)
            if (session := screen.decks.session) is not None and (player := session.player) is not None:
                player.pause(True)
            for view in _SHOWN:
                screen.showing.show_view(view)
                await _quiet(screen)
                await _events(table, screen, view)
        table.add("whole run", time.process_time() - began)


async def _view(table: Table, screen: MainScreen, view: Entity) -> None:
    began = time.thread_time()
    screen.showing.show_view(view)
    table.add(f"first look at {view}: until drawn", time.thread_time() - began)
    async with table.line(f"first look at {view}: all rows"):
        await _quiet(screen)


async def _keys(table: Table, screen: MainScreen) -> None:
    """A filter as it is typed and taken back, each column's order, both ways."""
    model = screen.decks.model
    assert model is not None
    worst = 0.0
    typed = [_LOOKED_FOR[: end + 1] for end in range(len(_LOOKED_FOR))]
    for text in (*typed, *reversed(typed), ""):
        worst = max(worst, _took(lambda text=text: screen.showing.narrow(Filter(text=text))))  # type: ignore[misc]
    table.add("  filter, a key", worst)
    worst = max(_took(screen.arrangement.sort_by_next) for _ in model.view.columns)
    table.add("  order by another column", worst)
    table.add("  order turned round", _took(screen.arrangement.reverse))
    _took(screen.arrangement.reverse)
    table.add("  to the end", _took(lambda: screen.panes.move("end")))
    _took(lambda: screen.panes.move("home"))


async def _events(table: Table, screen: MainScreen, view: str) -> None:
    """As many as come in a second, of pods all over the fleet, from the lines of a watch to what is drawn ten times meanwhile."""
    session = screen.decks.session
    assert session is not None
    lines = list(_lines(session, _EVENTS))
    kind, source = KINDS["Pod"], session.cluster.streams_of(("Pod",))[0].source
    async with table.line(f"{_EVENTS:,} events, {view} shown"):
        for start in range(0, len(lines), _EVENTS // _FLUSHES):
            for line in lines[start : start + _EVENTS // _FLUSHES]:
                event = decode_event(kind, "v1", line)
                assert event.object is not None
                session._take(Changed(source, "MODIFIED", event.object))
            screen.flusher.flush()
            await asyncio.sleep(0)
    await _quiet(screen)


def _lines(session: Session, count: int) -> Iterator[bytes]:
    pods = list(session.cluster.all(Pod))
    for number in range(count):
        obj = msgspec.to_builtins(pods[number * _STRIDE % len(pods)])
        version = int(obj["metadata"]["resourceVersion"]) + 1_000_000
        obj["metadata"]["resourceVersion"] = str(version)
        for status in obj["status"].get("containerStatuses", ()):
            status["restartCount"] = status.get("restartCount", 0) + 1
        yield msgspec.json.encode({"type": "MODIFIED", "object": obj})


def _took(what: Callable[[], object]) -> float:
    began = time.thread_time()
    what()
    return time.thread_time() - began


async def _quiet(screen: MainScreen) -> None:
    """Until the session is there and live, and nothing was left to do for a while."""
    since = time.monotonic()
    while time.monotonic() - since < _QUIET:
        await asyncio.sleep(0.05)
        session = screen.decks.session
        if session is None or session.busy or not _live(session) or (screen.decks.model and screen.decks.model.behind):
            since = time.monotonic()


def _live(session: Session) -> bool:
    streams = session.cluster.streams.values()
    loaded = getattr(session.player, "loaded", True)
    return bool(streams) and loaded and all(stream.synced or stream.phase != "listing" for stream in streams)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.scale", description=__doc__)
    parser.add_argument("--pods", type=int, default=100_000, help="(default: 100000)")
    parser.add_argument("--recording", action="store_true", help="a recording instead of the demo cluster")
    asked = parser.parse_args()
    print(machine.description())
    with tempfile.TemporaryDirectory(prefix="ktui-scale-") as directory:
        asyncio.run(measure(_opener(asked, Path(directory))))
    return 0


def _opener(asked: argparse.Namespace, directory: Path) -> Opener:
    if asked.recording:
        from ktui.commands.replay import ReplayOpener

        path = directory / "fleet.ktui.gz"
        if os.fork() == 0:  # what writing it takes is not to count
            recorded.write(path, asked.pods, changes=asked.pods // 5)
            os._exit(0)
        os.wait()
        return ReplayOpener(str(path), 0.0)
    from ktui.commands.demo import DemoOpener

    return DemoOpener(cli.parser().parse_args(["demo", "--size", str(asked.pods)]))


if __name__ == "__main__":
    sys.exit(main())
