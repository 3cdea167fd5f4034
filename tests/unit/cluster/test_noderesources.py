"""What pods request and what nodes have left, as the scheduler counts both."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import convert, json, structs

from ktui.cluster.noderesources import effective_requests, fits, free_on, spec_limits, spec_requests
from ktui.model.node import Node
from ktui.model.pod import Pod, PodStatus
from tests.unit import builders as b

Requests = dict[str, str | int]


def box(name: str, requests: Requests | None = None, **more: Any) -> b.Document:
    return {"name": name, "resources": {"requests": requests or {}}, **more}


def sidecar(name: str, requests: Requests) -> b.Document:
    return box(name, requests, restartPolicy="Always")


def asking(*containers: b.Document, init: tuple[b.Document, ...] = (), **more: Any) -> Pod:
    spec = {"containers": list(containers), "initContainers": list(init), **more.pop("spec", {})}
    return b.pod("p", spec=spec, **more)


def resized(name: str, allocated: Requests | None = None, applied: Requests | None = None) -> b.Document:
    return {
        "name": name,
        "allocatedResources": allocated,
        "resources": {"requests": applied} if applied is not None else None,
    }


def cpu(pod: Pod) -> int:
    return effective_requests(pod).get("cpu", 0)


@pytest.mark.parametrize(
    ("requests", "counted"),
    [
        ({}, {}),
        ({"cpu": "500m", "memory": "1Ki"}, {"cpu": 500, "memory": 1024}),
        ({"cpu": 2, "example.com/gpu": "4"}, {"cpu": 2000, "example.com/gpu": 4}),
        ({"cpu": "0.1", "memory": "1500m"}, {"cpu": 100, "memory": 2}),
        ({"cpu": "1u"}, {"cpu": 1}),
        ({"cpu": "much", "hugepages-2Mi": "4Mi"}, {"cpu": 0, "hugepages-2Mi": 4 * 1024**2}),
    ],
)
def test_amounts_are_whole_numbers(requests: Requests, counted: dict[str, int]) -> None:
    assert effective_requests(asking(box("m", requests))) == {**counted, "pods": 1}


def test_containers_add_up_and_init_containers_run_one_after_the_other() -> None:
    pod = asking(box("a", {"cpu": 1}), box("b", {"cpu": 2}), init=(box("i", {"cpu": 2}), box("j", {"cpu": "2500m"})))
    assert cpu(pod) == 3000
    assert cpu(asking(box("a", {"cpu": 1}), init=(box("i", {"cpu": 2}), box("j", {"cpu": 4})))) == 4000


def test_sidecars_count_beside_all_that_starts_after_them() -> None:
    """KEP-753: an init container runs beside the sidecars before it, not beside those after it."""
    before = asking(box("a", {"cpu": 1}), init=(sidecar("s", {"cpu": 1}), box("i", {"cpu": 5})))
    after = asking(box("a", {"cpu": 1}), init=(box("i", {"cpu": 5}), sidecar("s", {"cpu": 1})))
    assert (cpu(before), cpu(after)) == (6000, 5000)
    assert cpu(asking(box("a", {"cpu": 5}), init=(sidecar("s", {"cpu": 1}), sidecar("t", {"cpu": 1})))) == 7000


def test_what_the_pod_asks_for_as_a_whole_replaces_the_sum() -> None:
    """KEP-2837: cpu, memory and huge pages only; overhead comes on top."""
    whole = {"requests": {"cpu": 4, "example.com/gpu": 9}}
    pod = asking(
        box("a", {"cpu": 1, "memory": 8, "example.com/gpu": 1}),
        spec={"resources": whole, "overhead": {"cpu": "250m", "memory": 1}},
    )
    assert effective_requests(pod) == {"cpu": 4250, "memory": 9, "example.com/gpu": 1, "pods": 1}


@pytest.mark.parametrize(
    ("allocated", "applied", "condition", "counted"),
    [
        pytest.param(None, None, None, 2000, id="the kubelet has not reported"),
        pytest.param({"cpu": 1}, {"cpu": 1}, None, 2000, id="growing"),
        pytest.param({"cpu": 3}, {"cpu": 3}, None, 3000, id="shrinking"),
        pytest.param({"cpu": 1}, {"cpu": 4}, ("PodResizeInProgress", ""), 4000, id="not yet applied"),
        pytest.param({"cpu": 1}, {"cpu": 1}, ("PodResizePending", "Deferred"), 2000, id="deferred"),
        pytest.param({"cpu": 1}, {"cpu": 1}, ("PodResizePending", "Infeasible"), 1000, id="asked for in vain"),
        pytest.param(None, {"cpu": 1}, None, 2000, id="only what is applied is known"),
    ],
)
def test_during_a_resize_the_most_counts(
    allocated: Requests | None, applied: Requests | None, condition: tuple[str, str] | None, counted: int
) -> None:
    """KEP-1287."""
    conditions = [b.condition(condition[0], "True", condition[1])] if condition else []
    pod = asking(
        box("a", {"cpu": 2}),
        node="n",
        conditions=conditions,
        status={"containerStatuses": [resized("a", allocated, applied)]},
    )
    assert cpu(pod) == counted


@pytest.mark.parametrize(
    ("spec", "status", "counted"),
    [
        pytest.param({}, {"allocatedResources": {"cpu": 5}, "resources": {"requests": {"cpu": 3}}}, 5000, id="sums"),
        pytest.param({"cpu": 4}, {"resources": {"requests": {"cpu": 6}}}, 6000, id="shrinking as a whole"),
        pytest.param({"cpu": 4}, {"allocatedResources": {"cpu": 9}}, 4000, id="nothing applied"),
    ],
)
def test_resizing_a_pod_as_a_whole(spec: Requests, status: b.Document, counted: int) -> None:
    containers = {"containerStatuses": [resized("a", {"cpu": 1}, {"cpu": 1})]}
    whole = {"resources": {"requests": spec}} if spec else {}
    pod = asking(box("a", {"cpu": 2}), node="n", spec=whole, status={**containers, **status})
    assert cpu(pod) == counted


def test_what_the_kubelet_only_repeats_is_not_kept() -> None:
    """It would be most of a pod's memory: two mappings a container, and their sums."""
    requests: Requests = {"cpu": "2", "memory": "4Gi"}
    same = {"containerStatuses": [resized("a", requests, requests)], "allocatedResources": {"cpu": "2"}}
    pod = asking(box("a", requests), node="n", status=same)
    (report,) = pod.status.container_statuses or ()
    assert (report.allocated_resources, report.resources, pod.status.allocated_resources) == (None, None, None)
    resizing = asking(
        box("a", requests), node="n", status=same, conditions=[b.condition("PodResizePending", "True", "Infeasible")]
    )
    (report,) = resizing.status.container_statuses or ()
    assert report.allocated_resources == requests


