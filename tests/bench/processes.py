"""What a process and all its descendants use, by the kernel's own count (proc(5); Linux only)."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_SIZE: Final = re.compile(r"^(\w+):\s+(\d+) kB$", re.MULTILINE)
_TICK: Final = os.sysconf("SC_CLK_TCK")


def tree(pid: int) -> list[int]:
    """The process and its descendants, parents first. Empty when it has ended."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    for each in _PROC.iterdir():
        if each.name.isdecimal() and (fields := _stat(int(each.name))):
            children[int(fields[1])].append(int(each.name))
    found = [pid] if _stat(pid) else []
    for parent in found:  # grows as it is gone through
        found += children[parent]
    return found


def pss(pid: int) -> int:
    """Bytes of memory of the tree; a page that several processes share counts in each as its part of it.

    That is the number that falls when the program ends. A process that ends meanwhile counts as nothing.
    """
    return sum(_size(each, "smaps_rollup", "Pss") for each in tree(pid))


def peak(pid: int) -> int:
    """Bytes that the processes of the tree that run now have had resident at most, each at its own moment, pages of files
    included: the kernel keeps no high-water mark of the PSS."""
    return sum(_size(each, "status", "VmHWM") for each in tree(pid))


def cpu(pid: int) -> float:
    """Seconds of processor time of the tree so far, with those of its processes that have ended and were waited for."""
    return sum(sum(map(int, fields[11:15])) for each in tree(pid) if (fields := _stat(each))) / _TICK


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from the state on, which proc(5) numbers as the third; empty when it has ended."""
    try:
        # The name, in parentheses before them, may hold spaces and parentheses.
        return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def _size(pid: int, file: str, name: str) -> int:
    try:
        text = (_PROC / str(pid) / file).read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return int(dict(_SIZE.findall(text)).get(name, 0)) * 1024
