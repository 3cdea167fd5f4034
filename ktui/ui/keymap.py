"""Keys by other names: as people write them, and as a person's settings give them to commands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ktui.errors import UsageError
from ktui.ui.commands import BY_ID, COMMANDS

_LABELS: Final = {
    "slash": "/",
    "colon": ":",
    "question_mark": "?",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "left_parenthesis": "(",
    "right_parenthesis": ")",
    "minus": "-",
    "plus": "+",
    "comma": ",",
    "full_stop": ".",
    "escape": "esc",
    "pagedown": "pgdn",
    "pageup": "pgup",
}
_NAMES: Final = {label: key for key, label in _LABELS.items()}


def key_labels(keys: str) -> str:
    """Keys as people write them: "slash,ctrl+p" is "/ ctrl+p"."""
    return " ".join(_LABELS.get(key, key) for key in keys.split(","))


def keymap(wanted: Mapping[str, str]) -> dict[str, str]:
    """Keys by command id as a person wants them, checked. Raises UsageError.

    Two commands may share a key only where they share one by default: those are never available together.
    """
    users: dict[str, list[str]] = {}
    for command in COMMANDS:
        for key in _split(wanted.get(command.id, command.keys)):
            users.setdefault(key, []).append(command.id)
    for command_id, keys in wanted.items():
        if command_id not in BY_ID:
            raise UsageError(f"settings: keys: there is no command {command_id!r}")
        if not _split(keys) or not all(_split(keys)):
            raise UsageError(f"settings: keys: {command_id}: keys are names separated by commas, not {keys!r}")
        for key in _split(keys):
            others = [other for other in users[key] if other != command_id]
            if others and key not in _split(BY_ID[command_id].keys):
                raise UsageError(f"settings: keys: {key!r} is both {command_id} and {others[0]}")
    return dict(wanted)


def _split(keys: str) -> list[str]:
    return [_NAMES.get(key.strip(), key.strip()) for key in keys.split(",")]
