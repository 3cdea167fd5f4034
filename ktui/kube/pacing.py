"""Whether a link is so slow that compression decides how long a list takes.

Before Kubernetes 1.37 streaming lists are not compressed. Pages are, to a tenth or less, and they say how many objects are still
to come. docs/performance.md has what that costs and spares.
"""

from __future__ import annotations

from typing import Final

from ktui.kube.host import Host

SLOW: Final = 8 * 1024 * 1024  # bytes a second, of all that the host sends


class Pacing:
    """How fast the bytes of a host have come since this was made."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._began = host.clock.monotonic()
        self._before = host.transport.ledger.received

    def is_slow(self) -> bool:
        """Known after `Timers.slow_link`; never where the person does not want compression."""
        passed = self._host.clock.monotonic() - self._began
        if passed < self._host.timers.slow_link or self._host.transport.target.disable_compression:
            return False
        return self._host.transport.ledger.received - self._before < SLOW * passed
