"""apps/v1 Deployment: what an autoscaler usually scales."""

from __future__ import annotations

from msgspec import field

from ktui.model.meta import Object, Wire


class DeploymentSpec(Wire, frozen=True):
    replicas: int | None = None


class DeploymentStatus(Wire, frozen=True):
    replicas: int | None = None
    ready_replicas: int | None = None


class Deployment(Object, frozen=True):
    spec: DeploymentSpec = field(default_factory=DeploymentSpec)
    status: DeploymentStatus = field(default_factory=DeploymentStatus)
