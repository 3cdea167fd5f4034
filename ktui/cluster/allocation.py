"""Which container got which device: the kubelet's own rules (GetResources and the resourceclaim helpers of 1.37).

Three ways lead to a device: a claim that a container references (whole, or one request of it), the scheduler's claim for
extended resources (only through its request mappings, never by guessing from request names), and claims that no container
references, which are prepared for the pod as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from ktui.cluster.state import Cluster
from ktui.model.claim import AllocationResult, Consumer, ResourceClaim
from ktui.model.meta import Key
from ktui.model.pod import Container, Pod, PodClaim
from ktui.model.podgroup import GroupClaim, PodGroup
from ktui.model.quantity import parse_quantity
from ktui.model.resourceslice import DeviceId

ContainerKind = Literal["init", "sidecar", "app", "pod"]
POD_LEVEL = "(pod)"

ClaimState = Literal[
    "allocated",
    "pending",  # exists, no devices yet
    "not created",  # its template's claim has not been made
    "missing",  # named, and surely not there
    "foreign",  # there, but belongs to another pod
    "unknown",  # named, and claims cannot be read right now
]


class DeviceUse(NamedTuple):
    """One device that a container can use."""

    result: AllocationResult
    claim: str  # name in the pod: of its spec.resourceClaims entry, or the extended resource
    claim_object: Key

    @property
    def device(self) -> DeviceId:
        return self.result.id


class ContainerDevices(NamedTuple):
    """What one container got. `waiting` names the claims that gave it nothing, with the reason."""

    name: str
    kind: ContainerKind
    devices: tuple[DeviceUse, ...]
    waiting: tuple[tuple[str, ClaimState], ...]


class ResolvedClaim(NamedTuple):
    """A claim a pod names: its state, its key ("" name when not made yet), and the object when it is there and the pod's own."""

    state: ClaimState
    key: Key
    claim: ResourceClaim | None


class GroupClaimUse(NamedTuple):
    """A claim that all members of a group share; the key's name is "" while none is made from the template."""

    entry: GroupClaim
    key: Key
    claim: ResourceClaim | None


def containers(pod: Pod) -> Iterator[tuple[Container, ContainerKind]]:
    """All containers in the order they start; an init container that restarts always is a sidecar."""
    for container in pod.spec.init_containers or ():
        yield container, "sidecar" if container.restart_policy == "Always" else "init"
    for container in pod.spec.containers or ():
        yield container, "app"


def devices_of(cluster: Cluster, pod: Pod) -> tuple[ContainerDevices, ...]:
    """Every container of the pod with its devices, then "(pod)" for claims that no container references: the pod waits for
    those as well."""
    resolved = {c.name: resolve(cluster, pod, c) for c in pod.spec.resource_claims or ()}
    extended = _extended_claim(cluster, pod)
    referenced: set[str] = set()
    rows = []
    for container, kind in containers(pod):
        uses: list[DeviceUse] = []
        waiting: list[tuple[str, ClaimState]] = []
        for reference in (container.resources.claims or ()) if container.resources else ():
            referenced.add(reference.name)
            _collect(resolved.get(reference.name), reference.name, reference.request, uses, waiting)
        uses.extend(_extended(pod, container, extended))
        rows.append(ContainerDevices(container.name, kind, tuple(uses), tuple(waiting)))
    rest = _unreferenced(resolved, referenced)
    return (*rows, rest) if rest.devices or rest.waiting else tuple(rows)


def resolve(cluster: Cluster, pod: Pod, named: PodClaim) -> ResolvedClaim | None:
    """The claim behind an entry of the pod's spec.resourceClaims; None when the pod needs none after all."""
    if named.resource_claim_name:
        return _find(cluster, (pod.namespace, named.resource_claim_name))
    made = next((s for s in pod.status.resource_claim_statuses or () if s.name == named.name), None)
    if made is None:
        return ResolvedClaim("not created", (pod.namespace, ""), None)
    if not made.resource_claim_name:
        return None
    found = _find(cluster, (pod.namespace, made.resource_claim_name))
    if found.claim is not None and not _owned_by(found.claim, pod):
        return ResolvedClaim("foreign", found.key, None)
    return found


