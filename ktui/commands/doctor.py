"""`ktui doctor`: look at the access and the cluster, say what is wrong and what to do."""

from __future__ import annotations

import argparse
import asyncio
import sys

import orjson

from ktui.commands.printing import paragraphs
from ktui.commands.source import fill
from ktui.doctor.checkup import examine
from ktui.doctor.finding import Finding, worst
from ktui.doctor.recorded import recorded_facts
from ktui.doctor.report import document, lines
from ktui.errors import UsageError


def run(args: argparse.Namespace) -> int:
    """Print every finding; 1 when one of them is a failure (with --strict: or a warning), else 0."""
    findings = _findings(args)
    if args.output == "json":
        found = orjson.dumps(document(findings), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        sys.stdout.write(found.decode())
    else:
        sys.stdout.write(paragraphs(lines(findings)))
    bad = ("warn", "fail") if args.strict else ("fail",)
    return 1 if worst(findings) in bad else 0


def _findings(args: argparse.Namespace) -> tuple[Finding, ...]:
    if getattr(args, "recording", None):
        filled = fill(args, ())
        return examine(recorded_facts(filled.cluster, filled.git_version))
    if getattr(args, "at", None) is not None:
        raise UsageError("--at goes with --recording")
    from ktui.commands.examining import look

    return asyncio.run(look(args))
