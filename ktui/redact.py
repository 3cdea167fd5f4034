"""Takes secrets out of text that leaves the program: messages, notices, the debug log, crash reports, recordings.

Two kinds are masked: the credentials in use, in the forms in which they turn up (as they are, escaped, percent-encoded, in hex,
in base64 at any place of a longer text), and whatever looks like a credential of somebody else.
"""

from __future__ import annotations

import base64
import json
import re
import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final
from urllib.parse import quote, quote_plus

MASK: Final = "[redacted]"

Secrets = Callable[[], Iterable[str]]
"""The credentials in use right now; they change while a session lasts."""

_SHORTEST = 4  # shorter values are part of ordinary words: masking them would garble texts and give them away
_SHORTEST_CORE = 6  # of the characters of base64 that do not depend on what stands beside the secret
_MOST_KNOWN = 256  # values that are remembered: a token of an hour ago may turn up late, one of last week will not
_MOST_SOURCES = 8

# Each belongs to a pattern below: where none of them occurs, none can match, and a look for them costs microseconds.
_MARKERS: Final = (b"eyJ", b"ZXlK", b"Basic", b"-----BEGIN", b"LS0tLS1CRUdJTi", b"@")
_MARKERS_OF_ANY_CASE: Final = (
    b"bearer",
    b"token",
    b"secret",
    b"passw",
    b"passphrase",
    b"pwd",
    b"apikey",
    b"api_key",
    b"api-key",
    b"access",
    b"private",
    b"signature",
)

_LOOKS_SECRET: Final = re.compile(
    r"(?<=(?i:bearer)[\s:])\s*(?!tokens?\b)[^\s\"',;]+"
    r"|(?<=\bBasic\s)[A-Za-z0-9+/=]{8,}"
    r"|(?<![A-Za-z0-9])eyJ[\w-]{8,}(?:\.[\w-]*){0,2}"  # a JWT, also the beginning of one, which a program may have cut
    r"|(?<![A-Za-z0-9])ZXlK[A-Za-z0-9+/=_-]{8,}"  # the same once more in base64
    r"|-----BEGIN [A-Z0-9 ]+-----.*?(?:-----END [A-Z0-9 ]+-----|\Z)"
    r"|LS0tLS1CRUdJTi[A-Za-z0-9+/=_\s-]*"
    r"|(?<=://)[^\s/@\"']+(?=@)"  # user info of a URL
    r"|(?<=://)[^\s/\"']{0,200}:[^\s\"'@]{0,400}(?=@)",  # a password with a slash in it
    re.DOTALL,
)
_NAMED: Final = re.compile(
    r"((?:token|secret|passw(?:or)?d|passphrase|pwd|signature|(?:api|access|private)[_-]?key)"
    r"[\"']?\s{0,2}[=:]\s{0,2}[\"']?)([^\s\"',;&]{6,})",
    re.IGNORECASE,
)
_ANY: Final = "surrogatepass"
_SECRET_NAME: Final = re.compile(r"token|secret|passw|credential|private|api_?key|access_?key", re.IGNORECASE)


class Redactor:
    """Remembers what `sources` called secret, now and before. May be shared between threads."""

    def __init__(self, *sources: Secrets) -> None:
        self._sources: deque[Secrets] = deque(sources, maxlen=_MOST_SOURCES)
        self._known: tuple[str, ...] = ()
        self._looks = _Looks(())
        self._lock = threading.Lock()

    def add(self, source: Secrets) -> None:
        """Ask one more from now on. What the ones before it know stays known, also when they are forgotten."""
        self.refresh()
        self._sources.append(source)

    def refresh(self) -> None:
        """Take notice of credentials that are new. To be called before texts in which they may stand."""
        with self._lock:
            found = dict.fromkeys(secret for source in tuple(self._sources) for secret in source())
            fresh = [secret for secret in found if len(secret) >= _SHORTEST and secret not in self._known]
            if fresh:
                self._known = (*self._known, *fresh)[-_MOST_KNOWN:]

    def text(self, text: str) -> str:
        """`text` with every secret replaced by a mask."""
        if (ours := self._present().ours) is not None:
            text = ours.sub(MASK, text)
        text = _LOOKS_SECRET.sub(MASK, text)
        return _NAMED.sub(rf"\1{MASK}", text)

    def redact(self, text: str) -> str:
        """The same, by what is secret at this moment."""
        self.refresh()
        return self.text(text)

    def suspects(self, encoded: bytes) -> bool:
        """Whether JSON may hold a secret. Often wrong, but never when it says no."""
        looks = self._present()
        if any(needle in encoded for needle in looks.needles):
            return True
        lowered = encoded.lower()
        return any(needle in lowered for needle in looks.needles_of_any_case)

    def _present(self) -> _Looks:
        """Made when it is first needed: most sessions have nothing to mask for minutes."""
        known = self._known
        if self._looks.known is not known:
            self._looks = _Looks(known)
        return self._looks


