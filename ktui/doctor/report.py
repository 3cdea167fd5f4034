"""The findings for a person and for a program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from ktui.doctor.finding import STATUSES, Finding, worst
from ktui.views.base import Cell, Document, Line

JSON_VERSION: Final = 1
_WORDS: Final = {"ok": "ok", "skipped": "skip", "warn": "WARN", "fail": "FAIL"}
_INDENT: Final = " " * 6


def document(findings: Sequence[Finding]) -> Document:
    return {
        "version": JSON_VERSION,
        "status": worst(findings),
        "findings": [
            {
                "check": finding.check,
                "status": finding.status,
                "text": finding.text,
                "todo": finding.todo or None,
                "objects": list(finding.objects),
            }
            for finding in findings
        ],
    }


def lines(findings: Sequence[Finding]) -> Iterator[Line]:
    """A line a finding, one more for what to do, and how many of each there are at the end. Texts are raw."""
    for checks, finding in _joined(findings):
        yield (Cell(f"{_WORDS[finding.status]:<4}  "), Cell(f"{', '.join(checks)}: {finding.text}"))
        if finding.todo:
            yield (Cell(_INDENT), Cell(f"-> {finding.todo}"))
    tally = Counter(finding.status for finding in findings)
    yield ()
    yield (Cell(", ".join(f"{tally[status]} {status}" for status in reversed(STATUSES) if tally[status])),)


def _joined(findings: Sequence[Finding]) -> Iterator[tuple[list[str], Finding]]:
    """What is skipped for one and the same reason is one line, where the first of it stands."""
    together: dict[tuple[str, str], list[str]] = {}
    for finding in findings:
        if finding.status == "skipped":
            together.setdefault((finding.text, finding.todo), []).append(finding.check)
    for finding in findings:
        if finding.status != "skipped":
            yield [finding.check], finding
        elif checks := together.pop((finding.text, finding.todo), []):
            yield checks, finding
