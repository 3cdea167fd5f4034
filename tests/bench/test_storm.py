"""Storms: as many events as were asked for, each of them new, all over the fleet."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from typing import Any

from tests.bench.storm import Events, Rate


def pods(count: int) -> list[dict[str, Any]]:
    container = {"name": "train", "ready": True, "restartCount": 3, "state": {"running": {}}}
    return [
        {
            "metadata": {"name": f"pod-{number}", "uid": str(number), "resourceVersion": "5"},
            "spec": {"nodeName": "n"},
            "status": {"phase": "Running", "containerStatuses": [container]},
        }
        for number in range(count)
    ]


def taken(events: Events, *counts: int) -> list[dict[str, Any]]:
    lines = b"".join(events.take(count) for count in counts).splitlines()
    return [json.loads(line) for line in lines]


def test_each_event_is_a_change_of_a_whole_pod_with_a_version_of_its_own() -> None:
    events = Events(pods(10), version=100)
    found = taken(events, 7, 0, 13)
    assert events.sent == 20
    assert [int(event["object"]["metadata"]["resourceVersion"]) for event in found] == list(range(101, 121))
    assert {event["type"] for event in found} == {"MODIFIED"}
    assert all(event["object"]["kind"] == "Pod" and event["object"]["spec"] == {"nodeName": "n"} for event in found)


def test_every_pod_has_its_turn_and_its_neighbours_do_not_follow_it() -> None:
    found = [event["object"]["metadata"]["name"] for event in taken(Events(pods(1_000), version=1), 2_000)]
    assert set(Counter(found).values()) == {2}
    assert all(abs(int(a.split("-")[1]) - int(b.split("-")[1])) > 1 for a, b in pairwise(found))


def test_a_pod_is_restarted_and_comes_back_by_turns_and_some_of_them_crash() -> None:
    found = taken(Events(pods(40), version=1), 120)
    restarts = [e["object"]["status"]["containerStatuses"][0]["restartCount"] for e in found]
    assert restarts == [4] * 40 + [3] * 40 + [4] * 40
    crashing = {e["object"]["metadata"]["name"] for e in found if "CrashLoopBackOff" in json.dumps(e)}
    assert crashing == {"pod-0", "pod-20"}


def test_what_is_due_follows_the_clock() -> None:
    now = 64.0
    rate = Rate(1_000, lambda: now)
    assert rate.due() == 0
    now += 0.125
    assert rate.due() == 125
    assert rate.due() == 0
    now += 0.0009
    assert rate.due() == 0
    now += 0.0009
    assert rate.due() == 1


def test_what_a_slow_client_did_not_take_comes_later_in_pieces() -> None:
    now = 0.0
    rate = Rate(5_000, lambda: now)
    now += 1.0
    assert [rate.due() for _ in range(26)] == [200] * 25 + [0]
