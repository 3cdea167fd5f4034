"""What an obstacle looks like when it is gone: in the gang's own manifests, or in the cluster's.

These are the real counterparts of what ktui imagines away (`ktui.diagnose.room.Obstacle`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from tests.fuzz.worlds import Asking

Json = dict[str, Any]


def _devices(asking: Asking) -> Iterator[Json]:
    for made in asking.claims:
        spec = made["spec"]
        yield (spec["spec"] if made["kind"] == "ResourceClaimTemplate" else spec)["devices"]


def _requests(asking: Asking) -> Iterator[Json]:
    for devices in _devices(asking):
        for request in devices["requests"]:
            yield from request.get("firstAvailable", ())
            if "exactly" in request:
                yield request["exactly"]


def _without_constraints(asking: Asking) -> None:
    for devices in _devices(asking):
        devices.pop("constraints", None)


def _without_selectors(asking: Asking) -> None:
    for request in _requests(asking):
        request.pop("selectors", None)


def _without_resources(asking: Asking) -> None:
    for pod in asking.pods:
        for container in pod["spec"]["containers"]:
            requests = container["resources"]["requests"]
            requests.pop("cpu")
            requests.pop("memory")


def _anywhere(asking: Asking) -> None:
    for pod in asking.pods:
        pod["spec"].pop("nodeSelector", None)
        pod["spec"]["tolerations"] = [{"operator": "Exists"}]


GANG: Final[dict[str, Callable[[Asking], None]]] = {
    "constraints": _without_constraints,
    "selectors": _without_selectors,
    "resources": _without_resources,
    "placement": _anywhere,
}


def without(asking: Asking, obstacle: str) -> Asking:
    """A copy of the gang that does not ask for what is in the way."""
    made = copy.deepcopy(asking)
    GANG[obstacle](made)
    return made


def complete(slices: Iterable[Json]) -> Iterator[tuple[str, Json]]:
    """(name, patch of the spec) of the slices of pools that lack some or are invalid: they have as many slices as they say, and
    no device twice."""
    pools: dict[tuple[str, str], list[Json]] = {}
    for slice_ in sorted(slices, key=lambda made: str(made["metadata"]["name"])):
        pools.setdefault((slice_["spec"]["driver"], slice_["spec"]["pool"]["name"]), []).append(slice_)
    for parts in pools.values():
        newest = max(part["spec"]["pool"]["generation"] for part in parts)
        current = [part for part in parts if part["spec"]["pool"]["generation"] == newest]
        seen: set[str] = set()
        for part in current:
            devices = part["spec"].get("devices", [])
            kept = [device for device in devices if device["name"] not in seen]
            seen |= {device["name"] for device in kept}
            if part["spec"]["pool"]["resourceSliceCount"] != len(current) or len(kept) < len(devices):
                change: Json = {"pool": {"resourceSliceCount": len(current)}}
                yield part["metadata"]["name"], change | ({"devices": kept} if len(kept) < len(devices) else {})
