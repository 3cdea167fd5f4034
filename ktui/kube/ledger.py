"""What is asked of the API server, counted: by verb and resource, as its own RequestInfo names them (apiserver,
endpoints/request/requestinfo.go)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict

from ktui.model.cost import Cost

_VERBS: Final = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


class Tally(Struct):
    """See `Cost`; it grows."""

    requests: int = 0
    failures: int = 0
    received: int = 0
    unpacked: int = 0
    open: int = 0


class Ledger:
    """Since the connection began. Kinds and verbs are few, so it stays small."""

    def __init__(self) -> None:
        self._tallies: dict[tuple[str, str], Tally] = {}

    def of(self, method: str, path: str, params: Mapping[str, str] | None) -> Tally:
        """Where a request is counted."""
        return self._tallies.setdefault(named(method, path, params), Tally())

    def costs(self) -> tuple[Cost, ...]:
        """The most expensive first."""
        found = [Cost(verb, resource, **asdict(tally)) for (verb, resource), tally in self._tallies.items()]
        return tuple(sorted(found, key=lambda cost: (-cost.received, -cost.requests, cost.what)))

    @property
    def requests(self) -> int:
        return sum(tally.requests for tally in self._tallies.values())

    @property
    def failures(self) -> int:
        return sum(tally.failures for tally in self._tallies.values())

    @property
    def received(self) -> int:
        """Bytes of bodies, as they came."""
        return sum(tally.received for tally in self._tallies.values())


def named(method: str, path: str, params: Mapping[str, str] | None) -> tuple[str, str]:
    """(verb, resource): ("list", "podgroups.scheduling.k8s.io"), ("get", "pods/proxy"), ("get", "/version")."""
    parts = path.strip("/").split("/")
    group = ""
    if parts[0] == "api" and len(parts) > 2:
        rest = parts[2:]
    elif parts[0] == "apis" and len(parts) > 3:
        group, rest = parts[1], parts[3:]
    else:
        return (_VERBS.get(method, method.lower()), f"/{parts[0]}")
    if rest[0] == "namespaces" and len(rest) > 2:
        rest = rest[2:]
    resource = f"{rest[0]}.{group}" if group else rest[0]
    if len(rest) > 2:
        resource = f"{resource}/{rest[2]}"
    return (_verb(method, params or {}, is_collection=len(rest) == 1), resource)


def _verb(method: str, params: Mapping[str, str], *, is_collection: bool) -> str:
    if method in ("GET", "HEAD"):
        if not is_collection:
            return "get"
        return "watch" if params.get("watch") in ("1", "true") else "list"
    return _VERBS.get(method, method.lower())
