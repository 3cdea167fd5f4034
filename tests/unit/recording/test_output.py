"""G01, G02, G06, G07: the file of a recording."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from ktui.errors import KtuiError, UsageError
from ktui.recording.output import SUFFIXES, Output, numbered
from ktui.recording.reader import Recording
from tests.unit.recording.files import event, listed, pod, text
from tests.unit.recording.test_reader import frames, names

LINES = text(listed(0, pod("a")), event(1, "ADDED", pod("b"))).splitlines(keepends=True)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_g01_private_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        Output(tmp_path / "a.ktui").close()
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.ktui").stat().st_mode) == 0o600


def test_g02_nothing_is_replaced_and_no_link_followed(tmp_path: Path) -> None:
    there = tmp_path / "there.ktui"
    there.write_text("precious")
    link, dangling, fifo = tmp_path / "link.ktui", tmp_path / "dangling.ktui", tmp_path / "fifo.ktui"
    link.symlink_to(there)
    dangling.symlink_to(tmp_path / "elsewhere")
    os.mkfifo(fifo)
    for path in (there, link, dangling, fifo):
        with pytest.raises(UsageError, match="exists already"):
            Output(path)
    assert there.read_text() == "precious"
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("name", ["x", "x.json", ".ktui", "x.ktui.bz2", "x.gz"])
def test_g02_a_name_that_is_none_of_a_recording(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"ends in \.ktui, \.ktui\.gz or \.ktui\.zst"):
        Output(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_g02_a_directory_in_which_anybody_may_rename(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o777)
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(UsageError, match="belongs to somebody else, and everybody may write in it"):
        Output(tmp_path / "a.ktui")
    tmp_path.chmod(0o1777)
    Output(tmp_path / "a.ktui").close()


def test_g02_a_directory_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        Output(tmp_path / "no" / "a.ktui")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_g07_what_was_synced_can_be_read_although_the_file_was_never_closed(tmp_path: Path, suffix: str) -> None:
    output = Output(tmp_path / f"a{suffix}")
    for line in LINES:
        output.write(line)
    output.sync()
    output.write(b'{"t":2,"type":"MARK","text":"lost')
    assert names(frames(Recording(output.path))) == [(0.0, "LIST", "a"), (1.0, "ADDED", "b")]
    output.close()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_g06_a_full_disk_leaves_whole_lines(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    output = Output(tmp_path / f"a{suffix}")
    for line in LINES:
        output.write(line)
    output.sync()
    write, room = os.write, [10]

    def full(file: int, data: bytes) -> int:
        if not room[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = write(file, data[: room[0]])
        room[0] -= written
        return written

    monkeypatch.setattr(os, "write", full)
    output.write(text(event(2, "ADDED", pod("c"))))
    with pytest.raises(KtuiError, match="No space left on device"):
        output.sync()
    output.close()
    monkeypatch.undo()
    recording = Recording(output.path)
    assert names(frames(recording)) == [(0.0, "LIST", "a"), (1.0, "ADDED", "b")]
    assert not recording.notes


def test_names_of_a_rotation_keep_the_suffix() -> None:
    path = Path("/x/night.ktui.gz")
    assert [numbered(path, n).name for n in range(3)] == ["night.ktui.gz", "night.1.ktui.gz", "night.2.ktui.gz"]
