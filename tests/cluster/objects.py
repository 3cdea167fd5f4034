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


def device(index: int, uuid: str, of: int = DEVICES_PER_NODE, product: str = "H200") -> Json:
    """One GPU `of` a node; the first half of them are on its NUMA node 0, the second half on 1."""
    numa = index * 2 // of
    return {
        "name": f"gpu-{index}",
        "attributes": {
            "productName": {"string": product},
            "uuid": {"string": uuid},
            "resource.kubernetes.io/numaNode": {"int": numa},
            "resource.kubernetes.io/pcieRoot": {"string": f"pci0000:{numa * 16:02x}"},
        },
        "capacity": {"memory": {"value": "141Gi"}},
    }


def resource_slice(
    node_name: str,
    *,
    devices: int = DEVICES_PER_NODE,
    slices: int = 1,
    generation: int = 1,
    product: str = "H200",
    part: int = 0,
) -> Json:
    """The devices of one node, as a pool of its name. More `slices` than are created leave the pool incomplete.

    A pool of several slices has an equal share of the devices in each; `part` says which of them this is.
    """
    share = range(part * devices // slices, (part + 1) * devices // slices)
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node_name}-gpu" + (f"-{part}" if part else "")},
        "spec": {
            "driver": DRIVER,
            "nodeName": node_name,
            "pool": {"name": node_name, "generation": generation, "resourceSliceCount": slices},
            "devices": [device(index, f"GPU-{node_name}-{index}", devices, product) for index in share],
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
    name: str,
    pool: str,
    device_name: str = "",
    *,
    effect: str = "NoExecute",
    key: str = "example.com/xid",
    value: str = "79",
) -> Json:
    """A taint on exactly one device, or without its name on all devices of the pool."""
    selector = {"driver": DRIVER, "pool": pool} | ({"device": device_name} if device_name else {})
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceTaintRule",
        "metadata": {"name": name},
        "spec": {
            "deviceSelector": selector,
            "taint": {"key": key, "value": value, "effect": effect},
        },
    }


def claim_spec(
    *, count: int = 1, same_numa_node: bool = False, device_class: str = DEVICE_CLASS, product: str = ""
) -> Json:
    """What a claim asks for: `count` devices of a class, of one `product` where that is given."""
    exactly: Json = {"deviceClassName": device_class, "count": count}
    if product:
        expression = f"device.attributes['{DRIVER}'].productName == '{product}'"
        exactly["selectors"] = [{"cel": {"expression": expression}}]
    devices: Json = {"requests": [{"name": "gpu", "exactly": exactly}]}
    if same_numa_node:
        devices["constraints"] = [{"requests": ["gpu"], "matchAttribute": "resource.kubernetes.io/numaNode"}]
    return {"devices": devices}


def claim_template(
    namespace: str,
    name: str,
    *,
    count: int = 1,
    same_numa_node: bool = False,
    device_class: str = DEVICE_CLASS,
    product: str = "",
) -> Json:
    spec = claim_spec(count=count, same_numa_node=same_numa_node, device_class=device_class, product=product)
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"spec": spec},
    }


def claim(namespace: str, name: str, *, count: int = 1) -> Json:
    """A claim that pods use by its own name, several of them at once."""
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": namespace},
        "spec": claim_spec(count=count),
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


def pod_group(namespace: str, name: str, min_count: int, *, claim_template: str = "", priority: str = "") -> Json:
    """A gang whose pods somebody else makes; those that name the same template share the one claim made from it."""
    spec: Json = {"schedulingPolicy": {"gang": {"minCount": min_count}}}
    if claim_template:
        spec["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": claim_template}]
    if priority:
        spec["priorityClassName"] = priority
    return {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
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


def deployment(namespace: str, name: str, replicas: int = 1, *, claim_template: str = "", gpus: int = 0) -> Json:
    """Each pod has a claim made from `claim_template`, and asks for `gpus` as an extended resource, where these are given."""
    labels = {"app": name}
    resources: Json = {"requests": {"cpu": "1"}}
    spec: Json = {"containers": [{"name": "serve", "image": IMAGE, "resources": resources}]}
    if claim_template:
        resources["claims"] = [{"name": "gpu"}]
        spec["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": claim_template}]
    if gpus:
        resources["limits"] = {EXTENDED_RESOURCE: str(gpus)}
        resources["requests"][EXTENDED_RESOURCE] = str(gpus)
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def autoscaler(
    namespace: str,
    name: str,
    *,
    min_replicas: int = 1,
    max_replicas: int = 5,
    external: bool = False,
    calm: int | None = None,
) -> Json:
    """Scales the Deployment of the same name, by CPU, or by an External metric: only with that may it scale to zero.

    `calm` is how many seconds the metric must have been low before it scales down; Kubernetes' default is 300.
    """
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
            **({} if calm is None else {"behavior": {"scaleDown": {"stabilizationWindowSeconds": calm}}}),
        },
    }
