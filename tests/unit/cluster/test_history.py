"""What happened to one device, from its trouble to its recovery."""

from __future__ import annotations

from typing import Any

from ktui.cluster.changes import chronicle
from ktui.cluster.history import device_history
from ktui.cluster.state import Cluster
from ktui.model.frame import Frame
from ktui.model.meta import Object
from ktui.views.registry import VIEWS
from tests.unit import builders as b

GPU = b.one_device("gpu-0")
ONE = {"driver": b.DRIVER, "pool": "node-1", "device": "gpu-0"}


def reporting(health: str | None, version: int, name: str = "p", message: str = "") -> Object:
    """A pod that has gpu-0, of which the kubelet reports this."""
    containers = [{"name": "main", "resources": {"claims": [{"name": "gpu"}]}}]
    entry = {"name": "claim:gpu", "resources": [{"resourceID": "cdi/0", "health": health, "message": message}]}
    return b.pod(
        name,
        node="node-1",
        meta_={"resourceVersion": str(version)},
        spec={"containers": containers, "resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}]},
        status={"containerStatuses": [{"name": "main", "allocatedResourcesStatus": [entry] if health else []}]},
    )


def after(*frames: Frame, pods: tuple[Object, ...] = ()) -> Cluster:
    """A state with gpu-0, a claim that has it, and these pods, after frames, one a second from 10 on."""
    held = b.claim("c", [b.result("gpu-0")], reserved=[b.pod_consumer(name) for name in ("p", "q")])
    known = (b.piece("s", ["gpu-0", "gpu-1"]), held, *pods)
    cluster = Cluster()
    first = [b.listed(kind, *(o for o in known if type(o).__name__ == kind)) for kind, _, _ in b.cluster_of().streams]
    chronicle(cluster, cluster.timeline, [(0.0, frame) for frame in first] + list(enumerate(frames, 10)))
    return cluster


def told(cluster: Cluster, device: Any = GPU) -> list[str]:
    """What happened, oldest first."""
    changes: list[str] = [change.what for change in device_history(cluster, device)]
    return changes[::-1]


def modified(obj: Object) -> Frame:
    return b.changed("MODIFIED", obj)


def test_from_monitoring_to_taint_to_recovery() -> None:
    rule = b.rule("r", ONE)
    cluster = after(
        modified(reporting("Unhealthy", 2, message="Xid 79")),
        b.added(rule),
        b.deleted(b.rule("r", ONE, meta_={"resourceVersion": "5"})),
        modified(reporting("Healthy", 6)),
        pods=(reporting("Healthy", 1),),
    )
    assert told(cluster) == ["DeviceUnhealthy", "TaintAdded", "TaintRemoved", "DeviceHealthy"]
    assert told(cluster, b.one_device("gpu-1")) == []
    sections = {section.title: section for section in VIEWS["devices"].detail(cluster, GPU, 20.0)}
    lines = ["".join(cell.text for cell in line) for line in sections["What happened"].lines]
    assert lines[0].endswith("reported healthy again, was Unhealthy")
    assert lines[-1].endswith("reported unhealthy: Xid 79")
    assert lines[-1].strip().startswith("10s")


def test_the_first_report_of_a_healthy_device_is_no_news() -> None:
    assert told(after(modified(reporting("Healthy", 2)), pods=(reporting(None, 1),))) == []
    assert told(after(modified(reporting("Unhealthy", 2)), pods=(reporting(None, 1),))) == ["DeviceUnhealthy"]


def test_two_pods_of_one_device_bring_the_same_news_once() -> None:
    cluster = after(
        modified(reporting("Unhealthy", 2)),
        modified(reporting("Unhealthy", 3, "q")),
        pods=(reporting("Healthy", 1), reporting("Healthy", 1, "q")),
    )
    assert told(cluster) == ["DeviceUnhealthy"]


def test_a_word_that_nobody_knows() -> None:
    cluster = after(modified(reporting("Sulking", 2)), pods=(reporting("Healthy", 1),))
    assert told(cluster) == ["DeviceHealthChanged"]


def test_who_got_it_and_gave_it_back() -> None:
    gone = b.claim("c", reserved=[], meta_={"resourceVersion": "9"})
    assert told(after(modified(gone))) == ["ClaimReleased"]


def test_a_rule_for_many_is_told_also_when_it_is_gone() -> None:
    rule = b.rule("all", {"driver": b.DRIVER})
    assert told(after(b.added(rule))) == ["TaintAdded"]
    gone = b.deleted(b.rule("all", {"driver": b.DRIVER}, meta_={"resourceVersion": "5"}))
    assert told(after(b.added(rule), gone)) == ["TaintAdded", "TaintRemoved"]
    assert told(after(b.added(b.rule("other", {"driver": "nic.example.com"})))) == []


def test_a_drivers_own_taint() -> None:
    tainted = b.make(
        type(b.piece("s")),
        {
            "metadata": b.meta("s", "", resourceVersion="2"),
            "spec": {
                "driver": b.DRIVER,
                "pool": {"name": "node-1", "generation": 1, "resourceSliceCount": 1},
                "devices": [{"name": "gpu-0", "taints": [b.taint()]}],
            },
        },
    )
    assert told(after(modified(tainted))) == ["TaintAdded"]
