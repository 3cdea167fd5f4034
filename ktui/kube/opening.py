"""From what a person asked for (flags, kubeconfig, environment) to a target and a transport."""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from msgspec.structs import replace

from ktui.errors import UsageError
from ktui.kube.credentials import Credentials
from ktui.kube.execplugin import PluginCredential
from ktui.kube.kubeconfig import KubeConfig, LoadOptions, in_cluster, load
from ktui.kube.target import Target
from ktui.kube.timers import Timers
from ktui.kube.transport import Transport

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)?")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, None: 1.0}
_DAY = 86400.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """How to reach a cluster. `request_timeout` is in seconds, None for the default."""

    load: LoadOptions
    read_only: bool = False
    request_timeout: float | None = None

    @property
    def environ(self) -> Mapping[str, str]:
        return self.load.environ

    def timers(self) -> Timers:
        standard = Timers()
        return standard if self.request_timeout is None else replace(standard, short_get=self.request_timeout)


def resolve(wanted: Wanted, context: str | None = None) -> tuple[KubeConfig, Target]:
    """The merged kubeconfig, and the target of `context` (None: the one asked for or current). In a pod without any
    kubeconfig, the pod's own service account. Raises UsageError."""
    config = load(wanted.load)
    if config.empty and context is None and (target := in_cluster(wanted.environ)) is not None:
        return config, target
    return config, config.resolve(context or None)


@asynccontextmanager
async def open_transport(wanted: Wanted, target: Target) -> AsyncIterator[Transport]:
    """A transport for a short piece of work: a command, not a screen, so a plug-in that asks a person may use the terminal."""
    interactive = _on_this_terminal if sys.stdin.isatty() else None
    credentials = Credentials(target, environ=wanted.environ, interactive=interactive)
    transport = Transport(
        target, credentials, read_only=wanted.read_only, environ=wanted.environ, timers=wanted.timers()
    )
    try:
        yield transport
    finally:
        await transport.close()


async def _on_this_terminal(run: Callable[[], Awaitable[PluginCredential]]) -> PluginCredential:
    return await run()


def parse_duration(text: str) -> float | None:
    """Seconds of "30s", "1m", "1m30s" or a bare number; None for "0", which means no limit. Raises UsageError."""
    parts = _DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise UsageError(f'--request-timeout {text!r} is not a duration; write e.g. "30s" or "1m"')
    seconds = sum(float(number) * _UNITS[unit or None] for number, unit in parts)
    return min(seconds, _DAY) if seconds > 0 else _DAY
