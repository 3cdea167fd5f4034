"""What every test finds on the real cluster: 4 nodes with 4 devices each, a class, priorities, and namespace `ml2`."""

from __future__ import annotations

from typing import Final

from tests.cluster import objects
from tests.cluster.controlplane.access import TENANT_NAMESPACE, rbac_objects
from tests.cluster.controlplane.api import Api, Json, wait_for

NODES: Final = {"node-0": "z0", "node-1": "z0", "node-2": "z1", "node-3": "z1"}
DEVICES: Final = len(NODES) * objects.DEVICES_PER_NODE


def templates(namespace: str) -> list[Json]:
    """The claim templates that gangs of a namespace use."""
    return [
        objects.claim_template(namespace, "one-gpu"),
        objects.claim_template(namespace, "two-gpu-numa", count=2, same_numa_node=True),
    ]


def manifests() -> list[Json]:
    return [
        objects.namespace(TENANT_NAMESPACE),
        *rbac_objects(),
        objects.device_class(),
        objects.priority_class("prod", 1000),
        objects.priority_class("batch", 10),
        *(objects.node(name, zone) for name, zone in NODES.items()),
        *(objects.resource_slice(name) for name in NODES),
        *templates(TENANT_NAMESPACE),
        objects.deployment(TENANT_NAMESPACE, "chat"),
        objects.autoscaler(TENANT_NAMESPACE, "chat"),
    ]


def load(api: Api) -> None:
    """Creates it all and returns when every node is ready."""
    for manifest in manifests():
        api.create(manifest)
    wait_for(lambda: all(ready(node) for node in _nodes(api)), "all nodes to be ready", limit=120)


def _nodes(api: Api) -> list[Json]:
    nodes = api.list("/api/v1/nodes")
    assert len(nodes) == len(NODES)
    return nodes


def ready(node: Json) -> bool:
    """A new node also carries a taint until the controller manager has seen its Ready condition."""
    conditions = node["status"].get("conditions", [])
    ready = any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)
    return ready and not node["spec"].get("taints")
