"""The sources one by one, and what the session has cost the API server: what `I` shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ktui.cluster.moment import Stream
from ktui.cluster.state import Cluster
from ktui.model.cost import Cost, size_text, total
from ktui.model.kinds import KINDS
from ktui.ui.streams import describe
from ktui.views.base import Cell, Line

_NAME: Final = 45  # cells
_COUNT: Final = 9
_SIZE: Final = 11


def lines(cluster: Cluster, costs: Sequence[Cost] | None, now: float) -> list[Line]:
    """A line a source, then one for each verb and resource that was asked for. `costs` is None where no cluster is asked."""
    found: list[Line] = [*_sources(cluster, now)]
    if costs is not None:
        found += [(), *_costs(costs)]
    return found


def _sources(cluster: Cluster, now: float) -> Iterator[Line]:
    yield (Cell(f"{'Source':<{_NAME}}{'objects':>{_COUNT}}  state", "accent"),)
    for stream in _streams(cluster):
        count = len(cluster.stores[stream.source.kind].objects) if stream.source.kind in cluster.stores else 0
        said = describe(stream, now) if stream.phase != "absent" else Cell("not served", "dim")
        number = f"{count:,}" if stream.synced else "-"
        yield (Cell(f"{_name(stream):<{_NAME}}{number:>{_COUNT}}  "), said)


def _streams(cluster: Cluster) -> list[Stream]:
    return sorted(cluster.streams_of(stream.source.kind for stream in cluster.streams.values()), key=_name)


def _name(stream: Stream) -> str:
    kind = KINDS.get(stream.source.kind)
    resource = kind.resource if kind is not None else stream.source.kind
    return f"{resource} in {stream.source.namespace}" if stream.source.namespace else resource


def _costs(costs: Iterable[Cost]) -> Iterator[Line]:
    each = tuple(costs)
    all_ = total(each)
    yield (Cell(f"{'Asked of the API server':<{_NAME}}{'requests':>{_COUNT}}{'received':>{_SIZE}}", "accent"),)
    for cost in (*each, all_):
        row = f"{cost.what.strip() or 'in all':<{_NAME}}{cost.requests:>{_COUNT},}{size_text(cost.received):>{_SIZE}}"
        notes = (
            f"{size_text(cost.unpacked)} unpacked" if cost.unpacked != cost.received else "",
            f"{cost.failures:,} failed" if cost.failures else "",
            f"{cost.open} open" if cost.open else "",
        )
        yield (Cell(row), Cell("  " + ", ".join(filter(None, notes)), "dim"))
