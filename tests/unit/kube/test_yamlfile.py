from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ktui.errors import UsageError
from ktui.kube.yamlfile import Plain, parse, typed

FILE = Path("f")
_TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)
_TREES = st.recursive(
    st.none() | _TEXT, lambda t: st.lists(t, max_size=4) | st.dictionaries(_TEXT, t, max_size=4), max_leaves=20
)


@given(_TREES)
def test_reads_what_pyyaml_writes(tree: Any) -> None:
    assert parse(yaml.safe_dump(tree, allow_unicode=True).encode(), FILE) == tree


@given(
    st.recursive(st.none() | st.booleans() | st.integers() | _TEXT, lambda t: st.lists(t, max_size=4), max_leaves=20)
)
def test_typed_gives_back_what_was_written(value: Any) -> None:
    assert typed(parse(yaml.safe_dump(value).encode(), FILE)) == value


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_in_one_line(data: bytes) -> None:
    message = ""
    try:
        parse(data, FILE)
    except UsageError as error:
        message = str(error)
    assert "\n" not in message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100 + "]" * 100, r"f:1:65: nested deeper than 64 levels"),
        ("- " * 200_000, r"nested deeper than 64 levels"),
        ("a: &a [*a]", r"f:1:8: an alias to what holds it"),
        ("a: *b", r"f:1:4: an alias to nothing"),
        ("a: &a x\nb: [" + "*a, " * 1001 + "]", r"more than 1000 aliases"),
        ("{a: b}: c", r"f:1:2: a mapping key that is not a plain name|f:1:1: .*"),
        ("a: 'SECRET", r"^f:1:\d+: not valid YAML$"),
        ("a: \x00SECRET", r"^f: not valid YAML: holds bytes that are not text$"),
    ],
)
def test_hostile_documents(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        parse(text.encode(), FILE)
    assert "SECRET" not in str(caught.value)


def test_aliases_are_shared_and_not_copied() -> None:
    lines = ["a0: &a0 [x, x]"] + [f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, 60)]
    tree = parse("\n".join(lines).encode(), FILE)
    assert isinstance(tree, dict)
    with pytest.raises(ValueError, match="too many values"):
        typed(tree["a59"])


def test_only_the_first_document_counts() -> None:
    assert parse(b"a: 1\n---\na: 2\n", FILE) == {"a": "1"}


def test_a_repeated_key_takes_the_last_value_as_in_kubectl() -> None:
    assert parse(b"a: 1\na: 2\n", FILE) == {"a": "2"}


@pytest.mark.parametrize("text", ["=", "<<", "2026-13-45", "2026-11-30", "1" * 65])
def test_plain_text_that_yaml_has_a_type_for_stays_text(text: str) -> None:
    assert typed(parse(f"[{text}]".encode(), FILE)) == [text]


@given(st.text(min_size=1, max_size=70))
def test_any_plain_text_has_a_value(text: str) -> None:
    assert isinstance(typed(Plain(text)), bool | int | float | str)
