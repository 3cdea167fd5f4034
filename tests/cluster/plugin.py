"""The pytest side of the real control plane: when it is built, when it is started, when it may be missing.

    KTUI_CONTROLPLANE_BIN=DIR  take the commands from DIR
    KTUI_BUILD_CLUSTER=1       build what is missing, before the first test
    KTUI_REQUIRE_CLUSTER=1     a missing control plane is a failure, and so is a run in which no cluster test ran

Tests that use a fixture of this module get the marker `cluster`; `-m "not cluster"` leaves them out.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.cluster import infra, objects
from tests.cluster.controlplane import build
from tests.cluster.controlplane.api import Api, wait_for
from tests.cluster.controlplane.cluster import ControlPlane

_FIXTURES: Final = frozenset({"control_plane_binaries", "real_cluster", "fresh_namespace"})


def _is_set(variable: str) -> bool:
    return os.environ.get(variable, "") not in ("", "0")


class ClusterPlugin:
    """Marks the tests that need the control plane, builds it for them, and counts those that ran."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        # By node id: a report's keywords also hold the names of directories, and one of those is "cluster".
        self._needing: set[str] = set()
        self._ran: set[str] = set()
        self.build_error = ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """First, so that `-m` sees the markers."""
        for item in items:
            if _FIXTURES.intersection(getattr(item, "fixturenames", ())):
                item.add_marker("cluster")

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Here and not in a fixture: the first build takes longer than one test may."""
        self._needing = {item.nodeid for item in session.items if item.get_closest_marker("cluster")}
        where = build.directory()
        wanted = self._needing and _is_set("KTUI_BUILD_CLUSTER") and not self._config.option.collectonly
        if not wanted or not build.missing(where):
            return
        capture = self._config.pluginmanager.getplugin("capturemanager")
        try:
            with capture.global_and_fixture_disabled():
                build.build(where)
        except build.BuildError as error:
            self.build_error = str(error)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.nodeid in self._needing and not report.skipped:
            self._ran.add(report.nodeid)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._none_ran and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._none_ran:
            terminalreporter.write_line("KTUI_REQUIRE_CLUSTER is set, but no cluster test ran", red=True)

    @property
    def _none_ran(self) -> bool:
        return _is_set("KTUI_REQUIRE_CLUSTER") and not self._config.option.collectonly and not self._ran


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(ClusterPlugin(config), "ktui-cluster")


@pytest.fixture(scope="session")
def control_plane_binaries(pytestconfig: pytest.Config) -> Path:
    """The directory of the commands, for tests that start a control plane with options of their own."""
    where = build.directory()
    if problem := build.missing(where):
        plugin = pytestconfig.pluginmanager.getplugin("ktui-cluster")
        assert isinstance(plugin, ClusterPlugin)
        problem = plugin.build_error or problem
        if _is_set("KTUI_REQUIRE_CLUSTER"):
            pytest.fail(problem, pytrace=False)
        pytest.skip(problem)
    return where


@pytest.fixture(scope="session")
def real_cluster(control_plane_binaries: Path) -> Iterator[ControlPlane]:
    """One control plane for the whole run, with `tests.cluster.infra` loaded and its nodes ready.

    Tests leave it as they found it: they work in a `fresh_namespace`, and delete what they make outside of it.
    """
    with ControlPlane(control_plane_binaries) as plane:
        infra.load(plane.api())
        yield plane


@pytest.fixture
def fresh_namespace(real_cluster: ControlPlane) -> Iterator[str]:
    """The name of a new namespace with the usual claim templates; afterwards it and the devices it used are free again."""
    api = real_cluster.api()
    name = f"test-{secrets.token_hex(4)}"
    api.create(objects.namespace(name))
    for template in infra.templates(name):
        api.create(template)
    yield name
    if not real_cluster.process("kube-apiserver").running:
        # A test that stopped it has failed half-way; the tests after it need not fail too.
        real_cluster.start_api_server()
    _empty(api, name)
    api.delete(f"/api/v1/namespaces/{name}")


def _empty(api: Api, namespace: str) -> None:
    """Ends all work in a namespace. Deleting only the namespace would do so too, but takes the controller 15 s."""
    jobs = f"/apis/batch/v1/namespaces/{namespace}/jobs"
    pods = f"/api/v1/namespaces/{namespace}/pods"
    claims = f"/apis/resource.k8s.io/v1/namespaces/{namespace}/resourceclaims"
    for collection in (jobs, pods, claims):
        api.delete(collection)
    wait_for(lambda: not (api.list(pods) or api.list(claims)), f"namespace {namespace} to be empty", limit=90)
