"""Text safety: every payload of the fault plan's X section, and properties over all of Unicode."""

from __future__ import annotations

import sys
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from ktui.ui.safe import MAX_MARKS, cell_width, fit, odd_name, safe, to_ascii

from .ui.payloads import PAYLOADS

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=60)
NASTY_TEXT = st.lists(st.sampled_from(PAYLOADS) | ANY_TEXT, max_size=4).map("".join)

# What a terminal may act on or must not be shown raw, written down independently of the implementation.
CONTROLS = {chr(code) for code in (*range(0x20), *range(0x7F, 0xA0))}
BIDI = {chr(code) for code in (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))}
INVISIBLE = {
    chr(code)
    for code in (
        *(0x00AD, 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x3164, 0xFEFF, 0xFFA0, 0x2028, 0x2029),
        *range(0x200B, 0x200E),
        *range(0x2060, 0x2065),
        *range(0xFE00, 0xFE10),
        *range(0xE0000, 0xE1000),
    )
}
FORBIDDEN = CONTROLS | BIDI | INVISIBLE


def is_harmless(text: str, allowed: str = "") -> bool:
    return not any(
        character not in allowed
        and (character in FORBIDDEN or unicodedata.category(character) in ("Co", "Cs", "Cn", "Zl", "Zp"))
        for character in text
    )


def test_there_are_sixty_payloads() -> None:
    assert len(set(PAYLOADS)) >= 60


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_no_payload_survives(payload: str) -> None:
    """X01, X02, X04, X07, X08."""
    shown = safe(payload)
    assert is_harmless(shown)
    assert is_harmless(safe(payload, multiline=True), allowed="\n")
    assert shown, "something visible must stand for it"


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("gpu-0", "gpu-0"),
        ("a\x1b[31mb", "a␛[31mb"),
        ("a\x07b\x00", "a␇b␀"),
        ("a\x7fb", "a␡b"),
        ("\x9b2J", "\\x9b2J"),
        ("gpu\u202e0-upg", "gpu‹U+202E›0-upg"),
        ("a\u200bb", "a‹U+200B›b"),
        ("a\u0085b\u2028c", "a‹U+0085›b‹U+2028›c"),
        ("a\ud800b", "a‹U+D800›b"),
        ("a\ue000b", "a‹U+E000›b"),
        ("a\U000e0041b", "a‹U+E0041›b"),
        ("a\nb\tc\rd", "a␊b␉c␍d"),
        ("e\u0301" + "\u0301" * 299, "e\u0301\u0301\u0301‹+297›"),
        ("\u0301x", "‹U+0301›x"),
        ("[/][@click=app.quit]x[/]", "[/][@click=app.quit]x[/]"),
        ("\\[ \\", "\\[ \\"),
        ("日本語", "日本語"),
    ],
)
def test_visible_forms(raw: str, shown: str) -> None:
    assert safe(raw) == shown


def test_a_field_of_many_lines_keeps_newlines_and_expands_tabs() -> None:
    """X07."""
    assert safe("a\tb\nc\r", multiline=True) == "a    b\nc␍"


@given(NASTY_TEXT, st.booleans())
def test_safe_text_is_harmless_and_safe_is_idempotent(text: str, multiline: bool) -> None:
    once = safe(text, multiline=multiline)
    assert is_harmless(once, allowed="\n" if multiline else "")
    assert safe(once, multiline=multiline) == once


@given(NASTY_TEXT, st.integers(0, 40), st.booleans())
def test_a_limit_is_kept_and_idempotent(text: str, limit: int, multiline: bool) -> None:
    once = safe(text, limit, multiline=multiline)
    assert cell_width(once) <= limit
    assert safe(once, limit, multiline=multiline) == once


@given(NASTY_TEXT, st.integers(0, 40))
def test_fit_never_exceeds_the_width(text: str, width: int) -> None:
    assert cell_width(fit(text, width)) <= width
    assert is_harmless(fit(text, width))


@given(NASTY_TEXT)
def test_width_is_the_width_textual_lays_out_with(text: str) -> None:
    """X06: or columns to the right of a cell would move."""
    shown = safe(text)
    assert cell_width(shown) == cell_len(shown)


def test_width_agrees_with_textual_for_every_character() -> None:
    """X06."""
    differ = [
        hex(code)
        for code in range(0x20, sys.maxunicode + 1)
        if is_harmless(shown := safe("a" + chr(code))) and cell_width(shown) != cell_len(shown)
    ]
    assert differ == []


@given(st.text(st.sampled_from("a\u0301\u0302\u0e31\u0f39"), max_size=30))
def test_no_base_carries_more_marks_than_allowed(text: str) -> None:
    run = 0
    for character in safe(text):
        run = run + 1 if unicodedata.category(character).startswith("M") else 0
        assert run <= MAX_MARKS


def test_the_cut_counts_what_is_hidden() -> None:
    assert safe("abcdefghij", 10) == "abcdefghij"
    assert safe("abcdefghijk", 10) == "abcde… +6"
    assert safe("日本語日本語", 7) == "日… +5"
    assert fit("abcdef", 4) == "abc…"
    assert fit("日本語", 4) == "日…"
    assert fit("abcdef", 0) == ""


@pytest.mark.parametrize(
    "huge",
    ["x" * 10_000_000, "\x1b" * 10_000_000, "\u0301" * 10_000_000, "a\n" * 5_000_000],
    ids=["plain", "escapes", "marks", "lines"],
)
def test_ten_megabytes_cost_no_more_than_the_cell_they_are_cut_to(huge: str) -> None:
    """X09: compared with a short text cut to the same cell, in processor time, with a wide margin."""
    started = time.process_time()
    for _ in range(50):
        safe(huge, 80, multiline=True)
        fit(huge, 30)
    bounded = time.process_time() - started
    started = time.process_time()
    safe("\u202e" + "é" * 1_000_000, None)
    assert bounded < 50 * (time.process_time() - started) + 1.0


def test_ascii_terminals_get_ascii() -> None:
    assert to_ascii("gpu…") == "gpu..."
    assert to_ascii("é").isascii()


@pytest.mark.parametrize("name", ["gpu-0", "a", "ns/gang-1", "gpu.example.com"])
def test_object_names_are_not_odd(name: str) -> None:
    assert not odd_name(name)


@pytest.mark.parametrize("name", ["", "Gpu", "gpu-\u0430", "-a", "a-", "a b", "a\n", "gpu\u200b", "ｇpu"])
def test_lookalike_names_are_odd(name: str) -> None:
    """X05."""
    assert odd_name(name)
