"""Builders of what scenarios are made of: short to write, and with no name of their own that could give an answer away.

Objects of a namespace are built without it; the stage that plays a scenario puts them into the scenario's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from tests.cluster import objects
from tests.cluster.controlplane.cluster import FAKE_NODE

Json = dict[str, Any]

NUMA: Final = "resource.kubernetes.io/numaNode"
_IMAGE: Final = "registry.example.com/work:1"


def _object(version: str, kind: str, name: str, **content: Any) -> Json:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, **content}


# ---------------------------------------------------------------------- nodes


def node(
    name: str,
    *,
    cpu: str = "16",
    memory: str = "64Gi",
    pods: str = "30",
    labels: Mapping[str, str] | None = None,
    taints: Iterable[Json] = (),
    unschedulable: bool = False,
) -> Json:
    """A node that is ready from the beginning."""
    resources = {"cpu": cpu, "memory": memory, "pods": pods}
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "simulated kubelet is ready"}
    made = _object("v1", "Node", name, spec={}, status={"capacity": resources, "allocatable": resources})
    made["metadata"] |= {"labels": {"kubernetes.io/hostname": name, **(labels or {})}, "annotations": dict(FAKE_NODE)}
    made["status"]["conditions"] = [ready]
    if rows := list(taints):
        made["spec"]["taints"] = rows
    if unschedulable:
        made["spec"]["unschedulable"] = True
    return made


def nodes(*names: str, **more: Any) -> list[Json]:
    return [node(name, **more) for name in names]


# ---------------------------------------------------------------------- devices


def attribute(value: object) -> Json:
    """An attribute's value on the wire. A string that begins with "v" and a digit is a version, a list one of integers."""
    if isinstance(value, bool):
        return {"bool": value}
    if isinstance(value, int):
        return {"int": value}
    if isinstance(value, list):
        return {"ints": value}
    text = str(value)
    return {"version": text[1:]} if text[:1] == "v" and text[1:2].isdigit() else {"string": text}


def device(name: str, attributes: Mapping[str, object] | None = None, **more: Any) -> Json:
    """A device with its attributes as plain values, and its capacity as quantities by name; `more` goes in as it is."""
    made: Json = {"name": name, **more}
    if attributes:
        made["attributes"] = {key: attribute(value) for key, value in attributes.items()}
    if "capacity" in more:
        made["capacity"] = {k: v if isinstance(v, dict) else {"value": v} for k, v in more["capacity"].items()}
    return made


def devices(prefix: str, count: int, attributes: Mapping[str, object] | None = None, **more: Any) -> list[Json]:
    return [device(f"{prefix}{index}", attributes, **more) for index in range(count)]


def slice_(driver: str, pool: str, published: list[Json], **more: Any) -> Json:
    """One slice of a pool. `more`: name, slices, generation, on (the node; the pool's name by default), everywhere, where."""
    spec: Json = {
        "driver": driver,
        "pool": {
            "name": pool,
            "generation": more.get("generation", 1),
            "resourceSliceCount": more.get("slices", 1),
        },
    }
    if counters := more.get("counters"):
        spec["sharedCounters"] = counters
    else:
        spec["devices"] = published
    if more.get("each"):
        spec["perDeviceNodeSelection"] = True
    elif more.get("everywhere"):
        spec["allNodes"] = True
    elif where := more.get("where"):
        spec["nodeSelector"] = node_selector(where)
    else:
        spec["nodeName"] = more.get("on", pool)
    return _object("resource.k8s.io/v1", "ResourceSlice", more.get("name", f"{pool}-{driver}"), spec=spec)


def node_selector(labels: Mapping[str, str]) -> Json:
    wanted = [{"key": key, "operator": "In", "values": [value]} for key, value in labels.items()]
    return {"nodeSelectorTerms": [{"matchExpressions": wanted}]}


def device_class(name: str, driver: str, *, where: str = "", extended: str = "") -> Json:
    """All devices of a driver, narrowed by one more expression where that is given."""
    expressions = [f"device.driver == '{driver}'", *([where] if where else [])]
    spec: Json = {"selectors": [{"cel": {"expression": text}} for text in expressions]}
    if extended:
        spec["extendedResourceName"] = extended
    return _object("resource.k8s.io/v1", "DeviceClass", name, spec=spec)


def taint(key: str, effect: str = "NoSchedule", value: str = "") -> Json:
    return {"key": key, "effect": effect, **({"value": value} if value else {})}


def taint_rule(name: str, of: Json, **selector: str) -> Json:
    """A taint on the devices of a driver, a pool, or one device."""
    return _object("resource.k8s.io/v1", "DeviceTaintRule", name, spec={"deviceSelector": selector, "taint": of})


# ---------------------------------------------------------------------- claims


