"""The cursor in a tree: it stays on its object when something comes above it, or goes."""

from __future__ import annotations

import pytest

from ktui.cluster.state import Cluster
from ktui.model.frame import Frame
from ktui.model.meta import Object
from ktui.ui.rowindex import Filter
from ktui.ui.viewmodel import ViewModel
from ktui.views.registry import VIEWS
from tests.unit import builders as b

BY_T = {"controllerRef": {"apiGroup": "example.com", "kind": "Trainer", "name": "t"}}
OF_W = {"workloadRef": {"workloadName": "w", "templateName": "t"}}
T, U = ("ml", b.TRAINER.name, "t"), ("ml", b.TRAINER.name, "u")
W, G, P = ("ml", "Workload", "w"), ("ml", "PodGroup", "g"), ("ml", "Pod", "p")
ABOVE_T = b.owner("Trainer", "u", api_version="example.com/v1")
DEVICES = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}]}
PLAIN = b.pod(
    "p",
    meta_={"ownerReferences": [b.owner("Trainer", "t", api_version="example.com/v1")]},
    spec=DEVICES,
    node="n",
)


class Screen:
    """The tree of workloads, and the cursor in it."""

    def __init__(self, *objects: Object) -> None:
        self.cluster = Cluster()
        self.model = ViewModel(VIEWS["workloads"], self.cluster)
        for obj in objects:
            self.take(b.added(obj))

    def take(self, *frames: Frame) -> None:
        for frame in frames:
            self.model.invalidate(self.cluster.apply(frame).workloads)
        while self.model.behind:
            self.model.work(lambda: False)
            self.model.locate_cursor()  # as a screen does between two slices


GROUP, POD = b.group("g", 1, spec=OF_W), b.pod("p", group="g", node="n")


@pytest.mark.parametrize(
    ("known", "at", "then", "now"),
    [
        (
            (b.workload("w"),),
            (W,),
            [b.changed("MODIFIED", b.workload("w", spec=BY_T, meta_={"resourceVersion": "9"}))],
            (T, W),
        ),
        (
            (b.workload("w", spec=BY_T), GROUP, POD),
            (T, W, G, P),
            [b.added(b.trainer("t", ABOVE_T))],
            (U, T, W, G, P),
        ),
        ((b.workload("w", spec=BY_T),), (T,), [b.added(b.trainer("t", ABOVE_T))], (U, T)),
        (
            (b.workload("w", spec=BY_T), b.trainer("t", ABOVE_T), GROUP),
            (U, T, W, G),
            [b.deleted(b.trainer("t", ABOVE_T))],
            (T, W, G),
        ),
        ((POD,), (G, P), [b.added(GROUP), b.added(b.workload("w", spec=BY_T))], (T, W, G, P)),
        ((PLAIN,), (T, P), [b.added(b.trainer("t", ABOVE_T))], (U, T, P)),
    ],
    ids=["a root", "below", "an owner", "an owner goes", "a group gets its object", "pods in no group"],
)
def test_it_stays_on_its_object(known: tuple[Object, ...], at: object, then: list[Frame], now: object) -> None:
    """Issue 6: the key of a row is the way to it, which is another one then."""
    screen = Screen(*known, b.workload("a"), b.workload("z"))
    assert screen.model.go_to(at)
    screen.take(*then)
    assert screen.model.cursor == now


def test_it_does_not_go_after_an_object_that_the_filter_hides() -> None:
    screen = Screen(b.workload("w"), b.workload("a"), b.workload("z"))
    screen.model.go_to((W,))
    screen.model.narrow(Filter(text="z"))
    screen.take(b.changed("MODIFIED", b.workload("w", spec=BY_T, meta_={"resourceVersion": "9"})))
    assert screen.model.cursor == (("ml", "Workload", "z"),)
