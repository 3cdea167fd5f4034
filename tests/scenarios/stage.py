"""The control plane as a scenario is played on it: things are made, looked at, changed, and taken away again."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Final

from tests.cluster import infra
from tests.cluster.controlplane.api import Api, ApiError, collection, wait_for
from tests.cluster.controlplane.cluster import ControlPlane

Json = dict[str, Any]

CLUSTER_SCOPED: Final = frozenset(
    {"DeviceClass", "DeviceTaintRule", "Namespace", "Node", "PriorityClass", "ResourceSlice"}
)
_PROBE: Final = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "probe", "namespace": "default"},
    "spec": {
        "terminationGracePeriodSeconds": 0,
        "tolerations": [{"operator": "Exists"}],
        "containers": [{"name": "main", "image": "registry.example.com/probe:1"}],
    },
}
_AT_ONCE: Final = {
    "apiVersion": "v1",
    "kind": "DeleteOptions",
    "gracePeriodSeconds": 0,
    "propagationPolicy": "Background",
}
_LIMIT: Final = 60.0


class Stage:
    """One scenario's part of the control plane; `namespace` is where its pods live."""

    def __init__(self, plane: ControlPlane, namespace: str) -> None:
        self.plane = plane
        self.namespace = namespace
        self.api: Api = plane.api()
        self._made: list[str] = []  # paths of what belongs to no namespace
        self.stopped = False

    # ------------------------------------------------------------------ what people and drivers do

    def prepare(self) -> None:
        """The namespace is there; in it, claims may ask for admin access."""
        metadata = {"name": self.namespace, "labels": {"resource.kubernetes.io/admin-access": "true"}}
        try:
            self.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
        except ApiError as error:
            if error.status != 409:
                raise

    def create(self, manifests: Iterable[Json]) -> None:
        """Make objects, those of a namespace in the scenario's own."""
        for manifest in manifests:
            placed = self._placed(manifest)
            self.api.create(placed)
            if placed["kind"] in CLUSTER_SCOPED:
                self._made.append(f"{collection(placed)}/{placed['metadata']['name']}")

    def path(self, version: str, kind: str, name: str = "") -> str:
        made = collection(self._placed({"apiVersion": version, "kind": kind, "metadata": {"name": name}}))
        return f"{made}/{name}" if name else made

    def delete(self, version: str, kind: str, name: str) -> None:
        self.api.request("DELETE", self.path(version, kind, name), _AT_ONCE)

    def patch(self, version: str, kind: str, name: str, change: Json, part: str = "") -> None:
        """A JSON merge patch; `part` is a subresource."""
        self.api.patch(self.path(version, kind, name) + (f"/{part}" if part else ""), change)

    def stop_scheduler(self) -> None:
        self.plane.process("kube-scheduler").send_signal(signal.SIGSTOP)
        self.stopped = True

    def continue_scheduler(self) -> None:
        self.plane.process("kube-scheduler").send_signal(signal.SIGCONT)
        self.stopped = False

    # ------------------------------------------------------------------ what is there

    def pods(self, group: str = "") -> list[Json]:
        """The namespace's pods that are not being deleted, or those of a gang."""
        return [
            pod
            for pod in self.api.list(self.path("v1", "Pod"))
            if "deletionTimestamp" not in pod["metadata"] and (not group or _group(pod) == group)
        ]

    def group(self, name: str) -> Json | None:
        """A PodGroup by its own name, or the one that was made for the Job of that name."""
        for found in self.api.list(self.path("scheduling.k8s.io/v1beta1", "PodGroup")):
            owners = [o["name"] for o in found["metadata"].get("ownerReferences", []) if o.get("controller")]
            if found["metadata"]["name"] == name or name in owners:
                return found
        return None

    def runs(self, name: str) -> bool:
        """Whether enough pods of the gang run, or the pod of that name does."""
        found = self.group(name)
        if found is None:
            return any(_running(pod) for pod in self.pods() if pod["metadata"]["name"] == name)
        needed = found["spec"]["schedulingPolicy"].get("gang", {}).get("minCount", 1)
        return sum(map(_running, self.pods(found["metadata"]["name"]))) >= int(needed)

    def refused(self, name: str) -> bool:
        """Whether the scheduler has tried the gang or the pod of that name, and said no."""
        return any(True for _ in self.words(name))

    def words(self, name: str) -> Iterator[str]:
        """What the scheduler says of a gang and its pods, or of a pod, where it says no."""
        found = self.group(name)
        known_as = found["metadata"]["name"] if found else name
        pods = [p for p in self.pods() if known_as in (_group(p), p["metadata"]["name"])]
        for item in ([found] if found else []) + pods:
            for condition in item.get("status", {}).get("conditions", []):
                wanted = condition["type"] in ("PodGroupInitiallyScheduled", "PodScheduled")
                if wanted and condition["status"] == "False" and condition.get("reason") != "SchedulingGated":
                    yield condition.get("message", "")

    def devices_of(self, pod: str) -> list[tuple[str, str, str]]:
        """(driver, pool, device) of each device that the pod's claims hold, the scheduler's own claim included."""
        found = next(p for p in self.pods() if p["metadata"]["name"] == pod)
        status = found.get("status", {})
        names = [s["resourceClaimName"] for s in status.get("resourceClaimStatuses", []) if "resourceClaimName" in s]
        names += [c["resourceClaimName"] for c in found["spec"].get("resourceClaims", []) if "resourceClaimName" in c]
        if extended := status.get("extendedResourceClaimStatus"):
            names.append(extended["resourceClaimName"])
        claims = [self.api.get(self.path("resource.k8s.io/v1", "ResourceClaim", name)) for name in names]
        results = [r for claim in claims for r in claim["status"]["allocation"]["devices"]["results"]]
        return [(r["driver"], r["pool"], r["device"]) for r in results]

    # ------------------------------------------------------------------ waiting

    def until(self, predicate: Callable[[], object], what: str, limit: float = _LIMIT) -> None:
        wait_for(predicate, f"{what} in {self.namespace}", limit=limit)

    def until_all_run(self, manifests: Iterable[Json]) -> None:
        """Every pod and every Job of these."""
        for name in (item["metadata"]["name"] for item in manifests if item["kind"] in ("Pod", "Job")):
            self.until(partial(self.runs, name), f"{name} to run")

    def until_nodes_are_ready(self) -> None:
        self.until(lambda: all(map(_usable, self.api.list("/api/v1/nodes"))), "all nodes to be ready")

    def until_heard(self) -> None:
        """Everything that was there before has had its turn: a pod that came after it was placed or refused."""
        if self.stopped:
            return
        path = f"{collection(_PROBE)}/probe"
        self.api.create(_PROBE)
        try:
            self.until(lambda: _decided(self.api.get(path)), "the scheduler's answer to a pod that came last")
        finally:
            self.api.request("DELETE", path, _AT_ONCE)
        self.until(lambda: _gone(self.api, path), "that pod to go")

    # ------------------------------------------------------------------ afterwards

    def clear(self) -> None:
        """Takes away everything the scenario made, and all that came of it."""
        if self.stopped:
            self.continue_scheduler()
        kinds = (
            ("batch/v1", "Job"),
            ("apps/v1", "Deployment"),
            ("v1", "Pod"),
            ("scheduling.k8s.io/v1beta1", "PodGroup"),
            ("scheduling.k8s.io/v1beta1", "Workload"),
            ("resource.k8s.io/v1", "ResourceClaim"),
            ("resource.k8s.io/v1", "ResourceClaimTemplate"),
            ("v1", "ResourceQuota"),
            ("v1", "PersistentVolumeClaim"),
            ("policy/v1", "PodDisruptionBudget"),
        )
        for pod in self.api.list(self.path("v1", "Pod")):
            if pod["metadata"].get("finalizers"):
                self.patch("v1", "Pod", pod["metadata"]["name"], {"metadata": {"finalizers": None}})
        for version, kind in kinds:
            self.api.request("DELETE", self.path(version, kind), _AT_ONCE)
        leaving = [self.path(version, kind) for version, kind in (kinds[2], kinds[3], kinds[5])]
        self.until(lambda: not any(map(self.api.list, leaving)), "everything to be gone")
        for path in reversed(self._made):
            self.api.delete(path)
        self.api.request("DELETE", self.path("v1", "Event"), _AT_ONCE)

    def _placed(self, manifest: Json) -> Json:
        if manifest["kind"] in CLUSTER_SCOPED:
            return manifest
        return manifest | {"metadata": manifest["metadata"] | {"namespace": self.namespace}}


def _group(pod: Json) -> str:
    return str(pod["spec"].get("schedulingGroup", {}).get("podGroupName", ""))


def _running(pod: Json) -> bool:
    return str(pod.get("status", {}).get("phase")) == "Running"


def _usable(node: Json) -> bool:
    """Ready, and without the taint that a new node carries until that has been noticed."""
    taints = [t for t in node["spec"].get("taints", []) if t["key"] == "node.kubernetes.io/not-ready"]
    return infra.ready(node | {"spec": {"taints": taints}})


def _decided(pod: Json) -> bool:
    return any(c["type"] == "PodScheduled" for c in pod.get("status", {}).get("conditions", []))


def _gone(api: Api, path: str) -> bool:
    try:
        api.get(path)
    except ApiError as error:
        return error.status == 404
    return False
