"""Label selectors, as kubectl's -l takes them (k8s.io/apimachinery labels.Parse)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from ktui.errors import UsageError

Matcher = Callable[[Mapping[str, str]], bool]

# What can be a key and a value, as util/validation of apimachinery has it: the server refuses all else, a recording cannot.
_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?"
_DOMAIN = r"(?=[^/]{1,253}/)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*"
_KEY = rf"(?:{_DOMAIN}/)?{_NAME}"
_VALUE = re.compile(rf"(?:{_NAME})?")
_SET = re.compile(rf"({_KEY})\s+(in|notin)\s*\(([^()]*)\)\Z")
_EQUAL = re.compile(rf"({_KEY})\s*(==|=|!=)\s*({_VALUE.pattern})\Z")
_EXISTS = re.compile(rf"(!?)\s*({_KEY})\Z")
_COMMA = re.compile(r",(?![^(]*\))")  # not inside the parentheses of a set


def parse(selector: str) -> Matcher:
    """A function that tells whether labels match. An empty selector matches all. Raises UsageError."""
    parts = [part.strip() for part in _COMMA.split(selector)] if selector.strip() else []
    matchers = [_requirement(part, selector) for part in parts]
    return lambda labels: all(matches(labels) for matches in matchers)


def _requirement(part: str, selector: str) -> Matcher:
    match = _SET.match(part)
    values = frozenset(value.strip() for value in match[3].split(",")) if match else frozenset()
    if match and all(map(_VALUE.fullmatch, values)):
        key, operator, _ = match.groups()
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
