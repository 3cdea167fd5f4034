"""What is used, on the screen: asked for while it is looked at, columns that do not jump, trouble said once."""

from __future__ import annotations

import time

from msgspec import structs

from ktui.model.meta import Key
from ktui.model.resourceslice import Attribute, Device, ResourceSlice
from ktui.model.time import format_time
from ktui.model.usage import (
    ContainerUsage,
    GpusReport,
    GpuUsage,
    MetricsServed,
    PodsReport,
    PodUsage,
    UsageMeta,
    UsageReport,
    UsageTrouble,
    Wanted,
)
from ktui.ui.session import Session, Sink, Travel

from .screen import lacks, lines, running, shows, text, wait_for
from .world import NOW, ScriptedFeed, ScriptedOpener, everything_live, pod, pool

NODE = "gpu-node-0"
EXPORTER: Key = ("gpu-operator", "dcgm-0")
TRAIN: Key = ("research", "train-0")


class MeasuringFeed(ScriptedFeed):
    """Remembers whose figures were looked at."""

    def __init__(self, sink: Sink, travel: Travel, moment: float) -> None:
        super().__init__(sink, travel, moment)
        self.wanted = Wanted()
        self._began = time.monotonic()

    def now(self) -> float:
        return self.moment + time.monotonic() - self._began

    def measure(self, wanted: Wanted) -> None:
        self.wanted = wanted


class MeasuringOpener(ScriptedOpener):
    def __init__(self, *others: ResourceSlice) -> None:
        exporter = pod(EXPORTER[1], namespace=EXPORTER[0], node=NODE)
        labels = structs.replace(exporter.metadata, labels={"app": "nvidia-dcgm-exporter"})
        super().__init__(
            everything_live(
                Pod=[
                    structs.replace(exporter, metadata=labels),
                    *(pod(f"train-{number}", node=NODE) for number in range(3)),
                ],
                ResourceSlice=[_with_uuids(pool(NODE, 2)), *others],
            )
        )

    def _make_feed(self, sink: Sink, travel: Travel) -> ScriptedFeed:
        self.feeds.append(MeasuringFeed(sink, travel, self.moment))
        return self.feed

    @property
    def wanted(self) -> Wanted:
        assert isinstance(self.feed, MeasuringFeed)
        return self.feed.wanted

    @property
    def session(self) -> Session:
        return self.sessions[-1]

    def tell(self, *reports: UsageReport) -> None:
        for report in reports:
            self.session.measure(report)


def _with_uuids(piece: ResourceSlice) -> ResourceSlice:
    def named(device: Device) -> Device:
        return structs.replace(
            device, attributes={**(device.attributes or {}), "uuid": Attribute(string=f"GPU-{device.name}")}
        )

    devices = tuple(named(device) for device in piece.spec.devices or ())
    return structs.replace(piece, spec=structs.replace(piece.spec, devices=devices))


def _pods(cpu: str) -> PodsReport:
    usage = PodUsage(
        metadata=UsageMeta(TRAIN[1], TRAIN[0]),
        timestamp=format_time(NOW),
        window="15s",
        containers=(ContainerUsage("main", {"cpu": cpu, "memory": "3Gi"}),),
    )
    return PodsReport({TRAIN: usage})


async def test_pods_are_measured_while_their_columns_are_on_the_screen() -> None:
    opener = MeasuringOpener()
    async with running(opener, (120, 30)) as (app, pilot):
        assert opener.wanted == Wanted()
        await pilot.press("8")
        await shows(pilot, "4 pods")
        assert "CPU" not in text(app)
        assert opener.wanted == Wanted(), "not before it is known that there are figures"
        opener.tell(MetricsServed("v1beta1"))
        await shows(pilot, "CPU", "MEM")
        await wait_for(pilot, lambda: opener.wanted == Wanted(pods=True))
        before = next(line for line in lines(app) if "NAMESPACE" in line)
        opener.tell(_pods("1500m"))
        await shows(pilot, "1.5", "3Gi")
        assert next(line for line in lines(app) if "NAMESPACE" in line) == before, "columns stay where they are"
        await pilot.press("2")
        await wait_for(pilot, lambda: opener.wanted == Wanted())


