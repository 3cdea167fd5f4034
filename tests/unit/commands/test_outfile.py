"""The file of a result: whole or not there, and never in another's place unasked."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from ktui.commands.outfile import opened
from ktui.errors import KtuiError, UsageError


def put(path: Path, data: bytes, *, force: bool = False) -> None:
    with opened(str(path), force=force) as write:
        write(data)


def give_up(path: Path, *, force: bool = False) -> None:
    with opened(str(path), force=force) as write:
        write(b"half")
        raise ZeroDivisionError


def test_a_new_file(tmp_path: Path) -> None:
    put(tmp_path / "out", b"new")
    assert (tmp_path / "out").read_bytes() == b"new"


def test_a_file_that_is_there_stays(tmp_path: Path) -> None:
    (tmp_path / "out").write_bytes(b"old")
    with pytest.raises(UsageError, match=r"out exists already; --force replaces it"):
        put(tmp_path / "out", b"new")
    assert (tmp_path / "out").read_bytes() == b"old"


@pytest.mark.parametrize("target", ["there", "not-there"])
def test_a_link_is_not_followed(tmp_path: Path, target: str) -> None:
    (tmp_path / "there").write_bytes(b"old")
    (tmp_path / "out").symlink_to(tmp_path / target)
    with pytest.raises(UsageError, match="exists already"):
        put(tmp_path / "out", b"new")
    put(tmp_path / "out", b"new", force=True)
    assert not (tmp_path / "out").is_symlink()
    assert (tmp_path / "out").read_bytes() == b"new"
    assert (tmp_path / "there").read_bytes() == b"old"
    assert not (tmp_path / "not-there").exists()


def test_what_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        give_up(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_what_fails_leaves_the_old_file_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "out").write_bytes(b"old")
    with pytest.raises(ZeroDivisionError):
        give_up(tmp_path / "out", force=True)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]


def test_only_files_are_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in (".", "pipe"):
        with pytest.raises(UsageError, match="is not a file that can be replaced"):
            put(tmp_path / name, b"new", force=True)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_a_place_where_nothing_can_be_made(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot write .*/out: No such file or directory"):
        put(tmp_path / "nowhere" / "out", b"new")


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_file: int, _data: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ktui.commands.outfile.os.write", full)
    with pytest.raises(KtuiError, match=r"cannot write .*/out: No space left on device"):
        put(tmp_path / "out", b"new")
    assert list(tmp_path.iterdir()) == []


def test_stdout(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    put(Path("-"), b"new")
    assert capsysbinary.readouterr().out == b"new"
