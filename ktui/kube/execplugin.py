"""Runs exec credential plug-ins (client.authentication.k8s.io; client-go plugin/pkg/client/auth/exec).

A plug-in that is not given the terminal gets none: standard input is /dev/null, and a session of its own keeps it from
opening /dev/tty. Both of its outputs are read at once and bounded, and time-outs and cancellation take its whole process
group with it.
"""

from __future__ import annotations

import asyncio
import base64
import os
import shutil
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import IO, Final

import msgspec

from ktui.errors import KtuiError
from ktui.kube.journal import journaled
from ktui.kube.printable import last_line, plain_text, quoted
from ktui.kube.target import ExecSettings, Target
from ktui.model.decode import NOT_DECODED

TIME_LIMIT: Final = 60.0
INTERACTIVE_TIME_LIMIT: Final = 600.0
_MAX_REPLY: Final = 1024 * 1024
_KEPT_STDERR: Final = 64 * 1024
_CHUNK: Final = 64 * 1024
# A grandchild may hold the pipes open long after the plug-in has ended.
_PIPE_GRACE: Final = 1.0


class PluginError(KtuiError):
    """The plug-in gave no credential. `output` is what it wrote to stderr, without escape sequences, not yet redacted."""

    def __init__(self, message: str, output: str = "") -> None:
        super().__init__(message)
        self.output = output


@dataclass(frozen=True, slots=True)
class PluginCredential:
    """What a plug-in gave: a token, a certificate with its key (PEM), or both. `expires` in Unix seconds, None: unknown."""

    token: str = field(default="", repr=False)
    certificate: bytes = field(default=b"", repr=False)
    key: bytes = field(default=b"", repr=False)
    expires: float | None = None


class _Status(msgspec.Struct, rename="camel"):
    token: str | None = None
    client_certificate_data: str | None = None
    client_key_data: str | None = None
    expiration_timestamp: datetime | None = None


class _Reply(msgspec.Struct, rename="camel"):
    kind: str = ""
    api_version: str = ""
    status: _Status | None = None


async def run_plugin(
    settings: ExecSettings,
    *,
    environ: Mapping[str, str],
    cluster: Mapping[str, object] | None = None,
    interactive: bool = False,
    time_limit: float | None = None,
) -> PluginCredential:
    """One run. Raises PluginError, or UsageError where a policy forbids it; on cancellation the plug-in is killed.

    `cluster` goes into KUBERNETES_EXEC_INFO. `interactive` gives the plug-in the terminal that ktui runs on, which the
    caller must have handed over.
    """
    path = find_command(settings, environ)
    settings.policy.check(settings.command, path, environ)
    limit = time_limit or (INTERACTIVE_TIME_LIMIT if interactive else TIME_LIMIT)
    with journaled(_name(settings), time.monotonic) as note:
        outcome = await _run(
            [path, *settings.args], _environment(settings, environ, cluster, interactive), interactive, limit
        )
        note("no answer" if outcome.returncode is None else f"exit code {outcome.returncode}")
    if outcome.returncode is None:
        raise PluginError(f"{_name(settings)} gave no answer in {limit:.0f} s", outcome.stderr)
    if outcome.returncode != 0:
        said = last_line(outcome.stderr)
        raise PluginError(
            f"{_name(settings)} failed with exit code {outcome.returncode}" + (f": {said}" if said else ""),
            outcome.stderr,
        )
    return parse_reply(outcome.stdout, settings, outcome.stderr)


def find_command(settings: ExecSettings, environ: Mapping[str, str]) -> str:
    """The absolute path of the plug-in. Raises PluginError, with the kubeconfig's installHint, when there is none."""
    if "/" in settings.command:
        found = settings.command if os.access(settings.command, os.X_OK) and Path(settings.command).is_file() else None
    else:
        found = shutil.which(settings.command, path=environ.get("PATH", ""))
    if found is None:
        raise PluginError(_with(f"{_name(settings)} is not installed", settings.install_hint), settings.install_hint)
    if not Path(found).is_absolute():
        raise PluginError(f"{_name(settings)} is found only through a relative entry of PATH, which is not safe to run")
    return found


def cluster_info(target: Target, authority: bytes, proxy_url: str = "") -> dict[str, object]:
    """ExecCredential's spec.cluster. `authority` is PEM, also when the kubeconfig names a file."""
    info: dict[str, object] = {"server": target.server}
    if target.tls and target.tls.server_name:
        info["tls-server-name"] = target.tls.server_name
    if target.tls and target.tls.insecure:
        info["insecure-skip-tls-verify"] = True
    if authority:
        info["certificate-authority-data"] = base64.b64encode(authority).decode()
    if proxy_url:
        info["proxy-url"] = proxy_url
    if target.disable_compression:
        info["disable-compression"] = True
    if target.auth.exec and target.auth.exec.config is not None:
        info["config"] = target.auth.exec.config
    return info


def parse_reply(data: bytes, settings: ExecSettings, output: str = "") -> PluginCredential:
    """An ExecCredential of the version that the kubeconfig names. Raises PluginError, never with content of the reply."""
    name = _name(settings)
    try:
        reply = msgspec.json.decode(data, type=_Reply)
    except msgspec.ValidationError as error:
        raise PluginError(f"{name} wrote an unusable ExecCredential: {error}", output) from None
    except NOT_DECODED:
        raise PluginError(f"{name} wrote something that is not JSON", output) from None
    if reply.kind != "ExecCredential":
        raise PluginError(f"{name} wrote JSON that is not an ExecCredential", output)
    if reply.api_version != settings.api_version:
        raise PluginError(
            f"{name} answered in another API version than the kubeconfig's {settings.api_version}", output
        )
    status = reply.status
    if status is None:
        raise PluginError(f"{name} wrote an ExecCredential without a status", output)
    return _credential(status, name, output)


