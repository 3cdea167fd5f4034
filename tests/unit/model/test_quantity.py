"""D04: quantities as k8s.io/apimachinery reads them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.model.quantity import format_bytes, parse_quantity

_UNITS = {
    "n": Decimal(10) ** -9,
    "u": Decimal(10) ** -6,
    "m": Decimal(10) ** -3,
    "": Decimal(1),
    "k": Decimal(10) ** 3,
    "M": Decimal(10) ** 6,
    "G": Decimal(10) ** 9,
    "T": Decimal(10) ** 12,
    "P": Decimal(10) ** 15,
    "E": Decimal(10) ** 18,
    "Ki": Decimal(2) ** 10,
    "Mi": Decimal(2) ** 20,
    "Gi": Decimal(2) ** 30,
    "Ti": Decimal(2) ** 40,
    "Pi": Decimal(2) ** 50,
    "Ei": Decimal(2) ** 60,
}


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("1e3", "1000"),
        ("1E3", "1000"),
        ("100m", "0.1"),
        ("0.5", "0.5"),
        ("1Ki", "1024"),
        ("1.5Gi", "1610612736"),
        ("9007199254740993", "9007199254740993"),
        ("1e-9", "1e-9"),
        ("-1", "-1"),
        ("1n", "1e-9"),
        ("10u", "1e-5"),
        ("1E", "1e18"),
        ("12e6", "12000000"),
        ("+5", "5"),
        ("5.", "5"),
        (".5", "0.5"),
        ("0", "0"),
        ("-0", "0"),
        (8, "8"),
        (0.5, "0.5"),
    ],
)
def test_D04_amounts_are_exact(text: str | float, amount: str) -> None:
    assert parse_quantity(text) == Decimal(amount)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1 Gi",
        "0x10",
        "1e309",
        "9" * 10_000_000,
        "Gi",
        "1ki",
        "1K",
        "1e",
        "e3",
        "1_0",
        "١",
        "inf",
        "nan",
        "1\n",
        None,
        True,
        float("inf"),
        float("nan"),
    ],
    ids=lambda text: repr(text)[:12],
)
def test_D04_anything_else_is_no_quantity(text: str | float | None) -> None:
    assert parse_quantity(text) is None


amounts = st.tuples(st.integers(-(10**9), 10**9), st.integers(0, 6), st.sampled_from(list(_UNITS)))


def _written(amount: tuple[int, int, str]) -> tuple[str, Decimal]:
    number, places, unit = amount
    return f"{Decimal(number).scaleb(-places):f}{unit}", Decimal(number).scaleb(-places) * _UNITS[unit]


@given(amounts)
def test_every_number_with_every_unit_reads_back(amount: tuple[int, int, str]) -> None:
    text, value = _written(amount)
    assert parse_quantity(text) == value


@given(amounts, amounts)
def test_order_is_that_of_the_amounts_not_of_the_texts(a: tuple[int, int, str], b: tuple[int, int, str]) -> None:
    (text_a, value_a), (text_b, value_b) = _written(a), _written(b)
    parsed_a, parsed_b = parse_quantity(text_a), parse_quantity(text_b)
    assert parsed_a is not None
    assert parsed_b is not None
    assert (parsed_a < parsed_b) == (value_a < value_b)


@given(st.text(max_size=70))
def test_no_text_makes_it_fail(text: str) -> None:
    parse_quantity(text)


@pytest.mark.parametrize(
    ("amount", "text"),
    [(0, "0"), (1023, "1023"), (1024, "1Ki"), (141 * 2**30, "141Gi"), (3 * 2**39, "1.5Ti"), (-2048, "-2Ki")],
)
def test_bytes_in_the_largest_unit(amount: int, text: str) -> None:
    assert format_bytes(amount) == text


@given(st.integers(0, 2**80))
def test_formatted_bytes_read_back_within_a_tenth_of_the_unit(amount: int) -> None:
    back = parse_quantity(format_bytes(amount))
    assert back is not None
    assert abs(back - amount) <= Decimal(amount) / 20
