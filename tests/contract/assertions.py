"""What the tests of this directory assert, as a table: `python -m tests.contract.assertions` writes docs/contract.md."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Final

PATH: Final = Path(__file__).parents[2] / "docs" / "contract.md"

_INTRODUCTION: Final = """\
# The API server's protocol, as ktui relies on it

Each line is a test that runs on the server of `ktui demo` and on a real Kubernetes 1.37.2 API server, and must pass on both:
`pytest tests/contract` shows them side by side. Numbers such as W12 or A06 are the cases of ktui's own fault plan. This page is
made from the tests by `python -m tests.contract.assertions`, and a test compares it with them.
"""

_LIMITS: Final = """\
## What cannot be shown side by side

- A real server cannot be made to answer 429 or 503 at will: what ktui makes of them is tested on the embedded server alone.
- A real server also speaks protobuf, YAML, CBOR and Table, applies changes server-side and deletes whole collections. The
  embedded one speaks JSON, whole or as metadata only, and refuses everything else with the real one's codes: 406, 415, 405.
- The embedded server checks the fields of DeviceTaintRules and HorizontalPodAutoscalers, the kinds that ktui writes; other
  kinds are stored as they are sent.
- The embedded server keeps no managedFields, and creates objects in namespaces that nobody made.
"""


@dataclass(frozen=True)
class Assertion:
    """One test: its function's name, and what it proves in one sentence."""

    name: str
    proves: str


def chapters() -> Iterator[tuple[str, list[Assertion]]]:
    """What each module is about, and its assertions as they stand there."""
    for path in sorted(Path(__file__).parent.glob("test_*.py")):
        module = importlib.import_module(f"{__package__}.{path.stem}")
        if found := list(_assertions(module)):
            yield _first_line(module), found


def document() -> str:
    parts = [_INTRODUCTION]
    for subject, found in chapters():
        rows = [f"| {assertion.name.replace('_', ' ')} | {assertion.proves} |" for assertion in found]
        parts.append(
            "\n".join([f"## {subject.removesuffix('.')}", "", "| assertion | proves |", "| --- | --- |", *rows, ""])
        )
    return "\n".join([*parts, _LIMITS])


def _assertions(module: ModuleType) -> Iterator[Assertion]:
    """Tests that take one of the fixtures that stand for a server."""
    for name, function in vars(module).items():
        if name.startswith("test_") and _SERVERS.intersection(inspect.signature(function).parameters):
            yield Assertion(name.removeprefix("test_"), _first_line(function))


_SERVERS: Final = frozenset({"client", "library"})


def _first_line(documented: object) -> str:
    text = inspect.getdoc(documented)
    assert text, f"{documented} does not say what it proves"
    return text.split("\n\n")[0].replace("\n", " ").replace("|", "\\|")


if __name__ == "__main__":
    PATH.write_text(document(), encoding="utf-8")