def _credential(status: _Status, name: str, output: str) -> PluginCredential:
    token = (status.token or "").strip()
    certificate, key = (status.client_certificate_data or "").encode(), (status.client_key_data or "").encode()
    if any(c <= " " or c >= "\x7f" for c in token):
        raise PluginError(f"{name} wrote a token with characters that no header can carry", output)
    if bool(certificate) != bool(key):
        raise PluginError(f"{name} wrote only one of certificate and key", output)
    if not token and not certificate:
        raise PluginError(f"{name} wrote neither a token nor a certificate", output)
    expires = status.expiration_timestamp
    if expires is not None and expires.tzinfo is None:
        raise PluginError(f"{name} wrote an expirationTimestamp without a time zone", output)
    return PluginCredential(token, certificate, key, expires.timestamp() if expires is not None else None)


@dataclass(frozen=True, slots=True)
class _Outcome:
    returncode: int | None  # None: the time limit was reached
    stdout: bytes = field(repr=False)
    stderr: str = field(repr=False)


class _TooMuchError(Exception):
    """More on standard output than any credential needs."""


async def _run(argv: list[str], env: Mapping[str, str], interactive: bool, limit: float) -> _Outcome:
    # Pipes of our own, because asyncio's would make waiting for the plug-in wait for all who hold its pipes.
    out, out_end = _pipe()
    err, err_end = _pipe()
    stdout, stderr = bytearray(), bytearray()
    readers: list[asyncio.Task[None]] = []
    process: asyncio.subprocess.Process | None = None
    try:
        with out_end, err_end:
            process = await asyncio.create_subprocess_exec(
                *argv,
                env=env,
                stdin=None if interactive else asyncio.subprocess.DEVNULL,
                stdout=out_end,
                stderr=None if interactive else err_end,
                start_new_session=not interactive,
            )
        readers = [asyncio.create_task(_collect(out, stdout, _MAX_REPLY, strict=True))]
        readers.append(asyncio.create_task(_collect(err, stderr, _KEPT_STDERR, strict=False)))
        async with asyncio.timeout(limit):
            returncode: int | None = await _finished(process, readers)
    except TimeoutError:
        returncode = None
    except _TooMuchError:
        raise PluginError(f"{quoted(Path(argv[0]).name)} wrote more than {_MAX_REPLY} bytes") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in an argument
        reason = error.strerror if isinstance(error, OSError) else "an argument has a NUL in it"
        raise PluginError(f"{quoted(Path(argv[0]).name)} cannot be run: {reason}") from None
    finally:
        for reader in readers:
            reader.cancel()
        await asyncio.gather(*readers, return_exceptions=True)
        out.close()
        err.close()
        if process is not None and process.returncode is None:
            await _kill(process, whole_group=not interactive)
    return _Outcome(returncode, bytes(stdout), plain_text(bytes(stderr)))


def _pipe() -> tuple[IO[bytes], IO[bytes]]:
    reader, writer = os.pipe()
    return os.fdopen(reader, "rb", buffering=0), os.fdopen(writer, "wb", buffering=0)


async def _finished(process: asyncio.subprocess.Process, readers: list[asyncio.Task[None]]) -> int:
    """The exit code, once what the plug-in wrote has been read. Raises _TooMuchError as soon as that happens."""
    ended = asyncio.create_task(process.wait())
    try:
        await asyncio.wait([ended, readers[0]], return_when=asyncio.FIRST_COMPLETED)
        if readers[0].done():
            readers[0].result()
        code = await ended
        await asyncio.wait(readers, timeout=_PIPE_GRACE)
        if readers[0].done():
            readers[0].result()
        return code
    finally:
        ended.cancel()


async def _collect(pipe: IO[bytes], into: bytearray, limit: int, *, strict: bool) -> None:
    """Read to the end, so that the writer never blocks, and keep the last `limit` bytes; raise if `strict` and more come."""
    stream = asyncio.StreamReader(limit=_CHUNK)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stream), pipe)
    try:
        while chunk := await stream.read(_CHUNK):
            into += chunk
            if strict and len(into) > limit:
                raise _TooMuchError
            del into[:-limit]
    finally:
        transport.close()


async def _kill(process: asyncio.subprocess.Process, *, whole_group: bool) -> None:
    with suppress(ProcessLookupError):
        if whole_group:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    await process.wait()


def _environment(
    settings: ExecSettings, environ: Mapping[str, str], cluster: Mapping[str, object] | None, interactive: bool
) -> dict[str, str]:
    """The person's own environment without ktui's variables, the kubeconfig's additions, and the request."""
    spec: dict[str, object] = {"interactive": interactive}
    if cluster is not None:
        spec["cluster"] = cluster
    request = {"kind": "ExecCredential", "apiVersion": settings.api_version, "spec": spec}
    own = {name: value for name, value in environ.items() if not name.startswith("KTUI_")}
    return own | dict(settings.env) | {"KUBERNETES_EXEC_INFO": msgspec.json.encode(request).decode()}


def _with(problem: str, text: str) -> str:
    said = last_line(text)
    return f"{problem}: {said}" if said else problem


def _name(settings: ExecSettings) -> str:
    return f"exec plug-in {quoted(Path(settings.command).name)}"