async def test_on_a_small_screen_only_what_is_opened_is_measured() -> None:
    opener = MeasuringOpener()
    async with running(opener, (80, 24)) as (_, pilot):
        opener.tell(MetricsServed("v1"))
        await pilot.press("8")
        await shows(pilot, "4 pods")
        await pilot.press("j", "enter")
        opened = Wanted(pod=TRAIN, nodes=(NODE,), exporters=((NODE, EXPORTER),))
        await wait_for(pilot, lambda: opener.wanted == opened, "the pod's own figures")
        opener.tell(_pods("250m"))
        await shows(pilot, "CPU 250m")
        await pilot.press("escape")
        await wait_for(pilot, lambda: opener.wanted == Wanted())


async def test_devices_and_the_map_show_what_the_exporters_tell() -> None:
    opener = MeasuringOpener()
    asked = Wanted(exporters=((NODE, EXPORTER),))
    async with running(opener, (140, 30)) as (_, pilot):
        await pilot.press("3")
        await shows(pilot, "2 devices", "UTIL", "XID")
        await wait_for(pilot, lambda: opener.wanted == asked)
        gpu = GpuUsage("GPU-gpu-1", utilization=91.0, memory_used=2**36, temperature=66.0, recent_xids=((79, 1),))
        opener.tell(GpusReport(NODE, NOW, (gpu,)))
        await shows(pilot, "91%", "64Gi", "66C", "79")
        await pilot.press("m")
        await shows(pilot, " 91%     64Gi  66C  □ │ □", "gpu-1 Xid 79")
        await wait_for(pilot, lambda: opener.wanted == asked)
        await pilot.press("1")
        await wait_for(pilot, lambda: opener.wanted == Wanted())


async def test_the_maps_devices_stand_below_each_other_whatever_is_known_of_them() -> None:
    opener = MeasuringOpener(pool("gpu-node-1", 8))
    async with running(opener, (80, 24)) as (app, pilot):
        await pilot.press("3", "m")
        await shows(pilot, "gpu-node-1")
        opener.tell(GpusReport(NODE, NOW, (GpuUsage("GPU-gpu-1", utilization=100.0, memory_used=2**30 * 141),)))
        await shows(pilot, "100%")
        measured, other = (line for line in lines(app) if "gpu-node-" in line)
        assert measured.index("□") == other.index("□")
        assert "0 of 8" in other


async def test_why_there_are_no_figures_is_said_in_the_view_and_no_longer_when_there_are() -> None:
    opener = MeasuringOpener()
    async with running(opener, (140, 30)) as (app, pilot):
        opener.tell(MetricsServed("v1"))
        await pilot.press("8")
        await shows(pilot, "CPU")
        opener.tell(UsageTrouble("no CPU and memory figures: metrics.k8s.io does not answer"))
        await shows(pilot, "no CPU and memory figures")
        assert not app.screen.query("Toast")
        opener.tell(_pods("2"))
        await lacks(pilot, "no CPU and memory figures")
        await pilot.press("3")
        await shows(pilot, "2 devices")
        opener.tell(UsageTrouble("no GPU figures: your user needs get on pods/proxy", NODE))
        await shows(pilot, "your user needs get on pods/proxy")
        await pilot.press("2")
        await lacks(pilot, "pods/proxy")


async def test_hostile_words_of_an_exporter_are_made_safe() -> None:
    opener = MeasuringOpener()
    async with running(opener, (140, 30)) as (app, pilot):
        await pilot.press("3")
        await shows(pilot, "2 devices")
        opener.tell(UsageTrouble("no GPU figures from x: \x1b]0;owned\x07[bold]red[/] \u202egnp", NODE))
        await shows(pilot, "no GPU figures from x")
        assert "\x1b" not in text(app)
        assert "\u202e" not in text(app)


async def test_figures_that_nobody_renews_are_called_old() -> None:
    opener = MeasuringOpener()
    async with running(opener, (140, 30)) as (_, pilot):
        opener.tell(MetricsServed("v1"), _pods("2"))
        await pilot.press("8")
        await shows(pilot, "3Gi")
        await lacks(pilot, "figures from")
        opener.feed.moment += 300
        await shows(pilot, "figures from 5m")
