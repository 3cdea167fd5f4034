"""What tests of the screens show: a moment of a recorded incident, or, for odd cases, a cluster made by hand. Time stands."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Sequence

from msgspec import Struct

from ktui.errors import KtuiError
from ktui.model.frame import Changed, ChangeType, Frame, Listed, Source, StreamPhase, StreamState
from ktui.model.kinds import KINDS
from ktui.model.meta import Object, ObjectMeta
from ktui.model.pod import Pod, PodSpec, PodStatus, SchedulingGroup
from ktui.model.podgroup import Gang, PodGroup, PodGroupSpec, SchedulingPolicy
from ktui.model.resourceslice import Attribute, Device, DeviceTaint, Pool, ResourceSlice, SliceSpec
from ktui.model.time import format_time
from ktui.recording.reader import Recording
from ktui.recording.tape import Tape
from ktui.recording.writer import Facts
from ktui.ui.session import Session, Sink, Target, Travel
from tests.recordings import PATHS

NOW = 1_796_018_671.0  # 2026-11-30, 05:24:31 UTC
TARGET = Target(context="prod-eu", server="10.0.0.1:6443", version="v1.37.2", user="oncall")


class Scene(Struct, frozen=True):
    """A cluster as it stood: every frame up to a moment, and that moment in Unix seconds."""

    frames: list[Frame]
    now: float


@functools.cache
def recorded(name: str, at: float) -> Scene:
    """A recording of `recordings/` at a moment, in seconds from its start; what was shown live is shown as live."""
    recording = Recording(PATHS[name])
    return Scene([timed.frame for timed in recording.frames() if timed.t <= at], recording.header.start + at)


def degraded() -> Scene:
    """The usual scene: three gangs on 16 GPUs, one of them one pod short since a rule tainted the pod's GPU, one pending; an
    autoscaler. 25 pods, of which 13 run.
    """
    return recorded("xid79", 40)


def source(kind: str) -> Source:
    return Source(kind, KINDS[kind].path(KINDS[kind].versions[0]))


def meta(name: str, namespace: str = "", *, version: int = 1, age: float = 600, uid: str = "") -> ObjectMeta:
    return ObjectMeta(
        name=name,
        namespace=namespace,
        uid=uid or f"uid-{namespace}-{name}",
        resource_version=str(version),
        creation_timestamp=format_time(NOW - age),
    )


def pod(
    name: str,
    *,
    phase: str = "Running",
    namespace: str = "research",
    gang: str = "",
    node: str = "",
    version: int = 1,
    age: float = 600,
    reason: str | None = None,
    uid: str = "",
) -> Pod:
    return Pod(
        metadata=meta(name, namespace, version=version, age=age, uid=uid),
        spec=PodSpec(node_name=node or None, scheduling_group=SchedulingGroup(pod_group_name=gang) if gang else None),
        status=PodStatus(phase=phase, reason=reason),
    )


def gang(name: str, count: int, *, namespace: str = "research", age: float = 2460) -> PodGroup:
    return PodGroup(
        metadata=meta(name, namespace, age=age),
        spec=PodGroupSpec(scheduling_policy=SchedulingPolicy(gang=Gang(min_count=count))),
    )


def pool(node: str, devices: int, *, tainted: int | None = None) -> ResourceSlice:
    """One pool of a node; two NUMA nodes; one device may be tainted."""
    taint = DeviceTaint(key="example.com/xid", value="79", effect="NoExecute")
    return ResourceSlice(
        metadata=meta(f"{node}-slice"),
        spec=SliceSpec(
            driver="gpu.example.com",
            node_name=node,
            pool=Pool(name=node, generation=1, resource_slice_count=1),
            devices=tuple(
                Device(
                    name=f"gpu-{number}",
                    attributes={
                        "resource.kubernetes.io/numaNode": Attribute(integer=number * 2 // devices),
                        "productName": Attribute(string="H200"),
                    },
                    taints=(taint,) if number == tainted else None,
                )
                for number in range(devices)
            ),
        ),
    )


def listed(kind: str, *objects: Object) -> Listed:
    return Listed(source(kind), "100", objects)


def changed(kind: str, change: ChangeType, obj: Object) -> Changed:
    return Changed(source(kind), change, obj)


def phase(kind: str, now: StreamPhase, message: str = "", until: float | None = None) -> StreamState:
    return StreamState(source(kind), now, message, until)


def everything_live(**lists: Sequence[Object]) -> list[Frame]:
    """Lists of every kind of Kubernetes' own (empty unless given by kind) and of those given, and all streams live."""
    kinds = [name for name, kind in KINDS.items() if not kind.program or name in lists]
    return [frame for kind in kinds for frame in (listed(kind, *lists.get(kind, ())), phase(kind, "watching"))]


