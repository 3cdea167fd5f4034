"""A cluster made by hand for tests of the screens: frames are given by the test, time stands still."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ktui.errors import KtuiError
from ktui.model.frame import Changed, ChangeType, Frame, Listed, Source, StreamPhase, StreamState
from ktui.model.kinds import KINDS
from ktui.model.meta import Object, ObjectMeta
from ktui.model.pod import Pod, PodSpec, PodStatus, SchedulingGroup
from ktui.model.podgroup import Gang, PodGroup, PodGroupSpec, SchedulingPolicy
from ktui.model.resourceslice import Attribute, Device, DeviceTaint, Pool, ResourceSlice, SliceSpec
from ktui.model.time import format_time
from ktui.ui.session import Session, Sink, Target, Travel

NOW = 1_796_018_671.0  # 2026-11-30, 05:24:31 UTC
TARGET = Target(context="prod-eu", server="10.0.0.1:6443", version="v1.37.2", user="oncall")


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
    """Lists of every kind (empty unless given by kind), and all streams live."""
    return [frame for kind in KINDS for frame in (listed(kind, *lists.get(kind, ())), phase(kind, "watching"))]


def example() -> list[Frame]:
    """A small cluster with two gangs, one of them pending, and a tainted device."""
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

    def __init__(self, sink: Sink, travel: Travel) -> None:
        self.give = sink
        self.travel = travel
        self.moment = NOW
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
    """Opens sessions whose feed the test holds; `frames` are given at once."""

    def __init__(self, frames: Sequence[Frame] = (), target: Target = TARGET) -> None:
        self.frames = frames
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
        self.feeds.append(ScriptedFeed(sink, travel))
        return self.feed

    async def contexts(self) -> Sequence[str]:
        return ("prod-eu", "prod-us", "staging")
