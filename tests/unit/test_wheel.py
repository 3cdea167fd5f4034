"""The wheel, built and installed as a person would have it: everything ktui loads at run time is in it."""

from __future__ import annotations

import email
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("wheel")
    run("-m", "hatchling", "build", "--target", "wheel", "--directory", str(directory), cwd=ROOT)
    (built,) = directory.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the wheel's content and nothing else."""
    target = tmp_path_factory.mktemp("site")
    run("-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-compile", f"--target={target}", str(wheel))
    return target


def run(*arguments: str, cwd: Path | None = None) -> str:
    answer = subprocess.run(
        [sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, timeout=120, check=False
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return answer.stdout


def test_it_is_named_after_the_distribution_not_after_the_package(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (path,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(path))
    assert metadata["Name"] == "kubectl-ktui"
    assert metadata["License-Expression"] == "Apache-2.0"


@pytest.mark.parametrize(("directory", "pattern"), [("styles", "*.tcss"), ("recordings", "*.ktui.gz")])
def test_it_carries_every_style_and_recording_of_the_checkout(wheel: Path, directory: str, pattern: str) -> None:
    expected = {f"ktui/{directory}/{path.name}" for path in (ROOT / directory).glob(pattern)}
    with zipfile.ZipFile(wheel) as archive:
        assert expected
        assert expected <= set(archive.namelist())


def test_it_has_both_commands_and_the_marker_of_a_typed_package(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (path,) = (name for name in archive.namelist() if name.endswith(".dist-info/entry_points.txt"))
        commands = archive.read(path).decode()
        assert "ktui/py.typed" in archive.namelist()
    assert "ktui = ktui.cli:main" in commands
    assert "kubectl-ktui = ktui.cli:main" in commands


def test_it_has_no_tests_in_it(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/", 1)[0] for name in archive.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"ktui"}


def test_an_installed_ktui_finds_its_own_files(installed: Path) -> None:
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from ktui import resources\n"
        "print(*resources.recordings(), sep='\\n')\n"
        "print(*(resources.style(name) for name in sys.argv[2:]), sep='\\n')\n"
    )
    styles = [path.stem for path in (ROOT / "styles").glob("*.tcss")]
    found = [Path(line) for line in run("-I", "-c", script, str(installed), *styles).splitlines()]
    assert {path.name for path in found} == {
        path.name
        for directory in ("recordings", "styles")
        for path in (ROOT / directory).iterdir()
        if path.suffix in (".gz", ".tcss")
    }
    assert all(path.is_file() and path.is_relative_to(installed) for path in found)
