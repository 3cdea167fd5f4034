"""resource.k8s.io ResourceSlice: what a driver publishes about the devices of one pool."""

from __future__ import annotations

from msgspec import field

from ktui.model.meta import Object, Wire
from ktui.model.node import NodeSelector

DeviceId = tuple[str, str, str]
"""(driver, pool, device): the identity of a device."""

PoolId = tuple[str, str]
"""(driver, pool)."""

NUMA_NODE = "resource.kubernetes.io/numaNode"


class CEL(Wire, frozen=True):
    expression: str = ""


class Opaque(Wire, frozen=True):
    """Driver parameters; the parameters themselves may hold secrets and are not kept."""

    driver: str = ""


class Attribute(Wire, frozen=True):
    """Exactly one member is set."""

    integer: int | None = field(default=None, name="int")
    boolean: bool | None = field(default=None, name="bool")
    string: str | None = None
    version: str | None = None
    integers: tuple[int, ...] | None = field(default=None, name="ints")
    booleans: tuple[bool, ...] | None = field(default=None, name="bools")
    strings: tuple[str, ...] | None = None
    versions: tuple[str, ...] | None = None


class ValidRange(Wire, frozen=True):
    min: str | None = None
    max: str | None = None
    step: str | None = None


class CapacityPolicy(Wire, frozen=True):
    default: str | None = None
    valid_values: tuple[str, ...] | None = None
    valid_range: ValidRange | None = None


class Capacity(Wire, frozen=True):
    value: str | int | float = ""
    request_policy: CapacityPolicy | None = None


class Counter(Wire, frozen=True):
    value: str | int | float = ""


class CounterSet(Wire, frozen=True):
    name: str = ""
    counters: dict[str, Counter] | None = None


class CounterConsumption(Wire, frozen=True):
    counter_set: str = ""
    counters: dict[str, Counter] | None = None
    compatibility_groups: tuple[str, ...] | None = None


class DeviceTaint(Wire, frozen=True):
    """Effects: "None" (informational), "NoSchedule", "NoExecute"; an unknown effect counts as None."""

    key: str = ""
    value: str | None = None
    effect: str = ""
    time_added: str | None = None


class Device(Wire, frozen=True):
    name: str = ""
    attributes: dict[str, Attribute] | None = None
    capacity: dict[str, Capacity] | None = None
    consumes_counters: tuple[CounterConsumption, ...] | None = None
    taints: tuple[DeviceTaint, ...] | None = None
    allow_multiple_allocations: bool | None = None
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None


class Pool(Wire, frozen=True):
    name: str = ""
    generation: int = 0
    resource_slice_count: int = 0


class SliceSpec(Wire, frozen=True):
    driver: str = ""
    pool: Pool = field(default_factory=Pool)
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    per_device_node_selection: bool | None = None
    devices: tuple[Device, ...] | None = None
    shared_counters: tuple[CounterSet, ...] | None = None


class ResourceSlice(Object, frozen=True):
    spec: SliceSpec = field(default_factory=SliceSpec)

    @property
    def pool_id(self) -> PoolId:
        return (self.spec.driver, self.spec.pool.name)


def attribute(device: Device, driver: str, name: str) -> Attribute | None:
    """The attribute `name` of a device. An unqualified name belongs to the driver's domain: "model" is "<driver>/model"."""
    attributes = device.attributes or {}
    if (found := attributes.get(name)) is not None:
        return found
    domain, slash, rest = name.partition("/")
    if not slash:
        return attributes.get(f"{driver}/{name}")
    return attributes.get(rest) if domain == driver else None


def attribute_value(value: Attribute | None) -> object:
    """The one member that is set, None when there is none."""
    if value is None:
        return None
    return next((v for f in value.__struct_fields__ if (v := getattr(value, f)) is not None), None)
