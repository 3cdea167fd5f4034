"""Why something waits, as data and as lines."""

from __future__ import annotations

import pytest

from ktui.cluster.state import Cluster
from ktui.diagnose.account import Account, Asked
from ktui.diagnose.diagnosis import Diagnosis, Evidence, Funnel
from ktui.diagnose.losses import BrokenPool, Holder, Losses, Taint
from ktui.views import why
from ktui.views.registry import VIEWS
from tests.recordings import cluster_at
from tests.unit import builders as b

SUBJECT = why.Subject("gang", ("ml", "g"), "ml/g")
FUNNEL = Funnel(10, 8, 8, 6, 5, 3, 2, 4)
NOTHING_LOST = Losses()
ASKED = Asked("gpu", (), ("the same numaNode",), 2, 2)


def shown(account: Account, cluster: Cluster | None = None, *, bar: str = "") -> list[str]:
    found = why.lines(cluster or b.cluster_of(), SUBJECT, account, 1000.0, bar=bar, width=10)
    return ["".join(cell.text for cell in line).rstrip() for line in found]


def waiting(funnel: Funnel | None = FUNNEL, lost: Losses = NOTHING_LOST, unknown: str = "") -> Account:
    return Account(Diagnosis("Pending", "NotEnoughDevices", "too few", {}, (), funnel), ASKED, lost, unknown)


def line(lines: list[str], label: str) -> str:
    return next(line for line in lines if line.startswith(label))


def test_what_is_lost_stands_at_its_step() -> None:
    devices = tuple(("drv", "p", f"d{number}") for number in range(5))
    holders = tuple((Holder("PodGroup", ("ml", name), f"ml/{name}"), 1) for name in "abcde")
    pools = ((BrokenPool(("drv", "half"), "incomplete", "1 of 2 slices"), 2),)
    lost = Losses(pools, ((Taint("k:NoExecute", "r"), devices), (Taint("x:NoSchedule", ""), devices[:1])), holders, 3)
    lines = shown(waiting(lost=lost))
    assert "− 2  half: 1 of 2 slices" in line(lines, "pool complete")
    assert "− 5  p/d0, p/d1, p/d2, 2 more k:NoExecute (rule r)" in line(lines, "not tainted")
    assert any("− 1  p/d0 x:NoSchedule (by the driver, who alone can take it away)" in text for text in lines)
    at = lines.index(line(lines, "free"))
    assert [text.split("  ")[-1].strip() for text in lines[at : at + 4]] == ["ml/a", "ml/b", "ml/c", "and 3 more"]


def test_the_first_step_that_is_short_is_where_it_stops() -> None:
    assert [text.split("  ")[0] for text in shown(waiting()) if "stops here" in text] == ["free"]
    enough = Funnel(10, 8, 8, 6, 5, 5, 5, 4)
    assert not [text for text in shown(waiting(enough)) if "stops here" in text]


def test_a_step_that_cannot_be_told_says_why() -> None:
    lines = shown(waiting(Funnel(10, 8, None, None, None, None, None, 4), unknown="a selector cannot be evaluated"))
    assert line(lines, "match").split("  ")[-1] == "a selector cannot be evaluated"
    assert line(lines, "match").split()[1] == "?"
    shared = shown(waiting(Funnel(10, 8, 8, 6, 5, 4, None, 4)))
    assert "devices" in line(shared, "usable together")


@pytest.mark.parametrize(("count", "cells"), [(10, 10), (8, 8), (1, 1), (0, 0)])
def test_bars_are_in_proportion_and_something_is_drawn_for_whatever_is_there(count: int, cells: int) -> None:
    funnel = Funnel(10, count, 0, 0, 0, 0, 0, 4)
    assert line(shown(waiting(funnel), bar="#"), "in the class").count("#") == cells
    few = Funnel(1000, 1, 0, 0, 0, 0, 0, 4)
    assert line(shown(waiting(few), bar="#"), "in the class").count("#") == 1


def test_what_is_needed_is_said_as_pods_times_devices_only_where_that_is_so() -> None:
    assert line(shown(waiting()), "needed").split() == ["needed", "4", "2", "pods", "×", "2"]
    uneven = Account(waiting().diagnosis, ASKED._replace(each=1))
    assert line(shown(uneven), "needed").split() == ["needed", "4", "by", "2", "pods"]


def test_the_schedulers_words_come_with_their_age_and_are_not_evidence_twice() -> None:
    said = Evidence("Pod", "ml", "g-0", "0/1 nodes are available.", 940.0, said=True)
    other = Evidence("Node", "", "n", "is cordoned", 400.0)
    lines = shown(Account(Diagnosis("Pending", "NodeConstraints", "no node", {}, (said, other), None, ("uncordon n",))))
    assert lines[0:3] == ["gang ml/g", "no node", "Pending · NodeConstraints · tried 60s ago"]
    assert lines[-5:] == [
        "scheduler says  0/1 nodes are available.  g-0 · 60s ago",
        "",
        "would help      uncordon n",
        "",
        "evidence        Node n: is cordoned · 10m",
    ]


@pytest.mark.parametrize("kind", ["Pod", "PodGroup", "ResourceClaim", "DeviceTaintRule", "ResourceSlice", "Node"])
def test_evidence_leads_to_a_row_that_is_there(kind: str) -> None:
    cluster, now = cluster_at("pending", 18)
    for namespace, name in cluster.stores[kind].objects:
        place = why.target(cluster, Evidence(kind, namespace, name, ""))
        assert place is not None
        view, key = place
        assert VIEWS[view].row(cluster, key) is not None
        assert VIEWS[view].detail(cluster, key, now)


@pytest.mark.parametrize(
    ("kind", "name"), [("DeviceClass", "gpu"), ("Job", "j"), ("Node", "gone"), ("ResourceSlice", "gone")]
)
def test_evidence_that_no_view_shows_leads_nowhere(kind: str, name: str) -> None:
    assert why.target(b.cluster_of(), Evidence(kind, "", name, "")) is None


def test_the_detail_of_a_pod_says_why_it_waits() -> None:
    alone, member = b.pod("a"), b.pod("m", group="g")
    cluster = b.cluster_of(alone, member, b.group("g", 2))

    def waits(name: str) -> list[str]:
        sections = VIEWS["pods"].detail(cluster, ("ml", name), 0.0)
        return ["".join(c.text for c in text) for s in sections if s.title == "Why it waits" for text in s.lines]

    assert waits("a") == ["queued, no attempt recorded yet", "Queued"]
    assert waits("m") == ["with its gang: 1 of 2 pods exist"]
    placed = b.pod("p", node="n")
    cluster.apply(b.added(placed))
    assert waits("p") == []
