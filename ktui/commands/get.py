"""`ktui get RESOURCE [NAME]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final, cast

import orjson
from msgspec import structs

from ktui.cluster.dirty import Entity
from ktui.cluster.lineage import TreeKey
from ktui.cluster.moment import Stream
from ktui.cluster.preemption import victims_of
from ktui.cluster.state import Cluster
from ktui.cluster.usage import exporter_of, offers
from ktui.commands import labels
from ktui.commands.printing import table
from ktui.commands.source import Filled, Measure, fill
from ktui.commands.trees import drawn
from ktui.errors import KtuiError, UsageError
from ktui.kube.picked import Picked
from ktui.model.frame import NOT_RECORDED
from ktui.model.kinds import KINDS
from ktui.model.pod import Pod
from ktui.model.resourceslice import DeviceId
from ktui.model.usage import Wanted
from ktui.ui.safe import safe
from ktui.views.base import Column, Parted, Row, RowKey, Tree, View
from ktui.views.registry import VIEWS

JSON_VERSION = 1
_MEASURED: Final = ("json", "wide")
"""Forms that have room for figures of what is used."""


def run(args: argparse.Namespace) -> int:
    """Print the rows; 0, or 1 when the one that was named is not there or what is needed cannot be read."""
    resource, named = args.resource
    if named and args.name:
        raise UsageError(f"two names: {named!r} and {args.name!r}")
    name = named or args.name  # "" where a script's variable is not set: that is no wish for all of them
    view = VIEWS[cast("Entity", resource)]
    matches = labels.parse(args.selector)
    if args.selector and view.id in ("devices", "timeline"):
        raise UsageError(f"{view.title.lower()} have no labels to select by")
    read = partial(
        fill,
        args,
        needed(view, args.output),
        timeline=view.id == "timeline",
        measure=_measure(view, name, args.output),
        trees=isinstance(view, Tree),
    )
    narrowed = picked(view, args.selector or "", name or "")
    filled = read(picked=narrowed)
    if narrowed is not None and args.output == "json" and _misses_victims(view, filled):
        filled = read(picked=None)
    found = list(_rows(view, filled, name))
    _check_readable(filled.cluster, view, shows=bool(found))
    rows = [row for row in found if matches(view.labels(filled.cluster, row.key))]
    if isinstance(view, Parted):
        order = next(place for place, column in enumerate(view.columns) if column.id == view.order)
        rows.sort(key=lambda row: (row.part, row.sort[order], row.key))
    if name is not None and not rows:
        raise KtuiError(f"no {view.id.removesuffix('s')} {name!r}{_where(view, filled)}")
    _print(args.output, view, filled, rows)
    _warn_unreadable(filled.cluster, view)
    return 0


def needed(view: View, form: str) -> tuple[str, ...]:
    """The kinds that this form shows something of."""
    match form:
        case "json":
            return view.kinds + view.joins
        case "name":
            return view.kinds + view.makers
        case _:
            return view.kinds + tuple(kind for kind in view.joins if kind not in view.unseen)


def picked(view: View, selector: str, name: str) -> Picked | None:
    """What the server can choose for us. All rows are looked at again here, which have others besides in some views."""
    labels, name = (selector if view.labelled else ""), (name if view.named else "")
    return Picked(view.named or view.labelled, labels, name) if labels or name else None


def _misses_victims(view: View, filled: Filled) -> bool:
    """Whether the JSON of pods that were picked is to tell of victims, which are pods that were not. Few pods have any."""
    if view.id != "pods":
        return False
    victims = victims_of(filled.cluster, [pod.metadata.uid for pod in filled.cluster.all(Pod)])
    return any(v.state == "unknown" and filled.namespace in ("", v.namespace) for v in victims)


def _rows(view: View, filled: Filled, name: str | None) -> Iterator[Row]:
    for key in view.subjects(filled.cluster) if isinstance(view, Tree) else view.keys(filled.cluster):
        row = view.row(filled.cluster, key)
        if row is None or (filled.namespace and row.namespace and row.namespace != filled.namespace):
            continue
        if name is None or name in view.names(filled.cluster, key):
            yield row


def _print(form: str, view: View, filled: Filled, rows: list[Row]) -> None:
    if form == "json":
        items = [view.item(filled.cluster, row.key) for row in rows]
        document = {"version": JSON_VERSION, "kind": view.id, "items": items}
        sys.stdout.write(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode())
    elif form == "name":
        for row in rows:
            print(f"{_called(view, row.key)}/{safe(view.names(filled.cluster, row.key)[0])}")
    elif rows:
        wide = form == "wide"
        if isinstance(view, Tree):
            rows = list(drawn(view, filled.cluster, [row.key for row in rows]))
        columns, rows = _without_figures(view, filled, rows)
        sys.stdout.write(table(columns, rows, filled.now, wide=wide))
    elif isinstance(view, Parted):
        read = filled.cluster.synced(*(kind for part in view.parts for kind in part.kinds))
        print("Nothing needs you." if read else "Nothing of what could be read needs you.", file=sys.stderr)
    else:
        print(f"No {view.title.lower()} found{_where(view, filled)}.", file=sys.stderr)
        for off in _off(filled.cluster, view):
            print(f"ktui: {off}", file=sys.stderr)


def _called(view: View, key: RowKey) -> str:
    """What a row is of: in a tree, of the object that the last step of its key names by its kind."""
    if isinstance(view, Tree):
        return safe(cast("TreeKey", key)[-1][1].lower())
    return view.id.removesuffix("s")


def _measure(view: View, name: str | None, form: str) -> Measure | None:
    """What is used is asked for where it is shown."""
    if form not in _MEASURED or view.id not in ("pods", "devices"):
        return None

    def wanted(cluster: Cluster) -> Wanted:
        if view.id == "pods":
            return Wanted(pods=True)
        keys = (key for key in view.keys(cluster) if name is None or name in view.names(cluster, key))
        published = (cluster.device(cast("DeviceId", key)) for key in keys)
        nodes = dict.fromkeys(device.node for device in published if device is not None)
        found = ((node, exporter_of(cluster, node)) for node in nodes)
        return Wanted(exporters=tuple((node, exporter) for node, exporter in found if exporter is not None))

    return wanted


def _without_figures(view: View, filled: Filled, rows: list[Row]) -> tuple[tuple[Column, ...], list[Row]]:
    """Columns and rows without figures that nobody asked for, or that are not to be had."""
    columns = enumerate(view.columns)
    kept = [i for i, c in columns if not c.needs or (filled.measured and offers(filled.cluster, c.needs))]
    if len(kept) == len(view.columns):
        return view.columns, rows
    shown = tuple(view.columns[i] for i in kept)
    return shown, [structs.replace(row, cells=tuple(row.cells[i] for i in kept)) for row in rows]


def _where(view: View, filled: Filled) -> str:
    return f" in namespace {filled.namespace}" if filled.namespace and KINDS[view.kinds[0]].namespaced else ""


def _off(cluster: Cluster, view: View) -> Iterable[str]:
    """What the cluster would have to turn on before there can be rows: a gate and an API."""
    streams = cluster.streams_of(kind for kind in view.makers if not KINDS[kind].program)
    absent = ((KINDS[s.source.kind], s.message == NOT_RECORDED) for s in streams if s.phase == "absent")
    return dict.fromkeys(f"{kind.plural} are {NOT_RECORDED}" if left else kind.enable for kind, left in absent)


def _check_readable(cluster: Cluster, view: View, *, shows: bool) -> None:
    """Nothing is called empty that was never read. What the cluster does not have is no trouble where others make rows."""
    for kind in view.kinds:
        streams = cluster.streams_of((kind,))
        if not any(stream.synced for stream in streams) and not (shows and _are_absent(streams)):
            reason = next((s.message for s in streams if s.message), "nothing was read")
            raise KtuiError(f"{view.id} cannot be shown: {reason}")


def _are_absent(streams: Iterable[Stream]) -> bool:
    return all(stream.phase == "absent" for stream in streams)


def _warn_unreadable(cluster: Cluster, view: View) -> None:
    for kind in view.joins:
        for stream in cluster.streams_of((kind,)):
            if stream.phase == "no-access":
                print(f"ktui: without {kind}: {safe(stream.message, 300)}", file=sys.stderr)
    for trouble in dict.fromkeys((cluster.usage.trouble, *cluster.usage.gpu_trouble.values())):
        if trouble:
            print(f"ktui: {safe(trouble, 300)}", file=sys.stderr)
