"""What stands in the demo cluster when it starts: nodes of eight GPUs, gangs that train on them, gangs that wait, each for a
cause of its own, and services with autoscalers.

What runs has run for a while, so it is put there as it would be by then; what waits is left to the controllers.
"""

from __future__ import annotations

import secrets
from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from ktui.demo import figures, gangs, objects
from ktui.demo.incidents import SICK
from ktui.demo.mvcc import JSON, Database
from ktui.demo.objects import DRIVER
from ktui.demo.releases import LATEST, Release
from ktui.demo.squads import PODS, Forms, Squad
from ktui.model.resourceslice import DeviceId

TRAFFIC: Final = {
    "chat-llm_queue_length": (24, 31, 38, 27, 19),
    "rerank_queue_length": (0,),
    "summarise_queue_length": (0, 0, 0, 6, 14, 4),
}
"""External metrics and their values in turn."""


class Gang(Struct, frozen=True):
    """A Job scheduled as a gang. `places` are (node, first device) of each pod, none for a gang that waits."""

    namespace: str
    name: str
    pods: int
    gpus: int = 1
    image: str = "registry.example.com/train:1.9"
    places: tuple[tuple[str, int], ...] = ()
    same_numa: bool = False
    minutes: int = 30  # since it was made
    cpu: str = "16"
    class_name: str = objects.DEVICE_CLASS
    node_selector: dict[str, str] = {}
    gate: str = ""


def _whole(*numbers: int) -> tuple[tuple[str, int], ...]:
    return tuple((node_name(number), 0) for number in numbers)


def node_name(number: int) -> str:
    return f"gpu-node-{number:02}"


RUNNING: Final = (
    Gang("training", "mixtral-8x22b", 2, 8, places=_whole(5, 6), minutes=2900, cpu="96"),
    Gang("vision", "sam-finetune", 2, 4, places=((node_name(7), 0), (node_name(7), 4)), same_numa=True, minutes=340),
    Gang("research", "embed-sweep", 3, places=((node_name(8), 2), (SICK[1], 3), (node_name(8), 3)), minutes=75),
    Gang("research", "reward-model", 8, places=tuple((node_name(9), gpu) for gpu in range(8)), minutes=610),
    # On the node whose pool is incomplete, so that nobody waits for that.
    Gang("vision", "ocr-train", 1, 8, places=_whole(10), minutes=1260, cpu="96"),
)
WAITING: Final = (
    Gang("training", "llama-70b", 4, 8, minutes=6, cpu="96"),
    Gang("training", "gpt-wide", 6, 8, minutes=50, cpu="96"),
    Gang("vision", "vlm-premium", 1, 2, class_name="gpu-premium", minutes=18),
    Gang("vision", "depth-eval", 1, 1, node_selector={"topology.kubernetes.io/zone": "zone-c"}, minutes=22),
    Gang("research", "tokenise-all", 1, 1, cpu="512", minutes=31),
    Gang("research", "held-for-quota", 2, 1, gate="example.com/quota", minutes=12),
)
_NODES: Final = 10
_INCOMPLETE: Final = 10  # the node whose driver is being upgraded: half of its slices are not there
_ECC: Final = {"key": "gpu.example.com/ecc", "value": "uncorrectable", "effect": "NoSchedule"}


_LEFT: Final = {"key": "example.com/maintenance", "value": "fan", "effect": "NoSchedule"}
_CALM: Final = 45  # seconds before a service scales down: the usual 300 are long for who watches a demo
_SPARE: Final = (node_name(8), 4)  # a GPU that nothing runs on


