"""Where a pod's devices sit: whether they are together on one NUMA node and below one PCI root, and which are not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from ktui.cluster.alignment import Alignment, Verdict, alignment
from ktui.cluster.attributes import PLACES, AttributeItem
from ktui.cluster.state import Cluster
from ktui.model.resourceslice import DeviceId
from ktui.views.base import Cell, Document, Line, Style
from ktui.views.shared import device_full, device_text

_TITLES: Final = {"numaNode": "NUMA node", "pcieRoot": "PCI root"}
_STYLES: Final[dict[Verdict, Style]] = {"aligned": "ok", "apart": "warn", "unknown": "dim"}
_PAIRS: Final = 4  # that are named; one pair is enough to know that a pod's devices are apart


def placement_lines(cluster: Cluster, devices: Sequence[DeviceId]) -> Iterable[Line]:
    """A line for each place that a device of several can have, and more where they are apart; none for fewer than two devices."""
    if len(devices) < 2:
        return
    for place, attribute in PLACES.items():
        found = alignment(cluster, devices, attribute)
        yield (Cell(f"{_TITLES[place]:<13} ", "dim"), Cell(_words(found), _STYLES[found.verdict]))
        if found.verdict == "apart":
            yield from (_where(device, values) for device, values in found.values)
            pairs = found.apart if len(devices) > 2 else ()  # of two it is plain which
            yield from (_pair(first, second) for first, second in pairs[:_PAIRS])
            if (more := len(pairs) - _PAIRS) > 0:
                yield (Cell(f"  and {more} more pairs", "dim"),)


def placement_document(cluster: Cluster, devices: Sequence[DeviceId]) -> Document | None:
    """By place, as JSON; None for a pod without devices."""
    if not devices:
        return None
    return {place: _document(alignment(cluster, devices, attribute)) for place, attribute in PLACES.items()}


def _document(found: Alignment) -> Document:
    return {
        "verdict": found.verdict,
        "common": list(found.common),
        "values": {device_full(device): list(values) for device, values in found.values},
        "apart": [[device_full(first), device_full(second)] for first, second in found.apart],
    }


def _words(found: Alignment) -> str:
    common, silent = _text(found.common), sum(1 for _, values in found.values if not values)
    match found.verdict:
        case "aligned":
            return f"aligned: {common}"
        case "apart":
            return "apart: no value is common to all"
        case "unknown" if common:
            return f"unknown: {common}, but {silent} of {len(found.values)} devices do not publish it"
        case _:
            return "unknown: no device publishes it"


def _where(device: DeviceId, values: tuple[AttributeItem, ...]) -> Line:
    return (Cell(f"  {device_text(device)}  "), Cell(_text(values) or "not published", "" if values else "dim"))


def _pair(first: DeviceId, second: DeviceId) -> Line:
    return (Cell("  apart: ", "warn"), Cell(f"{device_text(first)} and {device_text(second)}"))


def _text(values: tuple[AttributeItem, ...]) -> str:
    return ", ".join(map(str, values))
