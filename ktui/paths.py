"""Where ktui keeps its own files (XDG base directories; macOS and Windows have theirs)."""

from __future__ import annotations

from pathlib import Path

_APP = "ktui"


def audit_log() -> Path:
    """One JSON line for each action: $XDG_STATE_HOME/ktui/audit.log."""
    return _state() / "audit.log"


def demo_audit_log() -> Path:
    """The same for the demo cluster: what was practised stays apart from what was done."""
    return _state() / "demo-audit.log"


def crash_reports() -> Path:
    """The directory of reports about unexpected failures: $XDG_STATE_HOME/ktui/crashes."""
    return _state() / "crashes"


def _state() -> Path:
    from platformdirs import user_state_path

    return user_state_path(_APP)
