"""dev.py: what it says on an unfit machine, and that it does nothing twice."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

DEV = Path(__file__).parents[2] / "dev.py"


@pytest.fixture
def dev(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """dev.py as a module, in an empty checkout, with `commands` recording what it would run; all of them succeed."""
    spec = importlib.util.spec_from_file_location("dev", DEV)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "pyproject.toml").write_text('[dependency-groups]\ndev = ["pytest>=8"]\n')
    for name, path in {"ROOT": ".", "VENV": ".venv", "PYTHON": ".venv/bin/python", "STAMP": ".venv/stamp"}.items():
        monkeypatch.setattr(module, name, tmp_path / path)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").touch()
    commands: list[list[str]] = []

    def record(command: list[object], environment: object = None) -> int:
        commands.append([str(word) for word in command])
        return 0

    monkeypatch.setattr(module, "run", record)
    monkeypatch.setattr(module, "works", lambda command: True)
    module.__dict__["commands"] = commands
    return module


def pip_commands(dev: ModuleType) -> list[list[str]]:
    return [command for command in dev.commands if "pip" in command]


def test_any_python_3_can_read_it_far_enough_to_be_refused() -> None:
    ast.parse(DEV.read_text(), feature_version=(3, 6))
    pretend = f"import runpy, sys; sys.version_info = (3, 8, 18); runpy.run_path({str(DEV)!r}, run_name='__main__')"
    answer = subprocess.run(
        [sys.executable, "-c", pretend], env={"PATH": ""}, capture_output=True, text=True, timeout=60, check=False
    )
    assert answer.returncode == 1
    assert answer.stderr.startswith("ktui needs Python 3.11 or newer")
    assert answer.stderr.count("\n") == 1


@pytest.mark.parametrize(("arguments", "status"), [(["--help"], 0), (["rnu"], 2), (["run"], 2)])
def test_its_help_names_the_commands(arguments: list[str], status: int) -> None:
    answer = subprocess.run([sys.executable, DEV, *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert answer.returncode == status
    assert "dev.py test" in (answer.stderr if status else answer.stdout)


def test_it_installs_once(dev: ModuleType) -> None:
    dev.install(development=False)
    dev.install(development=False)
    assert len(pip_commands(dev)) == 1


def test_the_development_tools_include_what_it_takes_to_run(dev: ModuleType) -> None:
    dev.install(development=False)
    dev.install(development=True)
    dev.install(development=False)
    first, second = pip_commands(dev)
    assert "pytest>=8" not in first
    assert "pytest>=8" in second


def test_a_changed_project_is_installed_again(dev: ModuleType) -> None:
    dev.install(development=False)
    with (dev.ROOT / "pyproject.toml").open("a") as pyproject:
        pyproject.write("# changed\n")
    dev.install(development=False)
    assert len(pip_commands(dev)) == 2


def test_a_failed_installation_is_one_line_and_tried_again(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(dev, "run", lambda command: 1)
        with pytest.raises(dev.Failure):
            dev.install(development=False)
    dev.install(development=False)
    assert len(pip_commands(dev)) == 1


def test_without_pip_it_says_which_package_to_install(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dev, "works", lambda command: False)
    with pytest.raises(dev.Failure, match="python3-venv"):
        dev.install(development=False)


def test_a_failed_check_fails_the_run_but_the_tests_still_run(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    def mypy_fails(command: list[object], environment: object = None) -> int:
        line = " ".join(map(str, command))
        ran.append(line)
        return int("mypy" in line)

    monkeypatch.setattr(dev, "run", mypy_fails)
    assert dev.test(["-k", "taint"]) == 1
    assert ran[-1].endswith("-m pytest -k taint")


def test_the_status_of_the_tests_is_passed_on(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    no_tests_collected = 5
    monkeypatch.setattr(dev, "run", lambda command, environment=None: no_tests_collected if "pytest" in command else 0)
    assert dev.test([]) == no_tests_collected
