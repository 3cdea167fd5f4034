"""The types that Kubernetes adds to CEL: their order, their limits, and their way through the library."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.cel.quantities import Quantity, Unclear, to_quantity, whole
from ktui.cel.semver import Semver, normalised, parse_semver
from ktui.cel.values import EvaluationError, Optional, Type, alike, equal, unwire, wire

NUMBERS = st.integers(0, 2**64 - 1)
LABELS = st.from_regex(r"(0|[1-9][0-9]{0,4}|[a-z-][0-9a-z-]{0,3})", fullmatch=True)


@st.composite
def versions(draw: st.DrawFn) -> str:
    text = ".".join(str(draw(st.integers(0, 3) | NUMBERS)) for _ in range(3))
    labels = draw(st.lists(LABELS, max_size=3))
    return text + ("-" + ".".join(labels) if labels else "") + draw(st.sampled_from(["", "+b.1"]))


def parsed(text: str) -> Semver:
    version = parse_semver(text)
    assert version is not None
    return version


def quantity(text: str) -> Quantity:
    found = to_quantity(text)
    assert found is not None
    return found


def test_the_order_of_semver_org() -> None:
    labels = ["-1", "-alpha", "-alpha.1", "-alpha.beta", "-beta", "-beta.2", "-beta.11", "-rc.1", ""]
    order = [f"1.0.0{label}" for label in labels]
    assert all(parsed(a) < parsed(b) for a, b in pairwise(order))
    assert parsed("1.0.0+a") == parsed("1.0.0+b")


@given(st.lists(versions(), min_size=3, max_size=3))
def test_versions_have_one_order(texts: list[str]) -> None:
    a, b, c = sorted(map(parsed, texts))
    assert a <= b <= c
    assert a <= c
    assert (a < c) == (not a >= c)


@given(versions())
def test_a_version_is_its_own_normal_form(text: str) -> None:
    assert parsed(normalised(text) or "") == parsed(normalised(f"v{text}") or "") == parsed(text)


@pytest.mark.parametrize(
    "text", ["", "1", "1.0", "v1.0.0", "1.0.0 ", "1.0.0\n", "１.0.0", f"{2**64}.0.0", f"1.0.0-{2**64}", "1.0.0-é"]
)
def test_what_is_no_version(text: str) -> None:
    assert parse_semver(text) is None


def test_a_quantity_is_an_integer_by_its_form() -> None:
    """K8s: AsInt64 of resource.Quantity; the verdicts hold more."""
    forms = {"7": 7, "1k": 1000, "1e3": 1000, "80Gi": 80 << 30, "1000m": None, "1.0": None, "1.5Gi": None, "10E": None}
    assert {text: quantity(text).integer for text in forms} == forms


@given(st.integers(-(2**62), 2**62), st.integers(-(2**62), 2**62))
def test_sums_and_differences_of_integers(a: int, b: int) -> None:
    assert whole(a).plus(whole(b)).integer == (a + b if -(2**63) <= a + b < 2**63 else None)
    assert whole(a).plus(whole(b), -1).amount == a - b


def test_quantities_too_large_to_read_are_not_guessed() -> None:
    with pytest.raises(Unclear):
        to_quantity("1e999")
    with pytest.raises(Unclear):
        quantity("9999999999999999999").as_float()
    assert quantity("9Ei").amount == 2**63 - 1
    assert quantity("-0.1n").amount == Decimal("-1e-9")


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
    | versions().map(parsed)
    | st.builds(whole, st.integers(-(2**63), 2**63 - 1))
    | st.builds(Type, st.sampled_from(["int", "string"])),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("ab", max_size=3), inner, max_size=3)
        | st.builds(Optional, inner, st.just(True))
        | st.just(Optional())
    ),
    max_leaves=5,
)


@given(VALUES)
def test_values_come_back_as_they_went(value: object) -> None:
    returned = unwire(wire(value))
    assert returned == value
    assert repr(returned) == repr(value)


@given(VALUES, VALUES)
def test_no_comparison_raises_anything_else(a: object, b: object) -> None:
    try:
        assert alike(a, b) in (True, False)
    except Unclear:
        assert isinstance(a, list | dict | Optional)


def test_equality_is_kubernetes_equality() -> None:
    assert equal(1, 1.0)
    assert not equal(1, True)
    assert not equal("1.0.0", parsed("1.0.0"))
    for left, right in ((parsed("1.0.0"), "1.0.0"), (whole(2), whole(1).plus(whole(1)))):
        with pytest.raises(EvaluationError):
            equal(left, right)
