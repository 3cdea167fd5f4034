"""Play scenarios and keep them: `python -m tests.scenarios.make [NAME...]`, at the project's root. A name may end in "*"."""

from __future__ import annotations

import fnmatch
import sys
from collections import defaultdict
from collections.abc import Iterable

from tests.cluster.controlplane import build
from tests.cluster.controlplane.cluster import ControlPlane, Options
from tests.scenarios import files
from tests.scenarios.definitions import SCENARIOS
from tests.scenarios.play import play
from tests.scenarios.scenario import Scenario


def options(gates: Iterable[str]) -> Options:
    """The usual control plane, with these feature gates on."""
    usual = Options()
    return Options(feature_gates={**usual.feature_gates, **dict.fromkeys(gates, True)})


def make(scenarios: Iterable[Scenario]) -> list[str]:
    """Plays and keeps each; returns what went wrong, a line for each scenario that is not as it says."""
    problems = []
    by_gates: dict[tuple[str, ...], list[Scenario]] = defaultdict(list)
    for scenario in scenarios:
        by_gates[scenario.gates].append(scenario)
    for gates, group in by_gates.items():
        with ControlPlane(build.directory(), options(gates)) as plane:
            for scenario in group:
                try:
                    played = play(plane, scenario)
                except AssertionError as error:
                    problems.append(f"{scenario.name}: {error}")
                    print(problems[-1], file=sys.stderr, flush=True)
                    continue
                files.write(scenario.name, played.recording, played.truth)
                print(scenario.name, flush=True)
    return problems


def main(patterns: list[str]) -> str:
    """Returns what is wrong, "" when nothing is."""
    chosen = [s for s in SCENARIOS.values() if not patterns or any(fnmatch.fnmatch(s.name, p) for p in patterns)]
    if unknown := [p for p in patterns if not fnmatch.filter(SCENARIOS, p)]:
        return f"no such scenario: {', '.join(unknown)}"
    return build.missing(build.directory()) or "\n".join(make(chosen))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) or None)
