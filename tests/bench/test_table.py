"""The table: its numbers, what is said of budgets, and where it is put."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench import lives, table
from tests.bench.table import Line


def samples(**values: list[float]) -> lives.Samples:
    return lives.Samples(list, {key.replace("_", " "): each for key, each in values.items()})


def row(text: str, title: str) -> list[str]:
    (line,) = [line for line in text.splitlines() if line.startswith(f"| {title} ")]
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_a_line_has_each_programs_figure_its_budget_and_whether_it_is_met() -> None:
    results = {
        "ktui": samples(keys=[4.0, 6.0, 50.0], joined=[1_500.0, 1_700.0, 2_500.0], settled=[130.04]),
        "floor": samples(keys=[1.0]),
        "k9s 0.50.16": samples(keys=[3.0, 3.0, 3.0], settled=[90.0], all_pods=[1_600.0]),
    }
    text = table.table(results, table.lines([]))
    assert row(text, "key to paint, median") == [
        "key to paint, median", "6 ms", "1 ms", "3 ms", "≤ 10 ms, ≤ 1.5 × k9s", "no",
    ]  # fmt: skip
    assert row(text, "key to paint, p95")[1:] == ["50 ms", "1 ms", "3 ms", "≤ 33 ms", "no"]
    assert row(text, "everything joined")[1:] == ["1,700 ms", "–", "–", "≤ 2,000 ms, ≤ k9s (all pods)", "no"]
    assert row(text, "memory settled (PSS)")[1:] == ["130 MiB", "–", "90 MiB", "≤ 160 MiB, ≤ k9s", "no"]
    assert len({len(line) for line in text.splitlines()}) == 1


def test_without_the_peer_only_ktuis_own_budget_counts() -> None:
    line = Line("x", "x", "ms", most=10, of_peer=1)
    assert [line.met(samples(x=[own]), None) for own in (9.0, 11.0)] == ["yes", "no"]
    assert [line.met(samples(x=[9.0]), peers) for peers in (8.0, 9.5)] == ["no", "yes"]
    assert Line("x", "x", "ms", of_peer=1).met(samples(x=[9.0]), None) == ""
    assert Line("x", "x", "ms", most=1).met(samples(), None) == ""
    assert Line("x", "x", "ms").met(samples(x=[1.0]), 1.0) == ""


def test_every_rate_of_events_has_its_lines() -> None:
    results = {"ktui": samples(**{"keys at 300": [5.0], "events at 300": [299.6], "bytes at 300": [0.0]})}
    text = table.table(results, table.lines([300]))
    assert row(text, "at 300 events/s: events taken")[1] == "300 /s"
    assert row(text, "at 300 events/s: key to paint, p95")[1:] == ["5 ms", "≤ 50 ms", "yes"]
    results["ktui"]["events at 300"] = [280.0]  # who takes fewer events has less to do
    assert row(table.table(results, table.lines([300])), "at 300 events/s: key to paint, p95")[3] == "no"
    assert row(text, "at 300 events/s: to the terminal for each event")[1] == "0 B"


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (0.634, "0.63"), (7.0, "7"), (12.34, "12.3"), (10, "10"), (99.96, "100"), (8123.4, "8,123")]
)  # fmt: skip
def test_numbers_have_about_three_digits(value: float, text: str) -> None:
    assert table.number(value) == text


def test_the_document_says_what_was_measured_where() -> None:
    found = table.Report({"ktui": samples(joined=[1.0])}, rates=[], pods=80, writes=412.3, runs=1, load=0.31)
    about = " ".join(found.whole().partition("\n\n")[0].split())
    assert "1 run, by turns" in about
    assert "80 pods, 80 claims, 80 devices and 10 gangs; it took 412 writes a second" in about
    assert "The load average before that was 0.3." in about
    assert " ".join(found.short().split()).startswith(about)
    titles = [
        [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("|") and "---" not in line]
        for text in (found.short(), found.whole())
    ]
    assert set(titles[0]) < set(titles[1])


def test_the_table_takes_the_place_of_the_one_before_and_nothing_else_changes(tmp_path: Path) -> None:
    path = tmp_path / "performance.md"
    table.write(path, "first")
    alone = path.read_text()
    path.write_text(f"# Title\n\n{alone}\nAfter.\n")
    table.write(path, "second")
    assert path.read_text() == f"# Title\n\n{alone.replace('first', 'second')}\nAfter.\n"


def test_a_document_whose_table_does_not_end_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "performance.md"
    table.write(path, "first")
    broken = path.read_text().replace("<!-- end of figures -->", "")
    path.write_text(broken)
    with pytest.raises(table.NoPlace, match=r"performance\.md has no end"):
        table.write(path, "second")
    assert path.read_text() == broken
