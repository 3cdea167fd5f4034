"""Objects of the demo cluster as JSON, and the steps in the life of a pod and its claim: pure functions, new values out.

Shapes are those of Kubernetes 1.35 to 1.37 alike; gangs, which differ, are in `gangs`. `now` is RFC 3339, as objects carry it.
"""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final

from ktui.demo.mvcc import JSON, Key
from ktui.demo.releases import LATEST
from ktui.model.resourceslice import DeviceId

DRIVER: Final = "gpu.example.com"
DEVICE_CLASS: Final = "gpu.example.com"
NUMA_NODE: Final = "resource.kubernetes.io/numaNode"
JOB_NAME: Final = "batch.kubernetes.io/job-name"
JOB_INDEX: Final = "batch.kubernetes.io/job-completion-index"


def key_of(obj: JSON) -> Key:
    return (obj["metadata"].get("namespace", ""), obj["metadata"]["name"])


def suffix() -> str:
    """What the API server puts behind a generateName."""
    return secrets.token_hex(3)[:5]


def made(name: str, now: str, namespace: str = "", *, owner: JSON | None = None, labels: JSON | None = None) -> JSON:
    """metadata of a new object; `owner` becomes its controller and needs its kind and apiVersion."""
    metadata: JSON = {"name": name, "uid": str(uuid.uuid4()), "creationTimestamp": now, "generation": 1}
    if namespace:
        metadata["namespace"] = namespace
    if labels:
        metadata["labels"] = labels
    if owner is not None:
        metadata["ownerReferences"] = [owner]
    return metadata


def owned_by(api_version: str, kind: str, owner: JSON) -> JSON:
    name, uid = owner["metadata"]["name"], owner["metadata"]["uid"]
    return {"apiVersion": api_version, "kind": kind, "name": name, "uid": uid, "controller": True}


def controller_uid(obj: JSON) -> str:
    """The uid of the object's controller, "" without one."""
    owners = obj["metadata"].get("ownerReferences") or ()
    return next((owner.get("uid", "") for owner in owners if owner.get("controller")), "")


def with_condition(conditions: Iterable[JSON], new: JSON, now: str) -> list[JSON]:
    """The conditions with `new` among them. Its transition time moves when its status does."""
    kept = [each for each in conditions if each["type"] != new["type"]]
    old = next((each for each in conditions if each["type"] == new["type"]), {})
    since = old.get("lastTransitionTime", now) if old.get("status") == new["status"] else now
    return [*kept, {**new, "lastTransitionTime": since}]


def conditioned(obj: JSON, now: str, type_: str, status: str, reason: str, message: str = "") -> JSON:
    """The object with one condition set."""
    state = obj.get("status") or {}
    generation = obj["metadata"].get("generation")
    observed = {} if generation is None else {"observedGeneration": generation}
    new = {"type": type_, "status": status, **observed, "reason": reason, "message": message}
    return {**obj, "status": {**state, "conditions": with_condition(state.get("conditions") or (), new, now)}}


def node(
    name: str, now: str, *, zone: str, cpu: str = "192", memory: str = "2Ti", kubelet: str = LATEST.git_version
) -> JSON:
    resources = {"cpu": cpu, "memory": memory, "pods": "110"}
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone}
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "lastTransitionTime": now}
    return {
        "metadata": made(name, now, labels=labels),
        "spec": {},
        "status": {
            "capacity": resources,
            "allocatable": resources,
            "conditions": [ready],
            "nodeInfo": {"kubeletVersion": kubelet},
        },
    }


