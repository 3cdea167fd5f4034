"""core/v1 Namespace: only its name matters here."""

from __future__ import annotations

from ktui.model.meta import Object


class Namespace(Object, frozen=True):
    """A namespace."""
