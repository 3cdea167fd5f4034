"""What happens in the recordings of this directory: a function for each incident, played on the real control plane.

The functions do what people, drivers and monitors do; what follows from it is Kubernetes' own doing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from tests.cluster import infra, objects
from tests.cluster.controlplane.api import Api, wait_for
from tests.cluster.controlplane.cluster import ControlPlane
from tests.cluster.externalmetrics import ExternalMetrics

Json = dict[str, Any]

NAMESPACE: Final = "research"
PODS: Final = f"/api/v1/namespaces/{NAMESPACE}/pods"
JOBS: Final = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"
GROUPS: Final = f"/apis/scheduling.k8s.io/v1beta1/namespaces/{NAMESPACE}/podgroups"
CLAIMS: Final = f"/apis/resource.k8s.io/v1/namespaces/{NAMESPACE}/resourceclaims"
SLICES: Final = "/apis/resource.k8s.io/v1/resourceslices"
RULES: Final = "/apis/resource.k8s.io/v1/devicetaintrules"
SCALERS: Final = f"/apis/autoscaling/v2/namespaces/{NAMESPACE}/horizontalpodautoscalers"

LOOK: Final = 5.0
"""Seconds that nothing is done after something has happened, so that a person who watches can look around."""


class Stage:
    """The cluster that an incident is played on; its marks are written beside what the cluster does."""

    def __init__(self, plane: ControlPlane, mark: Callable[[str], None]) -> None:
        self.plane = plane
        self.api: Api = plane.api()
        self._mark = mark

    def mark(self, text: str) -> None:
        self._mark(text)
        time.sleep(LOOK)

    def create(self, manifests: Iterable[Json]) -> None:
        for manifest in manifests:
            self.api.create(manifest)

    def running(self, prefix: str) -> list[Json]:
        """The running pods whose names begin so."""
        return [
            pod
            for pod in self.api.list(PODS)
            if pod["metadata"]["name"].startswith(prefix)
            and pod["status"].get("phase") == "Running"
            and "deletionTimestamp" not in pod["metadata"]
        ]

    def until_running(self, prefix: str, count: int) -> None:
        wait_for(lambda: len(self.running(prefix)) == count, f"{count} pods {prefix} to run", limit=120)

    def until_refused(self, group: str) -> None:
        """The scheduler has tried the group and found no place."""
        wait_for(lambda: _unschedulable(self.api.get(f"{GROUPS}/{group}")), f"{group} to be refused", limit=60)

    def group_of(self, job: str) -> str:
        """The PodGroup that the Job controller made for a Job."""
        made = wait_for(lambda: [g for g in self.api.list(GROUPS) if _owner(g) == job], f"the group of {job}", limit=60)
        name: str = made[0]["metadata"]["name"]
        return name

    def devices(self, pod: Json) -> list[tuple[str, str]]:
        """(pool, device) of each device that the pod's own claims hold."""
        names = [s["resourceClaimName"] for s in pod["status"].get("resourceClaimStatuses", [])]
        claims = [self.api.get(f"{CLAIMS}/{name}") for name in names]
        return [(r["pool"], r["device"]) for c in claims for r in c["status"]["allocation"]["devices"]["results"]]


class Incident(NamedTuple):
    """`before` is what is there when the recording begins."""

    title: str
    before: Callable[[], list[Json]]
    play: Callable[[Stage], None]


def _unschedulable(group: Json) -> bool:
    return any(c["status"] == "False" for c in group.get("status", {}).get("conditions", []))


def _owner(group: Json) -> str:
    return next((str(o["name"]) for o in group["metadata"].get("ownerReferences", []) if o.get("controller")), "")


def _fleet() -> list[Json]:
    """4 nodes with 4 H200 each, a device class, two priorities, and the claim templates that most gangs use."""
    return [
        objects.namespace(NAMESPACE),
        objects.device_class(),
        objects.priority_class("prod", 1000),
        objects.priority_class("batch", 10),
        *(objects.node(name, zone) for name, zone in infra.NODES.items()),
        *(objects.resource_slice(name) for name in infra.NODES),
        *infra.templates(NAMESPACE),
    ]


# ---------------------------------------------------------------------- an Xid error


