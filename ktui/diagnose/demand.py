"""What pods ask for, as plain values: two pods that ask for the same make equal demands, so that what is found out for one
holds for the others.

Everything that has to be allocated is here. Claims that have their devices only bind the pod to nodes (their
`allocation.nodeSelector`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from msgspec import Struct

from ktui.cluster.allocation import resolve
from ktui.cluster.gangs import Gang
from ktui.cluster.nodefit import signature
from ktui.cluster.noderesources import effective_requests
from ktui.cluster.state import Cluster
from ktui.model.claim import (
    CapacityRequest,
    ClaimSpec,
    Constraint,
    DeviceRequest,
    DeviceToleration,
    Request,
    ResourceClaimTemplate,
)
from ktui.model.deviceclass import IMPLICIT_RESOURCE, DeviceClass
from ktui.model.meta import Key
from ktui.model.node import NodeSelector
from ktui.model.pod import Pod


class Want(Struct, frozen=True):
    """Which devices would do: the same for every request that asks for the same kind, whatever it is called."""

    device_class: str
    selectors: tuple[str, ...] = ()  # CEL, of the request only
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: tuple[tuple[str, str], ...] = ()  # what of the device: name and quantity, where it is shared out
    admin: bool = False
    derived: tuple[tuple[str, str], ...] = ()  # attributes that only its constraints see: name and CEL expression


class Ask(Struct, frozen=True):
    """A request, or one of its alternatives: `count` devices that would do, or all there are on the node."""

    want: Want
    count: int
    request: str
    alternative: str = ""
    all: bool = False

    def named(self, names: Iterable[str]) -> bool:
        """Whether a constraint that names `names` is about this request."""
        full = f"{self.request}/{self.alternative}" if self.alternative else self.request
        return any(name in (self.request, full) for name in names)


class ClaimDemand(Struct, frozen=True):
    """One claim to allocate: for each request its alternatives, best first."""

    requests: tuple[tuple[Ask, ...], ...]
    constraints: tuple[Constraint, ...] = ()


class Extended(Struct, frozen=True):
    """An extended resource of a pod, counted by the node where a device plugin serves it; where none does, devices of the
    class, if there is one that has this name."""

    resource: str
    count: int
    device_class: str


class PodDemand(Struct, frozen=True):
    """What one pod asks for."""

    claims: tuple[ClaimDemand, ...] = ()
    shared: tuple[Key, ...] = ()  # claims that others use as well: allocated once for all of them
    bound_by: tuple[NodeSelector, ...] = ()
    resources: tuple[tuple[str, int], ...] = ()
    extended: tuple[Extended, ...] = ()
    placement: object = None  # `nodefit.signature`

    def wants(self) -> Iterator[tuple[Want, int]]:
        """The devices of its own claims, first alternatives first taken; 0 stands for all of a node."""
        for claim in self.claims:
            for alternatives in claim.requests:
                yield alternatives[0].want, 0 if alternatives[0].all else alternatives[0].count


class Part(NamedTuple):
    """Pods of a gang that ask for the same; `pod` stands for all of them."""

    demand: PodDemand
    pods: int
    pod: Pod


class GangDemand(NamedTuple):
    """What has to be found for a gang to be placed: as many pods as it is short of, in the order of their names."""

    parts: tuple[Part, ...]
    shared: dict[Key, ClaimDemand]

    @property
    def key(self) -> object:
        """Equal for gangs of which the same is true."""
        return tuple((p.demand, p.pods) for p in self.parts), tuple(sorted(self.shared.items(), key=lambda i: i[0]))

    @property
    def claims(self) -> tuple[ClaimDemand, ...]:
        """Each kind of claim once, those for extended resources apart."""
        return (*(claim for part in self.parts for claim in part.demand.claims), *self.shared.values())

    @property
    def asks(self) -> Iterator[Ask]:
        """Every request of these claims with all its alternatives."""
        return (ask for claim in self.claims for alternatives in claim.requests for ask in alternatives)


def demand_of(cluster: Cluster, gang: Gang) -> GangDemand:
    """What the gang still asks for: that of as many waiting pods as it is short of minCount."""
    waiting = sorted(waiting_pods(gang.members), key=lambda pod: pod.name)
    short = max(1, gang.needed - gang.bound - gang.succeeded)
    return demand_of_pods(cluster, waiting[:short])


def waiting_pods(pods: Iterable[Pod]) -> list[Pod]:
    """Those that have not been given a node."""
    return [p for p in pods if not p.finished and not p.spec.node_name and p.metadata.deletion_timestamp is None]


def demand_of_pods(cluster: Cluster, pods: Iterable[Pod]) -> GangDemand:
    """What these pods ask for together."""
    counts: Counter[PodDemand] = Counter()
    first: dict[PodDemand, Pod] = {}
    shared: dict[Key, ClaimDemand] = {}
    seen: list[tuple[_Said, PodDemand]] = []
    for pod in pods:
        said = _said(cluster, pod)
        demand = next((known for before, known in seen if before == said), None)
        if demand is None:
            demand = _pod_demand(cluster, pod, said, shared)
            seen.append((said, demand))
        counts[demand] += 1
        first.setdefault(demand, pod)
    parts = tuple(Part(demand, count, first[demand]) for demand, count in counts.items())
    return GangDemand(parts, shared)


class _Said(NamedTuple):
    """All that a waiting pod's demand is made of. Pods of one template say the same, and comparing is quicker than working
    it out."""

    parts: tuple[object, ...]
    own: tuple[ClaimSpec, ...]
    shared: tuple[tuple[Key, ClaimSpec], ...]
    bound_by: tuple[NodeSelector, ...]


def _said(cluster: Cluster, pod: Pod) -> _Said:
    spec = pod.spec
    own: list[ClaimSpec] = []
    shared: list[tuple[Key, ClaimSpec]] = []
    bound: list[NodeSelector] = []
    for entry in spec.resource_claims or ():
        found = resolve(cluster, pod, entry)
        if found is None:
            continue
        claim = found.claim
        if claim is None:
            template = _template(cluster, pod, entry.resource_claim_template_name)
            own += [template] if template is not None else []
        elif (allocation := claim.status.allocation) is not None:
            bound += [allocation.node_selector] if allocation.node_selector is not None else []
        elif cluster.pods_by_claim.count(found.key) > 1:
            shared.append((found.key, claim.spec))  # the pod that is placed first decides for the others
        else:
            own.append(claim.spec)
    requests = tuple(c.resources and c.resources.requests for c in spec.containers or ())
    parts = (
        spec.node_selector,
        spec.affinity,
        spec.tolerations,
        requests,
        spec.init_containers,
        spec.resources,
        spec.overhead,
    )
    return _Said(parts, tuple(own), tuple(shared), tuple(bound))


def _pod_demand(cluster: Cluster, pod: Pod, said: _Said, shared: dict[Key, ClaimDemand]) -> PodDemand:
    own = tuple(map(claim_demand, said.own))
    common = {key: claim_demand(spec) for key, spec in said.shared}
    shared.update(common)
    resources = effective_requests(pod)
    extended = tuple(_extended(cluster, resources))
    served = {e.resource for e in extended}
    plain = tuple(sorted((name, amount) for name, amount in resources.items() if name not in served))
    return PodDemand(own, tuple(common), said.bound_by, plain, extended, signature(pod))


def claim_demand(spec: ClaimSpec) -> ClaimDemand:
    """A claim's spec as a demand."""
    devices = spec.devices
    return ClaimDemand(tuple(_alternatives(r) for r in devices.requests or ()), devices.constraints or ())