def request(name: str, of: str, count: int = 1, *, where: str = "", **more: Any) -> Json:
    """A request for exactly these devices of a class; count 0 asks for all of them. `more` goes in as it is."""
    return {"name": name, "exactly": _wanted(of, count, where, more)}


def either(name: str, *choices: Json) -> Json:
    """The first of several alternatives that can be had; each is a `choice`."""
    return {"name": name, "firstAvailable": list(choices)}


def choice(name: str, of: str, count: int = 1, *, where: str = "", **more: Any) -> Json:
    return {"name": name, **_wanted(of, count, where, more)}


def _wanted(of: str, count: int, where: str, more: Mapping[str, Any]) -> Json:
    mode: Json = {"allocationMode": "ExactCount", "count": count} if count else {"allocationMode": "All"}
    wanted = {"deviceClassName": of, **mode, **more}
    if where:
        wanted["selectors"] = [{"cel": {"expression": where}}]
    return wanted


def claim_spec(*requests: Json, same: str = "", distinct: str = "") -> Json:
    devices_: Json = {"requests": list(requests)}
    if same:
        devices_["constraints"] = [{"matchAttribute": same}]
    if distinct:
        devices_["constraints"] = [*devices_.get("constraints", []), {"distinctAttribute": distinct}]
    return {"devices": devices_}


def template(name: str, *requests: Json, **more: str) -> Json:
    spec = {"spec": claim_spec(*requests, **more)}
    return _object("resource.k8s.io/v1", "ResourceClaimTemplate", name, spec=spec)


def claim(name: str, *requests: Json, **more: str) -> Json:
    return _object("resource.k8s.io/v1", "ResourceClaim", name, spec=claim_spec(*requests, **more))


# ---------------------------------------------------------------------- pods and gangs


def pod(
    name: str,
    *,
    group: str = "",
    made_from: str = "",
    uses: str = "",
    cpu: str = "1",
    memory: str = "1Gi",
    extended: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    **spec: Any,
) -> Json:
    """A pod with one container. Its claim is `made_from` a template, or the claim that it `uses` by name."""
    resources: Json = {"requests": {"cpu": cpu, "memory": memory, **(extended or {})}}
    if extended:
        resources["limits"] = dict(extended)
    entry = {"resourceClaimTemplateName": made_from} if made_from else {"resourceClaimName": uses}
    body: Json = {
        "terminationGracePeriodSeconds": 1,
        "containers": [{"name": "main", "image": _IMAGE, "resources": resources}],
    }
    if made_from or uses:
        resources["claims"] = [{"name": "dev"}]
        body["resourceClaims"] = [{"name": "dev", **entry}]
    if group:
        body["schedulingGroup"] = {"podGroupName": group}
    made = _object("v1", "Pod", name, spec=body | spec)
    if labels:
        made["metadata"]["labels"] = dict(labels)
    return made


def held(made: Json) -> Json:
    """The pod, which goes only when somebody lets it go once it is deleted."""
    made["metadata"]["finalizers"] = ["example.com/hold"]
    return made


def pod_group(name: str, min_count: int = 0, *, priority: str = "", shares: str = "", together: bool = False) -> Json:
    """A gang of at least `min_count` pods; without one, a group whose pods are placed as they come (the basic policy).

    `shares` is a template from which one claim is made for the whole group.
    """
    spec: Json = {"schedulingPolicy": {"gang": {"minCount": min_count}} if min_count else {"basic": {}}}
    if shares:
        spec["resourceClaims"] = [{"name": "dev", "resourceClaimTemplateName": shares}]
    if priority:
        spec["priorityClassName"] = priority
    if together:
        spec["disruptionMode"] = {"all": {}}
    return _object("scheduling.k8s.io/v1beta1", "PodGroup", name, spec=spec)


def gang(name: str, count: int, *, min_count: int | None = None, priority: str = "", **more: Any) -> list[Json]:
    """A PodGroup and its pods; it needs all of them unless `min_count` says otherwise. `more` is of each `pod`."""
    group = pod_group(
        name,
        count if min_count is None else min_count,
        priority=priority,
        shares=more.pop("shares", ""),
        together=more.pop("together", False),
    )
    own = more | ({"priorityClassName": priority} if priority else {})
    return [group, *(pod(f"{name}-{index}", group=name, **own) for index in range(count))]


def gang_job(name: str, count: int, *, min_count: int | None = None, **more: Any) -> Json:
    """A Job for which the Job controller makes the group and the pods."""
    made = objects.gang_job("", name, count, "", min_count=min_count)
    del made["metadata"]["namespace"]
    made["spec"]["template"]["spec"] = pod(name, **more)["spec"] | {"restartPolicy": "Never"}
    return made


def quota(name: str, **hard: str) -> Json:
    return _object("v1", "ResourceQuota", name, spec={"hard": hard})


def priority(name: str, value: int) -> Json:
    return objects.priority_class(name, value)
