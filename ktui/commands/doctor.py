"""`ktui doctor`: look at the access and the cluster, say what is wrong and what to do."""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
from collections.abc import Iterable
from typing import Final

import orjson

from ktui.commands.recorded import recorded_facts
from ktui.doctor.checkup import examine
from ktui.doctor.finding import Finding, worst
from ktui.doctor.report import document, lines
from ktui.errors import UsageError
from ktui.ui.safe import safe, to_ascii
from ktui.ui.wrap import wrap
from ktui.views.base import Line

_NARROWEST: Final = 40  # cells; what is narrower yet is broken by the terminal


def run(args: argparse.Namespace) -> int:
    """Print every finding; 1 when one of them is a failure (with --strict: or a warning), else 0."""
    findings = _findings(args)
    if args.output == "json":
        found = orjson.dumps(document(findings), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        sys.stdout.write(found.decode())
    else:
        sys.stdout.write(_text(lines(findings)))
    bad = ("warn", "fail") if args.strict else ("fail",)
    return 1 if worst(findings) in bad else 0


def _findings(args: argparse.Namespace) -> tuple[Finding, ...]:
    recording, at = getattr(args, "recording", None), getattr(args, "at", None)
    if recording:
        return examine(recorded_facts(recording, at))
    if at is not None:
        raise UsageError("--at goes with --recording")
    from ktui.commands.examining import look

    return asyncio.run(look(args))


def _text(found: Iterable[Line]) -> str:
    """The lines for a terminal, broken to its width, or as they are for whoever reads a pipe. Cluster text is made safe here."""
    if sys.stdout.isatty():
        width = max(_NARROWEST, shutil.get_terminal_size().columns)
        found = (broken for line in found for broken in wrap(line, width))
    plain = "utf" not in (sys.stdout.encoding or "").lower()
    texts = ("".join(safe(cell.text) for cell in line).rstrip() for line in found)
    return "".join(f"{to_ascii(text) if plain else text}\n" for text in texts)
