"""What is known of every source, as the fewest frames that say it: where a recording begins that begins in the middle."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, field
from msgspec.structs import replace

from ktui.model.frame import Changed, Frame, Listed, Source, StreamState
from ktui.model.meta import Key, Object


class _Content(Struct):
    source: Source
    state: StreamState | None = None
    listed: bool = False
    resource_version: str = ""
    epoch: int = 0
    objects: dict[str | Key, Object] = field(default_factory=dict)


class Baseline:
    """Frames in, at a cost that does not depend on how much is known; objects are shared with whoever else has them."""

    def __init__(self) -> None:
        self._contents: dict[tuple[str, str, str], _Content] = {}

    def apply(self, frame: Frame) -> None:
        if not isinstance(frame, Listed | Changed | StreamState):
            return
        content = self._contents.setdefault(frame.source.id, _Content(frame.source))
        content.source = frame.source
        match frame:
            case Listed():
                content.listed, content.resource_version, content.epoch = True, frame.resource_version, frame.epoch
                content.objects = {_identity(obj): obj for obj in frame.items}
            case Changed(type="DELETED"):
                content.objects.pop(_identity(frame.object), None)
            case Changed():
                content.epoch = frame.epoch
                content.objects[_identity(frame.object)] = frame.object
            case StreamState():
                content.state = frame

    def frames(self) -> Iterator[Frame]:
        """A list of each source that had one, or what is known without one, and how the source is doing."""
        for content in self._contents.values():
            if content.listed:
                yield Listed(content.source, content.resource_version, tuple(content.objects.values()), content.epoch)
            else:
                yield from (Changed(content.source, "ADDED", obj, content.epoch) for obj in content.objects.values())
            if content.state is not None:
                yield content.state

    def copy(self) -> Baseline:
        """Another one that knows the same; the objects themselves are shared."""
        made = Baseline()
        for key, content in self._contents.items():
            made._contents[key] = replace(content, objects=dict(content.objects))
        return made

    @property
    def sources(self) -> tuple[Source, ...]:
        return tuple(content.source for content in self._contents.values())


def _identity(obj: Object) -> str | Key:
    """The uid, which costs no memory; hostile objects may have none."""
    return obj.metadata.uid or obj.key
