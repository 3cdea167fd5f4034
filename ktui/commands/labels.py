"""Label selectors, as kubectl's -l takes them (k8s.io/apimachinery labels.Parse)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from ktui.errors import UsageError

Matcher = Callable[[Mapping[str, str]], bool]

_KEY = r"[A-Za-z0-9](?:[A-Za-z0-9_./-]*[A-Za-z0-9])?"
_SET = re.compile(rf"({_KEY})\s+(in|notin)\s*\(([^()]*)\)\Z")
_EQUAL = re.compile(rf"({_KEY})\s*(==|=|!=)\s*([A-Za-z0-9_.-]*)\Z")
_EXISTS = re.compile(rf"(!?)\s*({_KEY})\Z")
_COMMA = re.compile(r",(?![^(]*\))")  # not inside the parentheses of a set


def parse(selector: str) -> Matcher:
    """A function that tells whether labels match. An empty selector matches all. Raises UsageError."""
    parts = [part.strip() for part in _COMMA.split(selector)] if selector.strip() else []
    matchers = [_requirement(part, selector) for part in parts]
    return lambda labels: all(matches(labels) for matches in matchers)


def _requirement(part: str, selector: str) -> Matcher:
    if match := _SET.match(part):
        key, operator, listed = match.groups()
        values = frozenset(value.strip() for value in listed.split(","))
        if operator == "in":
            return lambda labels: labels.get(key) in values
        return lambda labels: labels.get(key) not in values
    if match := _EQUAL.match(part):
        key, operator, value = match.groups()
        if operator == "!=":
            return lambda labels: labels.get(key) != value
        return lambda labels: labels.get(key) == value
    if match := _EXISTS.match(part):
        absent, key = match.groups()
        return lambda labels: (key not in labels) if absent else (key in labels)
    raise UsageError(
        f"cannot read {part!r} in the selector {selector!r}; write KEY=VALUE, KEY!=VALUE, KEY in (A,B), KEY or !KEY"
    )
