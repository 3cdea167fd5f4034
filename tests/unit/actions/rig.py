"""An action's whole way, against the embedded API server: a client, a runner, an audit log, and everything that was sent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler

from ktui.actions.api import ActionApi
from ktui.actions.audit import AuditContext, AuditLog
from ktui.actions.desk import Desk
from ktui.actions.plan import Plan
from ktui.actions.runner import Outcome, Rehearsal, Runner
from ktui.cluster.state import Cluster
from ktui.demo.apiserver import ApiServer
from ktui.kube.apiclient import Api
from ktui.kube.once import read_once
from ktui.kube.transport import Transport
from ktui.model.kinds import KINDS
from tests.faults import Faults, break_connection
from tests.unit.builders import DRIVER
from tests.unit.kube.harness import transport_to

Json = dict[str, Any]

DEVICE = (DRIVER, "node-1", "gpu-0")
WHERE = "/".join(DEVICE)
RULES = "/apis/resource.k8s.io/v1/devicetaintrules"
HPAS = "/apis/autoscaling/v2/namespaces/ml/horizontalpodautoscalers"
WRITES = ("POST", "PUT", "PATCH", "DELETE")
CONTEXT = AuditContext("prod-eu", "10.0.0.1:6443", "oncall")


@dataclass(frozen=True)
class Sent:
    """A write as the server saw it."""

    method: str
    path: str
    query: dict[str, str]
    body: Any

    @property
    def dry_run(self) -> bool:
        asked = self.query.get("dryRun") == "All"
        return asked or (isinstance(self.body, dict) and self.body.get("dryRun") == ["All"])


After = Callable[[web.Request, web.StreamResponse], Awaitable[web.StreamResponse]]


class Server:
    """The embedded server with what it was sent. `after` may change, or lose, the answer to a real write."""

    def __init__(self, **options: Any) -> None:
        self.faults = Faults()
        self.writes: list[Sent] = []
        self.after: After | None = None
        self.api = ApiServer(middlewares=[self._note, self.faults.middleware], **options)

    @property
    def _note(self) -> Any:
        @web.middleware
        async def note(request: web.Request, handler: Handler) -> web.StreamResponse:
            if request.method not in WRITES or "reviews" in request.path:
                return await handler(request)
            raw = await request.read()
            sent = Sent(request.method, request.path, dict(request.query), json.loads(raw) if raw else None)
            self.writes.append(sent)
            response = await handler(request)
            return response if self.after is None or sent.dry_run else await self.after(request, response)

        return note

    @property
    def real_writes(self) -> list[Sent]:
        return [sent for sent in self.writes if not sent.dry_run]

    def rules(self) -> dict[str, Json]:
        return {key[1]: rule for key, rule in self.api.database.snapshot("DeviceTaintRule").items()}

    def rule(self) -> Json:
        """The only one."""
        (found,) = self.rules().values()
        return found

    def add_rule(self, name: str, taint: str = "example.com/xid=79:NoExecute", **parts: Any) -> Json:
        """A rule that somebody else made, on DEVICE unless told otherwise."""
        spec, _, effect = taint.rpartition(":")
        key, _, value = spec.partition("=")
        selector = parts.pop("selector", dict(zip(("driver", "pool", "device"), DEVICE, strict=True)))
        return self.api.create(
            "DeviceTaintRule",
            {
                "metadata": {"name": name, **parts},
                "spec": {
                    "deviceSelector": selector,
                    "taint": {"key": key, "effect": effect, **({"value": value} if value else {})},
                },
            },
        )

    def add_autoscaler(self, name: str = "chat", metric: str = "External", **parts: Any) -> Json:
        return self.api.create(
            "HorizontalPodAutoscaler",
            {
                "metadata": {"name": name, "namespace": "ml", **parts.pop("metadata", {})},
                "spec": {
                    "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
                    "minReplicas": 1,
                    "maxReplicas": 5,
                    "metrics": [{"type": metric}],
                },
                **parts,
            },
        )

    def autoscaler(self, name: str = "chat") -> Json:
        return self.api.registry.get(KINDS["HorizontalPodAutoscaler"], ("ml", name))

    def change(self, kind: str, key: tuple[str, str], **parts: Json) -> None:
        """Members of spec or status, written by somebody else."""

        def merged(old: Json) -> Json:
            return {**old, **{part: {**old.get(part, {}), **members} for part, members in parts.items()}}

        self.api.registry.update(KINDS[kind], key, merged)

    def touch(self, kind: str, namespace: str, name: str, **labels: str) -> None:
        """A change by somebody else."""

        def change(old: Json) -> Json:
            return {**old, "metadata": {**old["metadata"], "labels": {**old["metadata"].get("labels", {}), **labels}}}

        self.api.registry.update(KINDS[kind], (namespace, name), change)

    def delete_rule(self, name: str) -> None:
        self.api.registry.delete(KINDS["DeviceTaintRule"], ("", name))


async def lost(request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
    """Carried out, and never answered."""
    break_connection(request, reset=True)
    raise asyncio.CancelledError


class Rig:
    """One person at one cluster."""

    def __init__(self, server: Server, transport: Transport, log: Path) -> None:
        self.server = server
        self.transport = transport
        self.log = log
        self.served: dict[str, str] = {}
        self.api = ActionApi(Api(transport), self.served)
        self.runner = Runner(self.api, AuditLog(log), CONTEXT, clock=lambda: 1_796_018_671.0)
        self.desk = Desk(self.api, self.runner, CONTEXT)

    async def look(self) -> Cluster:
        """The state as a command would read it."""
        cluster = Cluster()
        served = await read_once(self.transport, KINDS, "", cluster.apply)
        self.served.update(served.versions())
        return cluster

    async def carry_out(self, plan: Plan) -> Outcome:
        rehearsal = await self.runner.rehearse(plan)
        assert rehearsal.status == "accepted", rehearsal
        return await self.runner.apply(plan, rehearsal)

    def audit(self) -> list[Json]:
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []


REHEARSED = Rehearsal("accepted", "accepted")


@asynccontextmanager
async def rig(tmp_path: Path, *, transport: dict[str, Any] | None = None, **server: Any) -> AsyncIterator[Rig]:
    made = Server(**server)
    async with made.api, transport_to(made.api.url, **(transport or {})) as session:
        yield Rig(made, session, tmp_path / "audit.log")
