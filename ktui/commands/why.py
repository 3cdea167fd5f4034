"""`ktui why [NAMESPACE/]NAME`."""

from __future__ import annotations

import argparse
import sys

import orjson

from ktui.cluster.state import Cluster
from ktui.commands.printing import paragraphs
from ktui.commands.source import fill
from ktui.diagnose.account import Account
from ktui.diagnose.diagnoses import Diagnoses, diagnoses_of
from ktui.errors import KtuiError
from ktui.views import gangs, why

JSON_VERSION = 1
_KINDS = (*gangs.VIEW.kinds, *gangs.VIEW.joins, "Job")


def run(args: argparse.Namespace) -> int:
    """Print why a gang or a pod waits; 0, or 1 when there is none of that name."""
    filled = fill(args, _KINDS, everywhere=True)
    cluster = filled.cluster
    _check_readable(cluster)
    subject = why.find(cluster, args.name, filled.namespace)
    kept = diagnoses_of(cluster)
    found = why.account(kept.supply, subject)
    if found is None:
        raise KtuiError(f"{subject.shown} is gone")
    what_if = _what_if(args.conditions, kept, subject, found, filled.namespace)
    if args.output == "json":
        document = {"version": JSON_VERSION, **why.document(subject, found, what_if)}
        sys.stdout.write(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode())
    else:
        lines = why.lines(cluster, subject, found, filled.now, bar=_bar())
        further = ((), *why.what_if_lines(what_if, subject, found)) if what_if else ()
        sys.stdout.write(paragraphs((*lines, *further)))
    return 0


def _what_if(
    conditions: list[str], kept: Diagnoses, subject: why.Subject, found: Account, namespace: str
) -> why.Imagined | None:
    if not conditions:
        return None
    from ktui.commands.imagining import change_of

    return why.imagine(kept, subject, found, change_of(kept.supply.cluster, conditions, namespace))


def _check_readable(cluster: Cluster) -> None:
    """Nobody is said not to be there who could not be seen."""
    if not cluster.synced("Pod"):
        reason = next((stream.message for stream in cluster.streams_of(("Pod",)) if stream.message), "nothing was read")
        raise KtuiError(f"pods cannot be read: {reason}")


def _bar() -> str:
    """Bars are drawn for people only."""
    return "█" if sys.stdout.isatty() else ""
