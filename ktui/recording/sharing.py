"""Of a recording every version of an object is kept: what a change leaves as it was is kept once."""

from __future__ import annotations

from msgspec.structs import replace

from ktui.model.frame import Changed, Frame, Listed
from ktui.model.meta import Key, Object
from ktui.model.sharing import shared


class Sharing:
    """Frames in, in order; equal frames out, which hold parts of those before wherever these are equal."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, str], dict[Key, Object]] = {}

    def frame(self, frame: Frame) -> Frame:
        if isinstance(frame, Listed):
            if before := self._known.get(frame.source.id):
                items = (shared(obj, before.get(key)) for key, obj in zip(frame.keys, frame.items, strict=True))
                frame = replace(frame, items=tuple(items))
            self._known[frame.source.id] = dict(zip(frame.keys, frame.items, strict=True))
            return frame
        if isinstance(frame, Changed):
            known = self._known.setdefault(frame.source.id, {})
            key = frame.object.key
            obj = shared(frame.object, known.get(key))
            if frame.type == "DELETED":
                known.pop(key, None)
            else:
                known[key] = obj
            return replace(frame, object=obj)
        return frame
