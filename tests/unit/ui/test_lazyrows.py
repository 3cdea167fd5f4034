"""Whatever happens, and whatever is asked for meanwhile: a view whose rows are made only when they are looked at shows what one
shows of which all rows are made."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from msgspec import structs

from ktui.cluster.state import Cluster
from ktui.model.frame import Changed
from ktui.model.meta import ObjectMeta
from ktui.model.pod import Container, ContainerClaim, Pod, PodClaim, Resources
from ktui.model.usage import ContainerUsage, MetricsServed, PodsReport, PodUsage, UsageMeta
from ktui.ui import ordered, viewmodel
from ktui.ui.rowindex import Filter
from ktui.ui.viewmodel import ViewModel
from ktui.views.base import Row, RowKey, search_text
from ktui.views.registry import VIEWS
from tests.ui.world import changed, everything_live, gang, phase, pod, pool

NUMBERS = st.integers(0, 11)
CLAIMING: dict[str, Any] = {
    "resource_claims": (PodClaim(name="gpu", resource_claim_name="nobody-made-it"),),
    "containers": (Container(name="main", resources=Resources(claims=(ContainerClaim(name="gpu"),))),),
}
PHASES = st.sampled_from(["Running", "Pending", "Failed", "Succeeded"])
TEXTS = st.sampled_from(["", "p-1", "RUN", "g-2 ", "failed", "node-1"])


class History(RuleBasedStateMachine):
    """Pods of gangs on nodes with devices that come, change, go and are replaced, in a view that is worked on now and then."""

    view = "pods"

    def __init__(self) -> None:
        super().__init__()
        self.version = 1
        self.cluster = Cluster()
        groups = [gang(f"g-{number}", 2) for number in range(3)]
        slices = [pool(f"node-{number}", 2, tainted=0 if number == 1 else None) for number in range(3)]
        for frame in everything_live(
            PodGroup=groups, ResourceSlice=slices, Pod=[self.pod(n, "Running") for n in range(8)]
        ):
            self.cluster.apply(frame)
        self.cluster.measure(MetricsServed("v1"))
        self.model = ViewModel(VIEWS[self.view], self.cluster)  # type: ignore[index]
        self.marked: dict[RowKey, str] = {}

    def pod(self, number: int, now: str, uid: str = "") -> Pod:
        self.version += 1
        node = f"node-{number % 3}" if now == "Running" else ""
        made = pod(f"p-{number}", gang=f"g-{number % 3}", node=node, phase=now, version=self.version, uid=uid)
        return made if number % 2 else structs.replace(made, spec=structs.replace(made.spec, **CLAIMING))

    def apply(self, frame: Changed) -> None:
        dirty = self.cluster.apply(frame)
        self.model.invalidate(getattr(dirty, self.view))

    @rule(number=NUMBERS, now=PHASES, anew=st.booleans())
    def change(self, number: int, now: str, anew: bool) -> None:
        known = self.cluster.pod(("research", f"p-{number}"))
        uid = known.metadata.uid if known is not None and not anew else f"uid-{self.version}"
        self.apply(changed("Pod", "MODIFIED", self.pod(number, now, uid)))

    @rule(number=NUMBERS)
    def delete(self, number: int) -> None:
        known = self.cluster.pod(("research", f"p-{number}"))
        if known is not None:
            self.apply(changed("Pod", "DELETED", self.pod(number, "Running", known.metadata.uid)))

    @rule(node=st.integers(0, 4), devices=st.integers(0, 3))
    def publish(self, node: int, devices: int) -> None:
        self.version += 1
        piece = pool(f"node-{node}", devices)
        meta = ObjectMeta(name=piece.name, uid=piece.metadata.uid, resource_version=str(self.version))
        self.apply(changed("ResourceSlice", "MODIFIED", type(piece)(metadata=meta, spec=piece.spec)))

    @rule(kind=st.sampled_from(["ResourceClaim", "Pod", "PodGroup"]), seen=st.booleans())
    def lose_or_find_a_source(self, kind: str, seen: bool) -> None:
        self.cluster.apply(phase(kind, "watching" if seen else "no-access"))
        self.model.reread(frozenset((kind,)))

    @rule(number=NUMBERS, cpu=st.integers(1, 900))
    def measure(self, number: int, cpu: int) -> None:
        used = ContainerUsage(name="main", usage={"cpu": f"{cpu}m", "memory": f"{1_000 - cpu}Mi"})
        meta = UsageMeta(name=f"p-{number}", namespace="research")
        self.cluster.measure(PodsReport({("research", f"p-{number}"): PodUsage(metadata=meta, containers=(used,))}))
        self.model.refigure()

    @rule(column=st.integers(0, 20), descending=st.booleans())
    def sort(self, column: int, descending: bool) -> None:
        self.model.sort_by(column % len(self.model.view.columns), descending=descending)

    @rule(text=TEXTS, problems=st.booleans(), namespace=st.sampled_from(["", "research", "nobody"]))
    def narrow(self, text: str, problems: bool, namespace: str) -> None:
        self.model.narrow(Filter(text, problems, namespace))

    @rule(slices=st.integers(1, 4))
    def work(self, slices: int) -> None:
        for _ in range(slices):
            self.model.work(lambda: False)

    @rule(position=NUMBERS)
    def look(self, position: int) -> None:
        if position < len(self.model.index):
            self.model.row(self.model.index.key_at(position))

    @rule(position=NUMBERS)
    def mark(self, position: int) -> None:
        self.finish()
        if position < len(self.model.index):
            self.model.move_to(position)
            self.model.toggle_mark()
            key = self.model.index.key_at(position)
            if self.marked.pop(key, None) is None:
                self.marked[key] = self.rows()[key].uid

    @rule()
    def finish(self) -> None:
        """All that is wanted is known: it is what all rows, made anew, sorted and filtered at once, would show."""
        self.model.work(lambda: True)
        assert not self.model.behind
        rows, index, wanted = self.rows(), self.model.index, self.model.index.filter
        column, columns = index.column, self.model.view.columns
        assert (column, index.descending) == (self.model.column, self.model.descending)

        def place(row: Row) -> tuple[bool, Any, Any]:
            value = row.sort[column]
            return (isinstance(value, str), value, row.key)

        expected = [
            row
            for row in sorted(rows.values(), key=place, reverse=index.descending)
            if wanted.text.lower() in search_text(row, columns)
            and row.problem >= wanted.problems_only
            and wanted.namespace in ("", row.namespace)
        ]
        keys = [index.key_at(position) for position in range(len(index))]
        assert keys == [row.key for row in expected]
        assert index.total == len(rows)
        assert [self.model.row(key) for key in keys] == expected
        self.marked = {key: uid for key, uid in self.marked.items() if key in rows and rows[key].uid == uid}
        assert self.model.marks == self.marked

    @invariant()
    def what_is_looked_at_is_as_it_is_now(self) -> None:
        for position in range(len(self.model.index)):
            key = self.model.index.key_at(position)
            assert self.model.row(key) == self.model.view.row(self.cluster, key)

    def rows(self) -> dict[RowKey, Row]:
        found = ((key, self.model.view.row(self.cluster, key)) for key in self.model.view.keys(self.cluster))
        return {key: row for key, row in found if row is not None}

    def teardown(self) -> None:
        self.finish()


class DevicesHistory(History):
    view = "devices"


class GangsHistory(History):
    view = "gangs"


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordered, "_BLOCK", 2)
    monkeypatch.setattr(viewmodel, "_PLACES", 2)
    monkeypatch.setattr(viewmodel, "_ROWS", 1)
    monkeypatch.setattr(viewmodel, "_KEPT_ROWS", 5)


TestPods = History.TestCase
TestDevices = DevicesHistory.TestCase
TestGangs = GangsHistory.TestCase
TestPods.settings = TestDevices.settings = TestGangs.settings = settings(
    max_examples=40, stateful_step_count=30, deadline=None
)
