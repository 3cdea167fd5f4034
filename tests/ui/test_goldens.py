"""The main screens as text, at three sizes, each at a moment of a recorded incident: what a person reads, line by line.

`KTUI_GOLDENS=write pytest tests/ui/test_goldens.py` writes them anew; the difference is then reviewed like code.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from ktui.model.time import format_time
from tests.unit import builders as b

from .screen import lines, running, shows, wait_for
from .treeworld import trees
from .world import NOW, Scene, ScriptedOpener, degraded, everything_live, recorded

GOLDENS = Path(__file__).parent / "goldens"
SIZES = [(80, 24), (120, 40), (200, 60)]
SCALED = format_time(NOW - 60)


def held_up() -> Scene:
    """An autoscaler that scaled up a minute ago, and would go to 0 if its window let it."""
    metric = {"metric": {"name": "queue_length"}}
    rules = {"stabilizationWindowSeconds": 300, "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}]}
    recent = "recent recommendations were higher than current one, applying the highest recent recommendation"
    read = "the HPA was able to successfully calculate a replica count from external metric queue_length(nil)"
    said = (("AbleToScale", "ScaleDownStabilized", recent), ("ScalingActive", "ValidMetricFound", read))
    spec = {
        "scaleTargetRef": {"kind": "Deployment", "name": "chat"},
        "minReplicas": 0,
        "maxReplicas": 4,
        "metrics": [{"type": "External", "external": {**metric, "target": {"averageValue": "10"}}}],
        "behavior": {"scaleDown": rules},
    }
    status = {
        "currentReplicas": 2,
        "desiredReplicas": 2,
        "lastScaleTime": SCALED,
        "currentMetrics": [{"type": "External", "external": {**metric, "current": {"averageValue": "0"}}}],
        "conditions": [
            {"type": type_, "status": "True", "reason": reason, "message": message, "lastTransitionTime": SCALED}
            for type_, reason, message in said
        ],
    }
    hpa = b.autoscaler("chat", spec, status)
    up = "New size: 2; reason: external metric queue_length(nil) above target"
    event = b.event("up", hpa.metadata.uid, reason="SuccessfulRescale", message=up, lastTimestamp=SCALED)
    return Scene(everything_live(HorizontalPodAutoscaler=[hpa], Event=[event]), NOW)


TOO_BIG = ["t", "o", "o", "minus", "b", "i", "g"]
SCREENS: dict[str, tuple[Scene, list[str], list[str]]] = {
    # name: (what is shown, keys from the start, texts that show it is complete)
    "triage": (degraded(), ["1"], ["4 need you", "2 of 3"]),
    "triage-pending": (recorded("pending", 18), ["1"], ["16 need you"]),
    "triage-nothing": (Scene(everything_live(), NOW), ["1"], ["Nothing needs you."]),
    "gangs": (degraded(), ["2"], ["3 gangs", "7 of 8"]),
    "gang-detail": (degraded(), ["2", "slash", *"train", "enter", "enter"], ["Pods (8)"]),
    "gangs-pending": (recorded("pending", 18), ["2"], ["15 gangs"]),
    "kueue": (recorded("kueue", 4), ["2"], ["5 gangs", "8 more cpu"]),
    "kueue-detail": (recorded("kueue", 4), ["2", "slash", *"second", "enter", "enter"], ["before it"]),
    "why-kueue": (recorded("kueue", 4), ["2", "slash", *"second", "enter", "w"], ["Kueue says"]),
    "why-numa": (recorded("pending", 18), ["2", "slash", *"numa", "enter", "w"], ["gang research/numa", "stops here"]),
    "why-tainted": (
        recorded("pending", 18),
        ["2", "slash", *"tainted", "enter", "w"],
        ["research/tainted", "stops here"],
    ),
    "why-too-big": (
        recorded("pending", 18),
        ["2", "slash", *TOO_BIG, "enter", "w"],
        ["research/too-big", "stops here"],
    ),
    "devices": (recorded("driver-upgrade", 33), ["3"], ["16 devices", "gone"]),
    "map": (degraded(), ["3", "m"], ["■ used"]),
    "claims": (recorded("shared-claims", 17), ["4"], ["2 claims"]),
    "taints": (degraded(), ["5"], ["1 taint"]),
    "taint-detail": (recorded("xid-eviction", 13), ["5", "enter"], ["would be evicted"]),
    "pod-detail": (
        recorded("extended-resources", 23),
        ["8", "slash", *"mixed", "enter", "enter"],
        ["Extended resources"],
    ),
    "device-detail": (recorded("xid-eviction", 13), ["3", "slash", *"node-0 gpu-2", "enter", "enter"], ["tainted"]),
    "autoscalers": (recorded("scale-to-zero", 33), ["6"], ["1 autoscaler"]),
    "autoscaler-detail": (held_up(), ["6", "enter"], ["in 4m at the earliest"]),
    "workloads": (degraded(), ["7"], ["3 workloads"]),
    "workload-trees": (trees(), ["7", "G"], ["3 workloads", "9 pods"]),
    "workload-stems": (recorded("extended-resources", 23), ["7"], ["Pod/wide"]),
    "workload-owner-detail": (trees(), ["7", "j", "enter"], ["JobSet research/pretrain"]),
    "pods": (recorded("extended-resources", 23), ["8"], ["8 pods"]),
    "pods-filtered": (degraded(), ["8", "slash", *"eval", "enter"], ["4 of 25 pods"]),
    "help": (degraded(), ["question_mark"], ["Keys of this screen"]),
    "empty": (Scene(everything_live(), NOW), ["2"], ["No gangs."]),
}


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", SCREENS)
async def test_screen(name: str, size: tuple[int, int]) -> None:
    scene, keys, complete = SCREENS[name]
    async with running(ScriptedOpener(scene), size) as (app, pilot):
        await shows(pilot, "live")
        await pilot.press(*keys)
        await shows(pilot, *complete)
        path = GOLDENS / f"{name}-{size[0]}x{size[1]}.txt"
        if os.environ.get("KTUI_GOLDENS") == "write":
            await pilot.pause(0.3)
            path.parent.mkdir(exist_ok=True)
            path.write_text("\n".join(lines(app)) + "\n")
        expected = path.read_text().splitlines()
        await wait_for(pilot, lambda: lines(app) == expected, f"the screen in {path.name}:\n{path.read_text()}")
