"""Rows made for tests of the table and of its order."""

from __future__ import annotations

from ktui.views.base import Cell, Column, Row

COLUMNS = (
    Column(id="namespace", title="NAMESPACE", width=9, weight=1, priority=2, kind="text"),
    Column(id="name", title="NAME", width=10, weight=3, priority=9, kind="text"),
    Column(id="state", title="STATE", width=8, weight=0, priority=8, kind="text"),
    Column(id="pods", title="PODS", width=4, weight=0, priority=5, kind="number"),
    Column(id="age", title="AGE", width=5, weight=0, priority=3, kind="age"),
)


def make_row(
    name: str,
    pods: int = 0,
    *,
    problem: bool = False,
    uid: str = "",
    namespace: str = "ml",
    since: float | None = None,
    part: int = 0,
) -> Row:
    state = Cell("Pending", "warn") if problem else Cell("Running", "ok")
    return Row(
        key=(namespace, name),
        uid=uid or f"uid-{namespace}-{name}",
        cells=(Cell(namespace, "dim"), Cell(name), state, Cell(str(pods)), Cell("")),
        sort=(namespace, name, state.text, pods, since or 0.0),
        since=since,
        problem=problem,
        namespace=namespace,
        part=part,
    )
