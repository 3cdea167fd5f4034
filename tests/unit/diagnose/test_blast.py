"""Whom a taint hits: the eviction controller's rules, case by case (KEP-5055, Kubernetes 1.37.2)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.cluster.state import Cluster
from ktui.cluster.taints import tolerates
from ktui.diagnose.blast import Blast, GangHit, blast_of_taint, eviction_delay, gangs_helped, still_tainted
from ktui.diagnose.diagnoses import Diagnoses
from ktui.model.claim import AllocationResult, DeviceToleration, ResourceClaimTemplate
from ktui.model.deviceclass import DeviceClass
from ktui.model.meta import Object
from ktui.model.node import Node
from ktui.model.pod import Pod
from ktui.model.resourceslice import DeviceTaint
from tests.unit.builders import (
    DRIVER,
    Document,
    added,
    claim,
    cluster_of,
    condition,
    deleted,
    group,
    group_consumer,
    make,
    meta,
    owner,
    piece,
    pod,
    pod_consumer,
    result,
    rule,
    taint,
    workload,
)

DEVICE = (DRIVER, "node-1", "gpu-0")
XID = DeviceTaint(key="example.com/xid", value="79", effect="NoExecute")


def user(name: str, *claims: str, **parts: Any) -> Pod:
    """A pod on a node that names the claims."""
    named = [{"name": f"c{n}", "resourceClaimName": c} for n, c in enumerate(claims or (f"{name}-gpu",))]
    return pod(name, **{"node": "node-1", **parts, "spec": {"resourceClaims": named, **parts.pop("spec", {})}})


def held(name: str, *pods: str, device: str = "gpu-0", **more: Any) -> Any:
    return claim(name, [result(device, **more)], reserved=[pod_consumer(each) for each in pods])


def one(name: str = "p", **parts: Any) -> tuple[Object, ...]:
    return (user(name, **parts), held(f"{name}-gpu", name))


def blast(*objects: Object, of: DeviceTaint = XID) -> Blast:
    return blast_of_taint(cluster_of(*objects), DEVICE, of)


def gone(found: Blast) -> dict[str, int]:
    return {hit.key[1]: hit.after for hit in found.deleted}


class TestEvictionDelay:
    """The table of tolerations: forever None, otherwise seconds."""

    @pytest.mark.parametrize(
        ("tolerations", "delay"),
        [
            (None, 0),
            ([], 0),
            ([{"operator": "Exists", "effect": "NoExecute"}], None),
            ([{"key": XID.key, "operator": "Exists", "effect": "NoExecute"}], None),
            ([{"key": XID.key, "value": "79", "effect": "NoExecute"}], None),
            ([{"key": XID.key, "operator": "Equal", "value": "79", "effect": "NoExecute"}], None),
            ([{"key": XID.key, "value": "31", "effect": "NoExecute"}], 0),
            ([{"key": XID.key, "effect": "NoExecute"}], 0),
            ([{"key": "other", "operator": "Exists", "effect": "NoExecute"}], 0),
            ([{"operator": "Equal", "effect": "NoExecute"}], 0),
            # Tolerated when allocating, evicted all the same: only a literal NoExecute holds here.
            ([{"operator": "Exists"}], 0),
            ([{"key": XID.key, "operator": "Exists", "effect": ""}], 0),
            ([{"operator": "Exists", "effect": "NoSchedule"}], 0),
            ([{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30}], 30),
            ([{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0}], 0),
            ([{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": -5}], 0),
            # The shortest of several counts; one without a limit is for ever.
            (
                [
                    {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30},
                    {"key": XID.key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 20},
                    {"key": "other", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 1},
                    {"operator": "Exists", "tolerationSeconds": 1},
                ],
                20,
            ),
            (
                [
                    {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5},
                    {"operator": "Exists", "effect": "NoExecute"},
                ],
                None,
            ),
            (
                [
                    {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": -5},
                    {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5},
                ],
                0,
            ),
        ],
    )
    def test_table(self, tolerations: list[Document] | None, delay: int | None) -> None:
        found = claim("c", [result("gpu-0", tolerations=tolerations)]).results[0]
        assert eviction_delay(found, XID) == delay

    @given(
        st.lists(
            st.builds(
                DeviceToleration,
                key=st.sampled_from((None, "", XID.key, "other")),
                operator=st.sampled_from((None, "", "Exists", "Equal")),
                value=st.sampled_from((None, "", "79", "31")),
                effect=st.sampled_from((None, "", "NoExecute", "NoSchedule")),
                toleration_seconds=st.none() | st.integers(-10, 100),
            ),
            max_size=4,
        )
    )
    def test_a_toleration_more_never_evicts_a_tolerated_pod(self, tolerations: list[DeviceToleration]) -> None:
        """Never sooner than at once, and only a matching NoExecute toleration delays."""
        delay = eviction_delay(AllocationResult(tolerations=tuple(tolerations)), XID)
        matching = [t for t in tolerations if tolerates(t, XID, evicting=True)]
        assert all(t.effect == "NoExecute" for t in matching)
        assert (delay is None) == any(t.toleration_seconds is None for t in matching)
        if not matching:
            assert delay == 0
        if delay is not None:
            assert delay >= 0


class TestWho:
    @pytest.mark.parametrize("effect", ["None", "NoSchedule", "", "Sometimes"])
    def test_only_noexecute_touches_running_pods(self, effect: str) -> None:
        assert blast(*one(), of=DeviceTaint(key="a", effect=effect)) == Blast()

    def test_the_pod_that_has_the_device(self) -> None:
        found = blast(*one("p"), *one("q"), held("other-gpu", "other", device="gpu-1"), user("other"))
        assert gone(found) == {"p": 0, "q": 0}
        assert found.tolerating == ()

    @pytest.mark.parametrize(
        ("parts", "hit"),
        [
            ({}, True),
            ({"phase": "Pending"}, True),  # on a node, its containers are starting
            ({"phase": "Unknown"}, True),
            (
                {"phase": "Succeeded"},
                True,
            ),  # as long as a claim is reserved for it: the controller does not look at the phase
            ({"phase": "Failed"}, True),
            ({"node": ""}, False),  # not on a node: the controller leaves it
            ({"meta_": {"deletionTimestamp": "2026-11-30T05:00:00Z"}}, False),
        ],
    )
    def test_which_pods_can_go(self, parts: Document, hit: bool) -> None:
        assert gone(blast(*one(**parts))) == ({"p": 0} if hit else {})

    def test_a_shared_claim_hits_all_who_hold_it(self) -> None:
        found = blast(user("a", "c"), user("b", "c"), user("waits", "c"), held("c", "a", "b"))
        assert gone(found) == {"a": 0, "b": 0}

    def test_a_claim_of_a_group_hits_its_members_that_name_it(self) -> None:
        shared = claim("c", [result("gpu-0")], reserved=[group_consumer("g")])
        members = (
            user("a", "c", group="g"),
            user("b", "c", group="g"),
            user("no", group="g"),
            user("x", "c", group="h"),
        )
        assert gone(blast(*members, shared, group("g", 2))) == {"a": 0, "b": 0}

    def test_access_by_an_administrator_counts_as_well(self) -> None:
        found = blast(user("p", "c"), held("c", "p", adminAccess=True))
        assert gone(found) == {"p": 0}

    def test_another_pod_of_the_same_name_does_not_hold_it(self) -> None:
        """reservedFor names a uid."""
        found = claim("c", [result("gpu-0")], reserved=[{"resource": "pods", "name": "p", "uid": "of its predecessor"}])
        assert gone(blast(user("p", "c"), found)) == {}

    def test_the_same_device_name_in_another_pool_or_of_another_driver(self) -> None:
        """A05."""
        others = (
            user("a"),
            held("a-gpu", "a", pool="node-2"),
            user("b"),
            held("b-gpu", "b", driver="nic.example.com"),
        )
        assert gone(blast(*one("p"), *others)) == {"p": 0}

    def test_of_several_claims_the_earliest_eviction_counts(self) -> None:
        def tolerating(name: str, seconds: int | None) -> Any:
            toleration = {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds}
            return held(name, "p", tolerations=[toleration])

        assert gone(blast(user("p", "x", "y"), tolerating("x", 30), tolerating("y", 10))) == {"p": 10}
        assert gone(blast(user("p", "x", "y"), tolerating("x", 10), tolerating("y", 30))) == {"p": 10}
        mixed = blast(user("p", "x", "y"), tolerating("x", None), tolerating("y", 30))
        assert (gone(mixed), mixed.tolerating) == ({"p": 30}, ())
        both = blast(user("p", "x", "y"), tolerating("x", None), tolerating("y", None))
        assert (gone(both), both.tolerating) == ({}, (("ml", "p"),))

    def test_two_results_of_one_claim_on_the_device(self) -> None:
        """Shares of one device: each result has tolerations of its own."""
        forever = [{"operator": "Exists", "effect": "NoExecute"}]
        shares = [result("gpu-0", "a", tolerations=forever), result("gpu-0", "b")]
        assert gone(blast(user("p", "c"), claim("c", shares, reserved=[pod_consumer("p")]))) == {"p": 0}


class TestGangs:
    def gang(self, size: int, min_count: int, hit: int, *, phase: str = "Running") -> tuple[Object, ...]:
        pods = [user(f"p{n}", f"c{n}", group="g", phase=phase if n < hit else "Running") for n in range(size)]
        claims = [held(f"c{n}", f"p{n}", device="gpu-0" if n < hit else f"gpu-{n + 1}") for n in range(size)]
        return (*pods, *claims, group("g", min_count))

    @pytest.mark.parametrize(
        ("size", "min_count", "hit", "falls"),
        [(4, 4, 1, True), (4, 3, 1, False), (4, 3, 2, True), (4, 1, 3, False), (4, 1, 4, True), (3, 4, 1, False)],
    )
    def test_falling_below_min_count(self, size: int, min_count: int, hit: int, falls: bool) -> None:
        found = blast(*self.gang(size, min_count, hit))
        assert found.gangs == (GangHit(("ml", "g"), "g", size, size - hit, min_count),)
        assert [gang.key for gang in found.falling] == ([("ml", "g")] if falls else [])

    def test_a_pod_that_is_still_starting_takes_nothing_from_those_that_run(self) -> None:
        found = blast(*self.gang(4, 3, 1, phase="Pending"))
        assert gone(found) == {"p0": 0}
        assert found.gangs == (GangHit(("ml", "g"), "g", 3, 3, 3),)
        assert found.falling == ()

    def test_a_pod_without_a_gang(self) -> None:
        assert blast(*one()).gangs == ()

    def test_a_gang_by_the_name_that_people_use(self) -> None:
        owned = {"ownerReferences": [owner("Job", "llm-train", api_version="batch/v1")]}
        made = group(
            "llm-train-x7k2p",
            1,
            meta_=owned,
            spec={"workloadRef": {"workloadName": "llm-train-w", "templateName": "g"}},
        )
        found = blast(user("p", group="llm-train-x7k2p"), held("p-gpu", "p"), made, workload("llm-train-w"))
        assert [(hit.key[1], hit.name) for hit in found.gangs] == [("llm-train-x7k2p", "llm-train")]


def test_what_stays_when_one_rule_goes() -> None:
    cluster = cluster_of(
        piece("s", [{"name": "gpu-0", "taints": [taint("own", None, "NoSchedule")]}]),
        rule("a", {"driver": DRIVER, "pool": "node-1", "device": "gpu-0"}, taint()),
        rule("b", {"driver": DRIVER}, taint("hot", None, "None")),
    )
    assert still_tainted(cluster, DEVICE, "a") == ("own:NoSchedule", "hot:None")
    assert still_tainted(cluster, DEVICE, "b") == ("own:NoSchedule", "example.com/xid=79:NoExecute")


class TestWaiting:
    """Gangs that wait for a device, on a node with as many as a test says."""

    def waiting(self, name: str, *, count: int = 1, tolerations: list[Document] | None = None, kind: str = "a") -> Any:
        """A gang of one pod that was refused, with the template of its claim."""
        exactly = {
            "deviceClassName": "gpu",
            "count": count,
            "tolerations": tolerations or [],
            "selectors": [{"cel": {"expression": f'device.attributes["{DRIVER}"].kind == "{kind}"'}}],
        }
        spec = {"spec": {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}}
        refused = condition(
            "PodScheduled", "False", "Unschedulable", "0/1 nodes are available: cannot allocate all claims"
        )
        return (
            make(ResourceClaimTemplate, {"metadata": meta(name), "spec": spec}),
            claim(f"{name}-c", requests=spec["spec"]["devices"]["requests"]),
            pod(
                f"{name}-0",
                group=name,
                conditions=[refused],
                spec={"resourceClaims": [{"name": "c", "resourceClaimName": f"{name}-c"}]},
            ),
            group(name, 1),
        )

    def world(self, *objects: Object, kinds: str = "a") -> Cluster:
        """A node with one device of each of the kinds: gpu-0, gpu-1, …"""
        devices = [{"name": f"gpu-{n}", "attributes": {"kind": {"string": kind}}} for n, kind in enumerate(kinds)]
        ready = {"conditions": [condition("Ready", "True")], "allocatable": {"cpu": "8", "pods": "9"}}
        return cluster_of(
            make(Node, {"metadata": meta("node-1", ""), "spec": {}, "status": ready}),
            make(DeviceClass, {"metadata": meta("gpu", ""), "spec": {}}),
            piece("s", devices, nodeName="node-1"),
            *objects,
        )

    def lost(self, cluster: Cluster, of: DeviceTaint = XID) -> list[str]:
        return [key[1] for key in blast_of_taint(cluster, DEVICE, of).pending]

    @pytest.mark.parametrize(
        ("effect", "lost"), [("NoExecute", ["w"]), ("NoSchedule", ["w"]), ("None", []), ("Sometimes", [])]
    )
    def test_a_taint_takes_a_candidate_from_those_that_wait(self, effect: str, lost: list[str]) -> None:
        cluster = self.world(*self.waiting("w", count=3), kinds="aa")
        assert self.lost(cluster, DeviceTaint(key="x", effect=effect)) == lost

    def test_devices_of_another_kind_are_no_loss(self) -> None:
        assert self.lost(self.world(*self.waiting("w", count=3, kind="b"), kinds="ab")) == []

    def test_who_tolerates_the_taint_loses_nothing(self) -> None:
        tolerant = self.waiting("w", count=3, tolerations=[{"operator": "Exists"}])
        assert self.lost(self.world(*tolerant, *self.waiting("v", count=3))) == ["v"]

    def test_a_device_that_is_tainted_already_is_no_candidate(self) -> None:
        selector = dict(zip(("driver", "pool", "device"), DEVICE, strict=True))
        other = rule("other", selector, taint("hot", None, "NoSchedule"))
        assert self.lost(self.world(*self.waiting("w", count=3), other)) == []

    def test_a_rule_that_is_changed_counts_with_its_new_effect_only(self) -> None:
        selector = dict(zip(("driver", "pool", "device"), DEVICE, strict=True))
        cluster = self.world(
            *self.waiting("w", count=3, tolerations=[{"key": "x", "operator": "Exists"}]),
            rule("mine", selector, taint("x", None, "NoSchedule")),
        )
        assert blast_of_taint(cluster, DEVICE, XID, replacing="mine").pending == (("ml", "w"),)

    def test_who_has_a_place_all_the_same_loses_nothing(self) -> None:
        """The scheduler just has not come to it again."""
        assert self.lost(self.world(*self.waiting("w"), kinds="aa")) == []
        assert self.lost(self.world(*self.waiting("w"), kinds="a")) == ["w"]

    def test_a_gang_that_was_not_tried_yet_waits_for_no_device(self) -> None:
        parts = [each for each in self.waiting("w", count=3) if not isinstance(each, Pod)]
        assert self.lost(self.world(*parts)) == []

    def test_who_is_helped_when_one_rule_goes(self) -> None:
        selector = dict(zip(("driver", "pool", "device"), DEVICE, strict=True))
        mine = rule("mine", selector, taint("x", None, "NoExecute"))
        cluster = self.world(
            *self.waiting("one"), *self.waiting("two", count=2), *self.waiting("other", kind="b"), mine, kinds="ac"
        )
        assert gangs_helped(cluster, DEVICE, "mine") == (("ml", "one"),)

    def test_nobody_is_helped_while_another_taint_stays(self) -> None:
        selector = dict(zip(("driver", "pool", "device"), DEVICE, strict=True))
        rules = [rule(name, selector, taint(name, None, "NoSchedule")) for name in ("mine", "theirs")]
        assert gangs_helped(self.world(*self.waiting("w"), *rules), DEVICE, "mine") == ()

    def test_a_rule_without_an_effect_keeps_nobody(self) -> None:
        selector = dict(zip(("driver", "pool", "device"), DEVICE, strict=True))
        only_looks = rule("mine", selector, taint("x", None, "None"))
        assert gangs_helped(self.world(*self.waiting("w", count=3), only_looks), DEVICE, "mine") == ()

    def test_what_is_asked_for_is_kept_in_step(self) -> None:
        cluster = self.world(*self.waiting("w", count=3))
        assert self.lost(cluster) == ["w"]
        parts = self.waiting("late", count=3)
        for part in parts:
            cluster.apply(added(part))
        assert self.lost(cluster) == ["late", "w"]
        cluster.apply(deleted(parts[2]))
        assert self.lost(cluster) == ["w"]

    def test_asking_leaves_the_diagnoses_as_they_are(self) -> None:
        cluster = self.world(*self.waiting("w", count=3), kinds="aa")
        before = Diagnoses(cluster).of(("ml", "w"))
        self.lost(cluster)
        assert Diagnoses(cluster).of(("ml", "w")) == before
