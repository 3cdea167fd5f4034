"""A small cluster whose controllers a test chooses: pods on one node, each with a claim and a device of its own."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Sequence

from ktui.demo import objects
from ktui.demo.mvcc import JSON, Database
from ktui.demo.plane import Controller, Plane

NODE = "node-1"
NOW = "2026-11-30T10:00:00Z"
HASTE = 0.01


class World:
    """`pod` and the others put things there; `plane` reads and writes."""

    def __init__(self) -> None:
        self.database = Database()
        self._put("Node", objects.node(NODE, NOW, zone="a"))
        self._put("DeviceClass", objects.device_class(NOW))
        self.slice(8)
        self.plane = Plane(self.database, haste=HASTE)

    def _put(self, kind: str, obj: JSON) -> JSON:
        return self.database.put(kind, objects.key_of(obj), obj)

    def slice(self, devices: int, taints: dict[int, JSON] | None = None, *, slices: int = 1) -> None:
        """What the driver publishes for the node."""
        self._put("ResourceSlice", objects.resource_slice(NODE, NOW, devices=devices, taints=taints, slices=slices))

    def pod(self, name: str, device: int, *, tolerations: Sequence[JSON] = (), node: str = NODE) -> JSON:
        """A running pod in "ml" with a claim of its name for one device."""
        spec = {**objects.pod_spec("train"), "resourceClaims": [{"name": "gpu", "resourceClaimName": name}]}
        pod = objects.pod(objects.made(name, NOW, "ml"), spec)
        exactly = {"deviceClassName": objects.DEVICE_CLASS, "tolerations": list(tolerations)}
        claim: JSON = {
            "metadata": objects.made(name, NOW, "ml"),
            "spec": {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}},
        }
        device_id = (objects.DRIVER, NODE, f"gpu-{device}")
        self._put("ResourceClaim", objects.allocated(claim, [("gpu", device_id)], NODE, pod, NOW))
        return self._put("Pod", objects.running(objects.bound(pod, node, NOW), NOW) if node else pod)

    def rule(self, effect: str, selector: JSON | None, *, since: str = NOW, key: str = "example.com/sick") -> None:
        """A DeviceTaintRule named "rule"; without a selector it selects nothing."""
        spec: JSON = {"taint": {"key": key, "effect": effect, "timeAdded": since}}
        if selector is not None:
            spec["deviceSelector"] = selector
        old = self.database.get("DeviceTaintRule", ("", "rule"))
        metadata = old["metadata"] if old else objects.made("rule", NOW)
        metadata = {**metadata, "generation": metadata["generation"] + (old is not None)}
        self._put("DeviceTaintRule", {"metadata": metadata, "spec": spec})

    def get(self, kind: str, name: str, namespace: str = "ml") -> JSON | None:
        return self.database.get(kind, (namespace, name))

    def names(self, kind: str) -> set[str]:
        return {name for _, name in self.database.objects(kind)}

    def said(self) -> list[str]:
        """The messages of all Events."""
        return [event["message"] for event in self.database.objects("Event").values()]

    def rule_says(self) -> tuple[str, str, str]:
        """(status, reason, message) of the rule's condition."""
        rule = self.database.get("DeviceTaintRule", ("", "rule")) or {}
        conditions = (rule.get("status") or {}).get("conditions") or [{}]
        return (conditions[0].get("status", ""), conditions[0].get("reason", ""), conditions[0].get("message", ""))

    @contextlib.asynccontextmanager
    async def working(self, *controllers: Controller) -> AsyncIterator[None]:
        work = asyncio.create_task(self.plane.run(controllers))
        try:
            yield
        finally:
            work.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await work


async def until(done: Callable[[], object]) -> None:
    deadline = time.monotonic() + 30
    while not done():
        assert time.monotonic() < deadline, "it did not come about"
        await asyncio.sleep(0.005)


async def settled(world: World) -> None:
    """Wait until nothing has been written for a while: for tests that say what does not happen."""
    revision, quiet = -1, 0
    while quiet < 20:
        quiet = quiet + 1 if world.database.revision == revision else 0
        revision = world.database.revision
        await asyncio.sleep(0.01)
