"""On which nodes a change makes more or less of something free, whatever that is: what a node offers, what its pods take, its
devices and who has them."""

from __future__ import annotations

from collections.abc import Iterable

from ktui.cluster import joins
from ktui.cluster.inventory import Inventory
from ktui.cluster.journal import EVERYWHERE
from ktui.cluster.store import Delta
from ktui.model.claim import ResourceClaim
from ktui.model.meta import Object
from ktui.model.node import Node
from ktui.model.pod import Pod
from ktui.model.resourceslice import DeviceId, ResourceSlice
from ktui.model.taintrule import DeviceTaintRule


def supplied(known: Inventory, delta: Delta) -> tuple[str, ...]:
    """Nodes on which the change may make more or less of something free, as the pools tell them now; `EVERYWHERE` where
    that is not one node."""
    old, new = delta.old, delta.new
    if isinstance(old, Pod) and isinstance(new, Pod) and old.takes_like(new):
        return ()
    if isinstance(old, ResourceClaim) and isinstance(new, ResourceClaim) and old.results == new.results:
        return ()
    if isinstance(old, Node) and isinstance(new, Node):
        return (new.name,) if _offers(old) != _offers(new) else ()
    if isinstance(old or new, Pod):
        return tuple(node for pod in (old, new) if isinstance(pod, Pod) for node in joins.pod_node(pod))
    return tuple(dict.fromkeys(node for obj in (old, new) if obj is not None for node in _nodes_of(known, obj)))


def _nodes_of(known: Inventory, obj: Object) -> Iterable[str]:
    match obj:
        case Node():
            yield obj.name
        case ResourceClaim():
            for device in joins.claim_devices(obj):
                yield from _nodes_of_device(known, device)
        case ResourceSlice():
            if (pool := known.pool(obj.pool_id)) is not None:
                yield pool.node
        case DeviceTaintRule() if exact := obj.exact:
            yield from _nodes_of_device(known, exact)
        case DeviceTaintRule() if obj.spec.device_selector is not None:
            yield EVERYWHERE
        case _:
            pass


def _nodes_of_device(known: Inventory, device: DeviceId) -> Iterable[str]:
    """The node of a published device; everywhere, too, when devices of other nodes draw on the same counters."""
    if (published := known.device(device)) is not None:
        yield published.node
        pool = known.pool(device[:2])
        if published.device.consumes_counters and pool is not None and not pool.node:
            yield EVERYWHERE


def _offers(node: Node) -> tuple[object, ...]:
    """What decides which pods the node takes; the kubelet writes the rest of it every few minutes."""
    return (node.spec, node.metadata.labels, node.status.allocatable)
