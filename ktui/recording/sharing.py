"""What a change leaves as it was is kept once: most of an object is the same in all of its versions."""

from __future__ import annotations

from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from ktui.model.frame import Changed, Frame, Listed
from ktui.model.meta import Key, Object

T = TypeVar("T", bound=Struct)


class Sharing:
    """Frames in, in order; equal frames out, which hold parts of those before wherever these are equal."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, str], dict[Key, Object]] = {}

    def frame(self, frame: Frame) -> Frame:
        if isinstance(frame, Listed):
            before = self._known.get(frame.source.id, {})
            items = tuple(_shared(obj, before.get(obj.key)) for obj in frame.items) if before else frame.items
            self._known[frame.source.id] = {obj.key: obj for obj in items}
            return replace(frame, items=items)
        if isinstance(frame, Changed):
            known = self._known.setdefault(frame.source.id, {})
            key = frame.object.key
            obj = _shared(frame.object, known.get(key))
            if frame.type == "DELETED":
                known.pop(key, None)
            else:
                known[key] = obj
            return replace(frame, object=obj)
        return frame


def _shared(new: T, old: T | None) -> T:
    """`new`, with every part that equals the one of `old` being that one; `old` itself where everything does."""
    if old is None or type(new) is not type(old):
        return new
    if new == old:
        return old
    parts: dict[str, Any] = {}
    for name in new.__struct_fields__:
        mine, other = getattr(new, name), getattr(old, name)
        if mine is None or mine is other:
            continue
        if mine == other:
            parts[name] = other
        elif isinstance(mine, Struct) and isinstance(other, Struct):
            parts[name] = _shared(mine, other)
    return replace(new, **parts) if parts else new
