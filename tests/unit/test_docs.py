"""The documentation and the code say the same."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from ktui.cli import RESOURCES, parser
from ktui.cluster.devices import DeviceState
from ktui.cluster.gangs import GangState
from ktui.diagnose.diagnosis import Cause
from ktui.model.kinds import KINDS
from ktui.views.registry import VIEWS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PERFORMANCE = (ROOT / "docs/performance.md").read_text(encoding="utf-8")
JSON = (ROOT / "docs/json.md").read_text(encoding="utf-8")
WATCHED = sorted({kind for view in VIEWS.values() for kind in (*view.kinds, *view.joins)})


def _roles() -> dict[str, list[dict[str, Any]]]:
    documents = yaml.safe_load_all((ROOT / "docs/rbac.yaml").read_text(encoding="utf-8"))
    return {document["metadata"]["name"]: document["rules"] for document in documents}


def test_the_readers_role_allows_exactly_what_is_watched() -> None:
    granted = {
        (group, resource)
        for rule in _roles()["ktui-reader"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        if set(rule["verbs"]) == {"get", "list", "watch"}
    }
    assert granted == {(KINDS[kind].group, KINDS[kind].plural) for kind in WATCHED}


def test_the_readme_names_every_resource_that_is_watched() -> None:
    permissions = README[README.index("### Permissions") : README.index("### Settings")]
    for kind in WATCHED:
        assert KINDS[kind].plural in permissions, kind


def test_which_source_serves_which_views() -> None:
    for name in (name for name in WATCHED if not KINDS[name].program):
        shown = [view.id for view in VIEWS.values() if name in (*view.kinds, *view.joins) and name not in view.unseen]
        detailed = [view.id for view in VIEWS.values() if name in view.unseen]
        cells = (name, ", ".join(shown) or "–", ", ".join(detailed) or "–")
        assert re.search(r"^\| " + r" +\| ".join(map(re.escape, cells)) + r" +\|$", PERFORMANCE, re.MULTILINE), cells


@pytest.mark.parametrize("words", [GangState, Cause, DeviceState], ids=["gang states", "causes", "device states"])
def test_every_word_of_the_json_is_explained(words: Any) -> None:
    for word in get_args(words):
        assert f"`{word}`" in JSON, word


def test_every_resource_of_get_is_in_the_readme_and_in_the_json_document() -> None:
    for resource in RESOURCES:
        assert re.search(rf"\b{resource}\b", README)
        assert f"| {resource} |" in JSON


def test_every_flag_in_the_readme_exists() -> None:
    text = parser().format_help() + "".join(
        sub.format_help()
        for action in parser()._subparsers._group_actions  # type: ignore[union-attr]
        for sub in (action.choices or {}).values()  # type: ignore[union-attr]
    )
    commands = README[README.index("## Use it") : README.index("## How fast")]
    for flag in set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", commands)):
        assert flag in text, flag
