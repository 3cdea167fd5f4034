"""The views of one session: their models, made when first shown, and what of them a change touches.

Knows nothing of Textual. It ends with its session: nothing of one cluster is ever carried to another.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ktui.cluster.dirty import Dirty, Entity
from ktui.model.kinds import KINDS
from ktui.ui.rowindex import Filter
from ktui.ui.session import Session
from ktui.ui.viewmodel import ViewModel
from ktui.views.base import View

if TYPE_CHECKING:
    from ktui.ui.mapmodel import MapModel

_MANY = 10_000
"""Changed devices of which the triage is not told one by one: a hundred thousand keys, of which it wants next to none, are a
fifth of a second."""


class Deck:
    """`shown` is the id of the view on the screen."""

    def __init__(self, session: Session, views: Mapping[Entity, View], shown: Entity, wanted: Filter) -> None:
        self.session = session
        self.views = views
        self.map: MapModel | None = None
        self._models: dict[Entity, ViewModel] = {}
        self._sight: dict[str, tuple[bool, bool, bool]] = {}
        self.shown = shown
        self.filter = wanted
        self.show(shown)

    @property
    def model(self) -> ViewModel:
        """Of the view that is shown."""
        return self._models[self.shown]

    def show(self, view: Entity) -> None:
        """Show another view, as it was left, through the present filter."""
        if view not in self._models:
            self._models[view] = ViewModel(self.views[view], self.session.cluster)
            self._listen()
        self.shown = view
        self.model.narrow(self.filter)

    def narrow(self, wanted: Filter) -> None:
        """Filter the shown view, and every other once it is shown."""
        self.filter = wanted
        self.model.narrow(wanted)

    def open_map(self) -> MapModel:
        """The devices as a map; what it needs is imported when it is first asked for."""
        if self.map is None:
            from ktui.ui.mapmodel import MapModel

            self.map = MapModel(self.session.cluster)
            self._listen()
        return self.map

    def _listen(self) -> None:
        """What a model was not told of before it was made, it has found in the cluster."""
        on_map: tuple[Entity, ...] = ("devices",) if self.map is not None else ()
        self.session.tell_of((*self._models, *on_map))

    def take(self, changes: Dirty) -> None:
        """Tell the models what changed."""
        if changes.streams:
            self._rebase(self._changed_sight())
        for view, model in self._models.items():
            if model.parted is not None and len(changes.devices) > _MANY:
                model.reread(frozenset(KINDS))
            else:
                model.invalidate(getattr(changes, view))
            if changes.figures:
                model.refigure()
        if self.map is not None:
            self.map.invalidate(changes.devices)

    def _changed_sight(self) -> frozenset[str]:
        """Kinds that became readable or ceased to be: rows say "unknown" where a kind they need cannot be read."""
        cluster = self.session.cluster
        sight = {
            kind: (cluster.readable(kind), cluster.synced(kind), cluster.sees_all(kind))
            for kind in {*cluster.stores, *(stream.source.kind for stream in cluster.streams.values())}
        }
        changed = frozenset(kind for kind, now in sight.items() if now != self._sight.get(kind))
        self._sight = sight
        return changed

    def _rebase(self, kinds: frozenset[str]) -> None:
        """Compute again what depends on any of the kinds."""
        for model in self._models.values():
            model.reread(kinds)
        if self.map is not None and kinds.intersection(("ResourceClaim", "ResourceSlice", "DeviceTaintRule")):
            self.map.rebase(self.session.cluster)

    @property
    def settled(self) -> bool:
        """Whether every source has its first list, or will not have it soon."""
        streams = self.session.cluster.streams.values()
        return bool(streams) and all(stream.synced or stream.phase != "listing" for stream in streams)
