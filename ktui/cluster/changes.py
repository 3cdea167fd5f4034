"""Finds what changes: gangs, pods, claims, taints, health, autoscalers, sources and marks, each as one fact with its time.

A reducer: it is shown every change of the state once, and compares before with after. That costs the same whatever the size of
the cluster; a gang is counted anew ten times a second at most, however many of its pods change.
Facts only: `ktui.views.timeline` has the words. What the first lists hold is where it starts from, and no change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from ktui.cluster.dirty import Dirty
from ktui.cluster.gangs import GangState, gang, gang_keys, pod_scheduled
from ktui.cluster.health import Health, pod_health
from ktui.cluster.joins import alike
from ktui.cluster.preemption import preempted
from ktui.cluster.state import Cluster
from ktui.cluster.store import Delta
from ktui.cluster.timeline import Change, Timeline, What
from ktui.model.autoscaler import HorizontalPodAutoscaler
from ktui.model.claim import ResourceClaim
from ktui.model.event import PREEMPTED, Event
from ktui.model.frame import ActionTaken, ActionVerb, Changed, Frame, Mark, StreamState
from ktui.model.meta import Key, condition
from ktui.model.pod import Pod
from ktui.model.resourceslice import DeviceId, DeviceTaint, ResourceSlice
from ktui.model.taintrule import DeviceSelector, DeviceTaintRule

_SETTLED: Final = 0.1  # seconds between two counts of a gang
_AT_ONCE: Final = 1_000  # pods of gangs of the first lists that are counted at one go
_ANSWERING: Final = frozenset(("watching", "quiet", "polling", "listing"))

_OF_STATE: Final[dict[GangState, What]] = {
    "Pending": "GangPending",
    "Running": "GangRunning",
    "Degraded": "GangDegraded",
    "Preempting": "GangPreempting",
    "Completed": "GangCompleted",
    "Failed": "GangFailed",
}
_OF_VERB: Final[dict[ActionVerb, What]] = {
    "taint": "DeviceTainted",
    "untaint": "DeviceUntainted",
    "min-replicas": "MinReplicasSet",
}


class Chronicler:
    """Writes down what frames change in a state. Every frame goes through `steps`, with the time at which it happened."""

    def __init__(self, cluster: Cluster, timeline: Timeline) -> None:
        self._cluster = cluster
        self._timeline = timeline
        self._at = 0.0
        self._counted = 0.0  # when gangs were counted last
        self._states: dict[Key, GangState] = {}
        self._touched: dict[Key, None] = {}  # gangs to be counted
        self._health: dict[DeviceId, str] = {}  # of devices whose health was reported anew, the last word
        self._moved = False  # with the present event a gang may have come into another state
        # Whether the kind that the present frame is about had been listed; None: not asked yet.
        self._is_known: bool | None = None
        self._uncounted: set[Key] | None = None  # gangs of the first lists; None before all of these are in

    def steps(self, frame: Frame, at: float) -> Iterator[Dirty]:
        """Take a frame into the state as `Cluster.steps` does."""
        if isinstance(frame, Changed):
            yield self.change(frame, at)
            return
        self._begin(at)
        if isinstance(frame, Mark):
            self._note("Mark", "", (), after=frame.text)
        elif isinstance(frame, ActionTaken):
            self._timeline.add(_done(frame, at))
        elif isinstance(frame, StreamState):
            self._see_stream(frame)
        started = self._uncounted is not None
        for dirty in self._cluster.steps(frame, self._see):
            if started:
                self._touch(dirty.gangs)
            yield dirty

    def change(self, frame: Changed, at: float) -> Dirty:
        """Take an event into the state as `Cluster.change` does."""
        self._begin(at)
        started = self._uncounted is not None
        self._moved = False
        dirty = self._cluster.change(frame, self._see)
        if started and self._moved:
            self._touch(dirty.gangs)
        return dirty

    def _begin(self, at: float) -> None:
        if at - self._counted >= _SETTLED:
            self.settle()
            self._counted = at
        self._at = at
        self._is_known = None

    def _touch(self, gangs: Iterable[Key]) -> None:
        self._touched.update(dict.fromkeys(sorted(gangs)))

    def settle(self) -> None:
        """Count the gangs that were touched. To be called when no frame comes for a while, too."""
        if self._uncounted is None:
            if not self._cluster.synced("Pod", "PodGroup", "Workload"):
                return
            self._uncounted = gang_keys(self._cluster)
        for key in self._touched:
            self._count(key)
        self._touched.clear()
        pods = 0
        while self._uncounted and pods < _AT_ONCE:
            key = self._uncounted.pop()
            pods += 1 + self._cluster.pods_by_group.count(key)
            self._count(key, first=True)

    def _count(self, key: Key, *, first: bool = False) -> None:
        found = gang(self._cluster, key)
        if found is None:
            self._states.pop(key, None)
            return
        before = self._states.get(key)
        if found.state == "Unknown" or found.state == before:
            return
        self._states[key] = found.state
        if self._uncounted is not None and key in self._uncounted:
            self._uncounted.discard(key)
        elif (
            not first
            and (what := _OF_STATE.get(found.state))
            and not (before == "Scheduling" and what == "GangPending")
        ):
            self._note(what, "gangs", key, before or "", f"{found.running} of {found.wanted_text}")

    def _note(
        self,
        what: What,
        view: str,
        key: tuple[str, ...],
        before: str = "",
        after: str = "",
        *,
        selector: DeviceSelector | None = None,
    ) -> None:
        self._timeline.add(Change(self._at, what, view, key, before, after, selector=selector))

    def _see_stream(self, frame: StreamState) -> None:
        known = self._cluster.streams.get(frame.source.id)
        before, after = known is not None and known.phase in _ANSWERING, frame.phase in _ANSWERING
        if known is None or not known.synced or before == after:
            return
        self._note("SourceBack" if after else "SourceLost", "", (frame.source.kind,), after=frame.message)

    def _see(self, delta: Delta) -> None:
        self._moved = self._moved or not _leaves_its_gang(delta)
        if self._is_known is None:
            self._is_known = self._cluster.synced(delta.kind)
        if not self._is_known:
            return
        match delta.old, delta.new:
            case (Pod() as pod, None):
                self._note("PodDeleted", "pods", pod.key, pod.spec.node_name or "")
            case (Pod() as old, Pod() as new):
                self._see_pod(old, new)
            case (ResourceClaim() | None as old, ResourceClaim() | None as new):
                self._see_claim(delta.key, old, new)
            case (DeviceTaintRule() | None as old, DeviceTaintRule() | None as new):
                self._see_rule(("rule", delta.key[1]), old, new)
            case (ResourceSlice() as old, ResourceSlice() as new):
                self._see_slice(old, new)
            case (HorizontalPodAutoscaler() as old, HorizontalPodAutoscaler() as new):
                self._see_autoscaler(old, new)
            case (None, Event() as event) if event.reason == PREEMPTED:
                self._see_preemption(event)
            case _:
                pass

    def _see_pod(self, old: Pod, new: Pod) -> None:
        if new.spec.node_name and not old.spec.node_name:
            self._note("PodBound", "pods", new.key, after=new.spec.node_name)
        disrupted = condition(new.status.conditions, "DisruptionTarget")
        if disrupted is not None and disrupted.status == "True":
            known = condition(old.status.conditions, "DisruptionTarget")
            if known is None or known.status != "True":
                self._note("PodEvicted", "pods", new.key, after=disrupted.message or disrupted.reason or "")
                for event in self._cluster.events_of(new.metadata.uid):
                    if event.reason == PREEMPTED:
                        self._see_preemption(event)
        if old.health != new.health:
            self._see_health(pod_health(self._cluster, old), pod_health(self._cluster, new))

    def _see_preemption(self, event: Event) -> None:
        """The scheduler writes its event when the victim has been told to go, or is gone already. Here it may come before that is
        known, from another stream: then it waits until the victim says so."""
        about, by = event.involved_object, event.related
        pod = self._cluster.pod((about.namespace, about.name))
        denied = pod is not None and pod.metadata.uid == about.uid and preempted(pod) is None
        if by is not None and about.kind == "Pod" and not denied:
            name = f"{by.kind} {by.namespace}/{by.name}"
            self._note("PodPreempted", "pods", (about.namespace, about.name), after=name)

    def _see_health(self, before: Mapping[DeviceId, Health], after: Mapping[DeviceId, Health]) -> None:
        """What the kubelet reports of a pod's devices. Several pods of one device bring the same news, and that the devices of a
        new pod are healthy is none."""
        for device, report in after.items():
            was = self._health.get(device) or (before[device].health if device in before else "Healthy")
            self._health[device] = report.health
            if report.health == was:
                continue
            if report.health == "Unhealthy":
                self._note("DeviceUnhealthy", "devices", device, after=report.message)
            else:
                what: What = "DeviceHealthy" if report.health == "Healthy" else "DeviceHealthChanged"
                self._note(what, "devices", device, was, report.health)

    def _see_claim(self, key: Key, old: ResourceClaim | None, new: ResourceClaim | None) -> None:
        before, after = _devices(old), _devices(new)
        if before == after:
            return
        self._note("ClaimAllocated" if after else "ClaimReleased", "claims", key, before, after)

    def _see_rule(self, key: tuple[str, ...], old: DeviceTaintRule | None, new: DeviceTaintRule | None) -> None:
        rule = new or old
        selector = rule.spec.device_selector if rule else None
        self._see_taint(key, old.spec.taint if old else None, new.spec.taint if new else None, selector)

    def _see_slice(self, old: ResourceSlice, new: ResourceSlice) -> None:
        """Taints that the driver published. A slice that comes or goes as a whole is a change of the pool, not of taints."""
        before, after = _taints(old), _taints(new)
        for at in before | after:  # in the order of the devices, the same each time
            device, taint = at
            key = ("slice", *device, *taint)
            self._see_taint(key, before.get(at), after.get(at))

    def _see_taint(
        self,
        key: tuple[str, ...],
        old: DeviceTaint | None,
        new: DeviceTaint | None,
        selector: DeviceSelector | None = None,
    ) -> None:
        before, after = _text(old), _text(new)
        if before != after:
            what: What = "TaintChanged" if old and new else "TaintAdded" if new else "TaintRemoved"
            self._note(what, "taints", key, before, after, selector=selector)

    def _see_autoscaler(self, old: HorizontalPodAutoscaler, new: HorizontalPodAutoscaler) -> None:
        if old.min_replicas != new.min_replicas:
            self._note("MinReplicasChanged", "autoscalers", new.key, str(old.min_replicas), str(new.min_replicas))
        before, after = old.status.current_replicas or 0, new.status.current_replicas or 0
        if before != after:
            self._note("Scaled", "autoscalers", new.key, str(before), str(after))


def chronicle(
    cluster: Cluster,
    timeline: Timeline,
    frames: Iterable[tuple[float, Frame]],
    given_up: Callable[[], bool] = lambda: False,
) -> None:
    """Take frames with their times (Unix seconds) into the state, and what they change into the timeline; until `given_up`, which
    is asked every few milliseconds."""
    chronicler = Chronicler(cluster, timeline)
    for at, frame in frames:
        for _ in chronicler.steps(frame, at):
            if given_up():
                return
    chronicler.settle()


def _leaves_its_gang(delta: Delta) -> bool:
    """Whether a pod's change cannot bring its gang into another state. Of a large gang every event would count all pods again."""
    old, new = delta.old, delta.new
    return (
        isinstance(old, Pod)
        and isinstance(new, Pod)
        and old.status.phase == new.status.phase
        and old.metadata.deletion_timestamp == new.metadata.deletion_timestamp
        and pod_scheduled(old) == pod_scheduled(new)
        and alike(old, new)
    )


def _done(taken: ActionTaken, at: float) -> Change:
    """What a person did, about the device's or the autoscaler's row; about none where a recording names something else."""
    if taken.result == "applied":
        what = _OF_VERB[taken.verb]
    else:
        what = "ActionUnclear" if taken.result == "unknown" else "ActionRefused"
    first, _, rest = taken.object.partition("/")
    pool, _, device = rest.rpartition("/")
    view, key = ("autoscalers", (first, rest)) if taken.verb == "min-replicas" else ("devices", (first, pool, device))
    return Change(at, what, view if all(key) else "", key if all(key) else (), taken.before, taken.after, taken.who)


def _devices(claim: ResourceClaim | None) -> str:
    return " ".join(sorted("/".join(result.id) for result in claim.results)) if claim is not None else ""


def _taints(piece: ResourceSlice) -> dict[tuple[DeviceId, tuple[str, str, str]], DeviceTaint]:
    return {
        ((*piece.pool_id, device.name), (taint.key, taint.value or "", taint.effect)): taint
        for device in piece.spec.devices or ()
        for taint in device.taints or ()
    }


def _text(taint: DeviceTaint | None) -> str:
    """As kubectl writes taints: key=value:effect."""
    if taint is None:
        return ""
    return f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"
