"""Settings: the file, the variables over it, and one clear line for whatever is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from ktui.errors import UsageError
from ktui.settings import Settings, load, read


def write(directory: Path, name: str, text: str | bytes) -> Path:
    path = directory / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_nothing_is_needed(tmp_path: Path) -> None:
    assert load({}, tmp_path) == Settings()
    assert load({}, tmp_path / "missing") == Settings()


TOML = 'theme = "light"\nascii = true\nreadonly = true\n[keys]\n"row.yaml" = "Y"\n'
YAML = "theme: light\nascii: true\nreadonly: true\nkeys:\n  row.yaml: Y\n"


@pytest.mark.parametrize(("name", "text"), [("settings.toml", TOML), ("settings.yaml", YAML), ("settings.yml", YAML)])
def test_both_notations(tmp_path: Path, name: str, text: str) -> None:
    write(tmp_path, name, text)
    assert load({}, tmp_path) == Settings(theme="light", ascii=True, readonly=True, keys={"row.yaml": "Y"})


def test_an_empty_file_says_nothing(tmp_path: Path) -> None:
    assert read(write(tmp_path, "settings.yaml", "")) == Settings()
    assert read(write(tmp_path, "settings.toml", "")) == Settings()


def test_variables_win(tmp_path: Path) -> None:
    write(tmp_path, "settings.toml", TOML)
    variables = {"KTUI_THEME": "ansi", "KTUI_ASCII": "0", "KTUI_READONLY": ""}
    assert load(variables, tmp_path) == Settings(theme="ansi", ascii=False, keys={"row.yaml": "Y"})


def test_a_file_named_by_variable(tmp_path: Path) -> None:
    path = write(tmp_path, "other.toml", 'theme = "light"')
    assert load({"KTUI_SETTINGS": str(path)}, tmp_path / "missing").theme == "light"


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.toml", "colour = 1", "unknown key colour; there are theme, ascii, readonly, keys"),
        ("a.toml", "theme = 'pink'", "theme: "),
        ("a.toml", "ascii = 'yes'", "ascii: "),
        ("a.toml", "theme = ", "not TOML"),
        ("a.toml", "[keys]\nfilter = 3", "keys.filter: "),
        ("a.toml", b"\xff\xfe", "not UTF-8"),
        ("a.yaml", "theme: [", "not YAML in line 1"),
        ("a.yaml", "- theme", "settings are keys with values"),
        ("a.yaml", "theme: !!python/object/apply:os.system ['true']", "not YAML"),
        ("a.yaml", "? [a]\n: 1", "not YAML"),
        ("a.yaml", "1: 2", "a.yaml: 1: "),
        ("a.yaml", b"\x00", "not YAML"),
        ("a.yaml", "[" * 5000, "not YAML"),
        ("a.toml", "#" * (2 << 20), "larger than 1 MiB"),
    ],
)
def test_what_is_wrong_is_one_line_with_the_file(tmp_path: Path, name: str, text: str | bytes, words: str) -> None:
    path = write(tmp_path, name, text)
    with pytest.raises(UsageError) as raised:
        read(path)
    assert words in str(raised.value)
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "variables",
    [{"KTUI_THEME": "pink"}, {"KTUI_ASCII": "perhaps"}, {"KTUI_SETTINGS": "/nowhere/at/all"}, {"KTUI_SETTINGS": "/"}],
)
def test_wrong_variables_are_named(tmp_path: Path, variables: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=next(iter(variables))):
        load(variables, tmp_path)
