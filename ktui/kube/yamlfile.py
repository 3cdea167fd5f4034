"""YAML as kubeconfig files need it: scalars stay as they are written, and nothing in the file can hurt the reader.

PyYAML's own constructors would make 83 of the token `00123`, expand aliases without bound, recurse as deep as the file says
and quote the offending line, which may be a token, in errors. So the tree is built here from parser events.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol, TypeAlias

import yaml

from ktui.errors import UsageError

# The C parser is ten times faster; it is missing only from builds of PyYAML without libyaml.
_LOADER: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

MAX_DEPTH = 64
MAX_ALIASES = 1000
MAX_EXPANDED = 10_000
_LONGEST_SCALAR = 64  # characters of a number or boolean

Tree: TypeAlias = "dict[str, Tree] | list[Tree] | str | None"


class _Mark(Protocol):
    """A position in the file, counted from 0; the two parsers each have a class of their own for it."""

    line: int
    column: int


class Plain(str):
    """A scalar without quotes, which YAML would give a type: `8443`, `true`, `2026-11-30`."""

    __slots__ = ()


def parse(data: bytes, path: Path) -> Tree:
    """The first document of `data`; None when there is none. Raises UsageError with a position and never with content."""
    builder = _Builder(path)
    try:
        for event in _events(data):
            if isinstance(event, yaml.DocumentEndEvent):
                break
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        raise builder.error("not valid YAML", error.problem_mark or error.context_mark) from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise UsageError(f"{path}: not valid YAML: holds bytes that are not text") from None
    return builder.root


def typed(tree: Tree) -> object:
    """The tree as JSON values: plain scalars become numbers and booleans where YAML says so. Aliases are written out.

    Raises ValueError if that makes more than `MAX_EXPANDED` values.
    """
    return _typed(tree, iter(range(MAX_EXPANDED)))


def _typed(tree: Tree, budget: Iterator[int]) -> object:
    if next(budget, None) is None:
        raise ValueError("too many values")
    if isinstance(tree, dict):
        return {key: _typed(value, budget) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_typed(value, budget) for value in tree]
    if isinstance(tree, Plain):
        return _scalar(tree)
    return tree


def _scalar(text: Plain) -> object:
    try:
        value = yaml.safe_load(text) if len(text) <= _LONGEST_SCALAR else None
    except (yaml.YAMLError, ValueError):  # "=" has a type that nobody uses, 2026-13-45 looks like a date
        value = None
    return value if isinstance(value, bool | int | float) else str(text)


def _events(data: bytes) -> Iterator[yaml.Event]:
    loader = _LOADER(data)
    try:
        while loader.check_event():
            yield loader.get_event()
    finally:
        loader.dispose()


class _Builder:
    """A stack of open collections; `root` is the finished tree."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.root: Tree = None
        self._open: list[dict[str, Tree] | list[Tree]] = []
        self._keys: list[str | None] = []  # for each open collection, the key whose value comes next
        self._anchors: dict[str, Tree] = {}
        self._aliases = 0

    def take(self, event: yaml.Event) -> None:
        match event:
            case yaml.ScalarEvent():
                self._scalar(event)
            case yaml.MappingStartEvent():
                self._enter({}, event)
            case yaml.SequenceStartEvent():
                self._enter([], event)
            case yaml.AliasEvent():
                self._alias(event)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self._open.pop()
                self._keys.pop()

    def error(self, problem: str, mark: _Mark | None) -> UsageError:
        where = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        return UsageError(f"{self.path}{where}: {problem}")

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        if self._expects_key():
            self._keys[-1] = event.value
            return
        plain = bool(event.implicit[0])
        value: Tree = Plain(event.value) if plain else str(event.value)
        if plain and event.value in {"", "~", "null", "Null", "NULL"}:
            value = None
        self._add(value, event)

    def _enter(self, collection: dict[str, Tree] | list[Tree], event: yaml.NodeEvent) -> None:
        if len(self._open) == MAX_DEPTH:
            raise self.error(f"nested deeper than {MAX_DEPTH} levels", event.start_mark)
        self._add(collection, event)
        self._open.append(collection)
        self._keys.append(None)

    def _alias(self, event: yaml.AliasEvent) -> None:
        self._aliases += 1
        if self._aliases > MAX_ALIASES:
            raise self.error(f"more than {MAX_ALIASES} aliases", event.start_mark)
        if event.anchor not in self._anchors:
            raise self.error("an alias to nothing", event.start_mark)
        target = self._anchors[event.anchor]
        if any(target is parent for parent in self._open):
            raise self.error("an alias to what holds it", event.start_mark)
        self._add(target, None)

    def _expects_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1], dict) and self._keys[-1] is None

    def _add(self, value: Tree, event: yaml.NodeEvent | None) -> None:
        if event is not None and event.anchor:
            self._anchors[event.anchor] = value
        if not self._open:
            self.root = value
            return
        parent = self._open[-1]
        if isinstance(parent, list):
            parent.append(value)
            return
        key = self._keys[-1]
        if key is None:
            raise self.error("a mapping key that is not a plain name", event.start_mark if event else None)
        if key == "<<" and isinstance(value, dict):
            for name, inherited in value.items():
                parent.setdefault(name, inherited)
        else:
            parent[key] = value
        self._keys[-1] = None
