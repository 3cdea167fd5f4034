"""Functions of strings; `indexOf` and `lastIndexOf` are also those of lists (cel-go, ext/strings.go, version 2)."""

from __future__ import annotations

from typing import Final

from ktui.cel.arguments import MAX_ITEMS, bounded, want, want_strings, within
from ktui.cel.values import EvaluationError, alike


def index_of(where: object, what: object, offset: object = None) -> int:
    """Of a string in a string, or of an item in a list."""
    if isinstance(where, list) and offset is None:
        return next((at for at, item in enumerate(where) if alike(item, what)), -1)
    text, part, start = want(where, str), want(what, str), 0 if offset is None else want(offset, int)
    if start < 0:
        raise EvaluationError(f"index out of range: {start}")
    if not part:
        return min(start, len(text))
    return text.find(part, start)


def last_index_of(where: object, what: object, offset: object = None) -> int:
    if isinstance(where, list) and offset is None:
        return max((at for at, item in enumerate(where) if alike(item, what)), default=-1)
    text, part = want(where, str), want(what, str)
    if offset is None:
        return text.rfind(part)
    start = want(offset, int)
    if start < 0:
        raise EvaluationError(f"index out of range: {start}")
    if not part:
        return min(start, len(text))
    return text.rfind(part, 0, start + len(part)) if start < len(text) else -1


def char_at(text: object, index: object) -> str:
    return want(text, str)[within(want(index, int), len(want(text, str))) :][:1]


def substring(text: object, start: object, end: object = None) -> str:
    whole_text, first = want(text, str), want(start, int)
    last = len(whole_text) if end is None else want(end, int)
    if end is not None and first > last:
        raise EvaluationError(f"invalid substring range. start: {first}, end: {last}")
    return whole_text[within(first, len(whole_text)) : within(last, len(whole_text))]


def replace(text: object, old: object, new: object, limit: object = -1) -> str:
    subject, before, after = want(text, str), want(old, str), want(new, str)
    bounded(len(subject) + (subject.count(before) + 1) * len(after))
    return subject.replace(before, after, want(limit, int))


def split(text: object, separator: object, limit: object = -1) -> list[object]:
    subject, between, most = want(text, str), want(separator, str), want(limit, int)
    bounded(len(subject) if not between else subject.count(between), MAX_ITEMS)
    if most == 0:
        return []
    if not between:
        characters = list(subject)
        return [*characters] if most < 0 or most >= len(characters) else [*characters[: most - 1], subject[most - 1 :]]
    return [*subject.split(between, most - 1 if most > 0 else -1)]


def join(parts: object, separator: object = "") -> str:
    texts, between = want_strings(parts), want(separator, str)
    bounded(sum(map(len, texts)) + len(texts) * len(between))
    return between.join(texts)


_WHITE_SPACE: Final = "\t\n\v\f\r \u0085\u00a0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_UPPER: Final = {lower: upper for upper, lower in _LOWER.items()}


def lower(text: object) -> str:
    return want(text, str).translate(_LOWER)


def upper(text: object) -> str:
    return want(text, str).translate(_UPPER)


def trim(text: object) -> str:
    return want(text, str).strip(_WHITE_SPACE)