class Fleet:
    """Fills a database. `size` is how many pods there shall be at least; the first hundred are always the same, but that nobody
    uses the device that is `tainted`, on which somebody left a taint. Where minReplicas cannot be 0, services that sleep in other
    releases run a pod each."""

    def __init__(
        self, database: Database, size: int = 0, tainted: DeviceId | None = None, release: Release = LATEST
    ) -> None:
        self._database = database
        self._size = size
        self._tainted = tainted
        self._release = release
        self._start = datetime.now(UTC)

    def fill(self) -> list[Squad]:
        """Everything; returns the squads that make the fleet large."""
        for name in ("default", "kube-system", figures.NAMESPACE, "training", "vision", "research", "serving"):
            self._put("Namespace", {"metadata": objects.made(name, self._ago(90_000)), "status": {"phase": "Active"}})
        self._put("DeviceClass", objects.device_class(self._ago(90_000)))
        for number in range(1, _NODES + 1):
            taints = {7: {**_ECC, "timeAdded": self._ago(800)}} if number == 8 else None
            self._node(node_name(number), slices=2 if number == _INCOMPLETE else 1, taints=taints)
        for gang in (*RUNNING, *WAITING):
            self._gang(gang if self._tainted is None else _off(gang, self._tainted))
        if self._tainted is not None:
            self._put("DeviceTaintRule", objects.taint_rule("fan-service", self._ago(4300), self._tainted, _LEFT))
        self._incomplete_group()
        self._service("chat-llm", replicas=2, gpus=(0, 1), lowest=1, highest=4, per_replica=10)
        least = 0 if self._release.scale_to_zero else 1
        for name in ("rerank", "summarise"):
            self._service(name, replicas=least, lowest=least, highest=3, per_replica=5)
        return self._squads()

    def _squads(self) -> list[Squad]:
        """As many as the size calls for. They were made an hour ago and before, the youngest first."""
        missing = max(0, self._size - len(self._database.objects("Pod")))
        forms, seed, revision = Forms(self._release), secrets.randbits(32), self._database.advance()
        squads = [Squad(forms, number, seed, revision, self._ago(60 + number)) for number in range(-(-missing // PODS))]
        for squad in squads:
            for kind, laid in squad.laid():
                self._database.lay(kind, laid)
        return squads

    def _ago(self, minutes: int) -> str:
        return (self._start - timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")

    def _put(self, kind: str, obj: JSON) -> JSON:
        return self._database.put(kind, objects.key_of(obj), obj)

    def _node(self, name: str, *, slices: int = 1, taints: dict[int, JSON] | None = None) -> None:
        then = self._ago(90_000)
        zone = "zone-a" if name < node_name(6) else "zone-b"
        self._put("Node", objects.node(name, then, zone=zone, kubelet=self._release.git_version))
        self._put("ResourceSlice", objects.resource_slice(name, then, slices=slices, taints=taints))
        self._put("Pod", figures.exporter_pod(name, then))

    def _gang(self, gang: Gang) -> None:
        then = self._ago(gang.minutes)
        template = f"{gang.name}-gpus"
        self._put(
            "ResourceClaimTemplate",
            objects.claim_template(
                gang.namespace, template, then, count=gang.gpus, same_numa=gang.same_numa, class_name=gang.class_name
            ),
        )
        spec = objects.pod_spec(gang.image, template=template, cpu=gang.cpu)
        if gang.node_selector:
            spec["nodeSelector"] = gang.node_selector
        if gang.gate:
            spec["schedulingGates"] = [{"name": gang.gate}]
        release = self._release
        job = self._put("Job", gangs.job(release, gang.namespace, gang.name, then, pods=gang.pods, spec=spec))
        for kind, obj in gangs.written(release, gang.namespace, gang.name, then, min_count=gang.pods, job_=job):
            placed = kind == "PodGroup" and gang.places
            self._put(kind, gangs.placed(release, obj, then) if placed else obj)
        for index in range(gang.pods):
            pod = objects.job_pod(job, index, then)
            if gang.places:
                self._run(pod, gang.gpus, *gang.places[index], then)
            else:
                self._put("Pod", _gated(pod, then) if gang.gate else pod)

    def _run(self, pod: JSON, gpus: int, node: str, first: int, then: str) -> None:
        """Put a pod there that runs on a node with `gpus` devices from `first` on."""
        namespace, _ = objects.key_of(pod)
        for entry in pod["spec"].get("resourceClaims") or ():
            key = (namespace, entry["resourceClaimTemplateName"])
            template = self._database.objects("ResourceClaimTemplate")[key]
            claim = objects.claim_for(pod, entry, template, then)
            devices = [("gpu", (DRIVER, node, f"gpu-{first + number}")) for number in range(gpus)]
            self._put("ResourceClaim", objects.allocated(claim, devices, node, pod, then))
            pod = objects.with_claim(pod, entry["name"], claim["metadata"]["name"])
        self._put("Pod", objects.running(objects.bound(pod, node, then), then))

    def _incomplete_group(self) -> None:
        """A gang whose second pod nobody has made yet."""
        then = self._ago(9)
        for kind, obj in gangs.written(self._release, "research", "late-worker", then, min_count=2):
            self._put(kind, obj)
        spec = gangs.member(self._release, objects.pod_spec("registry.example.com/worker:3"), "late-worker")
        self._put("Pod", objects.pod(objects.made("late-worker-0", then, "research"), spec))

    def _service(
        self,
        name: str,
        *,
        replicas: int,
        lowest: int,
        highest: int,
        per_replica: int,
        gpus: tuple[int, ...] = (),
    ) -> None:
        then = self._ago(4000)
        template = f"{name}-gpu" if gpus else ""
        if template:
            self._put("ResourceClaimTemplate", objects.claim_template("serving", template, then, count=1))
        spec = objects.pod_spec("registry.example.com/serve:4", template=template, cpu="4", memory="16Gi")
        deployment = self._put("Deployment", objects.deployment("serving", name, then, replicas=replicas, spec=spec))
        for gpu in gpus or (0,) * replicas:
            self._run(objects.deployment_pod(deployment, then), 1, node_name(8), gpu, then)
        hpa = objects.autoscaler(
            "serving", name, then, lowest=lowest, highest=highest, per_replica=per_replica, calm=_CALM
        )
        if not self._release.hpa_generation:
            del hpa["metadata"]["generation"]
        if not replicas:
            hpa = objects.conditioned(hpa, then, "ScaledToZero", "True", "ScaledToZero")
        self._put("HorizontalPodAutoscaler", hpa)


def _off(gang: Gang, device: DeviceId) -> Gang:
    """The gang, with the pod that would use the device elsewhere."""
    place = (device[1], int(device[2].removeprefix("gpu-")))
    return replace(gang, places=tuple(_SPARE if each == place else each for each in gang.places))


def _gated(pod: JSON, then: str) -> JSON:
    words = "Scheduling is blocked due to non-empty scheduling gates"
    return objects.conditioned(pod, then, "PodScheduled", "False", "SchedulingGated", words)


def break_gpu(database: Database, device: DeviceId) -> None:
    """Let the kubelet report a device as sick, in the pod that holds it alone."""
    for key, claim in database.objects("ResourceClaim").items():
        results = ((claim["status"].get("allocation") or {}).get("devices") or {}).get("results") or ()
        if [(each["driver"], each["pool"], each["device"]) for each in results] == [device]:
            pod_key = (key[0], claim["status"]["reservedFor"][0]["name"])
            message = "Xid 79: GPU has fallen off the bus"
            sick = objects.reporting_sick(database.objects("Pod")[pod_key], device, message)
            database.put("Pod", pod_key, sick)
            return
