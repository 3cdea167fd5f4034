"""Small typed objects, frames and states for tests of everything between the wire and the screen.

Objects are made from plain documents, so that a test reads like the YAML it stands for and says only what matters to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

from ktui.cluster.state import Cluster
from ktui.model.autoscaler import HorizontalPodAutoscaler
from ktui.model.claim import ResourceClaim, ResourceClaimTemplate
from ktui.model.decode import from_builtins
from ktui.model.event import Event
from ktui.model.frame import Changed, ChangeType, Listed, Source, StreamPhase, StreamState
from ktui.model.kinds import KINDS, Kind, owning_kind
from ktui.model.meta import Object
from ktui.model.owner import Owner, OwnerType
from ktui.model.pod import Pod
from ktui.model.podgroup import PodGroup
from ktui.model.resourceslice import DeviceId, ResourceSlice
from ktui.model.taintrule import DeviceTaintRule
from ktui.model.workload import Workload

Document = dict[str, Any]
O = TypeVar("O", bound=Object)  # noqa: E741 - the conventional name of an object type

DRIVER = "gpu.example.com"
NAMESPACE = "ml"


TRAINER = owning_kind(OwnerType("example.com", "Trainer"), "trainers", ("v1",), namespaced=True)
"""A kind that nobody knows beforehand; its objects are `Owner`s."""


def kind_called(name: str) -> Kind:
    return TRAINER if name in ("Owner", TRAINER.name) else KINDS[name]


def make(kind: type[O], document: Mapping[str, Any], version: str = "") -> O:
    """An object of the kind from its document, in the kind's newest API version unless told."""
    known = kind_called(kind.__name__)
    return cast("O", from_builtins(known, version or known.versions[0], dict(document)))


def meta(name: str, namespace: str = NAMESPACE, **more: Any) -> Document:
    """Metadata whose uid follows from the name; `more` in the wire's own spelling."""
    return {"name": name, "namespace": namespace, "uid": uid_of(name, namespace), "resourceVersion": "1", **more}


def uid_of(name: str, namespace: str = NAMESPACE) -> str:
    return f"uid-{namespace}-{name}"


def owner(kind: str, name: str, *, api_version: str = "v1", uid: str = "", namespace: str = NAMESPACE) -> Document:
    """A controller reference."""
    return {
        "apiVersion": api_version,
        "kind": kind,
        "name": name,
        "uid": uid or uid_of(name, namespace),
        "controller": True,
    }


def condition(type_: str, status: str, reason: str = "", message: str = "", since: str | None = None) -> Document:
    return {"type": type_, "status": status, "reason": reason, "message": message, "lastTransitionTime": since}


def pod(name: str, *, namespace: str = NAMESPACE, meta_: Document | None = None, **parts: Any) -> Pod:
    """A pod. `parts`: group, node, phase, conditions, and members of spec (spec=…) and status (status=…)."""
    spec: Document = dict(parts.get("spec") or {})
    status: Document = dict(parts.get("status") or {})
    if group := parts.get("group"):
        spec["schedulingGroup"] = {"podGroupName": group}
    if node := parts.get("node"):
        spec["nodeName"] = node
    spec.setdefault("containers", [{"name": "main"}])
    status["phase"] = parts.get("phase", "Running" if node else "Pending")
    if conditions := parts.get("conditions"):
        status["conditions"] = conditions
    return make(Pod, {"metadata": meta(name, namespace, **(meta_ or {})), "spec": spec, "status": status})


def result(device: str, request: str = "gpu", *, pool: str = "node-1", driver: str = DRIVER, **more: Any) -> Document:
    """One allocated device of a claim's status."""
    return {"driver": driver, "pool": pool, "device": device, "request": request, **more}


def pod_consumer(name: str, namespace: str = NAMESPACE) -> Document:
    return {"resource": "pods", "name": name, "uid": uid_of(name, namespace)}


def group_consumer(name: str, namespace: str = NAMESPACE) -> Document:
    return {
        "apiGroup": "scheduling.k8s.io",
        "resource": "podgroups",
        "name": name,
        "uid": uid_of(name, namespace),
    }


def claim(
    name: str,
    results: Sequence[Document] | None = None,
    *,
    namespace: str = NAMESPACE,
    owner_: Document | None = None,
    reserved: Iterable[Document] = (),
    requests: Sequence[Document] = (),
    **more: Any,
) -> ResourceClaim:
    """A claim; pending when `results` is None."""
    owners = {"ownerReferences": [owner_]} if owner_ else {}
    status: Document = {"reservedFor": list(reserved), **more.get("status", {})}
    if results is not None:
        status["allocation"] = {"devices": {"results": list(results)}}
    return make(
        ResourceClaim,
        {
            "metadata": meta(name, namespace, **owners, **more.get("meta_", {})),
            "spec": {"devices": {"requests": list(requests)}},
            "status": status,
        },
    )


