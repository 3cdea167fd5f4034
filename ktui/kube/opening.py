"""From what a person asked for (flags, kubeconfig, environment) to a target and a transport."""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from msgspec.structs import replace

from ktui.errors import UsageError
from ktui.kube.credentials import Credentials
from ktui.kube.execplugin import PluginCredential
from ktui.kube.kubeconfig import LoadOptions, in_cluster, load
from ktui.kube.resolve import is_namespace
from ktui.kube.target import Impersonation, Target
from ktui.kube.timers import Timers
from ktui.kube.transport import Transport

_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)?")
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


def resolve(wanted: Wanted, context: str | None = None) -> Target:
    """The target of `context` (None: the one asked for or current). In a pod without any
    kubeconfig, the pod's own service account, unless a context or a file was asked for. Raises UsageError."""
    config = load(wanted.load)
    named = context or wanted.load.context or wanted.load.kubeconfig
    if config.empty and not named and (target := in_cluster(wanted.environ)) is not None:
        return _as_asked(target, wanted.load)
    return config.resolve(context or None)


def _as_asked(target: Target, flags: LoadOptions) -> Target:
    """The service account's target with the namespace and the identity of the command line."""
    namespace = flags.namespace or target.namespace
    if not is_namespace(namespace):
        raise UsageError(f"--namespace {namespace[:80]!r} is not a namespace's name")
    others = (*flags.as_groups, *([flags.as_uid] if flags.as_uid else []))
    if others and not flags.as_user:
        raise UsageError("--as-group and --as-uid go with --as")
    if not all(text.isprintable() for text in (flags.as_user or "", *others)):
        raise UsageError("an identity to impersonate has control characters in it")
    identity = Impersonation(flags.as_user, flags.as_uid or "", flags.as_groups) if flags.as_user else None
    return dataclasses.replace(target, namespace=namespace, impersonate=identity)


@asynccontextmanager
async def open_transport(wanted: Wanted, target: Target) -> AsyncIterator[Transport]:
    """A transport for a short piece of work: a command, not a screen, so a plug-in that asks a person may use the terminal."""
    interactive = _on_this_terminal if sys.stdin is not None and sys.stdin.isatty() else None
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


def parse_duration(text: str, flag: str = "--request-timeout") -> float:
    """Seconds of "30s", "1m", "1m30s" or a bare number, a day at most; "0" means no limit, which is a day. Raises UsageError."""
    parts = _DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise UsageError(f'{flag} {text[:40]!r} is not a duration; write e.g. "30s" or "1m"')
    seconds = sum(float(number) * _UNITS[unit or None] for number, unit in parts)
    return min(seconds, _DAY) if seconds > 0 else _DAY
