"""What objects are joined by: the values that they have in the indexes of `ktui.cluster.indexes`.

Tuples, most often of one value or none: these are asked for on every change.
"""

from __future__ import annotations

from ktui.cluster.sources import gang_key
from ktui.model.claim import ResourceClaim
from ktui.model.compositepodgroup import CompositePodGroup
from ktui.model.event import PREEMPTED, Event
from ktui.model.kueue import POD_GROUP_LABEL, WORKLOAD_ANNOTATION, KueueLocalQueue, KueueWorkload
from ktui.model.meta import Key, Object, condition
from ktui.model.pod import DEFAULT_SCHEDULER, Pod
from ktui.model.podgroup import PodGroup
from ktui.model.resourceslice import DeviceId, PoolId, ResourceSlice
from ktui.model.taintrule import DeviceTaintRule
from ktui.model.volcano import GROUP_ANNOTATIONS, VolcanoPodGroup
from ktui.model.workload import Workload

_NAME_LABEL = "app.kubernetes.io/name"

Selection = tuple[str | None, str | None, str | None]
"""What a taint rule selects: (driver, pool, device), None for any."""


def alike(old: Object, new: Object) -> bool:
    """Whether a change leaves every value of the object in the indexes as it was; False where that takes long to say."""
    if isinstance(old, Pod) and isinstance(new, Pod):
        return _pods_alike(old, new)
    if isinstance(old, ResourceClaim) and isinstance(new, ResourceClaim):
        return old.results == new.results
    if isinstance(old, PodGroup) and isinstance(new, PodGroup):
        return (
            old.spec == new.spec
            and old.metadata.owner_references == new.metadata.owner_references
            and old.status.resource_claim_statuses == new.status.resource_claim_statuses
        )
    return False


def _pods_alike(old: Pod, new: Pod) -> bool:
    before, after = old.status, new.status
    return (
        old.spec == new.spec
        and before.resource_claim_statuses == after.resource_claim_statuses
        and before.extended_resource_claim_status == after.extended_resource_claim_status
        and old.finished == new.finished
        and old.metadata.owner_references == new.metadata.owner_references
        and _groups_beside_alike(old, new)
        and attempted_by(old) == attempted_by(new)
        and exporter_node(old) == exporter_node(new)
    )


def pod_group(pod: Pod) -> tuple[Key, ...]:
    """The gangs that the pod is of: its group, and those that Kueue or Volcano have it in."""
    group, others = pod.group, _groups_beside(pod)
    return ((pod.metadata.namespace, group), *others) if group else others


def _groups_beside_alike(old: Pod, new: Pod) -> bool:
    a, b = old.metadata, new.metadata
    return (a.labels == b.labels and a.annotations == b.annotations) or _groups_beside(old) == _groups_beside(new)


def _groups_beside(pod: Pod) -> tuple[Key, ...]:
    meta = pod.metadata
    if not meta.annotations and POD_GROUP_LABEL not in (meta.labels or ()):
        return ()
    annotations, labels = meta.annotations or {}, meta.labels or {}
    workload = annotations.get(WORKLOAD_ANNOTATION) or labels.get(POD_GROUP_LABEL)
    group = next((name for each in GROUP_ANNOTATIONS if (name := annotations.get(each))), "")
    of_kueue = (gang_key("kueue", meta.namespace, workload),) if workload else ()
    return (*of_kueue, gang_key("volcano", meta.namespace, group)) if group else of_kueue


def replicated_group(pod: Pod) -> tuple[Key, ...]:
    """1.35: the group of which the pod's group is one replica."""
    ref = pod.spec.workload_ref
    if ref is None or not ref.pod_group_replica_key:
        return ()
    return ((pod.metadata.namespace, f"{ref.name}/{ref.pod_group}"),)


def pod_workload(pod: Pod) -> tuple[Key, ...]:
    """1.35: the Workload that the pod's group, "WORKLOAD/GROUP", is a part of."""
    name, slash, _ = pod.group.partition("/")
    return ((pod.metadata.namespace, name),) if slash else ()


def pod_node(pod: Pod) -> tuple[str, ...]:
    """The node that the pod takes something of: none once it has finished."""
    node = pod.spec.node_name
    return (node,) if node and not pod.finished else ()


def exporter_node(pod: Pod) -> tuple[str, ...]:
    """The node whose GPUs a DCGM exporter's pod has figures of: its own. The labels are those of NVIDIA's GPU Operator and of the
    exporter's chart."""
    labels = pod.metadata.labels
    if not labels or (labels.get("app") != "nvidia-dcgm-exporter" and labels.get(_NAME_LABEL) != "dcgm-exporter"):
        return ()
    return pod_node(pod)


def other_scheduler(pod: Pod) -> tuple[str, ...]:
    """The pod's scheduler, unless it is the default one."""
    scheduler = pod.spec.scheduler_name
    return (scheduler,) if scheduler and scheduler != DEFAULT_SCHEDULER else ()


