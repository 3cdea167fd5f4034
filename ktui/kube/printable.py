"""Text from files and plug-ins, made fit for one line of an error message or a dialog."""

from __future__ import annotations

import re

_ESCAPE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])"
)  # CSI, OSC and two-byte sequences


def quoted(name: str, limit: int = 80) -> str:
    """`name` in quotes, control and invisible characters escaped, cut to `limit` characters."""
    text = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in name)
    return f'"{shortened(text, limit)}"'


def plain_text(data: bytes) -> str:
    """What a program wrote, decoded, without escape sequences and control characters; lines are kept."""
    text = _ESCAPE.sub("", data.decode("utf-8", "replace")).replace("\r\n", "\n").replace("\r", "\n")
    return "".join(c for c in text if c.isprintable() or c in "\n\t").strip()


def last_line(text: str) -> str:
    """The last line that says something: where most programs put their error. Not cut: half a secret is not recognised."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def shortened(text: str, limit: int) -> str:
    """At most `limit` characters. Only for text without secrets."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
