"""`python -m tests.bench`: how long until ktui says something, and what it costs, as a table."""

from __future__ import annotations

import argparse
import re
import ssl
import statistics
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ktui import resources
from ktui.errors import KtuiError
from tests.bench import fleet, machine, recorded, subject
from tests.bench.measures import Bench, Failed, Measure
from tests.cluster.controlplane import build
from tests.cluster.controlplane.cluster import ControlPlane, ControlPlaneError


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--wheel", action="store_true", help="measure the wheel in a new environment, not the checkout")
    parser.add_argument("--fleet", type=int, metavar="PODS", help="measure on a real API server with so many pods, too")
    parser.add_argument("--long", type=int, metavar="PODS", help="measure on a recording of so many pods, too")
    parser.add_argument("--runs", type=int, default=10, metavar="N", help="runs of each measure (default: 10)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ktui-bench-") as directory:
        home = Path(directory)
        try:
            command = subject.wheel(home) if arguments.wheel else subject.checkout()
            print(f"{command} on {machine.description()}", flush=True)
            bench = Bench(command, subject.surroundings(home))
            report(bench.replayed(resources.recording("xid79"), re.compile("llm-big")), arguments.runs)
            if arguments.long:
                path = home / "long.ktui.gz"
                length = recorded.write(path, arguments.long, changes=arguments.long * 2 // 5)
                print(f"\na recording of {arguments.long:,} pods, {length // 60}:{length % 60:02}", flush=True)
                report(bench.long(path, f"{length // 60}:{length % 60:02}"), arguments.runs)
            if arguments.fleet:
                with fleet_cluster(arguments.fleet) as plane:
                    bench = Bench(command, subject.surroundings(home, plane.kubeconfig))
                    report(bench.live(re.compile(r"gang-0")), arguments.runs)
        except (subject.NoSubject, Failed, KtuiError, ControlPlaneError, TimeoutError) as error:
            print(f"tests.bench: {error}", file=sys.stderr)
            return 1
    return 0


@contextmanager
def fleet_cluster(pods: int) -> Iterator[ControlPlane]:
    """An API server full of running pods, with nothing running that would change them."""
    where = build.directory()
    if problem := build.missing(where):
        raise Failed(problem)
    with ControlPlane(where) as plane:
        for name in ("kwok", "kube-controller-manager", "kube-scheduler"):
            plane.process(name).stop()
        print(f"\ncreating {pods} pods, their claims, devices and gangs", flush=True)
        tls = ssl.create_default_context(cafile=str(plane.access.authority.certificate))
        fleet.fill(plane.url, plane.access.tokens["admin"], tls, pods)
        yield plane


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
        p95 = values[round(0.95 * (len(values) - 1))]
        figures = "".join(f"{value:8.1f}" for value in (values[0], statistics.median(values), p95, values[-1]))
        cpu = statistics.median(sample.ended.cpu for sample in samples)
        memory = max(sample.ended.memory for sample in samples) / 2**20
        print(f"{measure.name:28}{figures} {measure.unit:4}{cpu:8.2f} s{memory:7.0f} MiB", flush=True)


if __name__ == "__main__":
    sys.exit(main())
