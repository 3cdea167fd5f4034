"""Selectors as their callers use them: what they read, what they remember, and that nothing makes them fail."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.cel import selector as module
from ktui.cel.reading import Read
from ktui.cel.selector import (
    CannotTell,
    DoesNotMatch,
    Matches,
    Outcome,
    RuntimeFailure,
    Selector,
    compile_selector,
    match_all,
)
from ktui.model.resourceslice import Attribute, Capacity, CapacityPolicy, Device

DRIVER = "gpu.example.com"
ATTRIBUTES = f'device.attributes["{DRIVER}"]'
GPU = Device(
    name="gpu-0",
    attributes={"model": Attribute(string="A100"), "uuid": Attribute(string="u-0"), "ok": Attribute(boolean=True)},
    capacity={"memory": Capacity(value="80Gi")},
)


def test_reads_are_the_places_that_decide() -> None:
    expression = (
        f'cel.bind(a, {ATTRIBUTES}, a.model == "A100" && has(a.ok)) && device.driver != "" '
        f'&& device.capacity["{DRIVER}"]["memory"].isInteger() && {ATTRIBUTES}.?slot.orValue(1) == 1'
    )
    assert compile_selector(expression).reads == {
        Read("attributes", DRIVER, "model"),
        Read("attributes", DRIVER, "ok", presence=True),
        Read("attributes", DRIVER, "slot"),
        Read("capacity", DRIVER, "memory"),
        Read("driver"),
    }
    assert compile_selector(f'"x" in {ATTRIBUTES}').reads == {Read("attributes", DRIVER, "x", presence=True)}
    assert compile_selector('"x" in device.capacity').reads == {Read("capacity", "x", presence=True)}
    assert compile_selector(f"{ATTRIBUTES}.size() == 3").reads == {Read("attributes", DRIVER)}
    assert compile_selector("device.attributes.size() == 1").reads == {Read("attributes")}


def test_devices_that_differ_elsewhere_are_evaluated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    selector = Selector(f'{ATTRIBUTES}.model == "A100"')
    computed: list[str] = []
    compute = selector._computed

    def count(driver: str, device: Device) -> Outcome:
        computed.append(device.name)
        return compute(driver, device)

    monkeypatch.setattr(selector, "_computed", count)
    for number in range(50):
        model = Attribute(string="A100" if number % 2 else "H100")
        device = Device(name=str(number), attributes={"model": model, "uuid": Attribute(string=f"u-{number}")})
        assert selector.evaluate(DRIVER, device) == (Matches() if number % 2 else DoesNotMatch())
    assert computed == ["0", "1"]


def test_a_capacity_policy_does_not_make_a_device_another(monkeypatch: pytest.MonkeyPatch) -> None:
    selector = Selector(f'device.capacity["{DRIVER}"].memory == quantity("80Gi")')
    limited = Device(
        name="b", capacity={"memory": Capacity(value="80Gi", request_policy=CapacityPolicy(default="1Gi"))}
    )
    assert selector.evaluate(DRIVER, GPU) == Matches()
    monkeypatch.setattr(selector, "_evaluation", None)
    assert selector.evaluate(DRIVER, limited) == Matches()


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_OUTCOMES", 10)
    selector = Selector(f'{ATTRIBUTES}.uuid == "7"')
    outcomes = [
        selector.evaluate(DRIVER, Device(attributes={"uuid": Attribute(string=str(number))})) for number in range(100)
    ]
    assert [number for number, outcome in enumerate(outcomes) if outcome == Matches()] == [7]
    assert len(selector._outcomes) <= 10


def test_the_first_selector_that_does_not_match_decides() -> None:
    missing = f"{ATTRIBUTES}.nope"
    assert match_all([], DRIVER, GPU) == Matches()
    assert match_all(["true", "false", missing], DRIVER, GPU) == DoesNotMatch()
    assert match_all(["true", missing, "false"], DRIVER, GPU) == RuntimeFailure("no such key: nope")


def test_values_of_unknown_or_broken_types() -> None:
    expression = f'{ATTRIBUTES}.v == "x"'
    assert isinstance(compile_selector(expression).evaluate(DRIVER, Device(attributes={"v": Attribute()})), CannotTell)
    broken = Device(attributes={"v": Attribute(version="1.x")}, capacity={"c": Capacity(value="lots")})
    assert isinstance(compile_selector(expression).evaluate(DRIVER, broken), RuntimeFailure)
    assert isinstance(
        compile_selector(f'device.capacity["{DRIVER}"].c.isInteger()').evaluate(DRIVER, broken), RuntimeFailure
    )


def test_several_threads_share_a_selector() -> None:
    selector = Selector(f"{ATTRIBUTES}.n % 2 == 0")
    devices = [Device(name=str(n), attributes={"n": Attribute(integer=n)}) for n in range(2000)]
    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(lambda device: selector.evaluate(DRIVER, device), devices * 2))
    assert [outcome == Matches() for outcome in outcomes] == [n % 2 == 0 for n in range(2000)] * 2


HOSTILE = {
    "too long": "true || " * 2000 + "true",
    "parentheses": "(" * 5000 + "true" + ")" * 5000,
    "lists": "[" * 4000 + "]" * 4000,
    "not": "!(" * 3000 + "true" + ")" * 3000,
    "minus": "-" * 10000 + "1 == 1",
    "members": f"{ATTRIBUTES}.model" + ".a" * 4000 + " == 1",
    "sums": "1" + " + 1" * 3000 + " == 0",
    "calls": "size(" * 2000 + "[]" + ")" * 2000 + " == 0",
    "ternaries": "true ? true : " * 700 + "true",
    "bindings that double": "".join(f"cel.bind(x{n + 1}, x{n} + x{n}, " for n in range(1, 60)).join(
        ("cel.bind(x1, 1, ", "true" + ")" * 60)
    ),
    "bindings that are used": "cel.bind(x0, 1, "
    + "".join(f"cel.bind(x{n + 1}, x{n} + x{n}, " for n in range(30))
    + "x30 == 1"
    + ")" * 31,
    "lists that double": "[1]" + ".map(x, [x, x])" * 500 + " == []",
    "strings that double": '["ab"]' + ".map(x, x + x)" * 600 + ' == [""]',
    "replacements": '"aaaaaaaa"' + '.replace("a", "aaaaaaaa")' * 300 + ' == ""',
    "loops in loops": "".join(f"[{','.join(['1'] * 300)}].all(x{n}, " for n in range(8)) + "true" + ")" * 8,
    "maps in maps": "".join(f"[{','.join(['1'] * 300)}].map(x{n}, " for n in range(8)) + "1" + ")" * 8 + " == []",
    "a hard regular expression": f'{ATTRIBUTES}.long.matches("^(a+)+$")',
    "a large regular expression": f'{ATTRIBUTES}.long.matches("(((a{{99}}){{99}}){{99}}){{99}}")',
    "a wrong regular expression": f'{ATTRIBUTES}.long.matches("(")',
    "a long range": "lists.range(9223372036854775807).size() == 1",
    "a long product": "lists.range(2000).all(a, lists.range(2000).all(b, a + b > -1))",
    "a long map": "lists.range(2000).map(a, lists.range(2000).map(b, a + b)) == []",
    "flat lists": "lists.range(2000).map(a, lists.range(2000)).flatten().flatten().size() == 0",
    "a pair of long lists": "cel.bind(l, lists.range(2000), l == l.reverse() || sets.equivalent(l, l) || l.distinct() == l)",
    "numbers of a version": 'isSemver("' + "9" * 9000 + '.0.0") || isQuantity("' + "9" * 500 + '")',
    "strings": '"' + "\\\\" * 5000 + '" == "',
    "digits": "9" * 10000 + " == 1",
    "nul": '"\\0" == "\\u0000"',
    "an index without end": "[1][1.0 / 0.0] == 1",
    "no index at all": "[1][0.0 / 0.0] == 1",
    "half a character": f'{ATTRIBUTES}.half == "\ud800" || {ATTRIBUTES}.half.size() == 1',
    "half a character of the device": f"{ATTRIBUTES}.half.size() == 1",
    "a long name": "a" * 9000 + " == 1",
    "a long key": f'{ATTRIBUTES}["' + "k\\n" * 3000 + '"] == 1',
    "surrogate": '"\\ud800" == ""',
    "a name of the library's": 'at(0)["v"] == 1 || fold0([1])["v"] || k_items([1])["v"] == []',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_expressions_end_in_an_outcome(
    name: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    attributes = {"long": "a" * 50_000 + "!", "model": "m", "half": "\ud800"}
    device = Device(attributes={name: Attribute(string=text) for name, text in attributes.items()})
    outcome = Selector(HOSTILE[name]).evaluate(DRIVER, device)
    assert not caplog.records
    assert capfd.readouterr() == ("", "")
    match outcome:
        case CannotTell():
            assert outcome.reason
            assert "\n" not in outcome.reason
            assert len(outcome.reason) <= 200
        case RuntimeFailure():
            assert outcome.message
            assert "\n" not in outcome.message
            assert len(outcome.message) <= 200


@given(st.text(max_size=80))
def test_no_text_raises(text: str) -> None:
    Selector(text).evaluate(DRIVER, GPU)


FRAGMENTS = (
    f"""{ATTRIBUTES} .model .?nope .exists(x, .orValue( "A" 1 - == && || ! ? : ( ) [ ] {{ }} , in true null has( cel.bind(x,"""
    """ .map(x, semver("1.0.0") .size() + device . x 0x 1.5 r"a" // < matches( optional.none() % / b" '''"""
).split()


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=14).map(" ".join))
def test_no_mixture_of_tokens_raises(text: str) -> None:
    Selector(text).evaluate(DRIVER, GPU)


def test_the_library_is_loaded_by_the_first_selector_without_its_command_line() -> None:
    script = (
        "import sys; from ktui.cel.selector import compile_selector; assert 'cel.cel' not in sys.modules;"
        "compile_selector('true'); assert 'cel.cel' in sys.modules;"
        "assert not {'cel', 'rich', 'typer', 'prompt_toolkit'} & set(sys.modules);"
        "import cel; assert cel.evaluate('1 + 1') == 2"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
