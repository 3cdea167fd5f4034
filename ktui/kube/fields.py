"""Typed reads from one entry of a kubeconfig. Errors name the entry and the key, never the value: it may be a secret."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from pathlib import Path

from ktui.errors import UsageError
from ktui.kube.printable import quoted
from ktui.kube.yamlfile import Plain, Tree

_FLAGS = {"true": True, "false": False}


class Fields:
    """`where` is the entry in words: `user "admin" in /home/me/.kube/config`. An absent or null key reads as empty."""

    def __init__(self, tree: Tree, where: str) -> None:
        if not isinstance(tree, dict | None):
            raise UsageError(f"{where}: must be a mapping")
        self._tree = tree or {}
        self.where = where

    def __bool__(self) -> bool:
        return bool(self._tree)

    def error(self, problem: str) -> UsageError:
        return UsageError(f"{self.where}: {problem}")

    def raw(self, key: str) -> Tree:
        return self._tree.get(key)

    def text(self, key: str) -> str:
        return self._text(self._tree.get(key), key)

    def line(self, key: str) -> str:
        """Text that goes into a header or a URL: no control characters."""
        value = self.text(key)
        if any(c < " " or c == "\x7f" for c in value):
            raise self.error(f"{key} has control characters in it")
        return value

    def flag(self, key: str) -> bool:
        value = self._tree.get(key)
        if value is None:
            return False
        # A quoted "true" is text, which kubectl does not take for a boolean either.
        if not isinstance(value, Plain) or value not in _FLAGS:
            raise self.error(f"{key} must be true or false")
        return _FLAGS[value]

    def data(self, key: str) -> bytes:
        """Bytes written as base64; line breaks inside are allowed, as in Go."""
        value = self.text(key)
        try:
            return base64.b64decode(value.replace("\n", "").replace("\r", ""), validate=True)
        except (binascii.Error, ValueError):
            raise self.error(f"{key} is not base64") from None

    def file(self, key: str, base: Path) -> Path | None:
        """A path, made absolute from the directory of the file that names it; "~" is not expanded, as in kubectl."""
        value = self.text(key)
        if "\0" in value or "\n" in value:
            raise self.error(f"{key} is not a path")
        if value.startswith("~"):
            raise self.error(f"{key} starts with ~, which is not expanded here: write the whole path")
        return base / value if value else None

    def texts(self, key: str) -> tuple[str, ...]:
        return self._texts(self._tree.get(key), key)

    def mapping(self, key: str) -> Fields | None:
        """The nested mapping, None if there is none."""
        value = self._tree.get(key)
        return None if value is None else Fields(value, f"{self.where}: {key}")

    def mappings(self, key: str) -> Iterator[Fields]:
        for number, item in enumerate(self._items(self._tree.get(key), key), 1):
            where = f"{self.where}: entry {number} of {key}"
            if item is None:
                raise UsageError(f"{where}: must be a mapping")
            yield Fields(item, where)

    def pairs(self, key: str) -> tuple[tuple[str, str], ...]:
        """A mapping of names to text. The names are the person's own, so errors do not show them either."""
        return tuple((name, self._text(value, f"an entry of {key}")) for name, value in self._mapping(key).items())

    def lists(self, key: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """A mapping of names to lists of text."""
        return tuple((name, self._texts(value, f"an entry of {key}")) for name, value in self._mapping(key).items())

    def _mapping(self, key: str) -> dict[str, Tree]:
        inner = self.mapping(key)
        return inner._tree if inner else {}

    def _items(self, value: Tree, what: str) -> list[Tree]:
        if not isinstance(value, list | None):
            raise self.error(f"{what} must be a list")
        return value or []

    def _texts(self, value: Tree, what: str) -> tuple[str, ...]:
        items = self._items(value, what)
        if not all(isinstance(item, str) for item in items):
            raise self.error(f"{what} must be a list of text")
        return tuple(str(item) for item in items)

    def _text(self, value: Tree, what: str) -> str:
        if not isinstance(value, str | None):
            raise self.error(f"{what} must be text")
        return str(value or "")


def entry(kind: str, name: str, origin: Path) -> str:
    """`where` of a named entry."""
    return f"{kind} {quoted(name)} in {origin}"
