"""Files that ship with ktui but are not code: style sheets and recordings.

They stand at the top of a checkout, where people look for them; a wheel carries them inside the package. An editable
install is a checkout.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ktui.errors import KtuiError, UsageError

_PACKAGE: Final = Path(__file__).parent
_STYLE: Final = ".tcss"
_RECORDING: Final = ".ktui.gz"


def style(name: str) -> Path:
    """The style sheet `name`, with or without ".tcss". KtuiError where the installation lacks it."""
    path = _directory("styles") / f"{name.removesuffix(_STYLE)}{_STYLE}"
    if not path.is_file():
        raise KtuiError(f"this installation of ktui lacks the style sheet {path}: install it again")
    return path


def recordings() -> list[Path]:
    """The shipped recordings, by name."""
    return sorted(_directory("recordings").glob(f"*{_RECORDING}"))


def recording(name: str) -> Path:
    """The shipped recording `name`, with or without ".ktui.gz". UsageError, with the names there are, for another."""
    shipped = {path.name.removesuffix(_RECORDING): path for path in recordings()}
    found = shipped.get(name.removesuffix(_RECORDING))
    if found is None:
        raise UsageError(f"no shipped recording is called {name!r}; there are: {', '.join(shipped) or 'none'}")
    return found


def _directory(name: str) -> Path:
    packaged = _PACKAGE / name
    return packaged if packaged.is_dir() else _PACKAGE.parent / name
