"""What pods, nodes and devices use at this moment: metrics.k8s.io (CPU and memory), and figures of a DCGM exporter (GPUs).

Neither is watched or recorded: it is asked for while somebody looks. Figures of metrics.k8s.io stay as they are written until
they are shown: a list of 100,000 pods has 200,000 quantities, and a screen shows fifty.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, Final, TypeAlias, TypeVar, cast

import msgspec
from msgspec import Struct, field
from msgspec.structs import force_setattr

from ktui.model import lenient
from ktui.model.decode import NOT_DECODED, DecodeError
from ktui.model.meta import Key, Wire
from ktui.model.quantity import parse_quantity
from ktui.model.resourceslice import DeviceId
from ktui.model.time import parse_time

GROUP: Final = "metrics.k8s.io"
VERSIONS: Final = ("v1", "v1beta1")
"""In order of preference; one shape."""

_DURATION: Final = re.compile(r"(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,9}(?:\.\d{1,9})?)s)?\Z", re.ASCII)

Quantities = dict[str, str | int | float]


def metrics_path(version: str, plural: str, namespace: str = "", name: str = "") -> str:
    """The URL path of pods or nodes in metrics.k8s.io; of all of them without a name."""
    scope = f"/namespaces/{namespace}" if namespace else ""
    return f"/apis/{GROUP}/{version}{scope}/{plural}" + (f"/{name}" if name else "")


class Amounts(Struct, frozen=True, gc=False):
    """`cpu` in cores, averaged over the window; `memory` in bytes, the working set. None for what is not told."""

    cpu: Decimal | None = None
    memory: Decimal | None = None


class UsageMeta(Wire, frozen=True):
    """Of the metadata only the name: labels are those of the pod."""

    name: str = ""
    namespace: str = ""


class ContainerUsage(Wire, frozen=True):
    name: str = ""
    usage: Quantities | None = None

    @property
    def amounts(self) -> Amounts:
        return _amounts(self.usage)


class Measured(Wire, frozen=True):
    """metrics.k8s.io: the interval is [timestamp - window, timestamp]."""

    metadata: UsageMeta = field(default_factory=UsageMeta)
    timestamp: str | None = None
    window: str | None = None  # a Go duration: "15.014s"

    @property
    def at(self) -> float | None:
        """When it was measured, Unix seconds."""
        return parse_time(self.timestamp)

    @property
    def seconds(self) -> float | None:
        """How long it was measured, None when the window is no duration."""
        return _seconds(self.window)


class PodUsage(Measured, frozen=True):
    """PodMetrics. Containers that do not run are not in it."""

    containers: tuple[ContainerUsage, ...] | None = None

    @property
    def key(self) -> Key:
        return (self.metadata.namespace, self.metadata.name)

    @property
    def amounts(self) -> Amounts:
        """Of all containers together; None for what one of them does not tell."""
        each = [container.amounts for container in self.containers or ()]
        return Amounts(_sum([a.cpu for a in each]), _sum([a.memory for a in each]))


class NodeUsage(Measured, frozen=True):
    """NodeMetrics."""

    usage: Quantities | None = None

    @property
    def amounts(self) -> Amounts:
        return _amounts(self.usage)


class GpuUsage(Struct, frozen=True, gc=False):
    """One GPU, or one MIG instance of it, as a DCGM exporter tells it; None for what it does not tell.

    `uuid` is the physical GPU's, also for an instance; `instance` (GPU_I_ID) and `profile` are "" for a whole GPU. `device` and
    `mig_uuid` are known where the exporter looks them up (its DRA labels). `utilization` (percent) does not exist for instances;
    `engine_active` is the share of time, in percent, in which the compute engine was busy. `memory_total` counts what the
    exporter reports: used, free and, where it is told, reserved. `last_xid` is the number of the last Xid error since the driver
    started, 0 for none, which may be long ago; `recent_xids` are (number, how many) in the exporter's own window.
    """

    uuid: str
    instance: str = ""
    profile: str = ""
    device: DeviceId | None = None
    mig_uuid: str = ""
    utilization: float | None = None
    engine_active: float | None = None
    memory_used: int | None = None  # bytes
    memory_total: int | None = None
    temperature: float | None = None  # °C
    power: float | None = None  # W
    last_xid: int | None = None
    recent_xids: tuple[tuple[int, int], ...] = ()

    @property
    def busy(self) -> float | None:
        """Percent: the utilization, or what there is in its place for an instance."""
        return self.utilization if self.utilization is not None else self.engine_active


class PodsReport(Struct, frozen=True):
    """All pods of a namespace ("" for all namespaces), or the one that was asked for. A pod that is not in it has no figures."""

    items: dict[Key, PodUsage]
    namespace: str = ""
    only: Key | None = None


class NodeReport(Struct, frozen=True):
    """`usage` is None when the node has no figures."""

    node: str
    usage: NodeUsage | None


class GpusReport(Struct, frozen=True):
    """Of one node, asked at `at` (Unix seconds)."""

    node: str
    at: float
    gpus: tuple[GpuUsage, ...]


class UsageTrouble(Struct, frozen=True):
    """Why there are no fresh figures: of metrics.k8s.io, or of the GPUs of a `node`. "" when there are again."""

    message: str
    node: str = ""


class MetricsServed(Struct, frozen=True):
    """In which version metrics.k8s.io is served, "" when it is not."""

    version: str


UsageReport: TypeAlias = PodsReport | NodeReport | GpusReport | UsageTrouble | MetricsServed


class Wanted(Struct, frozen=True):
    """What a screen shows figures of: `pods`, all of them; `pod`, one; `nodes`; and GPUs, by the `exporters` that have them, each
    the node it is on and its pod."""

    pods: bool = False
    pod: Key | None = None
    nodes: tuple[str, ...] = ()
    exporters: tuple[tuple[str, Key], ...] = ()


M = TypeVar("M", bound=Measured)


class _RawList(Struct):
    items: list[msgspec.Raw] | None = None


def decode_usage(kind: type[M], data: bytes) -> M:
    """One PodMetrics or NodeMetrics; a field that does not fit is dropped. Raises DecodeError for what is no mapping."""
    try:
        return msgspec.json.decode(data, type=kind)
    except NOT_DECODED:
        return _leniently(kind, data)


def decode_usages(kind: type[M], data: bytes) -> tuple[M, ...]:
    """A list of them; an item that is no mapping is left out. Raises DecodeError for anything but a list."""
    try:
        found = msgspec.json.decode(data, type=_RawList)
    except NOT_DECODED:
        raise DecodeError(f"expected a list of {GROUP}") from None
    items = []
    known: dict[str, str] = {}
    for raw in found.items or ():
        try:
            usage = decode_usage(kind, bytes(raw))
        except DecodeError:
            continue
        _share(usage, known)
        items.append(usage)
    return tuple(items)


def _share(usage: Measured, known: dict[str, str]) -> None:
    """Keep once what most of a list say: when and how long it was measured, their namespaces, the names of containers. That is a
    quarter of what they take."""
    parts: list[tuple[Struct, str]] = [(usage.metadata, "namespace"), (usage, "timestamp"), (usage, "window")]
    if isinstance(usage, PodUsage):
        parts += ((container, "name") for container in usage.containers or ())
    for part, name in parts:
        if (text := getattr(part, name)) is not None:
            force_setattr(part, name, known.setdefault(text, text))


def _leniently(kind: type[M], data: bytes) -> M:
    try:
        document: Any = msgspec.json.decode(data)
    except NOT_DECODED:
        raise DecodeError(f"not an object of {GROUP}") from None
    if not isinstance(document, dict):
        raise DecodeError(f"not an object of {GROUP}")
    return cast("M", lenient.convert(document, kind))


def _amounts(usage: Quantities | None) -> Amounts:
    found = usage or {}
    return Amounts(_positive(found.get("cpu")), _positive(found.get("memory")))


def _positive(written: str | float | None) -> Decimal | None:
    amount = parse_quantity(written)
    return amount if amount is not None and amount >= 0 else None


def _sum(amounts: list[Decimal | None]) -> Decimal | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known, Decimal(0)) if known and len(known) == len(amounts) else None


def _seconds(window: str | None) -> float | None:
    match = _DURATION.match(window or "")
    if match is None or not any(match.groups()):
        return None
    hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + seconds