def example() -> list[Frame]:
    """A small cluster made by hand, whose objects tests change: two gangs, one of them pending, and a tainted device."""
    return everything_live(
        Pod=[
            *(pod(f"llm-train-{i}", gang="llm-train", node=f"gpu-node-{i}") for i in range(4)),
            *(pod(f"numa-{i}", gang="numa", phase="Pending") for i in range(2)),
            pod("web-0", namespace="prod", node="cpu-node-0", age=86_400 * 3),
        ],
        PodGroup=[gang("llm-train", 4), gang("numa", 2)],
        ResourceSlice=[pool("gpu-node-0", 8), pool("gpu-node-1", 8, tainted=0)],
    )


class ScriptedFeed:
    """Hands on what the test gives."""

    def __init__(self, sink: Sink, travel: Travel, moment: float = NOW) -> None:
        self.give = sink
        self.travel = travel
        self.moment = moment
        self.retries = 0
        self.failure: KtuiError | None = None

    async def run(self) -> None:
        if self.failure is not None:
            raise self.failure
        await asyncio.Event().wait()

    def now(self) -> float:
        return self.moment

    def retry_now(self) -> None:
        self.retries += 1


class ScriptedOpener:
    """Opens sessions whose feed the test holds; the scene's frames are given at once."""

    def __init__(self, scene: Scene | Sequence[Frame] = (), target: Target = TARGET) -> None:
        self.frames: Sequence[Frame] = scene.frames if isinstance(scene, Scene) else scene
        self.moment = scene.now if isinstance(scene, Scene) else NOW
        self.target = target
        self.opened: list[str] = []
        self.feeds: list[ScriptedFeed] = []
        self.failure: KtuiError | None = None
        self.sessions: list[Session] = []

    @property
    def feed(self) -> ScriptedFeed:
        return self.feeds[-1]

    def title(self) -> str:
        return "prod-eu"

    async def open(self, context: str = "") -> Session:
        self.opened.append(context)
        if self.failure is not None:
            raise self.failure
        session = Session(self.target, self._make_feed)
        self.sessions.append(session)
        for frame in self.frames:
            self.feed.give(frame)
        return session

    def _make_feed(self, sink: Sink, travel: Travel) -> ScriptedFeed:
        self.feeds.append(ScriptedFeed(sink, travel, self.moment))
        return self.feed

    async def contexts(self) -> Sequence[str]:
        return ("prod-eu", "prod-us", "staging")


class TapedFeed(ScriptedFeed):
    """Remembers what it hands on, as a live session does, so that it can be recorded."""

    def __init__(self, sink: Sink, travel: Travel, moment: float) -> None:
        super().__init__(sink, travel, moment)
        self.tape = Tape(lambda: Facts("", "prod-eu", "v1.37.2"), clock=self.now)

        def give(frame: Frame) -> None:
            self.tape.take(frame)
            sink(frame)

        self.give = give

    async def run(self) -> None:
        try:
            await super().run()
        finally:
            self.tape.end("the session ended")


class TapedOpener(ScriptedOpener):
    def _make_feed(self, sink: Sink, travel: Travel) -> ScriptedFeed:
        self.feeds.append(TapedFeed(sink, travel, self.moment))
        return self.feed

    @property
    def tape(self) -> Tape:
        assert isinstance(self.feed, TapedFeed)
        return self.feed.tape

    async def open(self, context: str = "") -> Session:
        session = await super().open(context)
        assert session.tape is self.tape
        return session
