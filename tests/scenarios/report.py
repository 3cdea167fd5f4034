"""The report on all scenarios, in Markdown: `python -m tests.scenarios.report > docs/scenarios.md`, at the project's root."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from tests.scenarios import files
from tests.scenarios.outcome import Outcome, outcomes

Json = dict[str, Any]

_HEAD = """# Scenarios with a known truth

Each scenario was made on a real Kubernetes 1.37.2 control plane with simulated nodes, so that what is wrong is known from
how it was built. The real scheduler proved it where it can be proven: what is said to be in the way was taken away, and then
the gang ran; what only looks like the trouble was taken away first, and a fresh copy of the gang was still refused.

`python -m tests.scenarios.make` plays them again, `pytest tests/scenarios` compares ktui with what is kept, and
`python -m tests.scenarios.report` prints this page.

*Undecided* means that ktui names no cause where there is one, a true cause that says less, or not all facts.
That fails the tests, and so does a wrong answer, separately.
"""
_EVICTIONS = """## Evictions

What a taint on one device did, by the real eviction controller. Before it, ktui names the same pods with the same seconds.

| case | why | evicted, after seconds |
| --- | --- | --- |"""


def report() -> str:
    """The whole page."""
    found = [outcome for name in files.names() for outcome in outcomes(name)]
    parts = [_HEAD, f"{total(found)}\n", *_causes(found)]
    return "\n".join([*parts, _EVICTIONS, *_evictions(), ""])


def total(found: list[Outcome]) -> str:
    """How many there are, and how many are right."""
    counts = Counter(outcome.verdict for outcome in found)
    scenarios = len({outcome.scenario for outcome in found})
    verdicts = ", ".join(f"{counts[verdict]} {verdict}" for verdict in ("right", "undecided", "wrong"))
    pods = sum(outcome.kind == "pod" for outcome in found)
    return f"{scenarios} scenarios with {len(found) - pods} gangs and {pods} pods outside gangs: {verdicts}."


def claims(outcome: Outcome) -> tuple[str, str, str]:
    """What is said of one gang: why it is so, what is true, and ktui's answer without its sentence."""
    truth, answer = outcome.truth, outcome.answer
    return (
        f"**{outcome.scenario}**, {outcome.kind} `{outcome.gang}`. {files.truth_of(outcome.scenario)['why']}",
        f"- true: {_said(truth['state'], truth['cause'], truth['facts'])}",
        f"- ktui ({outcome.verdict}): {_said(answer.state, answer.cause, answer.facts)}: ",
    )


def _causes(found: Iterable[Outcome]) -> Iterator[str]:
    by_cause: dict[str, list[Outcome]] = {}
    for outcome in found:
        by_cause.setdefault(outcome.truth["cause"] or "No cause", []).append(outcome)
    for cause in sorted(by_cause):
        yield f"## {cause}\n"
        for outcome in by_cause[cause]:
            yield from _scenario(outcome)


def _scenario(outcome: Outcome) -> Iterator[str]:
    kept = files.truth_of(outcome.scenario)
    why, true, said = claims(outcome)
    yield f"{why}\n"
    yield true
    yield f"{said}{outcome.answer.message}"
    yield f"- scheduler: {' · '.join(f'“{words}”' for words in _telling(outcome.truth['words'])) or 'nothing'}"
    if kept["herrings"]:
        yield f"- did not help: {'; '.join(kept['herrings'])}"
    if kept["fix"]:
        yield f"- helped: {'; '.join(kept['fix'])}"
    yield ""


def _said(state: str, cause: str | None, facts: Json) -> str:
    known = ", ".join(f"{key} {value}" for key, value in facts.items() if key != "message")
    return f"{state} {cause or ''}".strip() + (f" ({known})" if known else "")


def _telling(words: list[str]) -> list[str]:
    """The sentences of members that did not fit; those that only count how many are left say nothing more."""
    return [text for text in words if "minCount" not in text] or words[:1]


def _evictions() -> Iterator[str]:
    for name in files.names(files.EVICTIONS):
        kept = files.truth_of(name, files.EVICTIONS)
        gone = ", ".join(f"{pod.partition('/')[2]} {after}" for pod, after in kept["evicted"].items())
        yield f"| {name} | {kept['why']} | {gone or 'nobody'} |"


if __name__ == "__main__":
    sys.stdout.write(report())
