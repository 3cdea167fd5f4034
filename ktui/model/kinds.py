"""The kinds ktui knows: where the API serves each, in which versions, and which struct decodes it.

The one table that discovery, the watch layer, recordings and the demo cluster read. To add a kind: a struct in a module of
its own beside this one, and a line here. Version order and gates: Kubernetes 1.35 to 1.37 sources.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from ktui.model import kueue, volcano
from ktui.model.autoscaler import HorizontalPodAutoscaler
from ktui.model.claim import ResourceClaim, ResourceClaimTemplate
from ktui.model.compositepodgroup import CompositePodGroup
from ktui.model.deployment import Deployment
from ktui.model.deviceclass import DeviceClass
from ktui.model.event import Event
from ktui.model.job import Job
from ktui.model.kueue import (
    KueueAdmissionCheck,
    KueueClusterQueue,
    KueueLocalQueue,
    KueueResourceFlavor,
    KueueWorkload,
)
from ktui.model.meta import Object
from ktui.model.namespace import Namespace
from ktui.model.node import Node
from ktui.model.owner import Owner, OwnerType, named_type
from ktui.model.pod import Pod
from ktui.model.podgroup import PodGroup
from ktui.model.resourceslice import ResourceSlice
from ktui.model.taintrule import DeviceTaintRule
from ktui.model.volcano import VolcanoPodGroup, VolcanoQueue
from ktui.model.workload import Workload


class Kind(Struct, frozen=True):
    """One kind of object.

    `versions` are in order of preference: the first one that the server serves is used.
    `enable` says what a cluster that does not serve it lacks, in words for the person who runs it. `program` is what brings a
    custom resource, "" for what is Kubernetes' own.
    """

    name: str
    group: str
    plural: str
    versions: tuple[str, ...]
    namespaced: bool
    type: type[Object]
    enable: str = ""
    program: str = ""

    def path(self, version: str, namespace: str = "") -> str:
        """The collection's URL path, e.g. "/apis/batch/v1/namespaces/ml/jobs"."""
        root = f"/apis/{self.group}/{version}" if self.group else f"/api/{version}"
        return (
            f"{root}/namespaces/{namespace}/{self.plural}" if namespace and self.namespaced else f"{root}/{self.plural}"
        )

    @property
    def resource(self) -> str:
        """As people and RBAC name it: "podgroups.scheduling.k8s.io"."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


_GANGS = (
    "gang scheduling is off: kube-apiserver, kube-scheduler and kube-controller-manager need"
    " --feature-gates=GenericWorkload=true (before 1.37 GangScheduling=true as well), kube-apiserver also"
    " --runtime-config=scheduling.k8s.io/v1beta1=true"
    " (v1alpha2=true on 1.36, v1alpha1=true on 1.35)"
)
_COMPOSITES = (
    "groups of groups are alpha: kube-apiserver and kube-scheduler need"
    " --feature-gates=GenericWorkload=true,TopologyAwareWorkloadScheduling=true,CompositePodGroup=true, kube-apiserver also"
    " --runtime-config=scheduling.k8s.io/v1beta1=true,scheduling.k8s.io/v1alpha3=true"
)
_DRA = "dynamic resource allocation is not served: it is on by default from Kubernetes 1.34 on"
_RULES = (
    "device taint rules are not served: on by default in 1.37; on 1.36 set --feature-gates=DRADeviceTaintRules=true and"
    " --runtime-config=resource.k8s.io/v1beta2=true, on 1.35 DRADeviceTaints=true,DRADeviceTaintRules=true and"
    " resource.k8s.io/v1alpha3=true"
)
_DRA_VERSIONS = ("v1", "v1beta2", "v1beta1")


def _of_kueue(kind: type[Object], plural: str, *, namespaced: bool) -> Kind:
    versions = ("v1beta2", "v1beta1")
    return Kind(kind.__name__, kueue.GROUP, plural, versions, namespaced, kind, "Kueue is not installed", "Kueue")


def _of_volcano(kind: type[Object], plural: str, *, namespaced: bool) -> Kind:
    return Kind(
        kind.__name__, volcano.GROUP, plural, ("v1beta1",), namespaced, kind, "Volcano is not installed", "Volcano"
    )


KINDS: Final[dict[str, Kind]] = {
    kind.name: kind
    for kind in (
        Kind("Pod", "", "pods", ("v1",), True, Pod),
        Kind("PodGroup", "scheduling.k8s.io", "podgroups", ("v1beta1", "v1alpha3", "v1alpha2"), True, PodGroup, _GANGS),
        Kind(
            "Workload",
            "scheduling.k8s.io",
            "workloads",
            ("v1beta1", "v1alpha3", "v1alpha2", "v1alpha1"),
            True,
            Workload,
            _GANGS,
        ),
        Kind(
            "CompositePodGroup",
            "scheduling.k8s.io",
            "compositepodgroups",
            ("v1alpha3",),
            True,
            CompositePodGroup,
            _COMPOSITES,
        ),
        Kind("ResourceClaim", "resource.k8s.io", "resourceclaims", _DRA_VERSIONS, True, ResourceClaim, _DRA),
        Kind(
            "ResourceClaimTemplate",
            "resource.k8s.io",
            "resourceclaimtemplates",
            _DRA_VERSIONS,
            True,
            ResourceClaimTemplate,
            _DRA,
        ),
        Kind("ResourceSlice", "resource.k8s.io", "resourceslices", _DRA_VERSIONS, False, ResourceSlice, _DRA),
        Kind("DeviceClass", "resource.k8s.io", "deviceclasses", _DRA_VERSIONS, False, DeviceClass, _DRA),
        Kind(
            "DeviceTaintRule",
            "resource.k8s.io",
            "devicetaintrules",
            ("v1", "v1beta2", "v1alpha3"),
            False,
            DeviceTaintRule,
            _RULES,
        ),
        Kind(
            "HorizontalPodAutoscaler", "autoscaling", "horizontalpodautoscalers", ("v2",), True, HorizontalPodAutoscaler
        ),
        Kind("Node", "", "nodes", ("v1",), False, Node),
        Kind("Job", "batch", "jobs", ("v1",), True, Job),
        Kind("Deployment", "apps", "deployments", ("v1",), True, Deployment),
        Kind("Event", "", "events", ("v1",), True, Event),
        Kind("Namespace", "", "namespaces", ("v1",), False, Namespace),
        _of_kueue(KueueWorkload, "workloads", namespaced=True),
        _of_kueue(KueueLocalQueue, "localqueues", namespaced=True),
        _of_kueue(KueueClusterQueue, "clusterqueues", namespaced=False),
        _of_kueue(KueueResourceFlavor, "resourceflavors", namespaced=False),
        _of_kueue(KueueAdmissionCheck, "admissionchecks", namespaced=False),
        _of_volcano(VolcanoPodGroup, "podgroups", namespaced=True),
        _of_volcano(VolcanoQueue, "queues", namespaced=False),
    )
}

_BY_TYPE: Final = {OwnerType(kind.group, kind.name): kind.name for kind in KINDS.values() if not kind.program}


def kind_name(type_: OwnerType) -> str:
    """What a kind that references name is called here."""
    return _BY_TYPE.get(type_) or type_.name


def owning_kind(type_: OwnerType, plural: str, versions: tuple[str, ...], *, namespaced: bool) -> Kind:
    """A kind that was found by discovery, read as an owner."""
    return Kind(type_.name, type_.group, plural, versions, namespaced, Owner)


def kind_at(name: str, path: str) -> Kind | None:
    """The kind of a source: one of `KINDS`, or an owner's, of which the path says the rest. None for what is neither."""
    if (known := KINDS.get(name)) is not None:
        return known
    type_, parts = named_type(name), path.split("/")
    if type_ is None or not type_.group or parts[:3] != ["", "apis", type_.group] or len(parts) not in (5, 7):
        return None
    return owning_kind(type_, parts[-1], (parts[3],), namespaced=True)
