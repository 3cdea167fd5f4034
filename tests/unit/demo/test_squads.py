"""A large fleet rests: written when asked for, looked at by the controllers when something of it changes."""

from __future__ import annotations

from itertools import islice

import msgspec
import pytest

from ktui.demo.fleet import Fleet
from ktui.demo.ledger import Ledger
from ktui.demo.mvcc import JSON, Database, Lazy
from ktui.demo.objects import DRIVER, controller_uid
from ktui.demo.squads import PODS, Squad
from ktui.model.decode import decode_list
from ktui.model.kinds import KINDS


@pytest.fixture
def filled() -> tuple[Database, list[Squad]]:
    database = Database()
    return database, Fleet(database, 3 * PODS).fill()


def of_squad(database: Database, kind: str) -> list[JSON]:
    return [obj for key, obj in database.objects(kind).items() if key not in database.active(kind)]


def test_there_are_as_many_pods_as_were_asked_for(filled: tuple[Database, list[Squad]]) -> None:
    database, squads = filled
    assert 3 * PODS <= len(database.objects("Pod")) < 4 * PODS
    assert len(of_squad(database, "Pod")) == PODS * len(squads)


def test_its_objects_fit_together(filled: tuple[Database, list[Squad]]) -> None:
    database, _ = filled
    everything = [obj for kind in KINDS for obj in database.objects(kind).values()]
    uids = [obj["metadata"]["uid"] for obj in everything]
    assert len(set(uids)) == len(uids)
    pods = {pod["metadata"]["uid"]: pod for pod in of_squad(database, "Pod")}
    jobs = {job["metadata"]["uid"] for job in of_squad(database, "Job")}
    claims = of_squad(database, "ResourceClaim")
    assert {controller_uid(pod) for pod in pods.values()} == jobs
    used = set()
    for claim in claims:
        pod = pods[controller_uid(claim)]
        (result,) = claim["status"]["allocation"]["devices"]["results"]
        assert claim["status"]["reservedFor"][0]["uid"] == pod["metadata"]["uid"]
        assert pod["status"]["resourceClaimStatuses"][0]["resourceClaimName"] == claim["metadata"]["name"]
        assert result["pool"] == pod["spec"]["nodeName"]
        used.add((result["driver"], result["pool"], result["device"]))
    published = {
        (DRIVER, each["spec"]["pool"]["name"], device["name"])
        for each in of_squad(database, "ResourceSlice")
        for device in each["spec"]["devices"]
    }
    assert used == published


def test_nothing_is_left_blank_and_ktui_reads_it(filled: tuple[Database, list[Squad]]) -> None:
    database, squads = filled
    for kind, laid in squads[0].laid():
        written = [each.encoded() for each in laid.values()]
        assert not any(b"@" in each for each in written)
        page = msgspec.json.encode({"metadata": {"resourceVersion": "2"}, "items": list(map(msgspec.Raw, written))})
        read = decode_list(KINDS[kind], KINDS[kind].versions[0], page).items
        assert [obj.key for obj in read] == list(laid)
        assert {obj["metadata"]["resourceVersion"] for obj in map(msgspec.json.decode, written)} <= {
            str(number) for number in range(database.revision + 1)
        }


def test_the_ledger_answers_for_what_rests_as_if_it_did_not(filled: tuple[Database, list[Squad]]) -> None:
    database, squads = filled
    plain = Ledger(database)
    for pod in islice(of_squad(database, "Pod"), 0, None, 7):
        resting = Ledger(database, squads)
        group = (pod["metadata"]["namespace"], pod["spec"]["schedulingGroup"]["podGroupName"])
        assert resting.members[group] == plain.members[group]
        node = pod["spec"]["nodeName"]
        assert Ledger(database, squads).on_node[node] == plain.on_node[node]
        job = controller_uid(pod)
        assert Ledger(database, squads).pods_of[job] == plain.pods_of[job]
        device = (DRIVER, node, "gpu-3")
        assert Ledger(database, squads).holders[device] == plain.holders[device]
        assert Ledger(database, squads).device(device) == plain.device(device)
    rule = {"deviceSelector": {"driver": DRIVER}}
    assert Ledger(database, squads).published(rule) == plain.published(rule)
    rooms = {room.node for room in Ledger(database, squads).rooms(with_devices=True)}
    assert rooms == {room.node for room in plain.rooms(with_devices=True)}


def test_a_change_wakes_what_belongs_to_it(filled: tuple[Database, list[Squad]]) -> None:
    database, squads = filled
    ledger = Ledger(database, squads)
    pod = of_squad(database, "Pod")[0]
    key = (pod["metadata"]["namespace"], pod["metadata"]["name"])
    last = database.remove("Pod", key)
    ledger.record("Pod", key, last, None)
    assert len(ledger.pods_of[controller_uid(pod)]) == PODS - 1
    assert key not in ledger.on_node[pod["spec"]["nodeName"]]


def test_past_content_holds_what_was_laid(filled: tuple[Database, list[Squad]]) -> None:
    database, _ = filled
    key, stored = next((key, each) for key, each in database.stored("Pod").items() if isinstance(each, Lazy))
    before, revision = database.snapshot("Pod"), database.revision
    changed = database.put("Pod", key, {**before[key], "spec": {}})
    assert database.get("Pod", key) == changed
    database.remove("Pod", key)
    assert key not in database.objects("Pod")
    assert database.snapshot("Pod", revision) == before
    assert msgspec.json.decode(stored.encoded()) == before[key]
