"""What of an object goes into a recording, and what is masked in its texts.

The model is the allow-list: a field that no struct has (environment, arguments, driver parameters, Secret data) was never
decoded. Annotations are free for all, so only those that ktui itself reads are kept. Every text that is left passes a
redactor: it masks our own credentials, in plain, escaped, percent-encoded and base64 form, and what looks like one of
somebody else's.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable
from typing import Final
from urllib.parse import quote, quote_plus

import msgspec
from msgspec.structs import replace

from ktui.model.meta import Object
from ktui.recording.rewrite import rewrite

MASK: Final = "[redacted]"

ANNOTATIONS: Final = ("resource.kubernetes.io/", "scheduling.k8s.io/", "ktui/")
"""Prefixes of the annotations that are recorded."""

Secrets = Callable[[], Iterable[str]]
"""The credentials in use right now; they change while a session lasts."""

_SHORTEST = 4  # shorter values are part of ordinary words: masking them would garble texts and give them away
_SHORTEST_CORE = 6  # of the characters of base64 that do not depend on what stands beside the secret

# Each belongs to a pattern below: where none of them occurs, none can match, and a look for them costs microseconds.
_MARKERS: Final = (b"eyJ", b"ZXlK", b"Basic", b"-----BEGIN", b"LS0tLS1CRUdJTi", b"@")
_MARKERS_OF_ANY_CASE: Final = (b"bearer", b"token", b"secret", b"passw", b"apikey", b"api_key", b"api-key", b"access")

_LOOKS_SECRET: Final = re.compile(
    r"(?<=(?i:bearer)[\s:])\s*[^\s\"',;]+"
    r"|(?<=\bBasic\s)[A-Za-z0-9+/=]{8,}"
    r"|(?<![A-Za-z0-9])eyJ[\w-]{8,}(?:\.[\w-]*){0,2}"  # a JWT, also the beginning of one, which a program may have cut
    r"|(?<![A-Za-z0-9])ZXlK[A-Za-z0-9+/=_-]{8,}"  # the same once more in base64
    r"|-----BEGIN [A-Z0-9 ]+-----.*?(?:-----END [A-Z0-9 ]+-----|\Z)"
    r"|LS0tLS1CRUdJTi[A-Za-z0-9+/=_\s-]*"
    r"|(?<=://)[^\s/@\"']+(?=@)"  # user info of a URL
    r"|(?<=://)[^\s/\"']*:[^\s\"'@]*(?=@)",  # a password with a slash in it
    re.DOTALL,
)
_NAMED: Final = re.compile(
    r"((?:token|secret|passw(?:or)?d|api[_-]?key|access[_-]?key)[\"']?\s{0,2}[=:]\s{0,2}[\"']?)([^\s\"',;&]{6,})",
    re.IGNORECASE,
)


class Redactor:
    """`secrets` is asked again for each frame."""

    def __init__(self, secrets: Secrets = tuple) -> None:
        self._secrets = secrets
        self._known: frozenset[str] = frozenset()
        self._ours: re.Pattern[str] | None = None
        self._needles: tuple[bytes, ...] = _MARKERS

    def refresh(self) -> None:
        """Take notice of credentials that are new."""
        known = frozenset(secret for secret in self._secrets() if len(secret) >= _SHORTEST)
        if known - self._known:
            # Earlier ones stay: an old token may turn up in a message that comes late.
            self._known |= known
            forms = sorted({form for secret in self._known for form in _forms(secret)}, key=len, reverse=True)
            cores = sorted({core for secret in self._known for core in _base64_cores(secret)}, key=len, reverse=True)
            runs = [rf"[A-Za-z0-9+/=_-]*{re.escape(core)}[A-Za-z0-9+/=_-]*" for core in cores]
            self._ours = re.compile("|".join([*map(re.escape, forms), *runs]))
            self._needles = (*_MARKERS, *(_as_json(needle) for needle in (*forms, *cores)))

    def text(self, text: str) -> str:
        """`text` with every secret replaced by a mask."""
        if self._ours is not None:
            text = self._ours.sub(MASK, text)
        text = _LOOKS_SECRET.sub(MASK, text)
        return _NAMED.sub(rf"\1{MASK}", text)

    def suspects(self, encoded: bytes) -> bool:
        """Whether JSON may hold a secret. Often wrong, but never when it says no."""
        lowered = encoded.lower()
        return any(needle in encoded for needle in self._needles) or any(m in lowered for m in _MARKERS_OF_ANY_CASE)


def _as_json(text: str) -> bytes:
    return msgspec.json.encode(text)[1:-1]


def _forms(secret: str) -> Iterable[str]:
    """The secret as it is, and as it stands in URLs and in quotes."""
    yield from (secret, quote(secret, safe=""), quote(secret), quote_plus(secret))
    yield _as_json(secret).decode()


def _base64_cores(secret: str) -> Iterable[str]:
    """What is the same in the base64 of any text with the secret in it, for each of the three places it may begin at."""
    data = secret.encode()
    for before in range(3):
        after = -(before + len(data)) % 3
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            code = encode(bytes(before) + data + bytes(after)).decode()
            # The first and last characters also carry bits of the neighbours.
            core = code[(0, 2, 3)[before] : len(code) - (0, 2, 3)[after]]
            if len(core) >= _SHORTEST_CORE:
                yield core


def recorded(obj: Object) -> Object:
    """The object with only the annotations that are recorded."""
    annotations = obj.metadata.annotations
    if annotations is None or all(key.startswith(ANNOTATIONS) for key in annotations):
        return obj
    kept = {key: value for key, value in annotations.items() if key.startswith(ANNOTATIONS)}
    return replace(obj, metadata=replace(obj.metadata, annotations=kept or None))


def redacted(obj: Object, redactor: Redactor) -> Object:
    """The object as it is recorded; the very same one where nothing is to be masked."""
    obj = recorded(obj)
    if not redactor.suspects(msgspec.json.encode(obj)):
        return obj
    return rewrite(obj, lambda _, text: redactor.text(text))
