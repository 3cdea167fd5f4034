"""Guided incidents: what happened and which key comes next, one line at a time. A step is over when the state that ktui shows,
or the view that is open, says so: nothing is ticked off by hand.

Imports nothing at its top that reads a cluster: the names are needed before the first frame.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from msgspec import Struct

if TYPE_CHECKING:
    from ktui.cluster.state import Cluster
    from ktui.model.resourceslice import DeviceId

SICK: Final[DeviceId] = ("gpu.example.com", "gpu-node-04", "gpu-3")
"""The GPU that falls off the bus in "xid79", and that has a taint in "forgotten"."""

_GANG: Final = ("training", "llama-70b")
_PART: Final = (_GANG[0], f"{_GANG[1]}/workers")
"""The same on 1.35."""
_SLEEPER: Final = ("serving", "rerank")


class Scene(Struct, frozen=True):
    """What a person has before them: the state, the view's id, and whether a row's detail is open."""

    cluster: Cluster
    view: str
    opened: bool


class Step(Struct, frozen=True):
    """`views` are where the hint's keys work, none for anywhere; the way is shown to the first of them."""

    hint: str
    done: Callable[[Scene], bool]
    views: tuple[str, ...] = ()


class Incident(Struct, frozen=True):
    """`sick` is the device that its holder reports as unhealthy, `tainted` one on which somebody left a taint. `asleep`: an
    autoscaler sleeps, which it can where scale to zero is on."""

    steps: tuple[Step, ...]
    end: str
    sick: DeviceId | None = None
    tainted: DeviceId | None = None
    asleep: bool = False


_WAY: Final = {
    "triage": "1: to the triage",
    "gangs": "2: to the gangs",
    "devices": "3: to the devices",
    "autoscalers": "6: to the autoscalers",
}


class Guide:
    """Goes through an incident's steps, never back."""

    def __init__(self, incident: Incident) -> None:
        self._incident = incident
        self._step = 0

    def hint(self, cluster: Cluster, view: str, opened: bool) -> str:
        """The line to show now."""
        steps = self._incident.steps
        scene = Scene(cluster, view, opened)
        while self._step < len(steps) and steps[self._step].done(scene):
            self._step += 1
        if self._step == len(steps):
            return self._incident.end
        step = steps[self._step]
        astray = step.views and view and view not in step.views
        hint = f"{'esc, ' if opened else ''}{_WAY[step.views[0]]}" if astray else step.hint
        return f"{self._step + 1}/{len(steps)} {hint}"


def _effects(scene: Scene) -> set[str]:
    """Of the rules about the device."""
    from ktui.model.taintrule import DeviceTaintRule

    return {rule.spec.taint.effect for rule in scene.cluster.all(DeviceTaintRule) if rule.exact == SICK}


def _unused(scene: Scene) -> bool:
    from ktui.cluster.allocation import holders

    return not any(True for _ in holders(scene.cluster, SICK))


def _recovered(scene: Scene) -> bool:
    from ktui.cluster.gangs import gang

    found = (gang(scene.cluster, key) for key in (_GANG, _PART))
    return any(each is not None and each.state == "Running" for each in found)


def _least(scene: Scene) -> int:
    from ktui.model.autoscaler import HorizontalPodAutoscaler

    return max(
        (hpa.min_replicas for hpa in scene.cluster.all(HorizontalPodAutoscaler) if hpa.key == _SLEEPER), default=0
    )


def _awake(scene: Scene) -> bool:
    from ktui.model.autoscaler import HorizontalPodAutoscaler

    found = [hpa for hpa in scene.cluster.all(HorizontalPodAutoscaler) if hpa.key == _SLEEPER]
    return any(hpa.status.current_replicas for hpa in found)


_WHY: Final = Step(
    "llama-70b is pending. j/k to it, enter: why?",
    lambda scene: scene.view in ("triage", "gangs") and scene.opened,
    ("triage", "gangs"),
)
_PLACED: Final = Step("gpu-3 is free: the gang is being placed", _recovered)
_BACK: Final = Step("llama-70b has its GPUs. esc drops the filter, 2: gangs", lambda scene: scene.view == "gangs")
_RUNS: Final = "Recovered: llama-70b runs. q leaves, ? shows all keys"

INCIDENTS: Final = {
    "xid79": Incident(
        (
            _WHY,
            Step("Its 4th node has a sick GPU (Xid 79), still in use. esc, 3: devices", lambda s: s.view == "devices"),
            Step(
                "/ gpu-node-04 enter; j/k to gpu-3; T: example.com/xid, NoExecute",
                lambda scene: "NoExecute" in _effects(scene),
                ("devices",),
            ),
            Step("Evicting who uses gpu-3; the Job makes a new pod on another GPU", _unused),
            Step(
                "gpu-3 is unused and has been reset. On it, U removes the taint",
                lambda scene: "NoExecute" not in _effects(scene),
                ("devices",),
            ),
            _PLACED,
            _BACK,
        ),
        _RUNS,
        sick=SICK,
    ),
    "forgotten": Incident(
        (
            _WHY,
            Step("A taint keeps the last GPU from it. Who has it? esc, 3: devices", lambda s: s.view == "devices"),
            Step(
                "/ gpu-node-04 enter; j/k to gpu-3: serviced days ago. U removes the taint",
                lambda scene: not _effects(scene),
                ("devices",),
            ),
            _PLACED,
            _BACK,
        ),
        _RUNS,
        tainted=SICK,
    ),
    "asleep": Incident(
        (
            Step("rerank answers nobody: it sleeps. 6: autoscalers", lambda scene: scene.view == "autoscalers"),
            Step("j/k to rerank; M: its minReplicas to 1 or more", lambda scene: _least(scene) > 0, ("autoscalers",)),
            Step("It is waking", _awake),
        ),
        "Recovered: rerank answers. q leaves, ? shows all keys",
        asleep=True,
    ),
}
