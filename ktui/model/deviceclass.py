"""resource.k8s.io DeviceClass."""

from __future__ import annotations

from msgspec import field

from ktui.model.claim import Selector
from ktui.model.meta import Object, Wire

IMPLICIT_RESOURCE = "deviceclass.resource.kubernetes.io/"
"""Prefix of the extended resource name that every DeviceClass has without saying so (KEP-5004)."""


def is_extended(resource: str) -> bool:
    """Whether it is the name of an extended resource. Kubernetes' own resources have no domain, or its own; implicit names of
    classes are the exception."""
    return "/" in resource and ("kubernetes.io/" not in resource or resource.startswith(IMPLICIT_RESOURCE))


class DeviceClassSpec(Wire, frozen=True):
    selectors: tuple[Selector, ...] | None = None
    extended_resource_name: str | None = None


class DeviceClass(Object, frozen=True):
    spec: DeviceClassSpec = field(default_factory=DeviceClassSpec)
