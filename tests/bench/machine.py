"""What figures were measured on."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def description() -> str:
    """One line: processor, usable cores, memory, system, Python."""
    return (
        f"{_processor()}, {os.cpu_count()} cores, {_memory_gib():.0f} GiB,"
        f" {platform.system()} {platform.release()}, Python {platform.python_version()}"
    )


def _processor() -> str:
    details = Path("/proc/cpuinfo")
    for line in details.read_text().splitlines() if details.exists() else ():
        name, _, value = line.partition(":")
        # "model name" on x86; ARM machines have only the rest.
        if name.strip() == "model name":
            return value.strip()
    return platform.machine()


def _memory_gib() -> float:
    return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")) / 2**30
