"""What is used at this moment, asked once, for commands that print and leave."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from ktui.errors import KtuiError
from ktui.kube.discovery import Served
from ktui.kube.transport import Transport
from ktui.kube.usage import ask_exporter, ask_pods, exporter_trouble, metrics_trouble, metrics_version
from ktui.model.meta import Key
from ktui.model.usage import MetricsServed, UsageReport, UsageTrouble, Wanted

_AT_ONCE: Final = 8
"""Exporters in flight: a good guest of the API server, which carries all of their pages."""
_LIMIT: Final = 60.0
"""Seconds for all of them."""

Tell = Callable[[UsageReport], object]


async def measure_once(transport: Transport, served: Served, wanted: Wanted, namespace: str, tell: Tell) -> None:
    """Tell of the wanted pods of a namespace ("" for all) and GPUs, or why there is nothing to tell. Raises nothing for them:
    what is used is beside what was asked for."""
    version = metrics_version(served)
    tell(MetricsServed(version))
    if wanted.pods and version:
        try:
            tell(await ask_pods(transport, version, namespace))
        except KtuiError as error:
            tell(UsageTrouble(metrics_trouble(error)))
    slots, unanswered = asyncio.Semaphore(_AT_ONCE), dict(wanted.exporters)

    async def ask(node: str, exporter: Key) -> None:
        async with slots:
            try:
                tell(await ask_exporter(transport, node, exporter))
            except KtuiError as error:
                tell(UsageTrouble(exporter_trouble(error, exporter), node))
            del unanswered[node]

    try:
        async with asyncio.timeout(_LIMIT), asyncio.TaskGroup() as tasks:
            for node, exporter in wanted.exporters:
                tasks.create_task(ask(node, exporter))
    except TimeoutError:
        for node in unanswered:
            tell(UsageTrouble(f"GPU figures are not complete: not all exporters answered within {_LIMIT:g} s", node))