def test_limits_are_kept_where_they_differ() -> None:
    def limited(applied: str) -> Pod:
        main = {"name": "a", "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "4"}}}
        said = {"name": "a", "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": applied}}}
        return asking(main, node="n", status={"containerStatuses": [said]})

    (same,), (other,) = (limited(applied).status.container_statuses or () for applied in ("4", "2"))
    assert same.resources is None
    assert other.resources is not None
    assert other.resources.limits == {"cpu": "2"}


def test_the_spec_alone() -> None:
    """What the status says is left out; limits, where overhead has one to raise."""
    limits = {"limits": {"memory": 8, "example.com/gpu": 1}}
    main = {"name": "a", "resources": {"requests": {"cpu": 1, "memory": 4}, **limits}}
    pod = asking(
        main,
        init=(sidecar("s", {"cpu": 1}),),
        spec={"overhead": {"cpu": 1, "memory": 2}},
        status={"containerStatuses": [resized("a", {"cpu": 9}, {"cpu": 9})]},
    )
    assert spec_requests(pod) == {"cpu": 3000, "memory": 6}
    assert spec_limits(pod) == {"memory": 10, "example.com/gpu": 1}
    whole = asking(main, spec={"resources": {"requests": {"cpu": 5}, "limits": {"memory": 64, "example.com/gpu": 7}}})
    assert spec_requests(whole) == {"cpu": 5000, "memory": 4}
    assert spec_limits(whole) == {"memory": 64, "example.com/gpu": 1}


def test_sums_with_overhead_in_them_are_kept() -> None:
    """The scheduler of 1.37.2 adds overhead to sums in which the kubelet has it already."""
    said = {"allocatedResources": {"cpu": "3"}, "resources": {"requests": {"cpu": "2"}}}
    status = {"containerStatuses": [resized("a", {"cpu": "2"}, {"cpu": "2"})], **said}
    pod = asking(box("a", {"cpu": "2"}), node="n", spec={"overhead": {"cpu": "1"}}, status=status)
    assert cpu(pod) == 4000