def _xid(stage: Stage) -> None:
    api = stage.api
    stage.create(
        [
            objects.gang_job(NAMESPACE, "llm-train", 8, "one-gpu", priority="prod"),
            objects.gang_job(NAMESPACE, "ckpt-eval", 4, "two-gpu-numa", priority="batch"),
        ]
    )
    stage.until_running("llm-train", 8)
    stage.until_running("ckpt-eval", 4)
    stage.mark("Two gangs run and hold all 16 GPUs")
    pool, device = stage.devices(stage.running("llm-train")[0])[0]
    api.create(objects.device_taint_rule("xid79", pool, device, effect="None"))
    wait_for(lambda: _rule_says(api, "NoEffect"), "the controller's count", limit=60)
    stage.mark(f"A rule for Xid 79 on {pool}/{device}, with effect None: its status says what an eviction would hit")
    api.patch(f"{RULES}/xid79", {"spec": {"taint": {"effect": "NoExecute"}}})
    stage.until_running("llm-train", 7)
    stage.mark("The rule's effect is NoExecute: the pod on that GPU is deleted, its gang is one short")
    wait_for(lambda: _rule_says(api, "Completed"), "the eviction to be reported", limit=60)
    stage.mark("The replacement waits: the only GPU that nobody holds is the tainted one")
    api.delete(f"{RULES}/xid79")
    stage.until_running("llm-train", 8)
    stage.mark("The rule is deleted, as after a reset of the GPU: the gang is whole again")


def _rule_says(api: Api, reason: str) -> bool:
    rule = api.get(f"{RULES}/xid79")
    return any(
        c["reason"] == reason and c.get("observedGeneration") == rule["metadata"]["generation"]
        for c in rule.get("status", {}).get("conditions", [])
    )


# ---------------------------------------------------------------------- every cause of waiting


def _odd_fleet() -> list[Json]:
    """The usual fleet, a node of A10s under maintenance, and a node of L4s whose driver has published half of its pool."""
    return [
        *_fleet(),
        objects.node("node-8", "z2"),
        objects.resource_slice("node-8", devices=2, product="A10"),
        objects.device_taint_rule(
            "maintenance", "node-8", effect="NoSchedule", key="example.com/maintenance", value="ticket-1"
        ),
        objects.node("node-9", "z2"),
        objects.resource_slice("node-9", slices=2, product="L4"),
        objects.claim_template(NAMESPACE, "one-h200", product="H200"),
        objects.claim_template(NAMESPACE, "three-gpu-numa", count=3, same_numa_node=True),
        objects.claim_template(NAMESPACE, "one-b300", product="B300"),
        objects.claim_template(NAMESPACE, "one-a10", product="A10"),
        objects.claim_template(NAMESPACE, "one-l4", product="L4"),
        objects.claim_template(NAMESPACE, "premium", device_class="gpu-premium"),
    ]


def _members(group: str, count: int, template: str = "", *, cpu: str = "1", **spec: object) -> list[Json]:
    """Pods of a gang; `spec` goes into each pod's spec as it is. Without a template they ask for no device."""
    made = []
    for index in range(count):
        pod = objects.pod(NAMESPACE, f"{group}-{index}", template, group=group)
        container = pod["spec"]["containers"][0]
        container["resources"] = {"requests": {"cpu": cpu, "memory": "1Gi"}}
        if template:
            container["resources"]["claims"] = [{"name": "gpu"}]
        else:
            del pod["spec"]["resourceClaims"]
        pod["spec"].update(spec)
        made.append(pod)
    return made


def _gang(group: str, count: int, template: str = "", *, cpu: str = "1", **spec: object) -> list[Json]:
    """A PodGroup that needs all of its `count` pods, and these."""
    return [objects.pod_group(NAMESPACE, group, count), *_members(group, count, template, cpu=cpu, **spec)]


