"""Everything an action needs, for one connection: made when the first dialog opens, or once for a command."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from ktui.actions.api import ActionApi
from ktui.actions.audit import AuditContext, AuditLog
from ktui.actions.minreplicas import plan_min_replicas
from ktui.actions.plan import Plan, Undo
from ktui.actions.runner import Runner
from ktui.actions.taint import plan_taint
from ktui.actions.untaint import plan_untaint
from ktui.cluster.state import Cluster
from ktui.kube.failures import ApiError
from ktui.kube.reviews import own_name
from ktui.kube.target import Target
from ktui.kube.transport import Transport
from ktui.model.frame import ActionTaken


class Desk(Struct, frozen=True):
    """`where` names the cluster and the user in dialogs and in the audit log."""

    api: ActionApi
    runner: Runner
    where: AuditContext

    async def undo(self, cluster: Cluster, undo: Undo) -> Plan:
        """The plan that takes an action back; it is shown and confirmed like any other."""
        match undo.action:
            case "taint":
                return await plan_taint(self.api, cluster, **undo.arguments, user=self.where.user)
            case "untaint":
                return await plan_untaint(self.api, cluster, **undo.arguments)
            case "min-replicas":
                return await plan_min_replicas(self.api, **undo.arguments)


async def open_desk(
    transport: Transport,
    target: Target,
    served: Mapping[str, str],
    log: Path,
    tell: Callable[[ActionTaken], object] | None = None,
) -> Desk:
    """`served` maps kind names to the versions this cluster serves; `tell` is told of what was sent. The client library takes
    half a second to import, so that is done in a thread."""
    apiclient = await asyncio.to_thread(importlib.import_module, "ktui.kube.apiclient")
    api = ActionApi(apiclient.Api(transport), served)
    try:
        user = await own_name(transport)
    except ApiError:
        user = ""  # an old server, or one that keeps it to itself
    impersonating = target.impersonate.user if target.impersonate else ""
    where = AuditContext(target.context, target.host, user, impersonating, target.insecure)
    return Desk(api, Runner(api, AuditLog(log), where, tell=tell), where)
