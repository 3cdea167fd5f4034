"""`python -m tests.bench`: how long until ktui says something, and what it costs, as a table."""

from __future__ import annotations

import argparse
import os
import re
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from ktui import resources
from ktui.errors import KtuiError
from tests.bench import machine, recorded, subject, table
from tests.bench.comparison import Comparison, filled
from tests.bench.lives import Pace
from tests.bench.measures import Bench, Failed, Measure
from tests.cluster.controlplane import build
from tests.cluster.controlplane.cluster import ControlPlane, ControlPlaneError


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--wheel", action="store_true", help="measure the wheel in a new environment, not the checkout")
    parser.add_argument(
        "--fleet", type=int, metavar="PODS", help="compare on a real API server with so many pods, not on a recording"
    )
    parser.add_argument("--peers", action="store_true", help="with --fleet: measure k9s and kubectl, too, if on PATH")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="with --fleet: put the table into this document")
    parser.add_argument("--summary", type=Path, metavar="FILE", help="with --fleet: put its main lines into this one")
    parser.add_argument("--long", type=int, metavar="PODS", help="measure on a recording of so many pods, too")
    parser.add_argument("--runs", type=int, default=10, metavar="N", help="runs of each measure (default: 10)")
    arguments = parser.parse_args()
    if arguments.fleet is None and (arguments.peers or arguments.markdown or arguments.summary):
        parser.error("--peers, --markdown and --summary need --fleet")
    if arguments.fleet is not None and arguments.fleet <= Pace.keys:
        parser.error(f"--fleet needs more than {Pace.keys} pods: a cursor goes down so many")
    # Asked to end, it ends what it has started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with tempfile.TemporaryDirectory(prefix="ktui-bench-") as directory:
        try:
            return measure(arguments, Path(directory))
        except KeyboardInterrupt:
            return 130
        except (subject.NoSubject, Failed, KtuiError, ControlPlaneError, OSError) as error:
            print(f"tests.bench: {error}", file=sys.stderr)
            return 1


def measure(arguments: argparse.Namespace, home: Path) -> int:
    """0 where everything could be measured."""
    command = subject.wheel(home) if arguments.wheel else subject.checkout()
    print(f"{command} on {machine.description()}", flush=True)
    if arguments.fleet:
        return compare(command, home, arguments)
    bench = Bench(command, subject.surroundings(home))
    report(bench.replayed(resources.recording("xid79"), re.compile("llm-big")), arguments.runs)
    if arguments.long:
        path = home / "long.ktui.gz"
        length = recorded.write(path, arguments.long, changes=arguments.long * 2 // 5)
        print(f"\na recording of {arguments.long:,} pods, {length // 60}:{length % 60:02}", flush=True)
        report(bench.long(path, f"{length // 60}:{length % 60:02}"), arguments.runs)
    return 0


def compare(command: Path, home: Path, arguments: argparse.Namespace) -> int:
    where = build.directory()
    if problem := build.missing(where):
        raise Failed(problem)
    pace, load = Pace(), os.getloadavg()[0]
    print(f"filling an API server with {arguments.fleet:,} pods, their claims, devices and gangs", flush=True)
    with ControlPlane(where) as plane, filled(plane, arguments.fleet, home) as place:
        print(f"it took {place.writes:,.0f} writes a second", flush=True)
        comparison = Comparison(command, home, place, pace, tell, peers=arguments.peers)
        for turn in range(arguments.runs):
            tell(f"run {turn + 1} of {arguments.runs}")
            comparison.run()
    found = table.Report(comparison.results, pace.rates, place.direct.pods, place.writes, arguments.runs, load)
    print(f"\n{found.whole()}")
    for failure in comparison.failures:
        print(f"tests.bench: {failure}", file=sys.stderr)
    for document, text in ((arguments.markdown, found.whole()), (arguments.summary, found.short())):
        if document:
            table.write(document, text)
    return 1 if comparison.failures else 0


def tell(what: str) -> None:
    print(f"  {time.strftime('%H:%M:%S')}  {what}", flush=True)


def report(measures: Iterable[Measure], runs: int) -> None:
    print(f"{'':28}{'min':>8}{'median':>8}{'p95':>8}{'max':>8}{'':5}{'CPU':>10}{'memory':>11}")
    for measure in measures:
        if measure.once:
            samples = [measure.take()]
        else:
            # The first run reads everything from the disk; that is another measure than how fast the program is.
            measure.take()
            samples = [measure.take() for _ in range(runs)]
        values = sorted(value for sample in samples for value in sample.values)
        shown = (values[0], statistics.median(values), table.p95(values), values[-1])
        figures = "".join(f"{value:8.1f}" for value in shown)
        cpu = statistics.median(sample.ended.cpu for sample in samples)
        memory = max(sample.ended.memory for sample in samples) / 2**20
        print(f"{measure.name:28}{figures} {measure.unit:4}{cpu:8.2f} s{memory:7.0f} MiB", flush=True)


if __name__ == "__main__":
    sys.exit(main())
