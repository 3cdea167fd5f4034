"""The Job and Deployment controllers, as far as pods: those that are missing are made, those that are too many go."""

from __future__ import annotations

from collections.abc import Iterable

from ktui.demo import objects
from ktui.demo.ledger import finished, terminating
from ktui.demo.mvcc import JSON, Change
from ktui.demo.plane import Item, Plane


class _PodOwner:
    """A controller of the pods of one kind of owner; its work is the owner's key."""

    kind = ""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane

    @property
    def kinds(self) -> tuple[str, ...]:
        return (self.kind, "Pod")

    def affected(self, kind: str, change: Change) -> Iterable[Item]:
        if kind == self.kind:
            return (change.key,) if change.type != "DELETED" else ()
        owners = change.object["metadata"].get("ownerReferences") or ()
        return [(change.key[0], owner["name"]) for owner in owners if owner.get("kind") == self.kind]

    def sync(self, item: Item) -> None:
        owner = self._plane.get(self.kind, (item[0], item[1]))
        if owner is not None and not terminating(owner):
            keys = self._plane.ledger.pods_of[owner["metadata"]["uid"]]
            self.reconcile(owner, [pod for key in keys if (pod := self._plane.get("Pod", key)) is not None])

    def reconcile(self, owner: JSON, pods: list[JSON]) -> None:
        raise NotImplementedError

    def create(self, owner: JSON, pod: JSON) -> None:
        self._plane.put("Pod", pod)
        words = f"Created pod: {pod['metadata']['name']}"
        self._plane.tell(owner, self.kind, "SuccessfulCreate", words, by=f"{self.kind.lower()}-controller")


class JobController(_PodOwner):
    """Indexed Jobs; a pod that was evicted is made anew with its index."""

    kind = "Job"

    def reconcile(self, owner: JSON, pods: list[JSON]) -> None:
        pods = [pod for pod in pods if not terminating(pod)]  # podReplacementPolicy: TerminatingOrFailed
        there = {pod["metadata"]["labels"].get(objects.JOB_INDEX) for pod in pods if not _failed(pod)}
        missing = [index for index in range(owner["spec"].get("parallelism", 1)) if str(index) not in there]
        for index in missing:
            self.create(owner, objects.job_pod(owner, index, self._plane.now()))
        active = sum(1 for pod in pods if not finished(pod)) + len(missing)
        self._plane.put("Job", {**owner, "status": {**(owner.get("status") or {}), "active": active}})


class DeploymentController(_PodOwner):
    kind = "Deployment"

    def reconcile(self, owner: JSON, pods: list[JSON]) -> None:
        active = [pod for pod in pods if not finished(pod) and not terminating(pod)]
        wanted = owner["spec"].get("replicas", 1)
        for _ in range(wanted - len(active)):
            self.create(owner, objects.deployment_pod(owner, self._plane.now()))
        # Those that do not run yet go first, then the youngest.
        active.sort(key=lambda pod: (pod["status"].get("phase") != "Running", pod["metadata"]["creationTimestamp"]))
        for pod in active[wanted:] if wanted < len(active) else ():
            self._plane.delete_pod(objects.key_of(pod))
        ready = sum(1 for pod in active[:wanted] if pod["status"].get("phase") == "Running")
        status = {**(owner.get("status") or {}), "replicas": wanted, "readyReplicas": ready}
        self._plane.put("Deployment", {**owner, "status": status})


def _failed(pod: JSON) -> bool:
    return (pod.get("status") or {}).get("phase") == "Failed"