def _pending(stage: Stage) -> None:
    stage.create(_gang("healthy", 4, "one-h200"))
    stage.until_running("healthy", 4)
    stage.mark("One gang runs; now one gang arrives for each thing that can go wrong")
    stage.create(
        [
            objects.pod_group(NAMESPACE, "short", 4),
            *_members("short", 3),
            *_members("orphan", 2),
            *_gang("gated", 2, "one-h200", schedulingGates=[{"name": "example.com/quota"}]),
            *_gang("no-template", 2, "does-not-exist"),
            *_gang("no-scheduler", 2, schedulerName="volcano"),
            objects.pod_group(NAMESPACE, "mixed-priority", 2, priority="prod"),
            *_members("mixed-priority", 2, priorityClassName="batch"),
        ]
    )
    stage.mark("Gangs that the scheduler does not even try")
    tried = {
        "too-big": _gang("too-big", 14, "one-h200"),
        "no-product": _gang("no-product", 2, "one-b300"),
        "no-class": _gang("no-class", 2, "premium"),
        "numa": _gang("numa", 2, "three-gpu-numa"),
        "stale-pool": _gang("stale-pool", 2, "one-l4"),
        "tainted": _gang("tainted", 2, "one-a10"),
        "cpu-hog": _gang("cpu-hog", 2, cpu="500"),
        "wrong-zone": _gang("wrong-zone", 2, nodeSelector={"topology.kubernetes.io/zone": "z9"}),
    }
    for manifests in tried.values():
        stage.create(manifests)
    for group in tried:
        stage.until_refused(group)
    stage.mark("Gangs that the scheduler has tried and refused, with what it says")


# ---------------------------------------------------------------------- shared claims


def _shared(stage: Stage) -> None:
    api = stage.api
    stage.create(
        [
            objects.pod_group(NAMESPACE, "tensor-parallel", 3, claim_template="two-gpu-numa"),
            *_members("tensor-parallel", 3, "two-gpu-numa"),
        ]
    )
    stage.until_running("tensor-parallel", 3)
    stage.mark("Three pods of the gang tensor-parallel use one claim, which belongs to their group")
    api.create(objects.claim(NAMESPACE, "notebook-gpu"))
    stage.create(_notebook(name) for name in ("notebook-ana", "notebook-ben"))
    stage.until_running("notebook", 2)
    stage.mark("Two notebooks use one claim by its name")
    (result,) = api.get(f"{CLAIMS}/notebook-gpu")["status"]["allocation"]["devices"]["results"]
    api.create(objects.device_taint_rule("xid48", result["pool"], result["device"], value="48"))
    wait_for(lambda: not stage.running("notebook"), "both notebooks to be evicted", limit=60)
    stage.mark(f"{result['pool']}/{result['device']} is tainted NoExecute: one device, both notebooks are deleted")
    stage.create([_notebook("notebook-cleo")])
    stage.until_running("notebook", 1)
    stage.mark("A new notebook uses the same claim, which was given another GPU")
    api.delete(f"{RULES}/xid48")
    stage.mark("The taint is gone")


def _notebook(name: str) -> Json:
    pod = objects.pod(NAMESPACE, name, "")
    pod["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": "notebook-gpu"}]
    return pod


# ---------------------------------------------------------------------- extended resources


def _extended(stage: Stage) -> None:
    stage.create([objects.deployment(NAMESPACE, "infer", 2, gpus=2)])
    stage.until_running("infer", 2)
    stage.mark(
        "Each pod of infer asks for example.com/gpu: 2, as it would from a device plugin; the scheduler made the claims"
    )
    stage.create([objects.gang_job(NAMESPACE, "finetune", 4, "one-gpu")])
    stage.until_running("finetune", 4)
    stage.mark("The gang finetune asks for the same devices with claims of its own")
    stage.create([_both_ways("mixed")])
    stage.until_running("mixed", 1)
    stage.mark("The pod mixed does both: its container train has a claim, its container draft the extended resource")
    stage.create([objects.deployment(NAMESPACE, "wide", 1, gpus=5)])
    wait_for(lambda: _refused(stage, "wide"), "the wide pod to be refused", limit=60)
    stage.mark("The pod of wide asks for 5 GPUs on one node, and no node has more than 4")


def _both_ways(name: str) -> Json:
    pod = objects.pod(NAMESPACE, name, "one-gpu")
    amount = {objects.EXTENDED_RESOURCE: "1"}
    resources = {"requests": {"cpu": "1", **amount}, "limits": amount}
    pod["spec"]["containers"].append({"name": "draft", "image": objects.IMAGE, "resources": resources})
    return pod


def _refused(stage: Stage, prefix: str) -> bool:
    return any(
        c["type"] == "PodScheduled" and c["status"] == "False"
        for pod in stage.api.list(PODS)
        if pod["metadata"]["name"].startswith(prefix)
        for c in pod["status"].get("conditions", [])
    )


# ---------------------------------------------------------------------- an autoscaler to zero and back


