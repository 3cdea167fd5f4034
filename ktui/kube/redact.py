"""Takes secrets out of text that leaves the program: logs, notices, audit lines, recordings."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

MASK: Final = "[redacted]"

# Shorter values are found everywhere in ordinary text: masking them would garble it and give them away.
_SHORTEST = 4

# Credentials that can be told by their looks, also when they are not ours: an Authorization header, a JWT, a private key.
_LOOKS_SECRET = re.compile(
    r"(?<=\bBearer )[^\s\"']+|(?<=\bBasic )[A-Za-z0-9+/=]{8,}"
    r"|\beyJ[\w-]{8,}(?:\.[\w-]*){0,2}"  # also the beginning of one, which a program may have cut
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    re.DOTALL,
)


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` with each of `secrets`, and whatever looks like a credential, replaced by a mask."""
    for secret in sorted((s for s in secrets if len(s) >= _SHORTEST), key=len, reverse=True):
        text = text.replace(secret, MASK)
    return _LOOKS_SECRET.sub(MASK, text)


def names_a_secret(name: str) -> bool:
    """Whether the value of an environment variable or option of this name is likely a secret."""
    return bool(re.search(r"token|secret|passw|credential|private|api_?key|access_?key", name, re.IGNORECASE))
