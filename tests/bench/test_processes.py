"""The counts of memory and processor time: of a whole tree, and of nothing else."""

from __future__ import annotations

import os
import re

from tests.bench import processes
from tests.bench.terminal import Terminal
from tests.bench.test_terminal import python

_MIB = 1 << 20
_PARENT = """
import os, sys
reader, writer = os.pipe()
if os.fork() == 0:
    block = bytearray(os.urandom(1) * (48 << 20))
    os.write(writer, b"x")
    input()
    os._exit(0)
os.read(reader, 1)
print("both", flush=True)
input()
"""


def test_a_tree_has_its_descendants_and_nobody_else() -> None:
    with Terminal(python(_PARENT), {}) as terminal:
        terminal.wait_for(re.compile("both"))
        found = processes.tree(terminal.pid)
        assert found[0] == terminal.pid
        assert len(found) == 2
        assert os.getpid() not in found
        assert set(found) < set(processes.tree(os.getpid()))


def test_the_memory_of_a_tree_is_that_of_its_children_too() -> None:
    with Terminal(python(_PARENT), {}) as terminal:
        terminal.wait_for(re.compile("both"))
        assert 48 * _MIB < processes.pss(terminal.pid) < 96 * _MIB
        assert processes.peak(terminal.pid) > processes.pss(terminal.pid)


def test_memory_given_back_is_in_the_peak_only() -> None:
    script = "block = bytearray(64 << 20); del block; print('less', flush=True); input()"
    with Terminal(python(script), {}) as terminal:
        terminal.wait_for(re.compile("less"))
        assert processes.pss(terminal.pid) < 48 * _MIB < processes.peak(terminal.pid)


def test_the_time_of_a_child_that_has_ended_is_counted() -> None:
    script = (
        "import os, time\nif os.fork() == 0:\n while time.process_time() < 0.3: pass\n os._exit(0)\n"
        "os.wait(); print('done', flush=True); input()"
    )
    with Terminal(python(script), {}) as terminal:
        terminal.wait_for(re.compile("done"))
        assert processes.cpu(terminal.pid) >= 0.25


def test_a_process_that_has_ended_uses_nothing() -> None:
    with Terminal(python("print('gone')"), {}) as terminal:
        terminal.ended()
        assert processes.tree(terminal.pid) == []
        assert processes.pss(terminal.pid) == processes.peak(terminal.pid) == processes.cpu(terminal.pid) == 0
