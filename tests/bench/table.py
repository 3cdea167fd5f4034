"""The lines of the table that the benchmark ends with, the budgets that ktui is held to, and how it is written down."""

from __future__ import annotations

import datetime
import statistics
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from ktui.errors import KtuiError
from tests.bench import fleet, machine
from tests.bench.lives import Samples
from tests.cluster.controlplane import build

Statistic = Callable[[Sequence[float]], float]

_BEGIN: Final = "<!-- figures: written by python -m tests.bench -->"
_END: Final = "<!-- end of figures -->"
_WIDTH: Final = 130
_NEARLY: Final = 0.95  # of the events that were sent: who takes fewer falls behind
_SUBJECT: Final = "ktui"
_PEER: Final = "k9s"


class NoPlace(KtuiError):
    """The document has the beginning of a table and not its end."""


def p95(values: Sequence[float]) -> float:
    ordered = sorted(values)
    return ordered[round(0.95 * (len(ordered) - 1))]


class Line(NamedTuple):
    """A line of the table: `statistic` of the samples under `key`.

    `most` is what ktui may need at most; `of_peer` how many times what k9s needs in the same run. The `main` ones make a short
    table. With `peer_key` it is compared with other samples of k9s: with the nearest thing that k9s has.
    A budget is met only if ktui had as much to do as it should, where that is `given` as a key of samples and their least median.
    """

    title: str
    key: str
    unit: str
    statistic: Statistic = statistics.median
    most: float | None = None
    of_peer: float | None = None
    main: bool = False
    peer_key: str = ""
    given: tuple[str, float] | None = None

    def value(self, samples: Samples) -> float | None:
        return self._of(samples.get(self.key))

    def peers(self, samples: Samples) -> float | None:
        """What k9s needs for that."""
        return self._of(samples.get(self.peer_key or self.key))

    def _of(self, values: Sequence[float] | None) -> float | None:
        return self.statistic(values) if values else None

    def budget(self) -> str:
        times = "" if self.of_peer in (None, 1) else f"{self.of_peer:g} × "
        peer = "" if self.of_peer is None else f"{times}{_PEER}" + (f" ({self.peer_key})" if self.peer_key else "")
        own = "" if self.most is None else f"{number(self.most)} {self.unit}"
        return ", ".join(f"≤ {part}" for part in (own, peer) if part)

    def met(self, ours: Samples, peers: float | None) -> str:
        """yes, no, or nothing where there is no budget, or nothing to compare with."""
        own = self.value(ours)
        limits = [self.most] if self.most is not None else []
        if self.of_peer is not None and peers is not None:
            limits.append(self.of_peer * peers)
        if own is None or not limits:
            return ""
        return "yes" if own <= min(limits) and self._had_to_do(ours) else "no"

    def _had_to_do(self, ours: Samples) -> bool:
        if self.given is None:
            return True
        key, least = self.given
        return bool(ours[key]) and statistics.median(ours[key]) >= least


def lines(rates: Sequence[int]) -> list[Line]:
    return [
        Line("`--version`", "version", "ms", most=80),
        Line("first byte", "first byte", "ms"),
        Line("first frame", "first frame", "ms", most=400, main=True),
        Line("first gangs", "first gangs", "ms", most=800, main=True),
        Line("first pods", "first rows", "ms", of_peer=1, main=True),
        Line("all pods counted", "all pods", "ms", of_peer=1),
        Line("everything joined", "joined", "ms", most=2_000, of_peer=1, main=True, peer_key="all pods"),
        Line("processor time until then", "start cpu", "ms"),
        Line("`get pods -A`, from start to end", "get pods", "ms"),
        Line("memory at most (RSS)", "peak", "MiB", max, most=160, of_peer=1),
        Line("memory settled (PSS)", "settled", "MiB", most=160, of_peer=1, main=True),
        Line("idle: share of a core", "idle cpu", "%", most=3, of_peer=1, main=True),
        Line("idle: to the terminal, nothing changes", "idle bytes", "B/s", most=200),
        Line("idle: to the terminal, ages change each second", "idle bytes, ages", "B/s"),
        Line("key to paint, median", "keys", "ms", most=10, of_peer=1.5, main=True),
        Line("key to paint, p95", "keys", "ms", p95, most=33),
        *(line for rate in rates for line in _storm(rate)),
        Line("asked of the API server: requests", "requests", ""),
        Line("asked of the API server: answers", "asked bytes", "MiB"),
    ]


