"""One life of a program: from its start to its end, on a terminal, and what was measured on the way."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from tests.bench import processes
from tests.bench.gateway import Counts, Gateway
from tests.bench.programs import COLUMNS, ROWS, Cluster, Printer, Program, first_gangs, first_pods, pod_name
from tests.bench.screen import Screen
from tests.bench.terminal import ANYTHING, FULL_SCREEN, Terminal

Samples = defaultdict[str, list[float]]
"""Values by the key of the table's line they belong to; as many as there were."""

_LIMIT: Final = 60.0  # seconds
_QUIT_LIMIT: Final = 20.0
_SEED: Final = 7  # the same pauses between keys for everybody


@dataclass(frozen=True)
class Pace:
    """Seconds: after everything is there until it counts as settled; of watching it idle; of a storm before it counts.
    `keys` down and as many up again, in each situation; `rates` of storms, in events a second."""

    settle: float = 3.0
    idle: float = 6.0
    storm: float = 1.0
    keys: int = 20
    rates: tuple[int, ...] = (1_000, 5_000)


def quiet(program: Program, cluster: Cluster, pace: Pace) -> Samples:
    """Start, memory, idleness and keys while nothing happens in the cluster."""
    found = Samples(list)
    with _shown(program, cluster, found) as (terminal, screen):
        screen.rest(pace.settle)
        _memory(terminal, found)
        idle = terminal.watch(pace.idle)
        found["idle cpu"].append(idle.cpu * 100)
        found["idle bytes, ages"].append(idle.bytes)
        screen.rest(0)
        found["keys"] += _keys(screen, pace.keys)
        if program.still:
            terminal.press(program.still)
            screen.rest(pace.settle / 2)
            found["idle bytes"].append(terminal.watch(pace.idle / 2).bytes)
        _end(program, terminal)
    return found


def stormy(program: Program, cluster: Cluster, gateway: Gateway, pace: Pace) -> Samples:
    """What is asked of the server, and keys while pods change, through the gateway."""
    found = Samples(list)
    before = gateway.counts()
    with _shown(program, cluster, Samples(list)) as (terminal, screen):
        screen.rest(pace.settle)
        _asked(gateway.counts() - before, found)
        for rate in pace.rates:
            gateway.storm(rate)
            screen.rest(pace.storm)
            _storm(rate, terminal, screen, gateway, pace, found)
        gateway.storm(0)
        _end(program, terminal)
    return found


def gangs(program: Program, cluster: Cluster) -> Samples:
    """From the start to the first gangs, which are asked for at the first frame."""
    found = Samples(list)
    with _started(program, cluster) as (terminal, screen):
        terminal.wait_for(ANYTHING, after=FULL_SCREEN)
        terminal.press(program.gangs)
        found["first gangs"].append(screen.wait_for(first_gangs, "the first gang") * 1000)
        _end(program, terminal)
    return found


def whole(command: Sequence[str], environment: Mapping[str, str]) -> float:
    """Milliseconds from the start of a command to its end."""
    with Terminal(command, environment, columns=COLUMNS, rows=ROWS) as terminal:
        ended = terminal.ended(_LIMIT)
    if ended.status:
        raise TimeoutError(f"{' '.join(command)} ended with status {ended.status}")
    return ended.seconds * 1000


def following(printer: Printer, cluster: Cluster, pace: Pace) -> Samples:
    """A program that prints lines and goes on: when the first and the last pod were there, memory, idleness."""
    found = Samples(list)
    with _printing(printer, cluster) as terminal:
        found["first byte"].append(terminal.wait_for_output("") * 1000)
        found["first rows"].append(terminal.wait_for_output(pod_name(0)) * 1000)
        found["all pods"].append(terminal.wait_for_output(pod_name(cluster.pods - 1)) * 1000)
        found["start cpu"].append(processes.cpu(terminal.pid) * 1000)
        terminal.watch(pace.settle)
        _memory(terminal, found)
        idle = terminal.watch(pace.idle / 2)
        found["idle cpu"].append(idle.cpu * 100)
        found["idle bytes"].append(idle.bytes)
    return found


def asked(printer: Printer, cluster: Cluster, gateway: Gateway, pace: Pace) -> Samples:
    """What it asks of the server until every pod is there."""
    found = Samples(list)
    before = gateway.counts()
    with _printing(printer, cluster) as terminal:
        terminal.wait_for_output(pod_name(cluster.pods - 1))
        terminal.watch(pace.settle)
        _asked(gateway.counts() - before, found)
    return found


def _printing(printer: Printer, cluster: Cluster) -> Terminal:
    return Terminal(printer.follow, printer.surroundings(cluster), columns=COLUMNS, rows=ROWS)


@contextmanager
def _shown(program: Program, cluster: Cluster, found: Samples) -> Iterator[tuple[Terminal, Screen]]:
    """The program when its pods are there, with all that it joins to them."""
    with _started(program, cluster) as (terminal, screen):
        found["first byte"].append(terminal.wait_for_output("") * 1000)
        found["first frame"].append(terminal.wait_for(ANYTHING, after=FULL_SCREEN) * 1000)
        terminal.press(program.opening)
        found["first rows"].append(screen.wait_for(first_pods, "the first pod") * 1000)
        found["all pods"].append(screen.wait_for(program.pods(cluster.pods), "all pods") * 1000)
        if program.joined is not None:
            found["joined"].append(screen.wait_for(program.joined(cluster.pods), "everything joined") * 1000)
        found["start cpu"].append(processes.cpu(terminal.pid) * 1000)
        yield terminal, screen


@contextmanager
def _started(program: Program, cluster: Cluster) -> Iterator[tuple[Terminal, Screen]]:
    with Terminal(program.command, program.surroundings(cluster), columns=COLUMNS, rows=ROWS) as terminal:
        yield terminal, Screen(terminal, columns=COLUMNS, rows=ROWS)


def _keys(screen: Screen, count: int) -> list[float]:
    """Milliseconds from each key to its answer. The pauses between them are unlike, so that they fit no rhythm of a program."""
    pauses = random.Random(_SEED)
    answers = []
    for key in "j" * count + "k" * count:
        answers.append(screen.answer_to(key) * 1000)
        screen.rest(pauses.uniform(0.03, 0.13))
    return answers


def _storm(rate: int, terminal: Terminal, screen: Screen, gateway: Gateway, pace: Pace, found: Samples) -> None:
    """While it rains already: keys, and what that time cost."""
    before, output, cpu, begun = gateway.counts(), terminal.written, processes.cpu(terminal.pid), terminal.elapsed
    found[f"keys at {rate}"] += _keys(screen, pace.keys)
    passed, events = terminal.elapsed - begun, (gateway.counts() - before).events
    found[f"events at {rate}"].append(events / passed)
    found[f"cpu at {rate}"].append((processes.cpu(terminal.pid) - cpu) / passed * 100)
    if events:
        found[f"bytes at {rate}"].append((terminal.written - output) / events)


def _memory(terminal: Terminal, found: Samples) -> None:
    found["peak"].append(processes.peak(terminal.pid) / 2**20)
    found["settled"].append(processes.pss(terminal.pid) / 2**20)


def _asked(counts: Counts, found: Samples) -> None:
    found["requests"].append(counts.requests)
    found["asked bytes"].append(counts.bytes / 2**20)


def _end(program: Program, terminal: Terminal) -> None:
    terminal.press(program.quit)
    if status := terminal.ended(terminal.elapsed + _QUIT_LIMIT).status:
        raise TimeoutError(f"{program.name} ended with status {status} when asked to quit")
