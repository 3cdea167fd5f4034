"""The whole demo cluster: the API server on loopback, its fleet, and the controllers at work on it."""

from __future__ import annotations

import asyncio
import secrets
import time
from typing import Self

from ktui.cel.selector import compile_selector
from ktui.demo import access
from ktui.demo.apiserver import ApiServer, serves
from ktui.demo.controllers.autoscaling import AutoscalerController
from ktui.demo.controllers.claims import ClaimController
from ktui.demo.controllers.eviction import EvictionController
from ktui.demo.controllers.garbage import GarbageCollector
from ktui.demo.controllers.kubelet import Kubelet
from ktui.demo.controllers.scheduler import Scheduler
from ktui.demo.controllers.workloads import DeploymentController, JobController
from ktui.demo.figures import Figures
from ktui.demo.fleet import TRAFFIC, Fleet, break_gpu
from ktui.demo.plane import Controller, Plane
from ktui.demo.releases import LATEST, Release
from ktui.model.resourceslice import DeviceId


class DemoCluster:
    """An async context: it listens and works inside. `token` is what lets a client in, new in every run.

    `size` is how many pods there shall be at least, `sick` the device whose holder reports it as unhealthy, `tainted` one on
    which somebody left a taint; `release` is what it is in all it shows; `haste` scales the delays of controllers.
    """

    def __init__(
        self,
        *,
        size: int = 0,
        sick: DeviceId | None = None,
        tainted: DeviceId | None = None,
        release: Release = LATEST,
        haste: float = 1.0,
    ) -> None:
        self.token = secrets.token_urlsafe(32)
        self.server = ApiServer(
            serves=serves(release),
            git_version=release.git_version,
            tokens={self.token: access.User(access.DEMO_USER)},
            kubelets=True,
            scale_to_zero=release.scale_to_zero,
        )
        self.server.figures = Figures(self.server.database, clock=time.time, sick=sick)
        self._release = release
        self._size = size
        self._sick = sick
        self._tainted = tainted
        self._haste = haste
        self._work: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        database = self.server.database
        squads = Fleet(database, self._size, self._tainted, self._release).fill()
        if self._sick is not None:
            break_gpu(database, self._sick)
        database.compact()  # nobody can have seen how it was filled
        await self.server.start()
        plane = Plane(database, squads, haste=self._haste)
        self._work = asyncio.create_task(_work(plane, self._release))
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)  # `failed` has told of any
        await self.server.stop()

    async def failed(self) -> None:
        """Waits, inside the context, until a controller fails, which none should; then raises what it raised."""
        if self._work is not None:
            await asyncio.shield(self._work)


async def _work(plane: Plane, release: Release) -> None:
    # The first selector loads the CEL library, which takes a while; clients have their answers meanwhile.
    await asyncio.to_thread(compile_selector, "true")
    await plane.run(controllers(plane, release))


def controllers(plane: Plane, release: Release) -> list[Controller]:
    """All of them, in the order in which they have their turn at one change."""
    return [
        JobController(plane),
        DeploymentController(plane),
        ClaimController(plane),
        Scheduler(plane, release),
        Kubelet(plane),
        EvictionController(plane),
        GarbageCollector(plane),
        AutoscalerController(plane, TRAFFIC, scale_to_zero=release.scale_to_zero),
    ]
