"""core/v1 Event. Anyone who may create events controls every text in it, the object reference included."""

from __future__ import annotations

from typing import Final

from msgspec import field

from ktui.model.meta import Object, Wire

PREEMPTED: Final = "Preempted"
"""The reason of the scheduler's event about a victim; `related` is the pod or group that it goes for."""


class ObjectReference(Wire, frozen=True):
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    api_version: str = ""


class EventSeries(Wire, frozen=True):
    count: int | None = None
    last_observed_time: str | None = None


class EventSource(Wire, frozen=True):
    component: str | None = None


class Event(Object, frozen=True):
    involved_object: ObjectReference = field(default_factory=ObjectReference)
    related: ObjectReference | None = None
    reason: str | None = None
    message: str | None = None
    type: str | None = None
    count: int | None = None
    first_timestamp: str | None = None
    last_timestamp: str | None = None
    event_time: str | None = None
    series: EventSeries | None = None
    source: EventSource | None = None
    reporting_component: str | None = None

    @property
    def last_seen(self) -> str | None:
        """The latest time the event tells of itself; new-style events have no lastTimestamp."""
        series = self.series.last_observed_time if self.series else None
        return (
            series or self.last_timestamp or self.event_time or self.first_timestamp or self.metadata.creation_timestamp
        )
