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
            before = self._known.get(frame.source.id, {})
            items = tuple(shared(obj, before.get(obj.key)) for obj in frame.items) if before else frame.items
            self._known[frame.source.id] = {obj.key: obj for obj in items}
            return replace(frame, items=items)
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
