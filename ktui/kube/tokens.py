"""Bearer tokens that come from a file or from an old OIDC section, and how long each may be used."""

from __future__ import annotations

import base64
import binascii
import math
from pathlib import Path
from typing import Final

import msgspec

from ktui.errors import KtuiError
from ktui.kube.files import Unreadable, read_regular
from ktui.model.decode import NOT_DECODED

REREAD_AFTER: Final = 60.0  # seconds; kubelet replaces projected tokens well before they expire
RETRY_AFTER: Final = 5.0  # seconds, after a read that gave nothing: the file is probably being replaced
_MAX_TOKEN: Final = 1024 * 1024
_OIDC_SKEW: Final = 10.0  # client-go's expiryDelta


class TokenError(KtuiError):
    """No usable token. The message holds neither token nor path: people paste the one where the other belongs."""


class TokenFile:
    """A file that something else keeps fresh. Its last good content wins over a file that is missing or broken later.

    `fallback` is the `token` beside it, used until the file could be read for the first time. `read` blocks.
    """

    def __init__(self, path: Path, fallback: str = "") -> None:
        self._path = path
        self._value = fallback
        self._due_at = -math.inf
        self.problem = ""  # of the last attempt

    @property
    def value(self) -> str:
        return self._value

    def due(self, now: float) -> bool:
        return now >= self._due_at

    def read(self, now: float) -> str:
        """The present token. Raises TokenError if there never was one."""
        self._due_at = now + RETRY_AFTER
        try:
            self._value = parse_token(read_regular(self._path, _MAX_TOKEN))
            self.problem = ""
            self._due_at = now + REREAD_AFTER
        except Unreadable as error:
            self.problem = f"tokenFile of the user cannot be read: {error.reason}"
        except TokenError as error:
            self.problem = f"tokenFile of the user {error}"
        if not self._value:
            raise TokenError(self.problem)
        return self._value


def parse_token(data: bytes) -> str:
    """The token without the white space around it. Raises TokenError for what no header can carry."""
    token = data.strip()
    if not token:
        raise TokenError("is empty")
    if any(byte <= 0x20 or byte >= 0x7F for byte in token):
        raise TokenError("holds characters that no header can carry")
    return token.decode("ascii")


class _Claims(msgspec.Struct):
    exp: float


def oidc_id_token(config: dict[str, str], now: float) -> str:
    """The id-token of an `auth-provider: oidc`, if it is still valid.

    Raises TokenError otherwise. It is not refreshed here: many providers accept a refresh token once, and whoever uses it
    without writing the next one back to the kubeconfig signs the person out of kubectl.
    """
    token = config.get("id-token", "").strip()
    if not token:
        raise TokenError("there is no id-token yet")
    try:
        payload = token.split(".")[1]
        claims = msgspec.json.decode(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)), type=_Claims)
    except (IndexError, binascii.Error, ValueError, *NOT_DECODED):
        raise TokenError("the id-token is not a JWT with an expiry") from None
    if now >= claims.exp - _OIDC_SKEW:
        raise TokenError("the id-token has expired, and only kubectl may renew it")
    return token
