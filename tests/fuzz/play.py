"""Play a world and compare: for each gang, what ktui says of its place and what the scheduler does with it.

A gang is asked about as it is, and once more for each obstacle: ktui imagines it away, on the cluster it is taken away
(`tests.fuzz.variants`). A gang that runs is asked about as it was before.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from ktui.cluster.gangs import gang
from ktui.cluster.state import Cluster
from ktui.diagnose.demand import GangDemand, demand_of
from ktui.diagnose.diagnosis import Diagnosis
from ktui.diagnose.gang import diagnose
from ktui.diagnose.room import NOTHING, Obstacle
from ktui.diagnose.shortage import CAUSES, assess
from ktui.diagnose.supply import Supply
from ktui.diagnose.trial import placeable
from tests.cluster.controlplane.api import ApiError
from tests.cluster.controlplane.cluster import ControlPlane
from tests.fuzz import undo, variants
from tests.fuzz.worlds import Asking, World
from tests.scenarios import files
from tests.scenarios.stage import Stage

Json = dict[str, Any]

NAMESPACE: Final = "fuzz"
_GANG: Final[tuple[Obstacle, ...]] = ("constraints", "selectors", "resources", "placement")
_CLUSTER: Final[tuple[Obstacle, ...]] = ("pools", "taints")
_SETTLE: Final = 0.3  # seconds for a change to reach the scheduler's caches
_LIMIT: Final = 30.0
_IN_VAIN: Final = 0.25


class Compared(NamedTuple):
    """One question. `case` is "as it is", "before", or what was taken away; `said` is None where ktui does not know.

    `alone` marks what the diagnosis names as enough by itself; then `cause` is what it says."""

    seed: int
    gang: str
    pods: int
    case: str
    said: bool | None
    runs: bool
    cause: str | None
    alone: bool
    words: str

    @property
    def agrees(self) -> bool:
        """Whether what is said of its place is true, and there is a cause for one that waits."""
        return self.said in (None, self.runs) and (self.cause is not None or self.case == "before")

    def __str__(self) -> str:
        alone = " (enough alone)" if self.alone else ""
        return (
            f"world {self.seed} {self.gang} ({self.pods} pods), {self.case}{alone}: ktui says "
            f"{self.said} ({self.cause}), it {'runs' if self.runs else 'waits'}: {self.words}"
        )


class Moment(NamedTuple):
    """The cluster when every gang was placed or refused."""

    recording: bytes
    cluster: Cluster
    placed: tuple[Asking, ...]  # without those of which pods were evicted since
    waiting: tuple[Asking, ...]


class Player:
    """Plays one world. `directory` is for its recording, which stays there."""

    def __init__(self, plane: ControlPlane, world: World, directory: Path) -> None:
        self._stage = Stage(plane, NAMESPACE)
        self._world = world
        self._directory = directory
        self._random = random.Random(world.seed)

    def play(self) -> list[Compared]:
        try:
            return list(self._compare())
        finally:
            self._stage.clear()

    def _compare(self) -> Iterator[Compared]:
        moment = self._settled()
        supply = Supply(moment.cluster)
        for asking in moment.placed:
            yield self._before(moment, asking)
        questions = [self._question(supply, asking) for asking in moment.waiting]
        for question in questions:
            self._gone(question.asking)
        for question in questions:
            if question.says(NOTHING) is True:
                yield self._ask(question, "as it is", question.asking)
            else:
                yield question.compared("as it is", runs=False, words="")
            for obstacle in filter(partial(self._is_worth_asking, question), _GANG):
                yield self._ask(question, obstacle, variants.without(question.asking, obstacle))
        for obstacle in _CLUSTER:
            yield from self._on_another_cluster(questions, obstacle)
        yield from self._on_an_empty_cluster(questions, moment)

    # --- the cluster as it is ---

    def _settled(self) -> Moment:
        stage = self._stage
        stage.prepare()
        stage.create(self._world.cluster)
        stage.until_nodes_are_ready()
        stage.create(self._world.occupants)
        stage.until_heard()
        self._let_go()
        for asking in self._world.gangs:
            self._stage.create(asking.manifests)
            self._until_decided(asking)
        recording = files.snapshot(stage.api, f"world {self._world.seed}")
        placed = tuple(asking for asking in self._world.gangs if self._runs(asking))
        waiting = tuple(asking for asking in self._world.gangs if not self._placed(asking))
        return Moment(recording, undo.cluster_of(recording, self._kept()), placed, waiting)

    def _kept(self) -> Path:
        return self._directory / f"world-{self._world.seed}.ktui"

    def _let_go(self) -> None:
        """Occupants that found no place give up."""
        for pod in self._stage.pods():
            if "nodeName" not in pod["spec"]:
                self._stage.delete("v1", "Pod", pod["metadata"]["name"])
        self._until_claims_are_used()

    def _until_claims_are_used(self) -> None:
        gangs = {"", *(asking.name for asking in self._world.gangs)}

        def settled() -> bool:
            there = {pod["metadata"]["name"] for pod in self._stage.pods()}
            claims = self._stage.api.list(self._stage.path("resource.k8s.io/v1", "ResourceClaim"))
            return all(_owner(claim) in there for claim in claims if _owner(claim) not in gangs)

        self._stage.until(settled, "claims of pods that are gone to go")

    # --- questions ---

    def _is_worth_asking(self, question: Question, obstacle: Obstacle) -> bool:
        """Most that is taken away helps nobody: of those questions one in four is asked."""
        return question.says(frozenset((obstacle,))) is not False or self._random.random() < _IN_VAIN

    def _question(self, supply: Supply, asking: Asking) -> Question:
        found = gang(supply.cluster, (NAMESPACE, asking.name))
        assert found is not None
        demand = demand_of(supply.cluster, found)
        return Question(self._world.seed, asking, supply, demand, diagnose(supply.cluster, found))

    def _before(self, moment: Moment, asking: Asking) -> Compared:
        path = self._directory / f"world-{self._world.seed}-{asking.name}.ktui"
        cluster = undo.cluster_of(undo.unplaced(moment.recording, asking.name), path)
        question = self._question(Supply(cluster), asking)
        compared = question.compared("before", runs=True, words="")
        if compared.agrees:
            path.unlink()
        return compared

    def _ask(self, question: Question, case: str, asking: Asking) -> Compared:
        self._stage.create(asking.manifests)
        try:
            self._until_decided(asking)
            runs, words = self._placed(asking), " | ".join(sorted(set(self._stage.words(asking.name))))
        finally:
            self._gone(asking)
        return question.compared(case, runs=runs, words=words)

    def _on_another_cluster(self, questions: Iterable[Question], obstacle: Obstacle) -> Iterator[Compared]:
        slices, rules = self._listed("ResourceSlice", "v1"), self._listed("DeviceTaintRule", "v1")
        changes = dict(_changed(slices, obstacle))
        if not changes and not (rules and obstacle == "taints"):
            return
        for name, change in changes.items():
            self._stage.patch("resource.k8s.io/v1", "ResourceSlice", name, change)
        for rule in rules if obstacle == "taints" else ():
            self._stage.delete("resource.k8s.io/v1", "DeviceTaintRule", rule["metadata"]["name"])
        self._quiet()
        for question in questions:
            if self._is_worth_asking(question, obstacle):
                yield self._ask(question, obstacle, question.asking)
        for slice_ in slices:
            if slice_["metadata"]["name"] in changes:
                self._stage.patch(
                    "resource.k8s.io/v1", "ResourceSlice", slice_["metadata"]["name"], {"spec": slice_["spec"]}
                )
        if obstacle == "taints":
            self._stage.create(made for made in self._world.cluster if made["kind"] == "DeviceTaintRule")
        self._quiet()

    def _on_an_empty_cluster(self, questions: Iterable[Question], moment: Moment) -> Iterator[Compared]:
        for asking in moment.placed:
            self._gone(asking)
        for pod in self._stage.pods():
            self._stage.delete("v1", "Pod", pod["metadata"]["name"])
        self._until_claims_are_used()
        self._quiet()
        for question in questions:
            if self._is_worth_asking(question, "use"):
                yield self._ask(question, "use", question.asking)

    # --- the stage ---

    def _listed(self, kind: str, version: str) -> list[Json]:
        return self._stage.api.list(self._stage.path(f"resource.k8s.io/{version}", kind))

    def _quiet(self) -> None:
        time.sleep(_SETTLE)
        self._stage.until_heard()

    def _runs(self, asking: Asking) -> bool:
        """Whether all its pods have nodes."""
        pods = self._stage.pods(asking.name)
        return len(pods) == len(asking.pods) and all("nodeName" in pod["spec"] for pod in pods)

    def _placed(self, asking: Asking) -> bool:
        """Whether it was placed. A taint that a request tolerates for the allocator may evict its pods right away: the
        eviction controller reads tolerations in another way."""
        return self._condition(asking) == "True"

    def _condition(self, asking: Asking) -> str:
        group = self._stage.group(asking.name) or {}
        conditions = group.get("status", {}).get("conditions", [])
        return next((str(c["status"]) for c in conditions if c["type"] == "PodGroupInitiallyScheduled"), "")

    def _until_decided(self, asking: Asking) -> None:
        self._stage.until(partial(self._decided, asking), f"{asking.name} to be placed or refused", limit=_LIMIT)

    def _decided(self, asking: Asking) -> bool:
        condition = self._condition(asking)
        return condition == "False" or (
            condition == "True" and all(map(_bound_or_refused, self._stage.pods(asking.name)))
        )

    def _gone(self, asking: Asking) -> None:
        for made in (*asking.pods, asking.group, *asking.claims):
            try:
                self._stage.delete(made["apiVersion"], made["kind"], made["metadata"]["name"])
            except ApiError as error:
                if error.status != 404:
                    raise

        def gone() -> bool:
            pods = {pod["metadata"]["name"] for pod in asking.pods}
            own = {claim["metadata"]["name"] for claim in asking.claims}
            listed = [self._stage.path("v1", "Pod"), self._stage.path("scheduling.k8s.io/v1beta1", "PodGroup")]
            there = {item["metadata"]["name"] for path in listed for item in self._stage.api.list(path)}
            claims = self._listed("ResourceClaim", "v1")
            return not there & {*pods, asking.name} and not any(
                c["metadata"]["name"] in own or _owner(c) in {*pods, asking.name} for c in claims
            )

        self._stage.until(gone, f"{asking.name} to be gone")


class Question(NamedTuple):
    """A gang with what ktui says of it."""

    seed: int
    asking: Asking
    supply: Supply
    demand: GangDemand
    diagnosis: Diagnosis

    def says(self, without: frozenset[Obstacle]) -> bool | None:
        """Whether there is a place without these obstacles."""
        if assess(self.supply, self.demand).missing_class:
            return False
        return placeable(self.supply, self.demand, without)

    def compared(self, case: str, *, runs: bool, words: str) -> Compared:
        without: frozenset[Obstacle] = frozenset(o for o in CAUSES if o == case)
        found = assess(self.supply, self.demand)
        said = self.says(without)
        alone = any(o in found.alone for o in without)
        pods = len(self.asking.pods)
        return Compared(self.seed, self.asking.name, pods, case, said, runs, self.diagnosis.cause, alone, words)


def _owner(claim: Json) -> str:
    """The pod or the gang that the claim was made for, "" when it was made by somebody else."""
    return next((str(owner["name"]) for owner in claim["metadata"].get("ownerReferences", ())), "")


def _bound_or_refused(pod: Json) -> bool:
    """A pod may still be refused when its gang was placed: another pod of it took the claim they share to another node."""
    conditions = pod.get("status", {}).get("conditions", [])
    return "nodeName" in pod["spec"] or any(c["type"] == "PodScheduled" and c["status"] == "False" for c in conditions)


def _changed(slices: Iterable[Json], obstacle: Obstacle) -> Iterator[tuple[str, Json]]:
    """What is patched in which slice, for the obstacle to be gone."""
    if obstacle == "pools":
        for name, change in variants.complete(slices):
            yield name, {"spec": change}
        return
    for slice_ in slices:
        devices = slice_["spec"].get("devices", [])
        if any("taints" in device for device in devices):
            bare = [{key: value for key, value in device.items() if key != "taints"} for device in devices]
            yield slice_["metadata"]["name"], {"spec": {"devices": bare}}