amounts = st.dictionaries(st.sampled_from(("cpu", "memory")), st.sampled_from(("1", "2")))
reports = st.lists(st.builds(resized, st.sampled_from(("a", "b", "i", "s")), amounts, amounts), max_size=4)


@given(
    st.tuples(amounts, amounts, amounts, amounts),
    reports,
    st.booleans(),
    st.sampled_from((None, "Deferred", "Infeasible")),
)
def test_what_is_not_kept_changes_no_request(
    requests: tuple[Requests, ...], said: list[b.Document], mirrored: bool, pending: str | None
) -> None:
    a, b_, i, s = requests
    if mirrored:
        said = [resized(name, dict(r), dict(r)) for name, r in zip("abis", requests, strict=True)]
    status: b.Document = {
        "phase": "Running",
        "containerStatuses": said,
        "conditions": [b.condition("PodResizePending", "True", pending)] if pending else [],
    }
    pod = asking(box("a", a), box("b", b_), init=(box("i", i), sidecar("s", s)), node="n", status=status)
    whole = convert(json.decode(json.encode(pod)), Pod)
    assert whole == pod
    structs.force_setattr(whole, "status", convert(status, PodStatus))
    assert effective_requests(pod) == effective_requests(whole)
    assert not (mirrored and not pending and pod.status.says_requests)


def node(name: str, **allocatable: str) -> Node:
    return b.make(Node, {"metadata": b.meta(name, ""), "status": {"allocatable": allocatable}})


def placed(name: str, on: str, requests: Requests, **more: Any) -> Pod:
    return b.pod(name, node=on, spec={"containers": [box("m", requests)]}, **more)


def test_a_node_has_left_what_its_active_pods_do_not_request() -> None:
    cluster = b.cluster_of(
        node("n1", cpu="8", memory="1Ki", pods="3"),
        node("n2", cpu="8", pods="3"),
        placed("a", "n1", {"cpu": 3, "memory": 24}),
        placed("b", "n1", {"cpu": "1500m", "example.com/gpu": 1}),
        placed("done", "n1", {"cpu": 2}, phase="Succeeded"),
        placed("broken", "n1", {"cpu": 2}, phase="Failed"),
        placed("leaving", "n1", {"cpu": 1}, meta_={"deletionTimestamp": "2026-11-30T05:55:00Z"}),
        b.pod("waiting", spec={"containers": [box("m", {"cpu": 1})]}),
    )
    assert free_on(cluster, "n1") == {"cpu": 2500, "memory": 1000, "pods": 0}
    assert free_on(cluster, "n2") == {"cpu": 8000, "pods": 3}
    assert free_on(cluster, "n3") == {}


def test_what_is_left_follows_every_change() -> None:
    cluster = b.cluster_of(node("n1", cpu="8", pods="9"), placed("a", "n1", {"cpu": 3}))
    assert free_on(cluster, "n1")["cpu"] == 5000
    newer = {"resourceVersion": "2"}
    cluster.apply(b.changed("MODIFIED", placed("a", "n1", {"cpu": 3}, phase="Succeeded", meta_=newer)))
    assert free_on(cluster, "n1")["cpu"] == 8000
    cluster.apply(b.added(placed("c", "n1", {"cpu": 9})))
    assert free_on(cluster, "n1")["cpu"] == -1000
    bigger = b.make(
        Node, {"metadata": b.meta("n1", "", **newer), "status": {"allocatable": {"cpu": "10", "pods": "9"}}}
    )
    cluster.apply(b.changed("MODIFIED", bigger))
    assert free_on(cluster, "n1")["cpu"] == 1000
    cluster.apply(b.deleted(bigger))
    assert free_on(cluster, "n1") == {}


def test_a_resource_that_the_node_has_none_of_is_not_named() -> None:
    cluster = b.cluster_of(b.make(Node, {"metadata": b.meta("n", ""), "status": {"allocatable": {"x.example/y": "0"}}}))
    assert free_on(cluster, "n") == {}


def test_fits_names_what_is_short() -> None:
    free = {"cpu": 1000, "memory": 10, "pods": 1}
    assert fits({"cpu": 1000, "memory": 10, "pods": 1}, free) == ()
    assert fits({"cpu": 1001, "memory": 10, "example.com/gpu": 1, "pods": 1}, free) == ("cpu", "example.com/gpu")
    assert fits({"cpu": 0, "pods": 1}, {"cpu": -5}) == ("pods",)
