"""The results of each assertion on both servers, gathered while the tests run."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

import pytest

SERVERS: Final = ("embedded", "real")
PLUGIN: Final = "ktui-contract"

_ASSERTION: Final = "assertion"
_SERVER: Final = "server"


class SideBySide:
    """A plug-in of pytest: remembers how each test of `control_plane` ended, and shows the two servers side by side."""

    def __init__(self) -> None:
        self.results: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        """Assertion → server → the outcome of each case."""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """The comparison comes last of all; the others carry their names in their reports."""
        for item in items:
            if server := _server(item):
                item.user_properties += [(_ASSERTION, item.nodeid.split("::")[1].split("[")[0]), (_SERVER, server)]
        items.sort(key=lambda item: "sides" in getattr(item, "fixturenames", ()))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        told = dict(report.user_properties)
        # A test that is skipped or broken in its set-up has no call.
        if _ASSERTION in told and (report.when == "call" or not report.passed):
            self.results[str(told[_ASSERTION])][str(told[_SERVER])].append(report.outcome)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.took_part("real"):
            terminalreporter.section("contract: embedded | real")
            for line in self.lines():
                terminalreporter.write_line(line)

    def took_part(self, server: str) -> bool:
        return any(outcome != "skipped" for sides in self.results.values() for outcome in sides[server])

    def lines(self) -> Iterator[str]:
        """One for each assertion: how often it passed on each server."""
        for name, sides in self.results.items():
            yield f"{_told(sides['embedded']):>12} | {_told(sides['real']):<12} {name.removeprefix('test_')}"

    def differences(self) -> list[str]:
        """The assertions that did not pass on both servers, with the same number of cases."""
        return [
            f"{name}: embedded {_told(sides['embedded'])}, real {_told(sides['real'])}"
            for name, sides in self.results.items()
            if len({len(sides[server]) for server in SERVERS}) > 1
            or any(outcome != "passed" for server in SERVERS for outcome in sides[server])
        ]


def real_server_is_required() -> bool:
    return os.environ.get("KTUI_REQUIRE_CLUSTER", "") not in ("", "0")


def _server(item: pytest.Item) -> str:
    callspec = getattr(item, "callspec", None)
    return str(callspec.params.get("control_plane", "")) if callspec else ""


def _told(outcomes: list[str]) -> str:
    if not outcomes:
        return "not run"
    worst = next((outcome for outcome in outcomes if outcome != "passed"), "passed")
    return worst if len(outcomes) == 1 else f"{worst} ({len(outcomes)})"
