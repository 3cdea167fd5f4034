"""resource.k8s.io DeviceTaintRule: a taint that a person or a monitor puts on devices (v1; same shape since v1alpha3 of 1.35)."""

from __future__ import annotations

from msgspec import field

from ktui.model.meta import Condition, Object, Wire
from ktui.model.resourceslice import DeviceId, DeviceTaint

EVICTION_IN_PROGRESS = "EvictionInProgress"
"""The one condition the eviction controller writes; its reasons and messages are declared unstable."""


class DeviceSelector(Wire, frozen=True):
    """All given members must be equal. Every member absent selects every device of every driver."""

    driver: str | None = None
    pool: str | None = None
    device: str | None = None

    def matches(self, device: DeviceId) -> bool:
        return all(
            wanted is None or wanted == have
            for wanted, have in zip((self.driver, self.pool, self.device), device, strict=True)
        )


class TaintRuleSpec(Wire, frozen=True):
    device_selector: DeviceSelector | None = None
    taint: DeviceTaint = field(default_factory=DeviceTaint)


class TaintRuleStatus(Wire, frozen=True):
    conditions: tuple[Condition, ...] | None = None


class DeviceTaintRule(Object, frozen=True):
    spec: TaintRuleSpec = field(default_factory=TaintRuleSpec)
    status: TaintRuleStatus = field(default_factory=TaintRuleStatus)

    def matches(self, device: DeviceId) -> bool:
        """Whether the rule taints the device. An absent selector matches nothing, an empty one everything (1.37.1 and later)."""
        selector = self.spec.device_selector
        return selector is not None and selector.matches(device)

    @property
    def exact(self) -> DeviceId | None:
        """The one device the rule names, None when it may match several (or none)."""
        s = self.spec.device_selector
        return (s.driver, s.pool, s.device) if s and s.driver and s.pool and s.device else None
