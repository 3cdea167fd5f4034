"""Nodes: kubelet versions, cgroups, rootless kubelets, and devices that nobody publishes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from ktui.cluster.state import Cluster
from ktui.doctor.facts import Facts, ServerVersion
from ktui.doctor.finding import Finding, counted, skipped, some
from ktui.doctor.known import require, skips
from ktui.doctor.server import minor
from ktui.model.event import Event
from ktui.model.node import Node

_OLDEST_KUBELET: Final = 3
"""Minor versions that a kubelet may be older than kube-apiserver (the policy on version skew); never newer."""
_REFUSES_CGROUP_V1: Final = (1, 35)
"""KEP-5573: from here on a kubelet does not start on cgroup v1, unless failCgroupV1 is false."""
_ON_CGROUP_V1: Final = "CgroupV1"
"""Reason of the event that a kubelet writes when it starts on cgroup v1 all the same."""

_HAS_DEVICES: Final = (
    ("nvidia.com/gpu.present", "true"),  # GPU feature discovery
    ("feature.node.kubernetes.io/pci-10de.present", "true"),  # node feature discovery: NVIDIA
    ("feature.node.kubernetes.io/pci-1002.present", "true"),  # AMD
)


@skips
def kubelets(facts: Facts) -> Iterator[Finding]:
    check = "kubelets"
    require(check, facts, "Node")
    versions = {node.name: version for node in facts.cluster.all(Node) if (version := _kubelet(node))}
    if not versions:
        yield skipped(check, "no node tells the version of its kubelet")
        return
    tally = Counter(versions.values())
    shown = ", ".join(f"{version} on {counted(number, 'node')}" for version, number in tally.most_common(4))
    api = minor(facts.version.git) if isinstance(facts.version, ServerVersion) else None
    if api is None:
        yield Finding(check, "ok", f"{shown}; the server's version to compare with is not known")
        return
    wrong = [
        f"nodes/{name}" for name, v in sorted(versions.items()) if (found := minor(v)) and not _may_join(found, api)
    ]
    if wrong:
        text = (
            f"kube-apiserver {api[0]}.{api[1]} supports kubelets of its minor version or up to {_OLDEST_KUBELET} older"
        )
        todo = "upgrade kube-apiserver first, kubelets then"
        yield Finding(check, "fail", f"{text}, but there are {shown}: {some(wrong)}", todo, tuple(wrong))
    else:
        yield Finding(check, "ok", f"{shown}, which kube-apiserver {api[0]}.{api[1]} supports")


def _may_join(kubelet: tuple[int, int], api: tuple[int, int]) -> bool:
    return kubelet[0] == api[0] and api[1] - _OLDEST_KUBELET <= kubelet[1] <= api[1]


def _kubelet(node: Node) -> str:
    return node.status.node_info.kubelet_version if node.status.node_info else ""


@skips
def cgroups(facts: Facts) -> Iterator[Finding]:
    check = "cgroups"
    require(check, facts, "Node", "Event")
    nodes = list(facts.cluster.all(Node))
    old = sorted({f"nodes/{event.involved_object.name}" for event in facts.cluster.all(Event) if _says_v1(event)})
    unsure = [
        f"nodes/{node.name}" for node in nodes if (found := minor(_kubelet(node))) is None or found < _REFUSES_CGROUP_V1
    ]
    if old:
        text = f"kubelets say in events that they run on cgroup v1, which goes away: {some(old)}"
        yield Finding(check, "warn", text, "move these nodes to an operating system with cgroup v2", tuple(old))
    elif unsure:
        text = f"the API does not tell, and only kubelets from 1.35 on refuse cgroup v1 by default: {some(unsure)}"
        yield Finding(check, "skipped", text, "on the node: stat -fc %T /sys/fs/cgroup", tuple(unsure))
    else:
        text = "cgroup v2: kubelets from 1.35 on refuse v1 by default, and no recent event of theirs says otherwise"
        yield Finding(check, "ok", f"{text} (inferred; the kubelets' own metrics are out of reach)")


def _says_v1(event: Event) -> bool:
    return event.reason == _ON_CGROUP_V1 and event.involved_object.kind == "Node"


@skips
def rootless(facts: Facts) -> Iterator[Finding]:
    check = "rootless"
    require(check, facts, "Node")
    found = sorted(
        f"nodes/{node.name}"
        for node in facts.cluster.all(Node)
        if node.status.node_info is not None and node.status.node_info.running_in_user_namespace
    )
    text = f"kubelets without root: {some(found)}" if found else "no node tells of a kubelet without root"
    yield Finding(check, "ok", text, objects=tuple(found))


@skips
def unpublished(facts: Facts) -> Iterator[Finding]:
    """Labels say that there are devices, and neither a slice nor an extended resource offers them."""
    check = "unpublished-devices"
    require(check, facts, "Node", "ResourceSlice")
    labelled = [node for node in facts.cluster.all(Node) if _has_devices(node)]
    silent = sorted(f"nodes/{node.name}" for node in labelled if not _offers_devices(facts.cluster, node))
    if silent:
        text = f"labelled as having devices, but no driver publishes any: {some(silent)}"
        yield Finding(check, "warn", text, "look at the driver's pod on these nodes", tuple(silent))
    elif labelled:
        number = counted(len(labelled), "node")
        yield Finding(check, "ok", f"devices are offered on each of {number} labelled as having some")
    else:
        yield skipped(check, "no node is labelled as having devices (GPU or node feature discovery)")


def _has_devices(node: Node) -> bool:
    labels = node.metadata.labels or {}
    return any(labels.get(key) == value for key, value in _HAS_DEVICES)


def _offers_devices(cluster: Cluster, node: Node) -> bool:
    """A slice of the node, or a resource of a vendor's domain, as device plug-ins have it."""
    if cluster.slices_by_node[node.name]:
        return True
    return any("/" in name and not name.startswith("kubernetes.io/") for name in node.status.capacity or ())
