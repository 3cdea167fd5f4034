"""Change an autoscaler's minReplicas: one field, bound to the object that was read."""

from __future__ import annotations

import re
from typing import Any, cast

from ktui.actions.api import ActionApi
from ktui.actions.plan import ActionRequest, AlreadyDoneError, NotPossibleError, Plan, Undo, part
from ktui.cluster.state import Cluster
from ktui.errors import UsageError
from ktui.kube.failures import ApiError
from ktui.kube.resolve import is_namespace
from ktui.model.autoscaler import HorizontalPodAutoscaler
from ktui.model.decode import from_builtins
from ktui.model.kinds import KINDS
from ktui.model.meta import Key

HPA = KINDS["HorizontalPodAutoscaler"]
_NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*\Z")
_MANAGERS = re.compile(r"argocd|flux|helm|kustomize-controller", re.IGNORECASE)


def parse_replicas(text: str) -> int:
    """A plain decimal number from 0 to 2147483647. Raises UsageError; nothing else ever reaches the server: null would reset
    the field to 1, and other forms of numbers are read differently by different programs."""
    if not (text.isascii() and text.isdigit()) or len(text) > 10 or int(text) > 2**31 - 1:
        raise UsageError(f"minReplicas must be a whole number from 0 to {2**31 - 1}, not {text[:40]!r}")
    return int(text)


async def plan_min_replicas(api: ActionApi, key: Key, replicas: int) -> Plan:
    """Plan to set minReplicas of one autoscaler."""
    namespace, name = key
    if not (is_namespace(namespace) and _NAME.match(name)):
        raise UsageError(f"{'/'.join(key)[:400]!r} does not name an autoscaler; write NAMESPACE/NAME")
    try:
        document = (await api.get(HPA, namespace, name)).document
    except ApiError as error:
        if error.status == 404:
            raise NotPossibleError(f"there is no autoscaler {name} in namespace {namespace}") from None
        raise
    hpa = cast("HorizontalPodAutoscaler", from_builtins(HPA, api.version(HPA), document))
    old = hpa.min_replicas
    if replicas == old:
        raise AlreadyDoneError(f"minReplicas of {namespace}/{name} is {old} already")
    if replicas > hpa.spec.max_replicas:
        raise NotPossibleError(
            f"minReplicas {replicas} is more than maxReplicas {hpa.spec.max_replicas} of {namespace}/{name}; raise that first"
        )
    body = _patch(hpa, replicas)
    return Plan(
        action="min-replicas",
        title=f"minReplicas of {namespace}/{name}",
        sentence=_sentence(hpa, replicas),
        request=ActionRequest("patch", HPA, api.version(HPA), namespace, name, body),
        before=f"minReplicas {old}",
        after=f"minReplicas {replicas}",
        done=lambda state: _min(state, key) == replicas,
        applied=lambda after: after is not None and _spec_min(after) == replicas,
        notes=_notes(hpa, replicas),
        warnings=_warnings(hpa, document, replicas),
        button=f"Set minReplicas {replicas}",
        subject=key,
        object="/".join(key),
        undo=Undo(
            "min-replicas", {"key": key, "replicas": old}, f"set minReplicas of {namespace}/{name} back to {old}"
        ),
    )


def _patch(hpa: HorizontalPodAutoscaler, replicas: int) -> list[dict[str, Any]]:
    """A JSON patch bound to the object and to the values a person was shown. Not to its resourceVersion: the autoscaler's own
    controller writes the status every few seconds, faster than anybody reads a dialog."""
    shown: list[dict[str, Any]] = [
        {"op": "test", "path": "/metadata/uid", "value": hpa.metadata.uid},
        {"op": "test", "path": "/spec/maxReplicas", "value": hpa.spec.max_replicas},
    ]
    if hpa.spec.min_replicas is not None:
        shown.append({"op": "test", "path": "/spec/minReplicas", "value": hpa.spec.min_replicas})
    return [*shown, {"op": "add", "path": "/spec/minReplicas", "value": replicas}]


def _sentence(hpa: HorizontalPodAutoscaler, replicas: int) -> str:
    now = hpa.status.current_replicas or 0
    target = f"{hpa.spec.scale_target_ref.kind} {hpa.spec.scale_target_ref.name}"
    if replicas == 0:
        return f"{target} may fall asleep when its metrics say so; it has {now} now, and nothing scales down at once"
    if replicas > now:
        return f"{target} is scaled from {now} to at least {replicas}, if a metric can be read"
    return f"{target} keeps its {now}; it may fall to {replicas} when its metrics say so"


def _notes(hpa: HorizontalPodAutoscaler, replicas: int) -> tuple[str, ...]:
    """How many pods come, or may go at the most."""
    now = hpa.status.current_replicas or 0
    count = abs(replicas - now)
    pods = f"{count} pod{'s' if count != 1 else ''}"
    if replicas > now:
        return (f"{pods} more, if there is room for them",)
    return (f"up to {pods} may go",) if replicas < now and replicas < hpa.min_replicas else ()


def _warnings(hpa: HorizontalPodAutoscaler, document: dict[str, Any], replicas: int) -> tuple[str, ...]:
    found = []
    if replicas == 0:
        found.append(
            "from zero the first request waits for a cold start: scheduling, image, model load"
            if hpa.may_sleep
            else "it has no Object or External metric: the server will refuse minReplicas 0"
        )
    fields = part(document, "metadata").get("managedFields")
    owners = fields if isinstance(fields, list) else []
    managers = sorted({str(f.get("manager", ""))[:60] for f in owners if isinstance(f, dict)})
    if gitops := [m for m in managers if _MANAGERS.search(m)]:
        found.append(f"managed by {', '.join(gitops)}: the change may be reverted")
    return tuple(found)


def _min(cluster: Cluster, key: Key) -> int | None:
    found = cluster.stores[HPA.name].get(key)
    return found.min_replicas if isinstance(found, HorizontalPodAutoscaler) else None


def _spec_min(document: dict[str, Any]) -> object:
    return part(document, "spec").get("minReplicas")
