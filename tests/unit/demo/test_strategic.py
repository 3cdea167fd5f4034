"""Strategic merge patches: lists that are merged by a key, sets, directives, and the order of what comes out."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.demo.mvcc import JSON
from ktui.demo.status import Refused
from ktui.demo.strategic import strategic_merge_patch

CONTAINERS: list[JSON] = [{"name": "a", "image": "1"}, {"name": "b", "image": "1"}]
POD: JSON = {"finalizers": ["x", "y"], "containers": CONTAINERS, "args": [1, 2], "labels": {"k": "v"}, "n": 1}


@pytest.mark.parametrize(
    ("patch", "changed"),
    [
        ({}, {}),
        ({"n": 2, "labels": {"l": "w"}}, {"n": 2, "labels": {"k": "v", "l": "w"}}),
        ({"n": None}, {"n": None}),
        ({"args": [3]}, {"args": [3]}),
        ({"labels": {"$patch": "replace", "l": "w"}}, {"labels": {"l": "w"}}),
        ({"labels": {"$patch": "delete"}}, {"labels": {}}),
        ({"labels": {"$retainKeys": ["l"], "l": "w"}}, {"labels": {"l": "w"}}),
        ({"finalizers": ["z"]}, {"finalizers": ["z", "x", "y"]}),
        ({"finalizers": ["y", "z"]}, {"finalizers": ["x", "y", "z"]}),
        ({"$deleteFromPrimitiveList/finalizers": ["x"]}, {"finalizers": ["y"]}),
        ({"$setElementOrder/finalizers": ["y", "x"]}, {"finalizers": ["y", "x"]}),
        ({"containers": [{"name": "b", "image": "2"}]}, {"containers": [CONTAINERS[0], {"name": "b", "image": "2"}]}),
        ({"containers": [{"name": "c"}]}, {"containers": [{"name": "c"}, *CONTAINERS]}),
        ({"containers": [{"name": "a", "$patch": "delete"}]}, {"containers": [CONTAINERS[1]]}),
        ({"containers": [{"name": "c"}, {"$patch": "replace"}]}, {"containers": [{"name": "c"}]}),
        (
            {"containers": [{"name": "a", "env": [{"name": "E"}]}]},
            {"containers": [{"name": "a", "image": "1", "env": [{"name": "E"}]}, CONTAINERS[1]]},
        ),
        (
            {
                "$setElementOrder/containers": [{"name": "b"}, {"name": "a"}],
                "containers": [{"name": "a", "image": "2"}],
            },
            {"containers": [CONTAINERS[1], {"name": "a", "image": "2"}]},
        ),
    ],
    ids=str,
)
def test_what_a_patch_makes_of_a_pod(patch: JSON, changed: JSON) -> None:
    before = copy.deepcopy(POD)
    expected = {name: value for name, value in (POD | changed).items() if value is not None}
    assert strategic_merge_patch(POD, patch) == expected
    assert before == POD


@pytest.mark.parametrize(("patch", "code"), [([], 400), ({"containers": [{"image": "1"}]}, 422)], ids=str)
def test_what_is_refused(patch: Any, code: int) -> None:
    with pytest.raises(Refused) as refused:
        strategic_merge_patch(POD, patch)
    assert refused.value.code == code


KEYED = st.lists(
    st.fixed_dictionaries({"name": st.sampled_from("abcd"), "v": st.integers(0, 3)}), unique_by=lambda i: i["name"]
)


@given(KEYED, KEYED, st.permutations("abcd"))
def test_every_item_is_there_once_and_the_patch_wins(old: list[JSON], new: list[JSON], order: list[str]) -> None:
    target = {"containers": old}
    patch: JSON = {"containers": new, "$setElementOrder/containers": [{"name": name} for name in order]}
    merged = strategic_merge_patch(target, patch)["containers"]
    assert {i["name"]: i for i in merged} == {i["name"]: i for i in old} | {i["name"]: i for i in new}
    assert [i["name"] for i in merged] == [name for name in order if name in {i["name"] for i in merged}]
    assert strategic_merge_patch({"containers": merged}, patch)["containers"] == merged