def reserved_for(pod: Pod, claim: ResourceClaim) -> bool:
    """Whether the pod, itself or as a member of its group, holds the claim (status.reservedFor)."""
    return any(_holds(pod, consumer) for consumer in claim.status.reserved_for or ())


def users(cluster: Cluster, claim_key: Key) -> list[Pod]:
    """The pods that name the claim and hold it, by name; a claim shared by a gang is held by all members that name it."""
    claim = cluster.claim(claim_key)
    if claim is None:
        return []
    pods = (cluster.pod(key) for key in sorted(cluster.pods_by_claim[claim_key]))
    return [pod for pod in pods if pod is not None and reserved_for(pod, claim)]


def holders(cluster: Cluster, device: DeviceId) -> list[tuple[ResourceClaim, AllocationResult]]:
    """The claims that have the device, by name, with the result that says so."""
    found = []
    for key in sorted(cluster.claims_by_device[device]):
        claim = cluster.claim(key)
        if claim is not None:
            found += [(claim, result) for result in claim.results if result.id == device]
    return found


def _find(cluster: Cluster, key: Key) -> ResolvedClaim:
    claim = cluster.claim(key)
    if claim is None:
        return ResolvedClaim("missing" if cluster.readable("ResourceClaim") else "unknown", key, None)
    return ResolvedClaim("allocated" if claim.status.allocation else "pending", key, claim)


def _owned_by(claim: ResourceClaim, pod: Pod) -> bool:
    """A claim made from a template belongs to the pod itself, or to the pod's group when the group shares it."""
    owner = claim.metadata.controller
    if owner is None:
        return False
    if owner.kind == "PodGroup":
        group = pod.spec.scheduling_group
        return owner.api_version.startswith("scheduling.k8s.io/") and owner.name == (
            group.pod_group_name if group else None
        )
    return owner.kind == "Pod" and owner.uid == pod.metadata.uid


def _holds(pod: Pod, consumer: Consumer) -> bool:
    if consumer.resource == "podgroups" and consumer.api_group == "scheduling.k8s.io":
        group = pod.spec.scheduling_group
        return group is not None and consumer.name == group.pod_group_name
    return consumer.uid == pod.metadata.uid and bool(consumer.uid)


def _collect(
    found: ResolvedClaim | None, name: str, request: str, uses: list[DeviceUse], waiting: list[tuple[str, ClaimState]]
) -> None:
    if found is None:
        return
    if found.state != "allocated" or found.claim is None:
        waiting.append((name, found.state))
        return
    uses += [
        DeviceUse(result, name, found.key)
        for result in found.claim.results
        if not request or result.request.partition("/")[0] == request
    ]


def _extended_claim(cluster: Cluster, pod: Pod) -> ResourceClaim | None:
    status = pod.status.extended_resource_claim_status
    claim = cluster.claim((pod.namespace, status.resource_claim_name)) if status else None
    owner = claim.metadata.controller if claim else None
    return claim if owner is not None and owner.uid == pod.metadata.uid else None


def _extended(pod: Pod, container: Container, claim: ResourceClaim | None) -> Iterator[DeviceUse]:
    status = pod.status.extended_resource_claim_status
    requests = container.resources.requests if container.resources else None
    if claim is None or status is None or not requests:
        return
    for mapping in status.request_mappings or ():
        if mapping.container_name != container.name or not parse_quantity(requests.get(mapping.resource_name)):
            continue
        for result in claim.results:
            if result.request == mapping.request_name:
                yield DeviceUse(result, mapping.resource_name, claim.key)


def _unreferenced(resolved: dict[str, ResolvedClaim | None], referenced: set[str]) -> ContainerDevices:
    uses: list[DeviceUse] = []
    waiting: list[tuple[str, ClaimState]] = []
    for name, found in resolved.items():
        if name not in referenced:
            _collect(found, name, "", uses, waiting)
    return ContainerDevices(POD_LEVEL, "pod", tuple(uses), tuple(waiting))


def group_claims(cluster: Cluster, group: PodGroup) -> Iterator[GroupClaimUse]:
    """The claims that a group shares."""
    made = {s.name: s.resource_claim_name for s in group.status.resource_claim_statuses or ()}
    for entry in group.spec.resource_claims or ():
        key = (group.namespace, entry.resource_claim_name or made.get(entry.name) or "")
        yield GroupClaimUse(entry, key, cluster.claim(key))
