"""Before a NoExecute taint, the screens list exactly the pods that the real eviction controller then deletes.

Every set-up is there at the same time, each in a namespace and on a node of its own. A person at the screens goes from device to
device, reads the list in the dialog, and confirms; afterwards the lists are held against what became of the pods.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from ktui.actions.taint import rule_name
from ktui.model.resourceslice import DeviceId
from tests.cluster.controlplane.api import Api, Json, wait_for
from tests.cluster.controlplane.cluster import ControlPlane
from tests.scenarios.definitions import EVICTIONS
from tests.scenarios.eviction import KEY, VALUE, Eviction, prepare_all
from tests.scenarios.stage import Stage
from tests.terminal.screen import Screen

RULES = "/apis/resource.k8s.io/v1/devicetaintrules"
NOT_HERE = {"no-schedule": "it is about another effect"}
SETUPS = [eviction for name, eviction in EVICTIONS.items() if name not in NOT_HERE]


class SetUp(NamedTuple):
    eviction: Eviction
    stage: Stage
    device: DeviceId
    pods: dict[str, str]  # uid → name, of those that are not on their way out before the taint

    @property
    def rule(self) -> str:
        return f"{RULES}/{rule_name(self.device, KEY)}"


@pytest.fixture
def setups(real_cluster: ControlPlane) -> Iterator[list[SetUp]]:
    """All of them, ready for the taint; afterwards the cluster is as it was."""
    staged = [(Stage(real_cluster, eviction.namespace), eviction) for eviction in SETUPS]
    api = real_cluster.api()
    try:
        devices = prepare_all(staged)
        yield [
            SetUp(eviction, stage, device, {p["metadata"]["uid"]: p["metadata"]["name"] for p in stage.pods()})
            for (stage, eviction), device in zip(staged, devices, strict=True)
        ]
    finally:
        for rule in api.list(RULES):
            if rule["metadata"]["name"].startswith("ktui-"):
                api.delete(f"{RULES}/{rule['metadata']['name']}")
        for stage, _ in staged:
            stage.clear()
            api.delete(f"/api/v1/namespaces/{stage.namespace}")


class Person:
    """At the screens of the real cluster, in the view of the devices."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        screen.see(r"live (\d+) of \1\b")
        screen.press("3")

    def taint(self, device: DeviceId, row: int, of: int) -> None:
        """From the list of devices to the dialog; the device is in a row of those of its driver."""
        where = re.escape("/".join(device))
        self._screen.press("/", device[0], "enter")
        self._screen.see(rf"\b{of} of \d+")
        self._screen.press("g", "j" * row, "T")
        self._screen.see(f"Taint {where}")
        self._screen.press(KEY, "tab", VALUE, "tab", "down", "enter")
        self._screen.see("server dry run +accepted")

    def listed(self, namespace: str) -> dict[str, int]:
        """The pods that the dialog lists, and after how many seconds each goes."""
        lines = (
            re.fullmatch(rf"\W*{namespace}/(\S+?)(?:  after (\d+)s)?(?:  of \S+)?\W*", t)
            for t in self._screen.text.splitlines()
        )
        return {line[1]: int(line[2] or 0) for line in lines if line is not None}

    def confirm(self) -> None:
        """As the dialog asks for it: with the words it wants to be typed, or with a yes."""
        asked = re.search(r"type  (\S+)  to confirm", self._screen.text)
        if asked:
            self._screen.press(asked[1], "enter")
            self._screen.see("enter again")
        self._screen.press("enter" if asked else "y")
        self._screen.gone("server dry run")

    def back(self) -> None:
        """To all devices."""
        self._screen.press("esc")
        self._screen.gone("· filter")


def test_a03_the_list_in_the_dialog_is_the_list_of_those_that_go(
    setups: list[SetUp], real_cluster: ControlPlane, tmp_path: Path
) -> None:
    api = real_cluster.api()
    assert len(setups) >= 10
    shown: dict[str, dict[str, int]] = {}
    with Screen("--kubeconfig", str(real_cluster.kubeconfig), "-A", home=tmp_path, size=(150, 50)) as screen:
        person = Person(screen)
        for setup in setups:
            devices = _devices(api, setup.device[0])
            person.taint(setup.device, devices.index(setup.device), len(devices))
            shown[setup.eviction.name] = person.listed(setup.stage.namespace)
            person.confirm()
            wait_for(partial(_stored, api, setup.rule), "the taint to be stored")
            person.back()
    assert shown == {setup.eviction.name: dict(setup.eviction.evicted) for setup in setups}

    gone = {setup.eviction.name: _evicted(api, setup) for setup in setups}
    assert gone == {name: set(pods) for name, pods in shown.items()}


def _devices(api: Api, driver: str) -> list[DeviceId]:
    """All that the driver publishes, in the order of the screen."""
    slices = [s["spec"] for s in api.list("/apis/resource.k8s.io/v1/resourceslices") if s["spec"]["driver"] == driver]
    return sorted((driver, s["pool"]["name"], device["name"]) for s in slices for device in s["devices"])


def _stored(api: Api, path: str) -> bool:
    return any(path.endswith(rule["metadata"]["name"]) for rule in api.list(RULES))


def _evicted(api: Api, setup: SetUp) -> set[str]:
    """The pods that went until the eviction controller said that none is left."""

    def over() -> bool:
        reason = _reason(api.get(setup.rule))
        return reason == ("Completed" if setup.eviction.evicted else "NotStarted")

    wait_for(over, f"the eviction controller to be done with {setup.eviction.name}", limit=90)
    left = {pod["metadata"]["uid"] for pod in setup.stage.pods()}
    return {name for uid, name in setup.pods.items() if uid not in left}


def _reason(rule: Json) -> str:
    return next((str(c["reason"]) for c in rule.get("status", {}).get("conditions", [])), "")