def _to_zero(stage: Stage) -> None:
    api = stage.api
    with ExternalMetrics(api, stage.plane.access.serving) as metrics:
        api.create(objects.gang_job(NAMESPACE, "nightly-eval", 2, "one-gpu"))
        metrics.value = 25
        scaler = objects.autoscaler(NAMESPACE, "chat", min_replicas=0, max_replicas=4, external=True, calm=0)
        stage.create([objects.deployment(NAMESPACE, "chat", 1, claim_template="one-gpu"), scaler])
        stage.until_running("chat", 3)
        stage.mark("25 requests in the queue, 10 for each replica: chat runs on 3 GPUs")
        api.create(objects.gang_job(NAMESPACE, "night-train", 14, "one-gpu"))
        stage.until_refused(stage.group_of("night-train"))
        stage.mark("The gang night-train needs 14 GPUs; 11 are free, for chat has 3 and the gang nightly-eval 2")
        metrics.value = 0
        wait_for(lambda: _idle(api), "chat to be scaled to zero", limit=60)
        stage.until_running("night-train", 14)
        stage.mark("The queue is empty: chat sleeps at zero, and the gang has its GPUs")
        metrics.value = 12
        wait_for(lambda: _refused(stage, "chat"), "chat to wake without a device", limit=60)
        stage.mark("12 requests arrive: chat wakes and wants 2 replicas, but the gangs hold every GPU")
        api.delete(f"{JOBS}/night-train")
        stage.until_running("chat", 2)
        stage.mark("The gang night-train was deleted: chat serves again")


def _idle(api: Api) -> bool:
    """Scaled to zero, and seen to be there: the status tells the replicas of the look before."""
    status = api.get(f"{SCALERS}/chat").get("status", {})
    slept = any(c["type"] == "ScaledToZero" and c["status"] == "True" for c in status.get("conditions", []))
    return slept and not status.get("currentReplicas")


# ---------------------------------------------------------------------- a driver upgrade


def _upgrade(stage: Stage) -> None:
    api = stage.api
    api.create(objects.gang_job(NAMESPACE, "llm-train", 8, "one-gpu", priority="prod"))
    stage.until_running("llm-train", 8)
    stage.mark("llm-train runs on 8 of 16 GPUs; a new driver is rolled out, which splits each pool into two slices")
    held = [pool for pod in stage.running("llm-train") for pool, _ in stage.devices(pod)]
    *early, last = sorted(infra.NODES, key=held.count, reverse=True)
    for node in early:
        _publish(api, node, part=0)
        _publish(api, node, part=1)
        stage.mark(f"{node} is upgraded: generation 2, both slices are there")
    # The half that nobody uses comes first, so that the free devices are there and still cannot be had.
    _publish(api, last, part=1)
    stage.mark(f"The new driver on {last} crashes after the first of its two slices: the pool is incomplete")
    api.create(objects.gang_job(NAMESPACE, "sweep", 8, "one-gpu", priority="batch"))
    stage.until_refused(stage.group_of("sweep"))
    stage.mark(
        f"The gang sweep needs 8 GPUs and 8 are free, but nothing is allocated from {last}; llm-train is not touched"
    )
    _publish(api, last, part=0)
    stage.until_running("sweep", 8)
    stage.mark(f"The driver on {last} was restarted and has published the other slice: sweep runs")


def _publish(api: Api, node: str, *, part: int) -> None:
    """A slice as the new driver publishes it: the first half in place of the old slice, the second half beside it."""
    manifest = objects.resource_slice(node, slices=2, generation=2, part=part)
    if part:
        api.create(manifest)
    else:
        api.patch(f"{SLICES}/{manifest['metadata']['name']}", {"spec": manifest["spec"]})


# ---------------------------------------------------------------------- all of them

INCIDENTS: Final = {
    "driver-upgrade": Incident("A rolling driver upgrade that leaves a pool incomplete", _fleet, _upgrade),
    "extended-resources": Incident("Extended resources next to claims, on the same devices", _fleet, _extended),
    "pending": Incident("One pending gang for each cause", _odd_fleet, _pending),
    "scale-to-zero": Incident("An autoscaler goes to zero, and wakes without a device", _fleet, _to_zero),
    "shared-claims": Incident("Claims shared by a gang and by pods, and what one taint does to them", _fleet, _shared),
    "xid-eviction": Incident("Xid 79: looked at first, then evicted, then recovered", _fleet, _xid),
}
