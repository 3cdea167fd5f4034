"""Builders of the objects that the real cluster is filled with: each returns a manifest, ready to be created.

Names and shapes are those of Kubernetes 1.37 with the feature gates of `controlplane.cluster.Options`.
"""

from __future__ import annotations

from typing import Any, Final

from tests.cluster.controlplane.cluster import FAKE_NODE

Json = dict[str, Any]

DRIVER: Final = "gpu.example.com"
DEVICE_CLASS: Final = "gpu.example.com"
EXTENDED_RESOURCE: Final = "example.com/gpu"
DEVICES_PER_NODE: Final = 4
IMAGE: Final = "registry.example.com/llm/train:1"


def namespace(name: str) -> Json:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def node(name: str, zone: str, *, cpu: str = "64", memory: str = "512Gi") -> Json:
    """A node with a simulated kubelet, which makes it ready within seconds."""
    resources = {"cpu": cpu, "memory": memory, "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone},
            "annotations": dict(FAKE_NODE),
        },
        "status": {"capacity": resources, "allocatable": resources},
    }


def device(index: int, uuid: str, of: int = DEVICES_PER_NODE) -> Json:
    """One GPU `of` a node; the first half of them are on its NUMA node 0, the second half on 1."""
    numa = index * 2 // of
    return {
        "name": f"gpu-{index}",
        "attributes": {
            "productName": {"string": "H200"},
            "uuid": {"string": uuid},
            "resource.kubernetes.io/numaNode": {"int": numa},
            "resource.kubernetes.io/pcieRoot": {"string": f"pci0000:{numa * 16:02x}"},
        },
        "capacity": {"memory": {"value": "141Gi"}},
    }


def resource_slice(node_name: str, *, devices: int = DEVICES_PER_NODE, slices: int = 1, generation: int = 1) -> Json:
    """The devices of one node, as a pool of its name. More `slices` than are created leave the pool incomplete."""
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node_name}-gpu"},
        "spec": {
            "driver": DRIVER,
            "nodeName": node_name,
            "pool": {"name": node_name, "generation": generation, "resourceSliceCount": slices},
            "devices": [device(index, f"GPU-{node_name}-{index}", devices) for index in range(devices)],
        },
    }


def device_class(name: str = DEVICE_CLASS, *, extended_resource: str = EXTENDED_RESOURCE) -> Json:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {
            "selectors": [{"cel": {"expression": f"device.driver == '{DRIVER}'"}}],
            "extendedResourceName": extended_resource,
        },
    }


def device_taint_rule(
    name: str, pool: str, device_name: str, *, effect: str = "NoExecute", key: str = "example.com/xid"
) -> Json:
    """A taint on exactly one device."""
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceTaintRule",
        "metadata": {"name": name},
        "spec": {
            "deviceSelector": {"driver": DRIVER, "pool": pool, "device": device_name},
            "taint": {"key": key, "value": "79", "effect": effect},
        },
    }


def claim_template(namespace: str, name: str, *, count: int = 1, same_numa_node: bool = False) -> Json:
    devices: Json = {"requests": [{"name": "gpu", "exactly": {"deviceClassName": DEVICE_CLASS, "count": count}}]}
    if same_numa_node:
        devices["constraints"] = [{"requests": ["gpu"], "matchAttribute": "resource.kubernetes.io/numaNode"}]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"spec": {"devices": devices}},
    }


def priority_class(name: str, value: int) -> Json:
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}


def pod_spec(template: str, *, cpu: str = "8", memory: str = "64Gi") -> Json:
    """One container that uses the claim made from `template`."""
    return {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 1,
        "containers": [
            {
                "name": "train",
                "image": IMAGE,
                "resources": {
                    "requests": {"cpu": cpu, "memory": memory},
                    "limits": {"memory": memory},
                    "claims": [{"name": "gpu"}],
                },
            }
        ],
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": template}],
    }


def pod(namespace: str, name: str, template: str, *, group: str = "") -> Json:
    spec = pod_spec(template)
    if group:
        spec["schedulingGroup"] = {"podGroupName": group}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def pod_group(namespace: str, name: str, min_count: int) -> Json:
    """A gang whose pods somebody else makes."""
    return {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"schedulingPolicy": {"gang": {"minCount": min_count}}},
    }


def gang_job(
    namespace: str, name: str, pods: int, template: str, *, min_count: int | None = None, priority: str = ""
) -> Json:
    """A Job for which the Job controller makes a Workload, a PodGroup and the pods; all of them run or none does."""
    spec = pod_spec(template)
    if priority:
        spec["priorityClassName"] = priority
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "completionMode": "Indexed",
            "completions": pods,
            "parallelism": pods,
            # An evicted pod counts as failed; the tests evict some, and the Job must go on.
            "backoffLimit": 100,
            "scheduling": {
                "schedulingPolicy": {"gang": {"minCount": pods if min_count is None else min_count}},
                "disruptionMode": {"all": {}},
            },
            "template": {"spec": spec},
        },
    }


def deployment(namespace: str, name: str, replicas: int = 1) -> Json:
    labels = {"app": name}
    container = {"name": "serve", "image": IMAGE, "resources": {"requests": {"cpu": "1"}}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }


def autoscaler(
    namespace: str, name: str, *, min_replicas: int = 1, max_replicas: int = 5, external: bool = False
) -> Json:
    """Scales the Deployment of the same name, by CPU, or by an External metric: only with that may it scale to zero."""
    metric: Json = {
        "type": "Resource",
        "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}},
    }
    if external:
        metric = {
            "type": "External",
            "external": {"metric": {"name": "queue_length"}, "target": {"type": "AverageValue", "averageValue": "10"}},
        }
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
            "minReplicas": min_replicas,
            "maxReplicas": max_replicas,
            "metrics": [metric],
        },
    }