def attempted_by(pod: Pod) -> tuple[str, ...]:
    """The scheduler, other than the default one, that has placed or refused the pod."""
    other = other_scheduler(pod)
    return other if other and (pod.spec.node_name or condition(pod.status.conditions, "PodScheduled")) else ()


def pod_claims(pod: Pod) -> tuple[Key, ...]:
    """Keys of the claims a pod uses: by name, made from templates, and the scheduler's for extended resources."""
    claims, extended = pod.spec.resource_claims, pod.status.extended_resource_claim_status
    if not claims and extended is None:
        return ()
    made, namespace = _made_claims(pod), pod.metadata.namespace
    found = [(namespace, name) for c in claims or () if (name := c.resource_claim_name or made.get(c.name))]
    if extended is not None and extended.resource_claim_name:
        found.append((namespace, extended.resource_claim_name))
    return tuple(found)


def awaited_templates(pod: Pod) -> tuple[Key, ...]:
    """Templates from which a claim of the pod is still to be made."""
    claims = pod.spec.resource_claims
    if not claims:
        return ()
    made, namespace = _made_claims(pod), pod.metadata.namespace
    return tuple(
        (namespace, c.resource_claim_template_name)
        for c in claims
        if c.resource_claim_template_name and c.name not in made
    )


def _made_claims(pod: Pod) -> dict[str, str | None]:
    """What was made of the pod's claims that have a template; of several entries of one name the first counts."""
    return {s.name: s.resource_claim_name for s in reversed(pod.status.resource_claim_statuses or ())}


def claim_devices(claim: ResourceClaim) -> tuple[DeviceId, ...]:
    return tuple([result.id for result in claim.results])


def slice_pool(piece: ResourceSlice) -> tuple[PoolId, ...]:
    return (piece.pool_id,)


def slice_node(piece: ResourceSlice) -> tuple[str, ...]:
    return (piece.spec.node_name,) if piece.spec.node_name else ()


def group_workload(group: PodGroup | CompositePodGroup) -> tuple[Key, ...]:
    ref = group.spec.workload_ref
    return ((group.namespace, ref.workload_name),) if ref is not None and ref.workload_name else ()


def group_claims(group: PodGroup) -> tuple[Key, ...]:
    if not group.spec.resource_claims:
        return ()
    made = {s.name: s.resource_claim_name for s in group.status.resource_claim_statuses or ()}
    return tuple(
        (group.namespace, name)
        for claim in group.spec.resource_claims
        if (name := claim.resource_claim_name or made.get(claim.name))
    )


def group_owner(group: PodGroup) -> tuple[str, ...]:
    """The uid of what makes the group."""
    owner = group.metadata.controller
    return (owner.uid,) if owner else ()


def pod_owner(pod: Pod) -> tuple[str, ...]:
    """The uid of what makes the pods of a gang."""
    owner = pod.metadata.controller
    return (owner.uid,) if owner and pod_group(pod) else ()


def kueue_owners(workload: KueueWorkload) -> tuple[str, ...]:
    """The uids of the jobs, or of the plain pods, that it is made for."""
    return tuple(owner.uid for owner in workload.metadata.owner_references or () if owner.uid)


def kueue_waiting(workload: KueueWorkload) -> tuple[Key, ...]:
    """The local queue in which it waits."""
    return ((workload.namespace, workload.spec.queue_name),) if workload.waits else ()


def queue_behind(queue: KueueLocalQueue) -> tuple[str, ...]:
    """The cluster queue that a local one leads to."""
    return (queue.spec.cluster_queue,) if queue.spec.cluster_queue else ()


def volcano_waiting(group: VolcanoPodGroup) -> tuple[str, ...]:
    """The queue that has not let it in."""
    return (group.queue,) if group.waits else ()


def workload_job(workload: Workload) -> tuple[Key, ...]:
    named = workload.spec.controller_ref
    return ((workload.namespace, named.name),) if named is not None and named.kind == "Job" else ()


def event_uid(event: Event) -> tuple[str, ...]:
    uid = event.involved_object.uid
    return (uid,) if uid else ()


def event_preemptor(event: Event) -> tuple[str, ...]:
    """The uid of what the pod was preempted for."""
    by = event.related if event.reason == PREEMPTED else None
    return (by.uid,) if by is not None and by.uid else ()


def rule_selection(rule: DeviceTaintRule) -> tuple[Selection, ...]:
    """Nothing for a rule without a selector: it selects no device."""
    selector = rule.spec.device_selector
    return ((selector.driver, selector.pool, selector.device),) if selector is not None else ()


def rule_is_exact(rule: DeviceTaintRule) -> tuple[bool, ...]:
    return (rule.exact is not None,)
