"""How ktui reaches a server that it started itself: by plain http over loopback, with a token that nobody else has."""

from __future__ import annotations

import ssl
from collections.abc import Mapping

from ktui.kube.target import Target
from ktui.redact import OF_THIS_PROCESS, Redactor


class Loopback(Target):
    """No certificate is needed to know who answers: the address came from the process that we started."""

    @property
    def insecure(self) -> bool:
        return False


class DemoCredentials:
    """The token of a server that we started: it may travel over loopback without TLS."""

    generation = 0

    def __init__(self, token: str) -> None:
        self._token = token
        self._redactor = Redactor(lambda: (token,))
        OF_THIS_PROCESS.add(lambda: (token,))

    def __repr__(self) -> str:
        return "DemoCredentials()"

    async def headers(self) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {self._token}"}

    async def ssl_context(self) -> ssl.SSLContext | None:
        return None

    async def on_unauthorized(self, used_headers: Mapping[str, str], /) -> bool:  # noqa: ARG002 - nothing renews it
        return False

    async def on_tls_failure(self) -> bool:
        return False

    def allow_login(self) -> None:
        """There is nothing to log in to."""

    def redact(self, text: str, /) -> str:
        return self._redactor.redact(text)
