"""The assertions of this directory, side by side: they run last, and say where the two servers were not asked the same."""

from __future__ import annotations

import pytest

from tests.contract.assertions import PATH, chapters, document
from tests.contract.sides import SideBySide, real_server_is_required


def test_every_assertion_passes_on_both_servers(sides: SideBySide) -> None:
    if not sides.took_part("real") and not real_server_is_required():
        pytest.skip("the real API server did not take part")
    print(*sides.lines(), sep="\n")
    assert sides.results, "no assertion was run"
    assert not sides.differences()


def test_the_table_of_the_assertions_is_in_step() -> None:
    """`python -m tests.contract.assertions` writes it."""
    assert sum(len(found) for _, found in chapters()) >= 25
    assert PATH.read_text(encoding="utf-8") == document()


@pytest.mark.parametrize(
    ("embedded", "real", "same"),
    [
        (["passed", "passed"], ["passed", "passed"], True),
        (["passed", "passed"], ["passed"], False),
        (["passed"], [], False),
        ([], ["passed"], False),
        (["passed"], ["skipped"], False),
        (["failed"], ["failed"], False),
    ],
)
def test_what_only_one_server_was_asked_is_told(embedded: list[str], real: list[str], same: bool) -> None:
    found = SideBySide()
    for server, outcomes in (("embedded", embedded), ("real", real)):
        for outcome in outcomes:
            found.results["test_it"][server].append(outcome)
    assert (found.differences() == []) is same
