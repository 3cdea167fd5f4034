"""D05: times as the API writes them, ages as kubectl does."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.model.time import format_age, format_time, parse_time

NOON = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2026-11-30T12:00:00Z", NOON),
        ("2026-11-30T12:00:00.250000Z", NOON + 0.25),
        ("2026-11-30T12:00:00.000000001Z", NOON),
        ("2026-11-30T14:00:00+02:00", NOON),
        ("2026-11-30T06:30:00-05:30", NOON),
        ("2026-11-30t12:00:00z", NOON),
        ("2016-12-31T23:59:60Z", datetime(2017, 1, 1, tzinfo=UTC).timestamp()),
        ("9999-12-31T23:59:59Z", datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()),
        ("2039-01-01T00:00:00Z", datetime(2039, 1, 1, tzinfo=UTC).timestamp()),
    ],
)
def test_D05_times_are_read(text: str, seconds: float) -> None:
    found = parse_time(text)
    assert found is not None
    assert math.isclose(found, seconds, abs_tol=1e-5)


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "0001-01-01T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-02-30T00:00:00Z",
        "2026-11-30T25:00:00Z",
        "2026-11-30T12:00:61Z",
        "2026-11-30 12:00:00Z",
        "2026-11-30T12:00:00",
        "2026-11-30T12:00:00Z\n",
        "٢٠٢٦-11-30T12:00:00Z",
        "1764504000",
    ],
)
def test_D05_anything_else_is_absent(text: str | None) -> None:
    assert parse_time(text) is None


@given(st.integers(0, 253402300799))
def test_whole_seconds_read_back(seconds: int) -> None:
    assert parse_time(format_time(seconds)) == seconds


@given(st.text(max_size=40))
def test_no_text_makes_it_fail(text: str) -> None:
    parse_time(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (-0.4, "0s"),
        (41, "41s"),
        (119, "119s"),
        (120, "2m"),
        (130, "2m10s"),
        (599, "9m59s"),
        (600, "10m"),
        (2460, "41m"),
        (10799, "179m"),
        (10800, "3h"),
        (11100, "3h5m"),
        (28800, "8h"),
        (172799, "47h"),
        (172800, "2d"),
        (180000, "2d2h"),
        (8 * 86400, "8d"),
        (729 * 86400, "729d"),
        (730 * 86400, "2y"),
        (3 * 365 * 86400 + 20 * 86400, "3y20d"),
        (-3 * 86400, "in 3d"),
    ],
)
def test_ages_as_kubectl_writes_them(seconds: float, text: str) -> None:
    assert format_age(seconds) == text


@given(st.floats(-1e11, 1e11))
def test_D05_an_age_is_never_negative(seconds: float) -> None:
    assert "-" not in format_age(seconds)
