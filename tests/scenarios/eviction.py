"""What a NoExecute taint does: the cluster before it, as a recording, and the pods that the eviction controller then deleted."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from tests.cluster.controlplane.api import wait_for
from tests.cluster.controlplane.cluster import ControlPlane
from tests.scenarios import files, manifests
from tests.scenarios.play import Played
from tests.scenarios.stage import Stage

Json = dict[str, Any]
DeviceId = tuple[str, str, str]

KEY: Final = "fault.example.com/bus"
VALUE: Final = "off"
RULE: Final = "the-taint"
_NOBODY: Final = ("NotStarted", "OtherEffect")  # what the controller says when there is no pod to evict
_RULES: Final = "/apis/resource.k8s.io/v1/devicetaintrules"


class Eviction(NamedTuple):
    """`occupants` run in `world`, then `later` happens, then the device that the pod `of` holds is tainted.

    `evicted` is which pods go, and how many seconds after the taint each: those that nothing is said of stay.
    """

    name: str
    why: str
    evicted: Mapping[str, int]
    world: list[Json]
    occupants: list[Json]
    of: str
    later: Callable[[Stage], object] | None = None
    effect: str = "NoExecute"
    namespace: str = "lena"

    @property
    def taint(self) -> Json:
        return manifests.taint(KEY, self.effect, VALUE)


def play(plane: ControlPlane, eviction: Eviction) -> Played:
    """Plays it to its end and clears up. Raises AssertionError when the controller deletes other pods than it should."""
    stage = Stage(plane, eviction.namespace)
    try:
        return _play(stage, eviction)
    finally:
        stage.clear()


def _play(stage: Stage, eviction: Eviction) -> Played:
    device = prepare(stage, eviction)
    recording = files.snapshot(stage.api, eviction.name)
    seen = watch_taint(stage, eviction, device)
    assert set(seen) == set(eviction.evicted), f"deleted were {seen}, and not {dict(eviction.evicted)}"
    early = {name: after for name, after in seen.items() if after < eviction.evicted[name]}
    assert not early, f"deleted too early were {early}"
    truth = {
        "why": eviction.why,
        "device": list(device),
        "taint": eviction.taint,
        "evicted": {f"{stage.namespace}/{name}": after for name, after in eviction.evicted.items()},
    }
    return Played(recording, truth)


def prepare(stage: Stage, eviction: Eviction) -> DeviceId:
    """Everything up to the taint; returns the device that will be tainted."""
    return prepare_all([(stage, eviction)])[0]


def prepare_all(staged: Sequence[tuple[Stage, Eviction]]) -> list[DeviceId]:
    """Everything up to the taint, for several at once, each in a namespace of its own; returns the device of each."""
    for stage, eviction in staged:
        stage.prepare()
        stage.create(eviction.world)
    staged[0][0].until_nodes_are_ready()
    for stage, eviction in staged:
        stage.create(eviction.occupants)
    for stage, eviction in staged:
        stage.until_all_run(eviction.occupants)
    devices = [stage.devices_of(eviction.of)[0] for stage, eviction in staged]
    for stage, eviction in staged:
        if eviction.later:
            eviction.later(stage)
    staged[0][0].until_heard()
    return devices


def watch_taint(stage: Stage, eviction: Eviction, device: DeviceId) -> dict[str, float]:
    """Taints the device and returns the pods that are deleted, each with the seconds from the taint until it was seen to be.

    It is over when the controller itself says that no pod is left to evict.
    """
    driver, pool, name = device
    there = {pod["metadata"]["uid"]: pod["metadata"]["name"] for pod in stage.pods()}
    stage.create([manifests.taint_rule(RULE, eviction.taint, driver=driver, pool=pool, device=name)])
    added = stage.api.get(f"{_RULES}/{RULE}")["spec"]["taint"]["timeAdded"]
    since = datetime.fromisoformat(added).timestamp()
    seen: dict[str, float] = {}

    def over() -> bool:
        left = {pod["metadata"]["uid"] for pod in stage.pods()}
        for uid in there.keys() - left:
            seen.setdefault(there[uid], time.time() - since)
        return _reason(stage.api.get(f"{_RULES}/{RULE}")) in (("Completed",) if eviction.evicted else _NOBODY)

    wait_for(over, "the eviction controller to be done", limit=90)
    return seen


def _reason(rule: Json) -> str:
    """The controller's word for how far it is, "" while it has said nothing."""
    return next((str(c["reason"]) for c in rule.get("status", {}).get("conditions", [])), "")
