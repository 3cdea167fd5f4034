"""`python -m tests.bench`: how long until ktui says something, as a table."""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ktui import resources
from ktui.errors import KtuiError
from tests.bench import machine, subject
from tests.bench.terminal import ANYTHING, FULL_SCREEN, Ended, Terminal

SIZES = ((80, 24), (200, 50))


class Sample(NamedTuple):
    seconds: float
    ended: Ended


class Measure(NamedTuple):
    """One line of the table: what is measured, and how one sample of it is taken."""

    name: str
    sample: Callable[[], Sample]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--wheel", action="store_true", help="measure the wheel in a new environment, not the checkout")
    parser.add_argument("--runs", type=int, default=10, metavar="N", help="samples of each measure (default: 10)")
    parser.add_argument("--recording", default="xid79", metavar="NAME", help="the shipped recording to replay")
    parser.add_argument("--rows", default="train", metavar="TEXT", help="a text that only the recording's rows contain")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ktui-bench-") as directory:
        home = Path(directory)
        try:
            recording = resources.recording(arguments.recording)
            command = subject.wheel(home) if arguments.wheel else subject.checkout()
            print(f"{command} on {machine.description()}", flush=True)
            report(measures(command, recording, re.compile(arguments.rows), subject.surroundings(home)), arguments.runs)
        except (subject.NoSubject, KtuiError, TimeoutError) as error:
            print(f"tests.bench: {error}", file=sys.stderr)
            return 1
    return 0


def measures(
    command: Path, recording: Path, rows: re.Pattern[str], environment: Mapping[str, str]
) -> Iterable[Measure]:
    def whole(*arguments: str) -> Sample:
        """From the start of the process to its end."""
        with Terminal([str(command), *arguments], environment) as terminal:
            ended = terminal.ended()
        if ended.status:
            raise subject.NoSubject(f"ktui {' '.join(arguments)} ended with status {ended.status}")
        return Sample(ended.seconds, ended)

    def until(text: re.Pattern[str], columns: int, lines: int) -> Sample:
        """From the start of the process to when `text` was written to the terminal."""
        with Terminal([str(command), "replay", str(recording)], environment, columns=columns, rows=lines) as terminal:
            seconds = terminal.wait_for(text, after=FULL_SCREEN)
            terminal.press("q")
            return Sample(seconds, terminal.ended())

    yield Measure("ktui --version", partial(whole, "--version"))
    yield Measure("ktui get gangs --recording", partial(whole, "get", "gangs", "-A", "--recording", str(recording)))
    for columns, lines in SIZES:
        yield Measure(f"first frame, {columns}x{lines}", partial(until, ANYTHING, columns, lines))
        yield Measure(f"first rows, {columns}x{lines}", partial(until, rows, columns, lines))


def report(measures: Iterable[Measure], runs: int) -> None:
    print(f"{'':30}{'median':>10}{'min':>10}{'max':>10}{'CPU':>10}{'memory':>10}")
    for measure in measures:
        # The first run reads everything from the disk; that is another measure than how fast the program is.
        measure.sample()
        samples = [measure.sample() for _ in range(runs)]
        seconds = [sample.seconds * 1000 for sample in samples]
        cpu = statistics.median(sample.ended.cpu * 1000 for sample in samples)
        memory = max(sample.ended.memory for sample in samples) / 2**20
        figures = [statistics.median(seconds), min(seconds), max(seconds), cpu]
        print(f"{measure.name:30}{''.join(f'{figure:7.0f} ms' for figure in figures)}{memory:6.0f} MiB", flush=True)


if __name__ == "__main__":
    sys.exit(main())
