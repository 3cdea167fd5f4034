"""The credentials of one target for as long as ktui uses it: headers, the SSL context, and what to do about a 401.

One object per context generation. Files are read again every minute, as client-go does; a file that is broken at that
moment (they are rarely replaced atomically) changes nothing. Exec plug-ins: `ktui.kube.pluginsession`.
"""

from __future__ import annotations

import asyncio
import base64
import math
import os
import ssl
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Final, Protocol, TypeAlias

from multidict import CIMultiDict

from ktui.errors import KtuiError, UsageError
from ktui.kube.execplugin import PluginCredential, PluginError, cluster_info, run_plugin
from ktui.kube.impersonation import impersonation_headers
from ktui.kube.login import NeedsLogin, sign_in_command
from ktui.kube.pluginsession import PluginSession
from ktui.kube.printable import shortened
from ktui.kube.proxy import proxy_for
from ktui.kube.target import ExecSettings, ProxySettings, Target
from ktui.kube.tls import Material, TlsMaterialError, build_context, read_material
from ktui.kube.tokens import REREAD_AFTER, TokenError, TokenFile, oidc_id_token
from ktui.redact import OF_THIS_PROCESS, Redactor, names_a_secret

__all__ = ["Credentials", "Interactive", "NeedsLogin", "ProxySettings", "RunPlugin", "proxy_for"]

_LONGEST_REASON: Final = 400  # characters of what a plug-in said
_REMEMBERED: Final = 8  # earlier tokens, which may still be on their way into a log

Interactive: TypeAlias = Callable[[Callable[[], Awaitable[PluginCredential]]], Awaitable[PluginCredential]]
"""Hands the terminal over, awaits its argument (the plug-in's run), takes the terminal back, gives the run's result."""


class RunPlugin(Protocol):
    """`ktui.kube.execplugin.run_plugin`, or a stand-in."""

    def __call__(
        self,
        settings: ExecSettings,
        /,
        *,
        environ: Mapping[str, str],
        cluster: Mapping[str, object] | None,
        interactive: bool,
    ) -> Awaitable[PluginCredential]: ...


