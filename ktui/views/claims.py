"""ResourceClaims: pending or allocated, which devices, who uses them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Final

from ktui.cluster.allocation import users
from ktui.cluster.gangs import display_name
from ktui.cluster.sharing import is_shared, reserved_groups
from ktui.cluster.state import Cluster
from ktui.cluster.taints import taints_of
from ktui.model.claim import EXTENDED_RESOURCE_ANNOTATION, Consumer, DeviceRequest, Request, ResourceClaim
from ktui.model.meta import Key
from ktui.model.time import parse_time
from ktui.views.base import Cell, Column, Document, Line, Row, RowKey, Section, Style, pairs
from ktui.views.devicestatus import not_ready, status_document, status_lines
from ktui.views.events import event_lines
from ktui.views.shared import (
    OBJECT_KINDS,
    ObjectsView,
    as_key,
    device_full,
    device_text,
    gang_documents,
    gangs_of,
    newest_first,
    owner_text,
    time_text,
)
from ktui.views.taints import taint_document


def claim_state(claim: ResourceClaim) -> str:
    """The words kubectl uses."""
    if claim.metadata.deletion_timestamp is not None:
        return "deleted"
    if claim.status.allocation is None:
        return "pending"
    return "allocated,reserved" if claim.status.reserved_for else "allocated"


class ClaimsView(ObjectsView):
    id: Final = "claims"
    title = "Claims"
    order = "namespace"
    kind = OBJECT_KINDS["claims"]
    kinds = ("ResourceClaim",)
    joins = ("Pod", "PodGroup", "ResourceSlice", "DeviceTaintRule", "Event")
    unseen = ("Pod", "PodGroup", "Event")
    columns = (
        Column("namespace", "NAMESPACE", 9, 1, priority=8),
        Column("claim", "CLAIM", 18, 4, priority=9),
        Column("state", "STATE", 18, 0, priority=8),
        Column("wants", "WANTS", 10, 2, priority=2),
        Column("devices", "DEVICES", 14, 3, priority=7),
        Column("users", "USED BY", 12, 3, priority=6),
        Column("age", "AGE", 6, 0, priority=3, kind="age"),
    )

    places: ClassVar = {
        "namespace": lambda _, claim: claim.namespace,
        "claim": lambda _, claim: claim.name,
        "state": lambda _, claim: claim_state(claim),
        "wants": lambda _, claim: _wants(claim),
        "devices": lambda _, claim: _devices(claim),
        "users": lambda _, claim: _holders(claim),
        "age": lambda _, claim: newest_first(claim),
    }

    def row(self, cluster: Cluster, key: RowKey) -> Row | None:
        claim = cluster.claim(as_key(key))
        if claim is None:
            return None
        state = claim_state(claim)
        wants, devices, holders = _wants(claim), _devices(claim), _holders(claim)
        tainted = any(t.effect == "NoExecute" for r in claim.results for t in taints_of(cluster, r.id))
        bad = tainted or any(not_ready(claim, result) for result in claim.results)
        style: Style = "ok" if state.startswith("allocated") else "warn" if state == "pending" else "dim"
        cells = (
            Cell(claim.namespace),
            Cell(claim.name),
            Cell(state, style),
            Cell(wants),
            Cell(devices, "bad" if bad else ""),
            Cell(holders),
            Cell("", "dim"),
        )
        return Row(
            key=claim.key,
            cells=cells,
            sort=(claim.namespace, claim.name, state, wants, devices, holders, newest_first(claim)),
            uid=claim.metadata.uid,
            namespace=claim.namespace,
            since=parse_time(claim.metadata.creation_timestamp),
            problem=state == "pending" or bad,
        )

    def detail(self, cluster: Cluster, key: RowKey, now: float) -> tuple[Section, ...]:
        claim = cluster.claim(as_key(key))
        if claim is None:
            return ()
        extended = (claim.metadata.annotations or {}).get(EXTENDED_RESOURCE_ANNOTATION) == "true"
        about = pairs(
            ("state", claim_state(claim)),
            ("owner", owner_text(claim)),
            ("made for", "extended resources, by the scheduler" if extended else ""),
            ("reserved for", ", ".join(consumer_text(c) for c in claim.status.reserved_for or ())),
            ("shared by", _shared_by(cluster, claim)),
            ("used by", ", ".join(pod.name for pod in users(cluster, claim.key))),
            (
                "of gangs",
                ", ".join(dict.fromkeys(g for pod in users(cluster, claim.key) for g in gangs_of(cluster, pod))),
            ),
            ("created", time_text(parse_time(claim.metadata.creation_timestamp), now)),
        )
        sections = [
            Section(f"Claim {claim.namespace}/{claim.name}", about),
            Section("Requests", tuple(_request_lines(claim))),
            Section("Devices", tuple(_result_lines(cluster, claim))),
            Section("Events", tuple(event_lines(cluster, claim.metadata.uid, now))),
        ]
        return tuple(section for section in sections if section.lines)

    def item(self, cluster: Cluster, key: RowKey) -> Document | None:
        claim = cluster.claim(as_key(key))
        if claim is None:
            return None
        owner = claim.metadata.controller
        return {
            "namespace": claim.namespace,
            "name": claim.name,
            "state": claim_state(claim),
            "owner": {"kind": owner.kind, "name": owner.name} if owner else None,
            "requests": [
                {"name": r.name, "wants": request_text(r), "derivedAttributes": _derived_documents(r)}
                for r in claim.spec.devices.requests or ()
            ],
            "devices": [
                {
                    "driver": r.driver,
                    "pool": r.pool,
                    "device": r.device,
                    "request": r.request,
                    "shareID": r.share_id,
                    "adminAccess": bool(r.admin_access),
                    "consumed": {name: str(amount) for name, amount in (r.consumed_capacity or {}).items()},
                    "status": status_document(claim, r),
                    "taints": [taint_document(taint) for taint in taints_of(cluster, r.id)],
                }
                for r in claim.results
            ],
            "reservedFor": [{"resource": c.resource, "name": c.name} for c in claim.status.reserved_for or ()],
            "shared": is_shared(claim),
            "gangs": [group for _, group in _gangs(cluster, claim)],
            "usedBy": [pod.name for pod in users(cluster, claim.key)],
            "usedByGangs": gang_documents(users(cluster, claim.key)),
        }


def _wants(claim: ResourceClaim) -> str:
    return ", ".join(request_text(request) for request in claim.spec.devices.requests or ())


def _devices(claim: ResourceClaim) -> str:
    return " ".join(device_text(result.id) for result in claim.results)


def _holders(claim: ResourceClaim) -> str:
    return " ".join(consumer_text(consumer) for consumer in claim.status.reserved_for or ())


def _gangs(cluster: Cluster, claim: ResourceClaim) -> list[Key]:
    """The groups that share the claim: those that hold it, and those that name it and may come to."""
    return sorted({*reserved_groups(claim), *cluster.groups_by_claim[claim.key]})


def _shared_by(cluster: Cluster, claim: ResourceClaim) -> str:
    held = reserved_groups(claim)
    gangs = [
        f"{'all pods of gang' if key in held else 'gang'} {display_name(cluster, key)}{'' if key in held else ' (not held yet)'}"
        for key in _gangs(cluster, claim)
    ]
    pods = sum(1 for consumer in claim.status.reserved_for or () if consumer.resource == "pods")
    return ", ".join((*gangs, *((f"{pods} pods",) if pods > 1 else ())))


def request_text(request: Request) -> str:
    """What a request asks for: "2 x gpu.example.com", "all of …", or alternatives joined by "or"."""
    return " or ".join(_wanted(option) for option in _options(request))


def consumer_text(consumer: Consumer) -> str:
    return consumer.name if consumer.resource == "pods" else f"{consumer.resource.removesuffix('s')} {consumer.name}"


def _options(request: Request) -> tuple[DeviceRequest, ...]:
    return (request.exactly,) if request.exactly else request.first_available or ()


def _wanted(option: DeviceRequest) -> str:
    amount = "all of" if option.allocation_mode == "All" else f"{option.count or 1} x"
    return f"{amount} {option.device_class_name}"


def _request_lines(claim: ResourceClaim) -> Iterable[Line]:
    for request in claim.spec.devices.requests or ():
        yield (Cell(f"{request.name}  ", "accent"), Cell(request_text(request)))
        for option in _options(request):
            for selector in option.selectors or ():
                if selector.cel is not None:
                    yield (Cell("  where ", "dim"), Cell(selector.cel.expression))
            for derived in option.derived_attributes or ():
                yield (Cell(f"  {derived.name}", "accent"), Cell(" derived by ", "dim"), Cell(derived.expression))
                yield (Cell("    for constraints only: its values are stored nowhere", "dim"),)
    for constraint in claim.spec.devices.constraints or ():
        if constraint.match_attribute:
            yield (Cell("one value of ", "dim"), Cell(constraint.match_attribute))
        if constraint.distinct_attribute:
            yield (Cell("a different value each of ", "dim"), Cell(constraint.distinct_attribute))


def _result_lines(cluster: Cluster, claim: ResourceClaim) -> Iterable[Line]:
    for result in claim.results:
        taints = " ".join(t.text for t in taints_of(cluster, result.id))
        yield (Cell(f"{device_full(result.id)}  "), Cell(f"request {result.request}  ", "dim"), Cell(taints, "bad"))
        yield from status_lines(claim, result)


def _derived_documents(request: Request) -> list[Document]:
    """As declared: what the scheduler makes of them is in no object."""
    derived = (each for option in _options(request) for each in option.derived_attributes or ())
    return [{"name": each.name, "expression": each.expression} for each in derived]


VIEW = ClaimsView()
