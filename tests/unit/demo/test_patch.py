"""Patches, by the examples of their RFCs' rules, and selectors that cannot be parsed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ktui.demo.mvcc import JSON
from ktui.demo.patch import json_patch, merge_patch
from ktui.demo.selectors import field_selector, label_selector
from ktui.demo.status import Refused

values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=2), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": 1, "b": 2}, {"a": None}, {"b": 2}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": None, "d": {"e": None}}}, {"a": {"c": 2, "d": {}}}),
        ({"a": "text"}, {"a": {"b": 1}}, {"a": {"b": 1}}),
        ([1], {"a": 1}, {"a": 1}),
        ({"a": 1}, 5, 5),
        ({}, {"a": None}, {}),
    ],
)
def test_merge_patches(target: Any, patch: Any, result: Any) -> None:
    before = copy.deepcopy(target)
    assert merge_patch(target, patch) == result
    assert target == before


@given(values, values)
def test_a_merge_patch_applied_twice_is_applied_once(target: Any, patch: Any) -> None:
    once = merge_patch(target, patch)
    assert merge_patch(once, patch) == once


@pytest.mark.parametrize(
    ("operations", "result"),
    [
        ([{"op": "add", "path": "/l/1", "value": 9}], {"l": [1, 9, 2], "m": {"k/~": 3}}),
        ([{"op": "add", "path": "/l/-", "value": 9}], {"l": [1, 2, 9], "m": {"k/~": 3}}),
        ([{"op": "remove", "path": "/l/0"}], {"l": [2], "m": {"k/~": 3}}),
        ([{"op": "replace", "path": "/m/k~1~0", "value": 4}], {"l": [1, 2], "m": {"k/~": 4}}),
        ([{"op": "move", "from": "/m", "path": "/n"}], {"l": [1, 2], "n": {"k/~": 3}}),
        ([{"op": "copy", "from": "/l/1", "path": "/m/x"}], {"l": [1, 2], "m": {"k/~": 3, "x": 2}}),
        ([{"op": "test", "path": "/l", "value": [1, 2]}, {"op": "replace", "path": "", "value": 0}], 0),
    ],
)
def test_json_patches(operations: Any, result: Any) -> None:
    document = {"l": [1, 2], "m": {"k/~": 3}}
    assert json_patch(document, operations) == result
    assert document == {"l": [1, 2], "m": {"k/~": 3}}


@pytest.mark.parametrize(
    ("operations", "code"),
    [
        ([{"op": "test", "path": "/a", "value": 2}], 422),
        ([{"op": "replace", "path": "/b", "value": 2}], 422),
        ([{"op": "remove", "path": "/l/5"}], 422),
        ([{"op": "add", "path": "/a/b/c", "value": 2}], 422),
        ([{"op": "add", "path": "a", "value": 2}], 422),
        ([{"op": "move", "path": "/a"}], 400),
        ([{"op": "explode", "path": "/a"}], 422),
        ([{"op": "add"}], 400),
        ({"a": 1}, 400),
    ],
)
def test_json_patches_that_are_refused(operations: Any, code: int) -> None:
    with pytest.raises(Refused) as caught:
        json_patch({"a": 1, "l": []}, operations)
    assert caught.value.code == code


words = st.sampled_from(["/a", "/a/0", "", "add", "remove", "replace", "test", "move", "copy"])
operation = st.dictionaries(st.sampled_from(["op", "path", "from", "value"]), values | words)


@given(st.lists(operation))
@example([{"op": "remove", "path": ""}])
def test_any_list_of_operations_gives_a_result_or_a_refusal(operations: Any) -> None:
    assert _code(lambda: json_patch({"a": [1, {"b": 2}]}, operations)) in (200, 400, 422)


@given(st.text("ab=!,() in", max_size=12))
def test_any_selector_is_parsed_or_refused(text: str) -> None:
    for parse in (label_selector, partial(field_selector, kind="Pod")):
        assert _code(partial(_select, parse, text)) in (200, 400)


def _select(parse: Callable[[str], Callable[[JSON], bool]], text: str) -> bool:
    return parse(text)({"metadata": {"labels": {"a": "b"}}})


def _code(action: Callable[[], object]) -> int:
    try:
        action()
    except Refused as refused:
        return refused.code
    return 200
