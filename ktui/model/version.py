"""Versions of Kubernetes components, as far as they are compared: major and minor."""

from __future__ import annotations

import re
from typing import Final

_NUMBERS: Final = re.compile(r"v?([0-9]{1,4})\.([0-9]{1,4})(?![0-9])")


def numbers(git_version: str) -> tuple[int, int]:
    """(1, 37) of "v1.37.2-gke.1"; (0, 0) when it is not one."""
    match = _NUMBERS.match(git_version)
    return (int(match[1]), int(match[2])) if match else (0, 0)