def resource_slice(
    node_name: str, now: str, *, devices: int = 8, slices: int = 1, taints: Mapping[int, JSON] | None = None
) -> JSON:
    """The GPUs of one node, half of them on each NUMA node, as a pool of its name. With more `slices` than this one the pool
    is incomplete. `taints` are the driver's own, by the device's number."""
    return {
        "metadata": made(f"{node_name}-{DRIVER}", now),
        "spec": {
            "driver": DRIVER,
            "nodeName": node_name,
            "pool": {"name": node_name, "generation": 1, "resourceSliceCount": slices},
            "devices": [
                {
                    "name": f"gpu-{number}",
                    "attributes": {
                        "productName": {"string": "H200"},
                        "uuid": {"string": f"GPU-{node_name}-{number}"},
                        NUMA_NODE: {"int": number * 2 // devices},
                    },
                    "capacity": {"memory": {"value": "141Gi"}},
                    **({"taints": [taints[number]]} if taints and number in taints else {}),
                }
                for number in range(devices)
            ],
        },
    }


def device_class(now: str) -> JSON:
    selector = {"cel": {"expression": f"device.driver == '{DRIVER}'"}}
    return {"metadata": made(DEVICE_CLASS, now), "spec": {"selectors": [selector]}}


def taint_rule(name: str, now: str, device: DeviceId, taint: JSON) -> JSON:
    """A DeviceTaintRule about one device, as somebody made it at that time."""
    selector = dict(zip(("driver", "pool", "device"), device, strict=True))
    return {"metadata": made(name, now), "spec": {"deviceSelector": selector, "taint": {**taint, "timeAdded": now}}}


def claim_template(
    namespace: str, name: str, now: str, *, count: int, same_numa: bool = False, class_name: str = DEVICE_CLASS
) -> JSON:
    exactly = {"deviceClassName": class_name, "allocationMode": "ExactCount", "count": count}
    devices: JSON = {"requests": [{"name": "gpu", "exactly": exactly}]}
    if same_numa:
        devices["constraints"] = [{"requests": ["gpu"], "matchAttribute": NUMA_NODE}]
    return {"metadata": made(name, now, namespace), "spec": {"spec": {"devices": devices}}}


def pod_spec(image: str, *, template: str = "", cpu: str = "8", memory: str = "64Gi") -> JSON:
    """One container, with the claim made from `template` if there is one."""
    resources: JSON = {"requests": {"cpu": cpu, "memory": memory}}
    spec: JSON = {"restartPolicy": "Never", "schedulerName": "default-scheduler"}
    if template:
        resources["claims"] = [{"name": "gpu"}]
        spec["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": template}]
    return {**spec, "containers": [{"name": "main", "image": image, "resources": resources}]}


def job(namespace: str, name: str, now: str, *, pods: int, spec: JSON) -> JSON:
    return {
        "metadata": made(name, now, namespace),
        "spec": {
            "completionMode": "Indexed",
            "completions": pods,
            "parallelism": pods,
            "backoffLimit": 100,
            "template": {"spec": spec},
        },
        "status": {"active": pods, "startTime": now},
    }


def job_pod(job_: JSON, index: int, now: str) -> JSON:
    """Of a Job with spec.scheduling the controller makes the pods members of the gang that it made; the template of another may
    make them members of one by itself."""
    namespace, name = key_of(job_)
    labels = {JOB_NAME: name, JOB_INDEX: str(index)}
    metadata = made(
        f"{name}-{index}-{suffix()}", now, namespace, owner=owned_by("batch/v1", "Job", job_), labels=labels
    )
    spec = job_["spec"]["template"]["spec"]
    of_group = {"schedulingGroup": {"podGroupName": name}} if "scheduling" in job_["spec"] else {}
    return pod(metadata, spec | of_group)


