"""Events of a busy fleet: pods whose status changes again and again, at so many a second.

An API server on two cores, with its etcd, takes about a thousand writes a second and leaves nothing of the machine to whom it
tells of them. So what is measured here is the reading side alone: the events are made once, and get a version when they are sent.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

Json = dict[str, Any]

_STRIDE: Final = 7_919  # a prime: one pod after another changes, all over the fleet
_CRASHING: Final = 20  # every so manieth pod is one whose container ends again and again
_MARK: Final = "resource-version-goes-here"
_MOST: Final = 200  # events in one piece: who cannot take more is not given much more


class Events:
    """An endless row of changes of some pods, of which each is restarted and comes back by turns."""

    def __init__(self, pods: Sequence[Json], version: int) -> None:
        """`pods` as the API lists them; the first event gets the version after `version`."""
        self._parts = [[_event(each) for each in (_changed(pod, number), pod)] for number, pod in enumerate(pods)]
        self._version = version
        self.sent = 0

    def take(self, count: int) -> bytes:
        """The next so many events as lines of a watch."""
        lines: list[bytes] = []
        for number in range(self.sent, self.sent + count):
            again, place = divmod(number, len(self._parts))
            before, after = self._parts[place * _STRIDE % len(self._parts)][again % 2]
            lines += (before, b"%d" % (self._version + number + 1), after)
        self.sent += count
        return b"".join(lines)


class Rate:
    """How many events are due, at so many a second from now on."""

    def __init__(self, a_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._a_second = a_second
        self._clock = clock
        self._began = clock()
        self._taken = 0

    def due(self) -> int:
        """Those that are due now and were not before, up to what fits one piece. Who cannot take them gets them later."""
        count = min(int((self._clock() - self._began) * self._a_second) - self._taken, _MOST)
        self._taken += count
        return count


def _changed(pod: Json, number: int) -> Json:
    """The pod after a restart of its container, or while that waits for its next attempt."""
    status = json.loads(json.dumps(pod["status"]))
    for container in status.get("containerStatuses", ()):
        container["restartCount"] = container.get("restartCount", 0) + 1
        if number % _CRASHING == 0:
            container["ready"] = False
            container["state"] = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting"}}
    return {**pod, "status": status}


def _event(pod: Json) -> tuple[bytes, bytes]:
    """A line of a watch, in two parts: the version goes between them."""
    metadata = {**pod["metadata"], "resourceVersion": _MARK}
    changed = {"kind": "Pod", "apiVersion": "v1", **pod, "metadata": metadata}
    line = json.dumps({"type": "MODIFIED", "object": changed}, separators=(",", ":")) + "\n"
    before, _, after = line.encode().partition(_MARK.encode())
    return before, after
