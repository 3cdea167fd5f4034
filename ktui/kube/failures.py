"""What can go wrong between ktui and an API server, as types. Every message is one line without secrets.

KtuiError
├── ReadOnlyRefused      a write was asked for in read-only mode; nothing was sent
├── UnexpectedAnswer     an answer, but not from a Kubernetes API: a redirect, a login page, half a document
├── HeadersLate          a watch was accepted by the network, but no status line came (some proxies wait for data)
├── ApiError             the server said no (status 4xx, 5xx, or an ERROR event in a watch)
└── Unreachable          no answer
    ├── TlsProblem       the server is not who it should be, or does not like us
    └── AnswerLost       the connection broke after the request was sent: a write may have happened
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from typing import Final

import aiohttp

from ktui.errors import KtuiError
from ktui.model.decode import Status, decode_status

MESSAGE_LIMIT: Final = 300
"""Characters of a server's message that are kept: a 422 for a wrong type repeats the whole object."""

_MOST_TEXT: Final = 64 * 1024
"""Bytes of a plain text that are looked through for secrets before it is cut: a token that was cut first is not recognised."""

Redact = Callable[[str], str]


class ReadOnlyRefused(KtuiError):
    def __init__(self, method: str, path: str) -> None:
        super().__init__(f"read-only mode: {method} {path} was not sent")


class UnexpectedAnswer(KtuiError):
    pass


class HeadersLate(KtuiError):
    pass


class Unreachable(KtuiError):
    pass


class TlsProblem(Unreachable):
    pass


class AnswerLost(Unreachable):
    pass


class ApiError(KtuiError):
    """A refusal. `status` is the HTTP status or the Status' code, `reason` the API's word for it ("Expired", "Conflict").

    `causes` are (reason, field, message) of metav1.Status.details; `retry_after` is what Status.details or the header
    asks for, in seconds, unchecked.
    """

    def __init__(
        self,
        status: int,
        reason: str,
        message: str,
        causes: tuple[tuple[str, str, str], ...] = (),
        retry_after: str | None = None,
    ) -> None:
        super().__init__(
            f"{status} {reason}: {message}" if reason and message else f"{status} {reason or message}".strip()
        )
        self.status = status
        self.reason = reason
        self.message = message
        self.causes = causes
        self.retry_after = retry_after

    @property
    def expired(self) -> bool:
        """The version, or the continue token, is too old: only a new list helps."""
        return self.status == 410

    @property
    def version_too_large(self) -> bool:
        """The server does not know the version yet: it lags, or its state went back in time."""
        named = any(reason == "ResourceVersionTooLarge" for reason, _, _ in self.causes)
        return self.status == 504 and (named or "too large resource version" in self.message.lower())


def one_line(text: str, limit: int = MESSAGE_LIMIT) -> str:
    """Foreign text as part of a message: one line, no control characters, cut."""
    shown = "".join(c if c.isprintable() else "\ufffd" for c in " ".join(text[: limit * 4].split()))
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def api_error(status: int, body: bytes, redact: Redact, retry_after: str | None = None) -> ApiError:
    """The error in an HTTP answer. The body is a Status, or whatever a proxy or a filter of the server wrote."""
    parsed = decode_status(body)
    if parsed is not None:
        return status_error(parsed, redact, status, retry_after)
    text = one_line(redact(body[:_MOST_TEXT].decode("utf-8", "replace")), 200)
    return ApiError(status, "", text or "no reason given", retry_after=retry_after)


def status_error(status: Status, redact: Redact, code: int = 0, retry_after: str | None = None) -> ApiError:
    """The error in a Status, from an answer or from an ERROR event (which has no header, so details count)."""
    details = status.details
    causes = tuple(
        (one_line(cause.reason or "", 60), one_line(cause.field or ""), one_line(redact(cause.message or "")))
        for cause in (details.causes if details else None) or ()
    )
    if retry_after is None and details and details.retry_after_seconds is not None:
        retry_after = str(details.retry_after_seconds)
    return ApiError(
        code or status.code or 0,
        one_line(redact(status.reason or ""), 60),
        one_line(redact(status.message or "")),
        causes,
        retry_after,
    )


def connection_error(error: Exception, host: str, redact: Redact) -> Unreachable:
    """aiohttp's and the operating system's exceptions as one line that names the host."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return TlsProblem(f"the certificate of {host} is not trusted: {_certificate_problem(error.certificate_error)}")
    if isinstance(error, (aiohttp.ClientSSLError, ssl.SSLError)):
        return TlsProblem(f"TLS with {host} failed: {one_line(redact(str(error)), 160)}")
    if isinstance(error, (aiohttp.ClientConnectorDNSError, UnicodeError)):
        return Unreachable(f"the name {host} cannot be resolved")
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return Unreachable(f"the proxy in front of {host} cannot be reached: {_os_reason(error.os_error)}")
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return Unreachable(f"the proxy in front of {host} answered {error.status}")
    if isinstance(error, aiohttp.ClientConnectorError):
        return Unreachable(f"{host} cannot be reached: {_os_reason(error.os_error)}")
    if isinstance(error, TimeoutError):
        return Unreachable(f"{host} did not answer in time")
    if isinstance(error, (aiohttp.ServerDisconnectedError, aiohttp.ClientPayloadError, ConnectionResetError)):
        return AnswerLost(f"{host} closed the connection in the middle of an answer")
    return AnswerLost(f"the connection to {host} broke: {one_line(redact(str(error)), 160) or type(error).__name__}")


def _os_reason(error: OSError) -> str:
    return one_line(error.strerror or str(error), 120).lower() or type(error).__name__


# OpenSSL's X509_V_ERR_* numbers; the texts that come with them name no remedy.
_CERTIFICATE_PROBLEMS: Final = {
    9: "it is not valid yet (is the clock of this machine right?)",
    10: "it has expired (or the clock of this machine is wrong)",
    18: "it is self-signed and not the kubeconfig's certificate-authority",
    19: "its issuer is not the kubeconfig's certificate-authority",
    20: "its issuer is not the kubeconfig's certificate-authority",
    21: "its issuer is not the kubeconfig's certificate-authority",
    62: "it is for another name (tls-server-name in the kubeconfig sets the one to expect)",
    64: "it is for another address (tls-server-name in the kubeconfig sets the name to expect)",
}


def _certificate_problem(error: BaseException) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return _CERTIFICATE_PROBLEMS.get(error.verify_code, one_line(error.verify_message or str(error), 160))
    return one_line(str(error), 160)