def pod(metadata: JSON, spec: JSON) -> JSON:
    """A pending pod."""
    return {"metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}


def claim_for(pod_: JSON, entry: JSON, template: JSON, now: str) -> JSON:
    """The claim that the resource claim controller makes from a template for an entry of pod.spec.resourceClaims."""
    namespace, name = key_of(pod_)
    metadata = made(f"{name}-{entry['name']}-{suffix()}", now, namespace, owner=owned_by("v1", "Pod", pod_))
    metadata["annotations"] = {"resource.kubernetes.io/pod-claim-name": entry["name"]}
    return {"metadata": metadata, "spec": template["spec"]["spec"], "status": {}}


def with_claim(pod_: JSON, entry: str, claim: str) -> JSON:
    """The pod, told which claim was made for its entry."""
    statuses = [*pod_["status"].get("resourceClaimStatuses", ()), {"name": entry, "resourceClaimName": claim}]
    return {**pod_, "status": {**pod_["status"], "resourceClaimStatuses": statuses}}


def allocated(claim: JSON, results: Iterable[tuple[str, DeviceId]], node_name: str, pod_: JSON, now: str) -> JSON:
    """The claim with devices on a node, (request, device) each, reserved for the pod. A result repeats its request's
    tolerations: they are what counts from then on."""
    fields = {"key": "metadata.name", "operator": "In", "values": [node_name]}
    tolerations = _tolerations(claim)
    devices = [
        {"request": request, "driver": driver, "pool": pool, "device": device, **tolerations.get(request, {})}
        for request, (driver, pool, device) in results
    ]
    allocation = {
        "devices": {"results": devices},
        "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [fields]}]},
        "allocationTimestamp": now,
    }
    metadata = {**claim["metadata"], "finalizers": ["resource.kubernetes.io/delete-protection"]}
    user = {"resource": "pods", "name": pod_["metadata"]["name"], "uid": pod_["metadata"]["uid"]}
    return {**claim, "metadata": metadata, "status": {"allocation": allocation, "reservedFor": [user]}}


def _tolerations(claim: JSON) -> dict[str, JSON]:
    """Of each request that has some, by its name; an alternative of one is called REQUEST/ALTERNATIVE."""
    requests = (claim["spec"].get("devices") or {}).get("requests") or ()
    asked = {request["name"]: request.get("exactly") or {} for request in requests}
    for request in requests:
        asked |= {f"{request['name']}/{each['name']}": each for each in request.get("firstAvailable") or ()}
    return {name: {"tolerations": each["tolerations"]} for name, each in asked.items() if each.get("tolerations")}


def bound(pod_: JSON, node_name: str, now: str) -> JSON:
    return conditioned({**pod_, "spec": {**pod_["spec"], "nodeName": node_name}}, now, "PodScheduled", "True", "")


def running(pod_: JSON, now: str) -> JSON:
    """The pod as its kubelet reports it once every container has started."""
    status = {**pod_["status"], "phase": "Running", "startTime": now}
    status["containerStatuses"] = [
        {
            "name": container["name"],
            "image": container["image"],
            "imageID": "",
            "ready": True,
            "restartCount": 0,
            "state": {"running": {"startedAt": now}},
        }
        for container in pod_["spec"]["containers"]
    ]
    return conditioned({**pod_, "status": status}, now, "Ready", "True", "")


def grace_period(pod_: JSON, asked: int | None = None) -> int:
    """Seconds that a deletion of the pod gives its kubelet, unless as many are `asked` for; 0 for a pod that runs nowhere
    (registry/core/pod, CheckGracefulDelete)."""
    done = (pod_.get("status") or {}).get("phase") in ("Succeeded", "Failed")
    if done or not pod_["spec"].get("nodeName"):
        return 0
    return max(0, asked if asked is not None else int(pod_["spec"].get("terminationGracePeriodSeconds", 30)))


def marked_for_deletion(obj: JSON, now: str, seconds: int) -> JSON:
    """The object, to be gone when the seconds are over; as it was if it is marked already."""
    end = datetime.fromisoformat(now) + timedelta(seconds=seconds)
    marks = {"deletionTimestamp": end.strftime("%Y-%m-%dT%H:%M:%SZ"), "deletionGracePeriodSeconds": seconds}
    return {**obj, "metadata": {**marks, **obj["metadata"]}}


def reporting_sick(pod_: JSON, device: DeviceId, message: str) -> JSON:
    """A running pod whose kubelet reports its only device as unhealthy (allocatedResourcesStatus)."""
    report = {"resourceID": "/".join(device), "health": "Unhealthy", "message": message}
    first, *others = pod_["status"]["containerStatuses"]
    sick = {**first, "allocatedResourcesStatus": [{"name": "claim:gpu", "resources": [report]}]}
    return {**pod_, "status": {**pod_["status"], "containerStatuses": [sick, *others]}}


def deployment(namespace: str, name: str, now: str, *, replicas: int, spec: JSON) -> JSON:
    labels = {"app": name}
    return {
        "metadata": made(name, now, namespace, labels=labels),
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
        "status": {"replicas": replicas, "readyReplicas": replicas},
    }


def deployment_pod(deployment_: JSON, now: str) -> JSON:
    """Owned by the Deployment itself: ReplicaSets are not among the kinds this server has."""
    namespace, name = key_of(deployment_)
    owner = owned_by("apps/v1", "Deployment", deployment_)
    metadata = made(f"{name}-{suffix()}", now, namespace, owner=owner, labels={"app": name})
    return pod(metadata, deployment_["spec"]["template"]["spec"])


def autoscaler(
    namespace: str, name: str, now: str, *, lowest: int, highest: int, per_replica: int, calm: int = 300
) -> JSON:
    """Scales the Deployment of its name by the length of a queue, so it may scale to zero. `calm` is how many seconds it waits
    before it scales down; the rest of its behaviour is what the API server fills in."""
    percent = {"type": "Percent", "value": 100, "periodSeconds": 15}
    pods = {"type": "Pods", "value": 4, "periodSeconds": 15}
    target = {"type": "AverageValue", "averageValue": str(per_replica)}
    external = {"metric": {"name": f"{name}_queue_length"}, "target": target}
    return {
        "metadata": made(name, now, namespace),
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
            "minReplicas": lowest,
            "maxReplicas": highest,
            "metrics": [{"type": "External", "external": external}],
            "behavior": {
                "scaleUp": {"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": [pods, percent]},
                "scaleDown": {"stabilizationWindowSeconds": calm, "selectPolicy": "Max", "policies": [percent]},
            },
        },
        "status": {"desiredReplicas": 0, "conditions": []},
    }


def event(about: JSON, kind: str, now: str, *, reason: str, message: str, warning: bool = False, by: str = "") -> JSON:
    """A core/v1 Event about an object."""
    namespace, name = key_of(about)
    return {
        "metadata": made(f"{name}.{secrets.token_hex(8)}", now, namespace or "default"),
        "involvedObject": {"kind": kind, "namespace": namespace, "name": name, "uid": about["metadata"]["uid"]},
        "reason": reason,
        "message": message,
        "type": "Warning" if warning else "Normal",
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
        "reportingComponent": by,
    }
