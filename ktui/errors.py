"""The one exception hierarchy. Every message is one line: what is wrong, where, what to do.

    KtuiError            run-time or cluster trouble, exit code 1
    └── UsageError       the person's input, flags, files or settings, exit code 2

Messages never hold a secret; text that comes from a cluster or a plug-in is put through `ktui.ui.safe` by whoever shows it.
"""

from __future__ import annotations


class KtuiError(Exception):
    """Cluster or run-time trouble. `str(error)` is the whole line shown to the person."""

    exit_code = 1


class UsageError(KtuiError):
    """Something the person can correct: a flag, a file, a setting."""

    exit_code = 2