def template(name: str, *, namespace: str = NAMESPACE) -> ResourceClaimTemplate:
    return make(ResourceClaimTemplate, {"metadata": meta(name, namespace), "spec": {"spec": {}}})


def piece(
    name: str,
    devices: Sequence[str | Document] = (),
    *,
    pool: str = "node-1",
    driver: str = DRIVER,
    generation: int = 1,
    count: int = 1,
    **spec: Any,
) -> ResourceSlice:
    """A ResourceSlice. Devices are names, or whole documents."""
    return make(
        ResourceSlice,
        {
            "metadata": meta(name, ""),
            "spec": {
                "driver": driver,
                "pool": {"name": pool, "generation": generation, "resourceSliceCount": count},
                "devices": [{"name": device} if isinstance(device, str) else device for device in devices],
                **spec,
            },
        },
    )


def taint(key: str = "example.com/xid", value: str | None = "79", effect: str = "NoExecute") -> Document:
    return {"key": key, "value": value, "effect": effect}


def rule(name: str, selector: Document | None, taint_: Document | None = None, **more: Any) -> DeviceTaintRule:
    spec: Document = {"taint": taint_ or taint()}
    if selector is not None:
        spec["deviceSelector"] = selector
    return make(
        DeviceTaintRule,
        {"metadata": meta(name, "", **more.get("meta_", {})), "spec": spec, "status": more.get("status", {})},
    )


def one_device(device: str, pool: str = "node-1", driver: str = DRIVER) -> DeviceId:
    return (driver, pool, device)


def group(
    name: str, min_count: int | None = None, *, namespace: str = NAMESPACE, meta_: Document | None = None, **more: Any
) -> PodGroup:
    """A PodGroup with a gang policy, or the basic one when `min_count` is None. `more`: spec, status, version."""
    policy: Document = {"basic": {}} if min_count is None else {"gang": {"minCount": min_count}}
    return make(
        PodGroup,
        {
            "metadata": meta(name, namespace, **(meta_ or {})),
            "spec": {"schedulingPolicy": policy, **more.get("spec", {})},
            "status": more.get("status", {}),
        },
    )


def workload(
    name: str, *, namespace: str = NAMESPACE, groups: Mapping[str, int] | None = None, **more: Any
) -> Workload:
    """A Workload; `groups` (name → minCount) are the pod groups that a 1.35 Workload holds."""
    spec: Document = dict(more.get("spec") or {})
    if groups is not None:
        spec["podGroups"] = [{"name": n, "policy": {"gang": {"minCount": m}}} for n, m in groups.items()]
    return make(Workload, {"metadata": meta(name, namespace, **more.get("meta_", {})), "spec": spec})


def trainer(name: str, above: Document | None = None, *conditions: Document, **meta_: Any) -> Owner:
    """An object of a kind that is found by discovery; `above` is the reference to what owns it."""
    owners = {"ownerReferences": [above]} if above else {}
    return make(Owner, {"metadata": meta(name, **{**owners, **meta_}), "status": {"conditions": list(conditions)}})


def autoscaler(name: str, spec: Document | None = None, status: Document | None = None) -> HorizontalPodAutoscaler:
    return make(HorizontalPodAutoscaler, {"metadata": meta(name), "spec": spec or {}, "status": status or {}})


def event(name: str, about: str, **more: Any) -> Event:
    return make(Event, {"metadata": meta(name), "involvedObject": {"uid": about}, **more})


# --- frames and states ---


def source(kind: str, namespace: str = "", selector: str = "") -> Source:
    known = kind_called(kind)
    return Source(known.name, known.path(known.versions[0], namespace), namespace, selector)


def changed(type_: ChangeType, obj: Object, *, namespace: str = "", selector: str = "", epoch: int = 0) -> Changed:
    return Changed(source(type(obj).__name__, namespace, selector), type_, obj, epoch)


def added(obj: Object) -> Changed:
    return changed("ADDED", obj)


def deleted(obj: Object) -> Changed:
    return changed("DELETED", obj)


def listed(kind: str, *objects: Object, version: str = "100", namespace: str = "", epoch: int = 0) -> Listed:
    return Listed(source(kind, namespace), version, objects, epoch)


def phase(kind: str, phase_: StreamPhase, message: str = "") -> StreamState:
    return StreamState(source(kind), phase_, message)


def cluster_of(*objects: Object, without: Iterable[str] = ()) -> Cluster:
    """A state in which every kind is live and holds exactly these objects; the kinds of `without` were never read."""
    cluster = Cluster()
    missing = frozenset(without)
    owners = (TRAINER,) if any(isinstance(o, Owner) for o in objects) else ()
    for kind in (*KINDS.values(), *owners):
        if kind.name not in missing:
            cluster.apply(listed(kind.name, *(o for o in objects if isinstance(o, kind.type))))
    return cluster