def _storm(rate: int) -> list[Line]:
    told, given = f"at {rate:,} events/s", (f"events at {rate}", _NEARLY * rate)
    return [
        Line(f"{told}: events taken", f"events at {rate}", "/s"),
        Line(f"{told}: share of a core", f"cpu at {rate}", "%", most=40, given=given),
        Line(f"{told}: key to paint, median", f"keys at {rate}", "ms", of_peer=1.5, given=given),
        Line(f"{told}: key to paint, p95", f"keys at {rate}", "ms", p95, most=50, main=True, given=given),
        Line(f"{told}: to the terminal for each event", f"bytes at {rate}", "B"),
    ]


@dataclass(frozen=True)
class Report:
    """What a comparison found: `results` by the programs' names with their versions. `writes` a second is what the API server
    took while it was filled with so many `pods`; `load` is the machine's load average before that."""

    results: Mapping[str, Samples]
    rates: Sequence[int]
    pods: int
    writes: float
    runs: int
    load: float

    def whole(self) -> str:
        """What was measured on what, and the table: Markdown."""
        return self._document(lines(self.rates))

    def short(self) -> str:
        """The same with the main lines only."""
        return self._document([line for line in lines(self.rates) if line.main])

    def _document(self, shown: Sequence[Line]) -> str:
        return f"{textwrap.fill(self._about(), _WIDTH)}\n\n{table(self.results, shown)}"

    def _about(self) -> str:
        today = datetime.datetime.now(datetime.UTC).date()
        plural = "s" if self.runs > 1 else ""
        return (
            f"{today}, {machine.description()}; {self.runs} run{plural}, by turns. A real API server {build.KUBERNETES} on"
            f" the same machine with {self.pods:,} pods, {self.pods:,} claims, {self.pods:,} devices and"
            f" {self.pods // fleet.DEVICES:,} gangs; it took {self.writes:,.0f} writes a second while it was filled."
            f" The load average before that was {self.load:.1f}."
        )


def table(results: Mapping[str, Samples], shown: Sequence[Line]) -> str:
    """As Markdown, one column for each program."""
    names = list(results)
    own = next(name for name in names if name.split()[0] == _SUBJECT)
    peer = next((name for name in names if name.split()[0] == _PEER), None)
    rows = [["", *names, "budget", "met"]]
    for line in shown:
        values = {name: line.value(samples) for name, samples in results.items()}
        cells = ["–" if value is None else f"{number(value)} {line.unit}".rstrip() for value in values.values()]
        met = line.met(results[own], line.peers(results[peer]) if peer else None)
        rows.append([line.title, *cells, line.budget(), met])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    head, *body = (
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    )
    rule = "| " + " | ".join("-" * width for width in widths) + " |"
    return "\n".join((head, rule, *body))


def number(value: float) -> str:
    """With about three digits, and none after the point from 100 on."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}".removesuffix(".0") if value >= 10 else f"{value:.2f}".rstrip("0").rstrip(".")


def write(path: Path, text: str) -> None:
    """Puts the text into a document, in place of the one that stands there between two comments; or makes the document.
    Raises NoPlace where the second comment is missing."""
    block = f"{_BEGIN}\n\n{text}\n\n{_END}"
    before, begin, rest = path.read_text().partition(_BEGIN) if path.exists() else ("", "", "")
    _, end, after = rest.partition(_END)
    if begin and not end:
        raise NoPlace(f"{path} has no end of the figures: {_END}")
    path.write_text(f"{before}{block}{after}" if begin else f"{before}{block}\n")
