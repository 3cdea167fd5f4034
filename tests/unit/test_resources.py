"""Style sheets and recordings, found from a checkout."""

from __future__ import annotations

from pathlib import Path

import pytest

from ktui import resources
from ktui.errors import KtuiError, UsageError


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one style and two recordings; returns its root."""
    package = tmp_path / "ktui"
    for path in (
        "ktui/__init__.py",
        "styles/app.tcss",
        "recordings/b.ktui.gz",
        "recordings/a.ktui.gz",
        "recordings/make.py",
    ):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).touch()
    monkeypatch.setattr(resources, "_PACKAGE", package)
    return tmp_path


def test_a_checkout_has_them_beside_the_package(shipped: Path) -> None:
    assert resources.style("app") == shipped / "styles" / "app.tcss"
    assert resources.recordings() == [shipped / "recordings" / name for name in ("a.ktui.gz", "b.ktui.gz")]


def test_a_wheel_has_them_inside_the_package(shipped: Path) -> None:
    (shipped / "styles").rename(shipped / "ktui" / "styles")
    (shipped / "recordings").rename(shipped / "ktui" / "recordings")
    # Other packages have directories of these names too.
    (shipped / "styles").mkdir()
    assert resources.style("app") == shipped / "ktui" / "styles" / "app.tcss"
    assert resources.recording("a") == shipped / "ktui" / "recordings" / "a.ktui.gz"


@pytest.mark.parametrize("name", ["b", "b.ktui.gz"])
def test_a_recording_by_its_short_or_its_file_name(shipped: Path, name: str) -> None:
    assert resources.recording(name) == shipped / "recordings" / "b.ktui.gz"


def test_a_style_by_its_file_name(shipped: Path) -> None:
    assert resources.style("app.tcss") == shipped / "styles" / "app.tcss"


def test_an_unknown_recording_is_answered_with_the_known_ones(shipped: Path) -> None:
    with pytest.raises(UsageError, match=r"no shipped recording is called 'c'; there are: a, b$"):
        resources.recording("c")


@pytest.mark.parametrize("name", ["../recordings/a", "/etc/passwd", ""])
def test_a_name_is_never_a_path(shipped: Path, name: str) -> None:
    with pytest.raises(UsageError):
        resources.recording(name)


def test_a_broken_installation_says_so(shipped: Path) -> None:
    with pytest.raises(KtuiError, match="install it again"):
        resources.style("other")
