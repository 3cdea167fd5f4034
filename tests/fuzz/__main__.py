"""`python -m tests.fuzz [--worlds N] [--seed S] [--keep DIRECTORY]`, at the project's root: play worlds, print disagreements."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.cluster.controlplane import build
from tests.cluster.controlplane.api import ApiError
from tests.cluster.controlplane.cluster import ControlPlane
from tests.fuzz.play import Compared, Player
from tests.fuzz.worlds import world


def main(arguments: list[str]) -> str:
    """Returns what is wrong, "" when nothing is."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--worlds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="where recordings of the worlds go; a new directory by default")
    given = parser.parse_args(arguments)
    if problem := build.missing(build.directory()):
        return problem
    keep = given.keep or Path(tempfile.mkdtemp(prefix="ktui-fuzz-"))
    keep.mkdir(parents=True, exist_ok=True)
    found: list[Compared] = []
    ended = 0
    with ControlPlane(build.directory()) as plane:
        for seed in range(given.seed, given.seed + given.worlds):
            try:
                played = Player(plane, world(seed), keep).play()
            except (AssertionError, ApiError) as error:
                print(f"world {seed} was not played to its end: {error}", flush=True)
                ended += 1
                continue
            for compared in played:
                if not compared.agrees:
                    print(compared, flush=True)
            found += played
            print(f"world {seed}: {_count(played)}", flush=True)
    print(f"{given.worlds} worlds: {_count(found)}; recordings in {keep}")
    if not all(compared.agrees for compared in found):
        return "ktui and the scheduler do not agree"
    return f"{ended} worlds were not played to their end" if ended else ""


def _count(found: list[Compared]) -> str:
    gangs = {(c.seed, c.gang): c.cause for c in found}
    causes = Counter(cause or "placed" for cause in gangs.values())
    wrong = sum(not compared.agrees for compared in found)
    unknown = sum(compared.said is None for compared in found)
    answers = ", ".join(f"{count} {cause}" for cause, count in causes.most_common())
    return f"{len(gangs)} gangs ({answers}), {len(found)} questions, {unknown} not known, {wrong} wrong"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) or None)
