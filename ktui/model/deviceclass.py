"""resource.k8s.io DeviceClass."""

from __future__ import annotations

from msgspec import field

from ktui.model.claim import Selector
from ktui.model.meta import Object, Wire

IMPLICIT_RESOURCE = "deviceclass.resource.kubernetes.io/"
"""Prefix of the extended resource name that every DeviceClass has without saying so (KEP-5004)."""


class DeviceClassSpec(Wire, frozen=True):
    selectors: tuple[Selector, ...] | None = None
    extended_resource_name: str | None = None


class DeviceClass(Object, frozen=True):
    spec: DeviceClassSpec = field(default_factory=DeviceClassSpec)
