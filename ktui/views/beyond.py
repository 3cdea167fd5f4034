"""Pods of a gang that wait although it runs without them, as lines and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ktui.diagnose.beyond import Beyond
from ktui.views.base import Cell, Document, Line

_NAMED = 3  # of many pods


def beyond_lines(found: Iterable[Beyond]) -> Iterator[Line]:
    """What they wait for, with the scheduler's words where the sentence does not have them, and their names."""
    for pods, diagnosis in found:
        whose = (
            "1 pod waits, the gang runs without it"
            if len(pods) == 1
            else f"{len(pods)} pods wait, the gang runs without them"
        )
        yield (Cell(f"{whose}: "), Cell(diagnosis.message if diagnosis else "different things", "warn"))
        if diagnosis is not None:
            words = (item.text for item in diagnosis.evidence if item.said and item.text not in diagnosis.message)
            yield from ((Cell("  scheduler says  ", "dim"), Cell(text)) for text in words)
        more = f", {len(pods) - _NAMED} more" if len(pods) > _NAMED else ""
        yield (Cell(f"  {', '.join(pod.name for pod in pods[:_NAMED])}{more}", "dim"),)


def beyond_documents(found: Iterable[Beyond]) -> list[Document]:
    return [
        {
            "pods": [pod.name for pod in each.pods],
            "cause": each.diagnosis.cause if each.diagnosis else None,
            "message": each.diagnosis.message if each.diagnosis else None,
        }
        for each in found
    ]