def _alternatives(request: Request) -> tuple[Ask, ...]:
    if request.exactly is not None:
        return (_ask(request.exactly, request.name, ""),)
    return tuple(_ask(sub, request.name, sub.name) for sub in request.first_available or ())


def _ask(asked: DeviceRequest, request: str, alternative: str) -> Ask:
    want = Want(
        asked.device_class_name,
        tuple(s.cel.expression if s.cel else "" for s in asked.selectors or ()),
        asked.tolerations or (),
        _capacity(asked.capacity),
        bool(asked.admin_access),
        tuple(sorted((each.name, each.expression) for each in asked.derived_attributes or ())),
    )
    count = asked.count if asked.count is not None else 1
    return Ask(want, max(0, count), request, alternative, asked.allocation_mode == "All")


def _capacity(asked: CapacityRequest | None) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, str(amount)) for name, amount in ((asked.requests if asked else None) or {}).items()))


def _template(cluster: Cluster, pod: Pod, name: str | None) -> ClaimSpec | None:
    found = cluster.stores["ResourceClaimTemplate"].get((pod.namespace, name)) if name else None
    return found.spec.spec if isinstance(found, ResourceClaimTemplate) else None


def device_class(cluster: Cluster, name: str) -> DeviceClass | None:
    found = cluster.stores["DeviceClass"].get(("", name))
    return found if isinstance(found, DeviceClass) else None


def _extended(cluster: Cluster, resources: dict[str, int]) -> Iterator[Extended]:
    """The extended resources among them (names with a domain that is not Kubernetes' own) that a class may serve."""
    for name, count in resources.items():
        if count and "/" in name and (found := class_of_resource(cluster, name)):
            yield Extended(name, count, found)


def class_of_resource(cluster: Cluster, resource: str) -> str:
    """The class that serves an extended resource, "" when none does: of several the newest, then the first by name."""
    if resource.startswith(IMPLICIT_RESOURCE):
        implicit = resource.removeprefix(IMPLICIT_RESOURCE)
        return implicit if device_class(cluster, implicit) is not None else ""
    named = [c for c in cluster.all(DeviceClass) if c.spec.extended_resource_name == resource]
    named.sort(key=lambda c: c.name)
    named.sort(key=lambda c: c.metadata.creation_timestamp or "", reverse=True)
    return named[0].name if named else ""


def extended_claim(extended: Iterable[Extended]) -> ClaimDemand:
    """The claim that the scheduler makes for extended resources which no device plugin serves on the node."""
    return ClaimDemand(
        tuple((Ask(Want(e.device_class), e.count, e.resource),) for e in extended),
    )
