"""Ask again and again what is used, while somebody looks: what `want` named last, and nothing else.

Each question has a time of its own when it is due again: `Timers.usage` after an answer, later where the answer took long (a
twentieth of the time at most is spent on asking) and, after a failure, later each time.
"""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Callable, Iterator
from typing import Final, Literal, NamedTuple, NoReturn

from ktui.errors import KtuiError
from ktui.kube.discovery import Served
from ktui.kube.failures import ApiError
from ktui.kube.retry_after import retry_after
from ktui.kube.transport import Transport
from ktui.kube.usage import (
    ask_exporter,
    ask_node,
    ask_pod,
    ask_pods,
    exporter_trouble,
    metrics_trouble,
    metrics_version,
)
from ktui.model.meta import Key
from ktui.model.usage import MetricsServed, UsageReport, UsageTrouble, Wanted

_AT_ONCE: Final = 4
"""Questions in flight."""
_SHARE: Final = 20
"""Times as long as an answer took, at least until the question is asked again."""
_LONGEST: Final = 8
"""Times `Timers.usage`: the wait after many failures."""
_REMEMBERED: Final = 4_096
"""Questions whose time is kept; what is due again anyway is forgotten first."""

_log = logging.getLogger(__name__)


class _Question(NamedTuple):
    """`name` is a namespace for "pods", "" for all; a pod for "pod"; a node for "node"; an exporter's pod for "gpus"."""

    about: Literal["pods", "pod", "node", "gpus"]
    name: Key
    node: str = ""


class UsagePoll:
    """`tell` gets the reports, in the loop. `namespaces` are those that pods are asked of, none for all; where all are forbidden,
    `fallback`."""

    def __init__(
        self,
        transport: Transport,
        served: Callable[[], Served | None],
        tell: Callable[[UsageReport], object],
        *,
        namespaces: tuple[str, ...] = (),
        fallback: str = "",
    ) -> None:
        self._transport = transport
        self._served = served
        self._tell = tell
        self._namespaces = namespaces or ("",)
        self._fallback = fallback
        self._wanted = Wanted()
        self._changed = asyncio.Event()
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._tasks: dict[_Question, asyncio.Task[None]] = {}
        self._due: dict[_Question, float] = {}  # monotonic
        self._failures: dict[_Question, int] = {}
        self._version: str | None = None

    def want(self, wanted: Wanted) -> None:
        """What is shown from now on. What is on the way when nobody wants it any longer is still told of."""
        self._look_at_discovery()
        if wanted != self._wanted:
            self._wanted = wanted
            self._changed.set()

    async def run(self) -> NoReturn:
        """Until cancelled."""
        try:
            while True:
                self._changed.clear()
                self._ask_what_is_due()
                await self._until(self._next())
        finally:
            for task in self._tasks.values():
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def _look_at_discovery(self) -> None:
        """It answers anew every few minutes, and its first answer may be still to come."""
        version = metrics_version(self._served())
        if version != self._version:
            self._version = version
            self._tell(MetricsServed(version))
            self._changed.set()

    # --- when ---

    def _questions(self) -> Iterator[_Question]:
        wanted = self._wanted
        if self._version:
            if wanted.pods:
                yield from (_Question("pods", (namespace, "")) for namespace in self._namespaces)
            if wanted.pod is not None:
                yield _Question("pod", wanted.pod)
            yield from (_Question("node", ("", node)) for node in wanted.nodes)
        yield from (_Question("gpus", exporter, node) for node, exporter in wanted.exporters)

    def _ask_what_is_due(self) -> None:
        now = self._transport.clock.monotonic()
        for question in self._questions():
            if question not in self._tasks and self._due.get(question, now) <= now:
                task = asyncio.create_task(self._ask(question))
                self._tasks[question] = task
                task.add_done_callback(functools.partial(self._asked, question))

    def _asked(self, question: _Question, task: asyncio.Task[None]) -> None:
        self._tasks.pop(question, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.warning("asking for %s: unexpected %s", question.about, type(error).__name__)
        if len(self._due) > _REMEMBERED:
            now = self._transport.clock.monotonic()
            self._due = {each: due for each, due in self._due.items() if due > now}
            self._failures = {each: count for each, count in self._failures.items() if each in self._due}
        self._changed.set()

    def _next(self) -> float | None:
        """Seconds until a question is due, None when none is."""
        now = self._transport.clock.monotonic()
        waiting = [self._due.get(each, now) for each in self._questions() if each not in self._tasks]
        return max(0.0, min(waiting) - now) if waiting else None

    async def _until(self, seconds: float | None) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            pass

    # --- what ---

    async def _ask(self, question: _Question) -> None:
        clock, pause = self._transport.clock.monotonic, self._transport.timers.usage
        self._due[question] = clock() + pause
        if self._transport.gate.hold is not None:  # the server wants to be left alone, or is away
            return
        async with self._slots:
            if question not in self._questions():  # scrolled past while others were asked
                self._due.pop(question, None)
                return
            began = clock()
            try:
                report = await self._answer(question)
            except KtuiError as error:
                self._due[question] = clock() + self._patience(question, error)
                self._failed(question, error)
                return
        self._failures.pop(question, None)
        self._due[question] = clock() + max(pause, _SHARE * (clock() - began))
        self._tell(report)

    async def _answer(self, question: _Question) -> UsageReport:
        match question.about:
            case "pods":
                return await ask_pods(self._transport, self._version or "", question.name[0])
            case "pod":
                return await ask_pod(self._transport, self._version or "", question.name)
            case "node":
                return await ask_node(self._transport, self._version or "", question.name[1])
            case "gpus":
                return await ask_exporter(self._transport, question.node, question.name)

    def _failed(self, question: _Question, error: KtuiError) -> None:
        forbidden = isinstance(error, ApiError) and error.status == 403
        if forbidden and question == _Question("pods", ("", "")) and self._fallback:
            self._namespaces = (self._fallback,)
        elif question.about == "gpus":
            self._tell(UsageTrouble(exporter_trouble(error, question.name), question.node))
        else:
            self._tell(UsageTrouble(metrics_trouble(error)))

    def _patience(self, question: _Question, error: KtuiError) -> float:
        """Seconds until the next try, at least what the server asks for."""
        failures = self._failures[question] = self._failures.get(question, 0) + 1
        pause = self._transport.timers.usage * min(_LONGEST, 2.0 ** min(failures, 16))
        if not isinstance(error, ApiError):
            return pause
        asked = retry_after(error.retry_after, self._transport.clock.wall(), self._transport.timers.retry_after_cap)
        return max(pause, asked or 0.0)
