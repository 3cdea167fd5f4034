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
        value = self._tree.get(key)
        if not isinstance(value, str | None):
            raise self.error(f"{key} must be text")
        return str(value or "")

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
        return tuple(self._text_of(key, item) for item in self._items(key))

    def mapping(self, key: str) -> Fields | None:
        """The nested mapping, None if there is none."""
        value = self._tree.get(key)
        return None if value is None else Fields(value, f"{self.where}: {key}")

    def mappings(self, key: str) -> Iterator[Fields]:
        for number, item in enumerate(self._items(key), 1):
            where = f"{self.where}: entry {number} of {key}"
            if item is None:
                raise UsageError(f"{where}: must be a mapping")
            yield Fields(item, where)

    def pairs(self, key: str) -> tuple[tuple[str, str], ...]:
        """A mapping of names to text."""
        inner = self.mapping(key)
        return tuple((name, inner.text(name)) for name in inner) if inner else ()

    def lists(self, key: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """A mapping of names to lists of text."""
        inner = self.mapping(key)
        return tuple((name, inner.texts(name)) for name in inner) if inner else ()

    def __iter__(self) -> Iterator[str]:
        return iter(self._tree)

    def _items(self, key: str) -> list[Tree]:
        value = self._tree.get(key)
        if not isinstance(value, list | None):
            raise self.error(f"{key} must be a list")
        return value or []

    def _text_of(self, key: str, item: Tree) -> str:
        if not isinstance(item, str):
            raise self.error(f"{key} must be a list of text")
        return str(item)


def entry(kind: str, name: str, origin: Path) -> str:
    """`where` of a named entry."""
    return f"{kind} {quoted(name)} in {origin}"
