"""Play scenarios and keep them: `python -m tests.scenarios.make [NAME...]`, at the project's root. A name may end in "*".

Without a name all are made: those of `recordings` and those of `evictions`.
"""

from __future__ import annotations

import fnmatch
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.cluster.controlplane import build
from tests.cluster.controlplane.cluster import ControlPlane, Options
from tests.scenarios import eviction, files, play
from tests.scenarios.definitions import EVICTIONS, SCENARIOS
from tests.scenarios.eviction import Eviction
from tests.scenarios.play import Played
from tests.scenarios.scenario import Scenario


class Work(NamedTuple):
    """One scenario or eviction, where it is kept, and how it is played."""

    name: str
    where: Path
    play: Callable[[ControlPlane], Played]


def options(gates: Iterable[str]) -> Options:
    """The usual control plane, with these feature gates on."""
    usual = Options()
    return Options(feature_gates={**usual.feature_gates, **dict.fromkeys(gates, True)})


def make(scenarios: Iterable[Scenario], evictions: Iterable[Eviction]) -> list[str]:
    """Plays and keeps each; returns what went wrong, a line for each that is not as it says."""
    work: dict[tuple[str, ...], list[Work]] = defaultdict(list)
    for scenario in scenarios:
        work[scenario.gates].append(Work(scenario.name, files.DIRECTORY, partial(play.play, scenario=scenario)))
    for one in evictions:
        work[()].append(Work(one.name, files.EVICTIONS, partial(eviction.play, eviction=one)))
    problems = []
    for gates, parts in work.items():
        with ControlPlane(build.directory(), options(gates)) as plane:
            for part in parts:
                try:
                    played = part.play(plane)
                except AssertionError as error:
                    problems.append(f"{part.name}: {error}")
                    continue
                files.write(part.name, played.recording, played.truth, part.where)
                print(part.name, flush=True)
    return problems


def main(patterns: list[str]) -> str:
    """Returns what is wrong, "" when nothing is."""

    def chosen(name: str) -> bool:
        return not patterns or any(fnmatch.fnmatch(name, pattern) for pattern in patterns)

    if unknown := [p for p in patterns if not fnmatch.filter((*SCENARIOS, *EVICTIONS), p)]:
        return f"no such scenario: {', '.join(unknown)}"
    if problem := build.missing(build.directory()):
        return problem
    scenarios = [s for s in SCENARIOS.values() if chosen(s.name)]
    return "\n".join(make(scenarios, [e for e in EVICTIONS.values() if chosen(e.name)]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) or None)