class Credentials:
    """`clock` gives Unix seconds. Without `interactive`, plug-ins that insist on a terminal raise NeedsLogin."""

    def __init__(
        self,
        target: Target,
        *,
        clock: Callable[[], float] = time.time,
        run_plugin: RunPlugin = run_plugin,
        interactive: Interactive | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self.target = target
        self._clock = clock
        self._run_plugin = run_plugin
        self._interactive = interactive
        self._environ = environ
        plugin = target.auth.plugin
        self._plugin = PluginSession(partial(self._ask_plugin, plugin), clock) if plugin else None
        self._token_file = TokenFile(target.auth.token_file, target.auth.token) if target.auth.token_file else None
        self._earlier_tokens: deque[str] = deque(maxlen=_REMEMBERED)
        self._material: Material | None = None
        self._context: ssl.SSLContext | None = None
        self._generation = 0
        self._checked_at = -math.inf
        self._problem = ""
        self._lock = asyncio.Lock()
        self._redactor = Redactor(self.secrets)
        OF_THIS_PROCESS.add(self.secrets)

    def __repr__(self) -> str:
        return f"Credentials({self.target.context!r}, {self.target.auth.method})"

    @property
    def generation(self) -> int:
        """Grows when sessions are to be opened anew, because the authority or the client certificate changed."""
        return self._generation

    @property
    def problem(self) -> str:
        """Why the newest version of a file could not be taken, in one line; "" if all is well."""
        return self._problem or (self._token_file.problem if self._token_file else "")

    @property
    def plugin_awaited(self) -> tuple[str, float] | None:
        """The name of the plug-in that is waited for, and since when (Unix seconds); None while there is none."""
        plugin, since = self.target.auth.plugin, self._plugin.running_since if self._plugin else None
        return (Path(plugin.command).name, since) if plugin is not None and since is not None else None

    async def headers(self) -> CIMultiDict[str]:
        """Authorization, never over plain http, and Impersonate-*, of which names repeat. Raises NeedsLogin."""
        headers: CIMultiDict[str] = CIMultiDict()
        if self.target.tls is not None:
            if authorization := await self._authorization():
                headers["Authorization"] = authorization
            if self._context is not None and self._clock() - self._checked_at >= REREAD_AFTER:
                await self._reload()
        if self.target.impersonate is not None:
            headers.extend(impersonation_headers(self.target.impersonate))
        return headers

    async def ssl_context(self) -> ssl.SSLContext | None:
        """None for plain http. Raises NeedsLogin, or KtuiError for certificates that cannot be used."""
        if self.target.tls is None:
            return None
        if self._plugin is not None:
            await self._plugin_credential(self._plugin)
        if self._context is None:
            await self._reload()
        return self._context

    async def on_unauthorized(self, used: Mapping[str, str]) -> bool:
        """After a 401 for a request with the headers `used`: True to send it once more with new headers.

        Each credential gets one second chance: a plug-in is run, files are read again. Raises NeedsLogin if that gives
        nothing that the server has not refused.
        """
        authorization = used.get("Authorization")
        if self.target.tls is None:
            raise self._needs_login("the server wants credentials, which are not sent over plain http")
        if self._plugin is not None:
            return await self._renew_plugin(self._plugin, authorization)
        if self._token_file is not None and await self._read_token_file(self._token_file) != _token_of(authorization):
            return True
        if self.target.auth.certificate is not None and await self._reload():
            return True
        command = self.target.login_command if self.target.auth.oidc is not None else ""
        raise self._needs_login(self._refusal(), command)

    async def on_tls_failure(self) -> bool:
        """After a failed handshake: True if there is new material to try, looked for at most once a minute."""
        if self.target.tls is None or self._clock() - self._checked_at < REREAD_AFTER:
            return False
        return await self._reload()

    def allow_login(self) -> None:
        """A person wants the plug-in tried again now, whatever failed before."""
        if self._plugin is not None:
            self._plugin.allow_run()

    def cancel_plugin(self) -> None:
        """A person does not want to wait for the plug-in any longer."""
        if self._plugin is not None:
            self._plugin.cancel()

    def secrets(self) -> frozenset[str]:
        """All secret values known now, and the tokens before them."""
        auth = self.target.auth
        found = {auth.token, auth.password, _basic(auth.username, auth.password), *self._earlier_tokens}
        found.update(value for key, value in auth.oidc or () if key in {"id-token", "refresh-token", "client-secret"})
        if self._token_file is not None:
            found.add(self._token_file.value)
        if auth.exec is not None:
            found.update(value for name, value in auth.exec.env if names_a_secret(name))
            found.update(_secret_options(auth.exec.args))
        if self._plugin is not None and self._plugin.current is not None:
            found.update((self._plugin.current.token, self._plugin.current.key.decode("utf-8", "replace")))
        with suppress(UsageError):  # of a proxy that cannot be used, nothing is sent or shown
            proxy = proxy_for(self.target, self._environ)
            found.update(proxy.secrets if proxy else ())
        return frozenset(filter(None, found))

    def redact(self, text: str) -> str:
        """`text` without any of `secrets`, and without whatever else looks like a credential."""
        return self._redactor.redact(text)

    async def _authorization(self) -> str:
        auth = self.target.auth
        token = auth.token
        if self._token_file is not None:
            due = self._token_file.due(self._clock())
            token = await self._read_token_file(self._token_file) if due else self._token_file.value
        elif auth.username or auth.password:
            return "Basic " + _basic(auth.username, auth.password)
        elif not token and auth.oidc is not None:
            token = self._id_token(dict(auth.oidc))
        elif self._plugin is not None:
            token = (await self._plugin_credential(self._plugin)).token
        return f"Bearer {token}" if token else ""

    def _id_token(self, config: dict[str, str]) -> str:
        try:
            return oidc_id_token(config, self._clock())
        except TokenError as error:
            raise self._needs_login(str(error), self.target.login_command) from None

    async def _read_token_file(self, file: TokenFile) -> str:
        before = file.value
        try:
            token = await asyncio.to_thread(file.read, self._clock())
        except TokenError as error:
            raise self._needs_login(str(error)) from None
        if before and before != token:
            self._earlier_tokens.append(before)
        return token

    async def _plugin_credential(self, session: PluginSession) -> PluginCredential:
        try:
            credential = await session.credential()
        except KtuiError as error:
            failure = error
        else:
            await self._take_certificate(credential)
            return credential
        raise self._plugin_failed(failure)

    async def _take_certificate(self, credential: PluginCredential) -> None:
        if self._material is not None and self._material.certificate != credential.certificate:
            await self._reload()

    async def _renew_plugin(self, session: PluginSession, authorization: str | None) -> bool:
        try:
            renewed = await session.renew(_token_of(authorization))
        except KtuiError as error:
            failure = error
        else:
            if session.current is not None:
                await self._take_certificate(session.current)
            return renewed
        raise self._plugin_failed(failure)

    async def _ask_plugin(self, settings: ExecSettings) -> PluginCredential:
        before = self._plugin.current if self._plugin else None
        cluster = await asyncio.to_thread(self._cluster_info) if settings.provide_cluster_info else None

        async def run() -> PluginCredential:
            terminal = settings.interactive_mode == "Always"
            return await self._run_plugin(settings, environ=self._environ, cluster=cluster, interactive=terminal)

        if settings.interactive_mode == "Always":
            if self._interactive is None:
                raise PluginError("the exec plug-in wants to ask something on a terminal")
            credential = await self._interactive(run)
        else:
            # IfAvailable too: the keys that are pressed are meant for ktui.
            credential = await run()
        if before is not None and before.token:
            self._earlier_tokens.append(before.token)
        return credential

    def _cluster_info(self) -> dict[str, object]:
        target = self.target
        authority = read_material(target.tls, None).authority if target.tls else b""
        return cluster_info(target, authority, target.proxy.full_url if target.proxy else "")

    async def _reload(self) -> bool:
        """Read the material again and build a context if it changed; True if there is a new one.

        Raises TlsMaterialError only while there is no older context to go on with.
        """
        tls = self.target.tls
        if tls is None:
            return False
        async with self._lock:
            self._checked_at = self._clock()
            try:
                material = await asyncio.to_thread(read_material, tls, self.target.auth.certificate)
                material = self._with_plugin_certificate(material)
                if material == self._material:
                    self._problem = ""
                    return False
                context = await asyncio.to_thread(build_context, tls, material)
            except TlsMaterialError as error:
                if self._context is None:
                    raise
                self._problem = str(error)
                return False
            if self._context is not None:
                self._generation += 1
            self._context, self._material, self._problem = context, material, ""
            return True

    def _with_plugin_certificate(self, material: Material) -> Material:
        credential = self._plugin.current if self._plugin else None
        if credential is None:
            return material
        return replace(material, certificate=credential.certificate, key=credential.key)

    def _refusal(self) -> str:
        method = self.target.auth.method
        if method == "anonymous":
            return "the server does not take anonymous requests, and the kubeconfig has no credentials"
        return f"the server does not accept the {method} of the kubeconfig"

    def _plugin_failed(self, error: KtuiError) -> NeedsLogin:
        """To be raised outside of `except`: as its context, `error` would carry the plug-in's unredacted words along."""
        output = error.output if isinstance(error, PluginError) else ""
        return self._needs_login(str(error), sign_in_command(self.target), output)

    def _needs_login(self, reason: str, command: str = "", output: str = "") -> NeedsLogin:
        return NeedsLogin(
            self.target.user, shortened(self.redact(reason), _LONGEST_REASON), command, self.redact(output)
        )


def _basic(username: str, password: str) -> str:
    return base64.b64encode(f"{username}:{password}".encode()).decode() if username or password else ""


def _token_of(authorization: str | None) -> str | None:
    return authorization.removeprefix("Bearer ") if authorization else None


def _secret_options(args: tuple[str, ...]) -> set[str]:
    """Values of options such as `--client-secret VALUE` and `--client-secret=VALUE`."""
    found = {value for option, value in pairwise(args) if names_a_secret(option) and not value.startswith("-")}
    found.update(arg.partition("=")[2] for arg in args if names_a_secret(arg.partition("=")[0]))
    return found
