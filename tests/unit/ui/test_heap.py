"""What the process keeps of the memory that it had, and how much the garbage collector looks at. Each in a process of its own."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from typing import Any

import pytest

_BLOCKS = """
import json, os, sys
from pathlib import Path
from ktui.ui import heap

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

if sys.argv[1] == "returned":
    heap.let_collector_look()
bytearray(8 * 2**20)  # from now on glibc takes smaller blocks from its heap, if it was not told otherwise
before = resident()
blocks, kept = [], []
for _ in range(64):
    block = bytearray(2**20)
    block[::4096] = b"x" * len(block[::4096])
    blocks.append(block)
    kept.append(bytearray(1000))
del block
grown = resident() - before
blocks.clear()
print(json.dumps({"grown": grown, "left": resident() - before}))
"""

_COLLECTIONS = """
import gc, json
from ktui.ui import heap

looked = [0, 0, 0]

def look(phase, about):
    looked[about["generation"]] += phase == "start"

gc.callbacks.append(look)
heap.hold_collector()
kept = [[number] for number in range(50_000)]
held = list(looked)
heap.let_collector_look()
kept += [[number] for number in range(200_000)]
listed = list(looked)
heap.settle_collector()
seen = len(gc.get_objects())
kept += [[number] for number in range(200_000)]
print(json.dumps({"held": held, "listed": listed, "seen": seen, "later": looked}))
"""


_WITHOUT = """
import gc, json, sys, types

if sys.argv[1] == "no ctypes":
    sys.modules["_ctypes"] = None
else:
    def load(name):
        raise OSError("Dynamic loading not supported")
    sys.modules["ctypes"] = types.SimpleNamespace(CDLL=load)
from ktui.ui import heap

heap.hold_collector()
heap.let_collector_look()
print(json.dumps(gc.isenabled()))
"""


def run(program: str, *arguments: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="it is about glibc's own heap")
def test_large_blocks_go_back_to_the_system_when_they_are_freed() -> None:
    kept, returned = run(_BLOCKS, "kept"), run(_BLOCKS, "returned")
    assert kept["left"] > kept["grown"] / 2, "without being told otherwise glibc keeps them"
    assert returned["left"] < returned["grown"] / 10


def test_what_is_old_is_never_looked_at_again() -> None:
    found = run(_COLLECTIONS)
    assert found["held"] == [0, 0, 0]
    assert found["listed"][0] > 10
    assert found["listed"][1] > 2
    assert found["seen"] < 5_000
    assert found["later"][2] == 0


@pytest.mark.parametrize("without", ["no ctypes", "a static C library"])
def test_a_python_that_cannot_call_the_c_library_does_without(without: str) -> None:
    """One that was built without libffi has no `ctypes`; one that is linked to musl statically loads no library."""
    assert run(_WITHOUT, without) is True
