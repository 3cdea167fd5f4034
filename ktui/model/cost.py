"""What ktui asked of an API server, by verb and resource."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct


class Cost(Struct, frozen=True):
    """Requests of one verb on one resource, both named as RBAC names them ("list", "pods"), or on a path that is no resource
    ("get", "/version"). `open` is how many of them are watches that go on; `received` is bytes of bodies as they came over
    the network, which may be compressed, `unpacked` what they were then."""

    verb: str
    resource: str
    requests: int = 0
    failures: int = 0
    received: int = 0
    unpacked: int = 0
    open: int = 0

    @property
    def what(self) -> str:
        return f"{self.verb} {self.resource}"


def total(costs: Iterable[Cost]) -> Cost:
    """All of them together."""
    all_ = tuple(costs)
    return Cost(
        "",
        "",
        sum(cost.requests for cost in all_),
        sum(cost.failures for cost in all_),
        sum(cost.received for cost in all_),
        sum(cost.unpacked for cost in all_),
        sum(cost.open for cost in all_),
    )


def size_text(size: int) -> str:
    """Bytes for a person: "730 B", "12 KiB", "3.4 MiB"."""
    if size < 1024:
        return f"{size} B"
    if size < 1024 * 1024:
        return f"{size / 1024:,.0f} KiB"
    return f"{size / 1024 / 1024:,.1f} MiB"
