"""Every outcome against Kubernetes' own evaluator: `verdicts.json` is made from `cases.json` by `oracle/main.go`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ktui.cel.selector import CannotTell, DoesNotMatch, Matches, Outcome, RuntimeFailure, compile_selector
from ktui.model.resourceslice import Device

HERE = Path(__file__).parent
CASES: dict[str, Any] = json.loads((HERE / "cases.json").read_text())
VERDICTS: dict[str, dict[str, str]] = json.loads((HERE / "verdicts.json").read_text())
DEVICES = {name: (given["driver"], msgspec.convert(given, Device)) for name, given in CASES["devices"].items()}
REFUSED = "compile: "

ATTRIBUTES = 'device.attributes["gpu.example.com"]'
UNJUDGED = {
    '"%s-%d".format(["a", 1]) == "a-1"',
    '"abc".find("b") == "b"',
    "1u == 1u",
    'b"a" == b"a"',
    'cel.bind(m, device.attributes, m["gpu.example.com"].model == "H100")',
    'cel.bind(m, device.attributes, m["missing"].size() == 0)',
    'duration("1h") > duration("1m")',
    'ip("127.0.0.1").family() == 4',
    'isQuantity("1e99999")',
    'strings.quote("a") == "\\"a\\""',
    'url("https://a.b/c").getHost() == "a.b"',
    f"[{ATTRIBUTES}.index].max() == 3",
    f"{ATTRIBUTES}.index.distinct().size() == 3",
    f'{ATTRIBUTES}.model.matches("[[:alpha:]]")',
    f"{ATTRIBUTES}.model.reverse().isSorted()",
    f'{ATTRIBUTES}.name.matches("mlaut$")',
    f'[{ATTRIBUTES}.driverVersion] == ["550.54.15"]',
}
"""What Kubernetes evaluates and ktui, knowingly, does not."""


def word(outcome: Outcome) -> str:
    match outcome:
        case Matches():
            return "true"
        case DoesNotMatch():
            return "false"
        case RuntimeFailure():
            return "error"
        case CannotTell():
            return "cannot tell"


def test_the_verdicts_are_those_of_the_cases() -> None:
    assert list(dict.fromkeys(CASES["expressions"])) == CASES["expressions"]
    assert set(VERDICTS) == set(CASES["expressions"])


@pytest.mark.parametrize("expression", [e for e in CASES["expressions"] if "" not in VERDICTS[e]])
def test_the_outcome_is_kubernetes_verdict(expression: str) -> None:
    truth = {name: verdict.partition(":")[0] for name, verdict in VERDICTS[expression].items()}
    found = {name: word(compile_selector(expression).evaluate(*device)) for name, device in DEVICES.items()}
    if expression in UNJUDGED:
        assert "cannot tell" in found.values()
        found = {name: truth[name] if outcome == "cannot tell" else outcome for name, outcome in found.items()}
    assert found == truth


@pytest.mark.parametrize("expression", [e for e in CASES["expressions"] if "" in VERDICTS[e]])
def test_what_kubernetes_would_not_store_raises_nothing(expression: str) -> None:
    assert VERDICTS[expression][""].startswith(REFUSED)
    for device in DEVICES.values():
        assert word(compile_selector(expression).evaluate(*device))


@pytest.mark.parametrize("expression", [f"{ATTRIBUTES}.nope", 'device.attributes["no-such-domain"].x == 1'])
def test_a_missing_attribute_is_named_as_the_scheduler_names_it(expression: str) -> None:
    for name, device in DEVICES.items():
        outcome = compile_selector(expression).evaluate(*device)
        assert isinstance(outcome, RuntimeFailure)
        assert f"error: {outcome.message}" == VERDICTS[expression][name]
