"""Words and small texts that several views use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Final, cast

from ktui.cluster.gangs import display_name
from ktui.cluster.joins import pod_group
from ktui.cluster.lineage import TreeKey
from ktui.cluster.sources import gang_source, object_key
from ktui.cluster.state import Cluster
from ktui.cluster.stems import Step
from ktui.model.meta import Key, Object
from ktui.model.pod import Pod
from ktui.model.podstatus import status_word
from ktui.model.resourceslice import Attribute as AttributeValue
from ktui.model.resourceslice import DeviceId, attribute_value
from ktui.model.time import format_age, format_time, parse_time
from ktui.views.base import Place, RowKey, SortValue, Style

OBJECT_KINDS: Final[dict[str, str]] = {
    "claims": "ResourceClaim",
    "autoscalers": "HorizontalPodAutoscaler",
    "pods": "Pod",
}
"""Views whose rows are the objects of one kind, by the view's id."""


PODS: Final = "Pods"
"""The kind of a row of a tree that stands for many pods: of one gang, or of a controller and in no gang."""

GROUPS: Final = ("PodGroup", "Group")
"""Kinds of rows of a tree that are about one gang."""


class ObjectsView:
    """What the views have in common whose rows are the objects of one kind. Subclasses name the `kind`, and `places`: by column,
    what gives the sort value of an object without its row."""

    kind: str
    places: ClassVar[Mapping[str, Callable[[Cluster, Any], SortValue]]] = {}
    makers = ()

    @property
    def labelled(self) -> str:
        return self.kind

    named = labelled

    def keys(self, cluster: Cluster) -> Iterable[Key]:
        return sorted(cluster.stores[self.kind].objects)

    def keys_unsorted(self, cluster: Cluster) -> Iterable[Key]:
        return list(cluster.stores[self.kind].objects)

    def place(self, cluster: Cluster, key: RowKey, column: str) -> Place | None:
        found = cluster.stores[self.kind].get(as_key(key))
        if found is None:
            return None
        return Place(self.places[column](cluster, found), found.metadata.uid, found.namespace)

    def names(self, cluster: Cluster, key: RowKey) -> tuple[str, ...]:  # noqa: ARG002 - the key says it
        return (as_key(key)[1],)

    def labels(self, cluster: Cluster, key: RowKey) -> dict[str, str]:
        found = cluster.stores[self.kind].get(as_key(key))
        return (found.metadata.labels or {}) if found else {}


def as_key(key: RowKey) -> Key:
    """A view's key, back as what it is: views only ever hand out (namespace, name)."""
    return cast("Key", key)


def gangs_of(cluster: Cluster, pod: Pod) -> tuple[str, ...]:
    """The gangs that the pod is of, as people call them: Kubernetes' own first, then those of Kueue and Volcano."""
    return tuple(display_name(cluster, key) for key in pod_group(pod))


def as_way(key: RowKey) -> TreeKey:
    """A key of a tree, back as what it is."""
    return cast("TreeKey", key)


def one_of(way: TreeKey) -> TreeKey:
    """The row that is about one object: of the row of many pods, the one above it."""
    return way[:-1] if way[-1][1] == PODS and len(way) > 1 else way


def object_at(cluster: Cluster, step: Step) -> Object | None:
    """The object behind a row of a tree; None where there is none, or it cannot be read."""
    namespace, kind, name = step
    if (reference := cluster.lineage.reference(step)) is not None:
        return cluster.lineage.object(reference)
    store = cluster.stores.get(kind)
    return store.get((namespace, name)) if store else None


def gang_or_pod(cluster: Cluster, pod: Pod) -> str:
    """Whose a pod is: its gang's name as people say it, the pod's own where it has no gang."""
    return next(iter(gangs_of(cluster, pod)), pod.name)


def gang_documents(pods: Iterable[Pod]) -> list[dict[str, str]]:
    """The gangs of these pods, each once, by name."""
    found = sorted({key for pod in pods for key in pod_group(pod)})
    return [{"name": object_key(key)[1], "source": gang_source(key)} for key in found]


def device_text(device: DeviceId) -> str:
    """A device in one word where the driver is clear from the context: POOL/DEVICE."""
    return f"{device[1]}/{device[2]}"


def device_full(device: DeviceId) -> str:
    """As commands take it: DRIVER/POOL/DEVICE."""
    return "/".join(device)


def attribute_text(value: AttributeValue | None) -> str:
    """An attribute's one value as text; lists separated by commas, truth as true or false."""
    plain = attribute_value(value)
    if isinstance(plain, bool):
        return "true" if plain else "false"
    if isinstance(plain, tuple):
        return ",".join(str(item) for item in plain)
    return "" if plain is None else str(plain)


def newest_first(obj: Object) -> float:
    """The sort value of an object's age."""
    return -(parse_time(obj.metadata.creation_timestamp) or 0.0)


def pod_style(pod: Pod) -> Style:
    match status_word(pod):
        case "Running":
            return "ok"
        case "Succeeded" | "Completed" | "Terminating":
            return "dim"
        case "Pending" | "SchedulingGated" | "ContainerCreating" | "PodInitializing":
            return "warn"
        case _:
            return "bad"


def owner_text(obj: Object | None) -> str:
    owner = obj.metadata.controller if obj else None
    return f"{owner.kind}/{owner.name}" if owner else ""


def time_text(seconds: float | None, now: float) -> str:
    """A point in time with its age: "2026-11-30T05:54:09Z, 41m ago"."""
    return f"{format_time(seconds)}, {format_age(now - seconds)} ago" if seconds is not None else ""
