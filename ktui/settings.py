"""Settings: a file people write, and KTUI_ variables over it.

The file is `settings.toml`, `settings.yaml` or `settings.yml` in the user's configuration directory (XDG), or the one that
KTUI_SETTINGS names. All keys are optional:

    theme = "light"            # dark, light, colorblind, ansi       KTUI_THEME
    ascii = true               # symbols and borders in plain ASCII  KTUI_ASCII
    readonly = true            # never write to a cluster            KTUI_READONLY
    [keys]                     # command id = "key,key"; the ids are those of `ktui.ui.commands`
    "row.yaml" = "Y"

Whatever is wrong with them is one line: file, key, what it may be. pydantic, which checks the file, is only imported when
there is one.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, structs

from ktui.errors import UsageError

if TYPE_CHECKING:
    from pydantic import ValidationError

THEMES: Final = ("dark", "light", "colorblind", "ansi")

_NAMES: Final = ("settings.toml", "settings.yaml", "settings.yml")
_MAX_BYTES: Final = 1 << 20
_TRUE: Final = frozenset(("1", "true", "yes", "on"))
_FALSE: Final = frozenset(("", "0", "false", "no", "off"))


class Settings(Struct, frozen=True):
    """`ascii` is None when nobody chose: then the locale decides. `keys` maps command ids to keys."""

    theme: str = "dark"
    ascii: bool | None = None
    readonly: bool = False
    keys: dict[str, str] = {}


def load(environment: Mapping[str, str] = os.environ, directory: Path | None = None) -> Settings:
    """The settings in force. Raises UsageError.

    `directory` is where to look for the file; the user's configuration directory when None.
    """
    path = find(environment, directory)
    settings = read(path) if path is not None else Settings()
    return _with_variables(settings, environment)


def find(environment: Mapping[str, str] = os.environ, directory: Path | None = None) -> Path | None:
    """The settings file, None when there is none. Raises UsageError when KTUI_SETTINGS names one that is missing."""
    if named := environment.get("KTUI_SETTINGS"):
        path = Path(named).expanduser()
        if not path.is_file():
            raise UsageError(f"KTUI_SETTINGS names {named}, which is not a file")
        return path
    if directory is None:
        from platformdirs import user_config_path

        directory = user_config_path("ktui")
    try:
        return next((directory / name for name in _NAMES if (directory / name).is_file()), None)
    except OSError:
        return None  # a home that cannot be looked into has no settings


def read(path: Path) -> Settings:
    """The settings of one file. Raises UsageError."""
    document = _parse(path)
    if not isinstance(document, dict):
        raise UsageError(f"{path}: settings are keys with values")
    return _check(path, document)


def _parse(path: Path) -> object:
    try:
        with path.open("rb") as stream:
            text = stream.read(_MAX_BYTES + 1)
        if len(text) > _MAX_BYTES:
            raise UsageError(f"{path}: larger than 1 MiB, this is no settings file")
        if path.suffix == ".toml":
            return tomllib.loads(text.decode())
        return _parse_yaml(path, text)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not TOML: {error}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: not UTF-8") from None


def _parse_yaml(path: Path, text: bytes) -> object:
    import yaml

    try:
        return yaml.safe_load(text) or {}
    except yaml.MarkedYAMLError as error:
        place = f" in line {error.problem_mark.line + 1}" if error.problem_mark is not None else ""
        raise UsageError(f"{path}: not YAML{place}: {error.problem}") from None
    except (yaml.YAMLError, ValueError, RecursionError):
        raise UsageError(f"{path}: not YAML") from None


def _check(path: Path, document: dict[Any, Any]) -> Settings:
    from typing import Literal

    from pydantic import BaseModel, ConfigDict, StrictBool, ValidationError

    class File(BaseModel):
        """The shape of the file. Here, so that pydantic is imported only when there is a file."""

        model_config = ConfigDict(extra="forbid")

        theme: Literal["dark", "light", "colorblind", "ansi"] = "dark"
        ascii: StrictBool | None = None
        readonly: StrictBool = False
        keys: dict[str, str] = {}

    try:
        found = File.model_validate(document)
    except ValidationError as error:
        raise UsageError(f"{path}: {_first_problem(error)}") from None
    return Settings(found.theme, found.ascii, found.readonly, dict(found.keys))


def _first_problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, problem["loc"]))
    if problem["type"] == "extra_forbidden":
        known = ", ".join(Settings.__struct_fields__)
        return f"unknown key {place}; there are {known}"
    return f"{place}: {problem['msg']}"


def _with_variables(settings: Settings, environment: Mapping[str, str]) -> Settings:
    changes: dict[str, Any] = {}
    if theme := environment.get("KTUI_THEME"):
        if theme not in THEMES:
            raise UsageError(f"KTUI_THEME: there is no theme {theme!r}; there are {', '.join(THEMES)}")
        changes["theme"] = theme
    for variable, name in (("KTUI_ASCII", "ascii"), ("KTUI_READONLY", "readonly")):
        if variable in environment:
            changes[name] = _switch(variable, environment[variable])
    return structs.replace(settings, **changes)


def _switch(variable: str, value: str) -> bool:
    if value.lower() in _TRUE:
        return True
    if value.lower() in _FALSE:
        return False
    raise UsageError(f"{variable}: neither true nor false: {value!r}")
