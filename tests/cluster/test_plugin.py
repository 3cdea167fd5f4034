"""What a run of pytest makes of a missing control plane, and of a run that needed none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NEEDS_THE_CLUSTER = "tests/cluster/test_controlplane.py::test_options_decide_what_is_served"
NEEDS_NOTHING = "tests/cluster/test_controlplane.py::test_waiting_says_what_for_and_what_was_seen_last"


def pytest_run(test: str, *options: str, **variables: str) -> tuple[int, str]:
    """(exit status, output) of pytest on one test, where the control plane is only what `variables` say."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("KTUI_")}
    answer = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options, test],
        cwd=ROOT,
        env=inherited | variables,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return answer.returncode, answer.stdout + answer.stderr


def test_a_missing_control_plane_skips_the_test_and_says_how_to_build_it(tmp_path: Path) -> None:
    status, output = pytest_run(NEEDS_THE_CLUSTER, KTUI_CONTROLPLANE_BIN=str(tmp_path))
    assert status == pytest.ExitCode.OK
    assert "1 skipped" in output
    assert "python -m tests.cluster.controlplane build" in output


def test_a_required_control_plane_that_is_missing_fails_the_run(tmp_path: Path) -> None:
    status, output = pytest_run(NEEDS_THE_CLUSTER, KTUI_CONTROLPLANE_BIN=str(tmp_path), KTUI_REQUIRE_CLUSTER="1")
    assert status == pytest.ExitCode.TESTS_FAILED
    assert "1 error" in output


def test_a_run_without_any_cluster_test_fails_where_one_is_required() -> None:
    assert pytest_run(NEEDS_NOTHING)[0] == pytest.ExitCode.OK
    status, output = pytest_run(NEEDS_NOTHING, KTUI_REQUIRE_CLUSTER="1")
    assert status == pytest.ExitCode.TESTS_FAILED
    assert "no cluster test ran" in output


def test_tests_that_need_it_carry_the_marker(tmp_path: Path) -> None:
    status, output = pytest_run(NEEDS_THE_CLUSTER, "-m", "not cluster", KTUI_CONTROLPLANE_BIN=str(tmp_path))
    assert status == pytest.ExitCode.NO_TESTS_COLLECTED
    assert "1 deselected" in output


def test_a_build_that_fails_is_the_reason_for_the_skip(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    status, output = pytest_run(
        NEEDS_THE_CLUSTER, KTUI_CONTROLPLANE_BIN=str(tmp_path / "file" / "bin"), KTUI_BUILD_CLUSTER="1"
    )
    assert status == pytest.ExitCode.OK
    assert "SKIPPED" in output
    assert "cannot build the control plane" in output


def test_a_run_that_only_looks_for_tests_builds_nothing(tmp_path: Path) -> None:
    status, _ = pytest_run(
        NEEDS_THE_CLUSTER,
        "--collect-only",
        KTUI_CONTROLPLANE_BIN=str(tmp_path),
        KTUI_BUILD_CLUSTER="1",
        KTUI_REQUIRE_CLUSTER="1",
    )
    assert status == pytest.ExitCode.OK
    assert not list(tmp_path.iterdir())
