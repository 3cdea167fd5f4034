"""Modules that nothing needs before the first frame, or before somebody asks for what they do."""

from __future__ import annotations

import asyncio
import importlib


async def load(*modules: str) -> None:
    """Import them in a thread, so that keys are heard meanwhile. Whoever waited for it then imports what he uses of them."""
    await asyncio.to_thread(_load, modules)


def _load(modules: tuple[str, ...]) -> None:
    for module in modules:
        importlib.import_module(module)
