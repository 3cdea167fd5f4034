"""`ktui why` on a cluster: whichever namespaces may be read, and whichever the context names."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ktui.demo.access import Attributes

from .test_act import Ended, Shell, shell


def tenant(asked: Attributes) -> bool:
    """Whoever may read pods and claims of one namespace only."""
    return asked.resource not in ("pods", "podgroups", "resourceclaims") or asked.namespace == "lab"


def gang(server: Shell, name: str, namespace: str) -> None:
    policy = {"gang": {"minCount": 2}}
    api = server.server.api
    api.create("PodGroup", {"metadata": {"name": name, "namespace": namespace}, "spec": {"schedulingPolicy": policy}})
    spec = {"schedulingGroup": {"podGroupName": name}, "containers": [{"name": "main", "image": "i"}]}
    api.create("Pod", {"metadata": {"name": f"{name}-0", "namespace": namespace}, "spec": spec})


@pytest.fixture
async def at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Shell]:
    """The context's namespace is "ml"; the gang is elsewhere."""
    async with shell(tmp_path, capsys, monkeypatch) as found:
        gang(found, "g", "lab")
        yield found


@pytest.mark.parametrize(
    "arguments", [["lab/g"], ["g", "-n", "lab"], ["g", "-A"], ["g-0", "-A"], ["lab/g-0"]], ids=" ".join
)
async def test_a_gang_of_any_namespace(at: Shell, arguments: list[str]) -> None:
    ended = await at.run("why", *arguments, "-o", "json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    assert (found["namespace"], found["name"], found["cause"]) == ("lab", "g", "WaitingForPods")


async def test_without_a_namespace_it_is_looked_for_in_that_of_the_context(at: Shell) -> None:
    assert await at.run("why", "g") == Ended(1, "", "ktui: no gang or pod 'g' in namespace ml\n")


@pytest.mark.parametrize(("arguments", "code"), [(["g", "-n", "lab"], 0), (["lab/g"], 1)], ids=str)
async def test_who_may_read_one_namespace_is_answered_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int
) -> None:
    async with shell(tmp_path, capsys, monkeypatch, authorizer=tenant) as at:
        gang(at, "g", "lab")
        ended = await at.run("why", *arguments)
    assert ended.code == code
    assert ("1 of 2 pods exist" in ended.out) == (code == 0)
    assert code == 0 or "pods" in ended.err