class _Looks:
    """How known secrets look in texts, and pieces of JSON that tell that one may be there."""

    def __init__(self, known: tuple[str, ...]) -> None:
        forms = _longest_first(form for secret in known for form in _forms(secret))
        escapes = _longest_first(form for secret in known for form in _escapes(secret))
        cores = _longest_first(core for secret in known for core in _base64_cores(secret))
        # Only from where a run of such characters begins: a long one would be looked through once for each of its characters.
        runs = (rf"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/=_-]*{re.escape(core)}[A-Za-z0-9+/=_-]*" for core in cores)
        ours = "|".join([*map(re.escape, forms), *(f"(?i:{re.escape(escape)})" for escape in escapes), *runs])
        self.known = known
        self.ours = re.compile(ours) if ours else None
        self.needles = (*_MARKERS, *(_as_json(needle).encode() for needle in (*forms, *cores)))
        self.needles_of_any_case = (*_MARKERS_OF_ANY_CASE, *(_as_json(escape).encode() for escape in escapes))


def names_a_secret(name: str) -> bool:
    """Whether the value of an environment variable or option of this name is likely a secret."""
    return _SECRET_NAME.search(name) is not None


def _longest_first(texts: Iterable[str]) -> list[str]:
    """A secret inside another is masked with it."""
    return sorted(set(texts), key=len, reverse=True)


def _as_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _forms(secret: str) -> Iterable[str]:
    """The secret as it is, and as it stands in URLs and in quotes, once or twice: JSON by most programs, by Go, and in ASCII."""
    yield from (
        secret,
        quote(secret, safe="", errors=_ANY),
        quote(secret, errors=_ANY),
        quote_plus(secret, errors=_ANY),
    )
    plain, ascii_only = _as_json(secret), json.dumps(secret)[1:-1]
    for escaped in (plain, ascii_only, _as_json(plain), _as_json(ascii_only)):
        yield escaped
        yield escaped.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")


def _escapes(secret: str) -> Iterable[str]:
    """Every byte or character by its number; in small letters."""
    data = secret.encode("utf-8", _ANY)
    yield data.hex()
    yield "".join(f"%{byte:02x}" for byte in data)
    units = secret.encode("utf-16-be", _ANY).hex()
    for escape in (r"\u", r"\\u"):  # the second where the text was quoted once more
        yield "".join(f"{escape}{units[at : at + 4]}" for at in range(0, len(units), 4))


def _base64_cores(secret: str) -> Iterable[str]:
    """What is the same in the base64 of any text with the secret in it, for each of the three places it may begin at."""
    data = secret.encode("utf-8", _ANY)
    for before in range(3):
        after = -(before + len(data)) % 3
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            code = encode(bytes(before) + data + bytes(after)).decode()
            # The first and last characters also carry bits of the neighbours.
            core = code[(0, 2, 3)[before] : len(code) - (0, 2, 3)[after]]
            if len(core) >= _SHORTEST_CORE:
                yield core


OF_THIS_PROCESS: Final = Redactor()
"""Knows the credentials of every session of this process: for the debug log and crash reports, which belong to none."""
