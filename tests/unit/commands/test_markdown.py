"""Reports: what they tell, and that no text of a cluster is markup in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from ktui.cluster.timeline import What
from ktui.commands.markdown import NAMES, code, report
from ktui.recording.anonymise import Anonymous
from ktui.recording.output import Output
from ktui.recording.reader import Recording
from ktui.recording.writer import Facts, Writer
from ktui.ui.safe import safe
from ktui.views import incident as incidents
from ktui.views.incident import incident
from tests.recordings import PATHS
from tests.unit.recording.files import HEADER, PODS, event, listed, pod, write
from tests.unit.ui.payloads import PAYLOADS

MARKDOWN = (
    "`", "``", "` `", "a`b``c", "<script>alert(1)</script>", "<!--", "![x](http://evil.example/x.png)", "[x](javascript:a)",
    "# h", "\n# h", "- [ ] x", "a | b", "\\", "\\`", "&lt;b&gt;", "**x**", "http://evil.example", "www.evil.example", "@team",
    "$$x$$", "~~~", "```sh", "---", "> x", "    code", " ", "  ",
)  # fmt: skip


def written(path: Path, since: float = 0.0, until: float = float("inf")) -> list[str]:
    recording = Recording(path)
    return list(report(recording.header, incident(recording.frames(), recording.header.start, since, until), since))


def inline(text: str) -> list[Token]:
    """The parts of all texts, by a CommonMark reader with the common additions switched on."""
    reader = MarkdownIt("js-default", {"html": True}).enable(["table", "strikethrough"])
    tokens = reader.parse(text)
    outer = {token.type for token in tokens}
    assert outer <= {
        *("heading_open", "heading_close", "inline", "paragraph_open", "paragraph_close"),
        *("bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"),
    }, outer
    return [part for token in tokens for part in token.children or ()]


def test_every_change_has_a_name() -> None:
    assert set(NAMES) == set(get_args(What))


def test_an_incident_from_its_beginning_to_its_end() -> None:
    lines = written(PATHS["xid79"])
    assert lines[0] == "# Incident: `Xid 79 on one GPU: taint, eviction, degraded gang, untaint, recovery`"
    assert "- From 2026-11-30T05:54:09Z to 2026-11-30T05:55:36Z (87s)" in lines
    assert "- Kubernetes `v1.37.2`" in lines
    for counted in ("- gangs degraded: 1", "- pods told to go: 1", "- taints added: 1", "- taints removed: 1"):
        assert counted in lines
    told = [line.partition(": ")[2] for line in lines if line.startswith("- 05:5")]
    story = [
        "gang `ml2/llm-train` running, 8 of 8 run",
        "taint `xid79` tainted `example.com/xid=79:NoExecute` on `gpu.example.com/node-1/gpu-0`",
        "pod `ml2/llm-train-0-skm7l` is to go: `Device Taint manager: deleting due to NoExecute taint`",
        "gang `ml2/llm-train` degraded, 7 of 8 run",
        "taint `xid79` taint `example.com/xid=79:NoExecute` on `gpu.example.com/node-1/gpu-0` removed",
        "gang `ml2/llm-train` running again, 8 of 8 run",
    ]
    assert [line for line in told if line in story] == story
    bound = next(line for line in told if line.startswith("8 pods bound to a node: `ml2/llm-train-"))
    assert bound.endswith(" and 5 more")
    assert "- `ml2/llm-train`: Running, 8 of 8 run" in lines


@pytest.mark.parametrize("name", PATHS)
def test_every_recording_has_a_report_that_is_commonmark(name: str) -> None:
    parts = inline("\n".join(written(PATHS[name])))
    assert {part.type for part in parts} <= {"text", "code_inline", "softbreak"}


def test_marks_are_headings() -> None:
    lines = written(PATHS["shared-claims"])
    assert sum(line.startswith("### ") for line in lines) == 5
    assert "### 09:" in next(line for line in lines if "is tainted NoExecute: one device" in line)[:7]


def test_a_part_of_a_recording() -> None:
    lines = written(PATHS["xid79"], 25.0, 40.0)
    assert "- From 2026-11-30T05:54:34Z to 2026-11-30T05:54:49Z (15s)" in lines
    assert "- Recorded from 2026-11-30T05:54:09Z on" in lines
    assert "- `ml2/llm-train`: Degraded, 7 of 8 run: " in "\n".join(lines)
    offsets = [float(line.partition("(+")[2].partition(" s)")[0]) for line in lines if line.startswith("- 05:5")]
    assert offsets
    assert all(25 <= offset <= 40 for offset in offsets)


def test_an_anonymised_recording_stays_so(tmp_path: Path) -> None:
    original = Recording(PATHS["xid79"])
    writer = Writer(Output(tmp_path / "x.ktui"), lambda: Facts("acme", "acme", "v1.37.2"), Anonymous(), started=0.0)
    for t, frame in original.frames():
        writer.take(t, frame)
    writer.close()
    text = "\n".join(written(tmp_path / "x.ktui"))
    assert "- gangs degraded: 1" in text
    for name in ("acme", "ml2", "llm-train", "llm-big", "node-1"):
        assert name not in text


def test_nothing_happened(tmp_path: Path) -> None:
    lines = written(write(tmp_path, [listed(0, pod("a"))]))
    assert lines.count("Nothing changed.") == 2
    assert "There were none." in lines


def test_another_day_is_said(tmp_path: Path) -> None:
    mark = {"t": 86_400, "type": "MARK", "text": "next day"}
    assert "### 2026-12-01T05:54:09Z (+86400.0 s): `next day`" in written(write(tmp_path, [listed(0), mark]))


def test_what_is_too_much_is_left_out_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incidents, "MOST", 3)
    marks = [{"t": t, "type": "MARK", "text": str(t)} for t in range(5)]
    lines = written(write(tmp_path, [listed(0), *marks]))
    assert [line.rpartition(" ")[2] for line in lines if line.startswith("### ")] == ["`0`", "`1`", "`2`"]
    assert any(line.startswith("2 more changes came after these") for line in lines)
    assert "- marks: 5" in lines


def test_more_changes_at_once_than_a_screen_remembers_are_all_counted(tmp_path: Path) -> None:
    pods = [pod(f"p{n}") for n in range(6000)]
    lines = written(write(tmp_path, [listed(0, *pods), listed(1)]))
    assert "- pods deleted: 6,000" in lines


def hostile_documents(payload: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    header = HEADER | {"title": payload, "context": payload, "server": {"gitVersion": payload}}
    spec = {"nodeName": payload, "schedulingGroup": {"podGroupName": payload}}
    doomed = {"conditions": [{"type": "DisruptionTarget", "status": "True", "message": payload}], "phase": payload}
    before = pod(payload, 1, spec={"schedulingGroup": {"podGroupName": payload}})
    after = pod(payload, 2, spec=spec, status=doomed)
    lost = {"t": 2, "path": PODS, "type": "STATE", "state": "waiting", "message": payload}
    mark = {"t": 3, "type": "MARK", "text": payload}
    return header, [listed(0, before), event(1, "MODIFIED", after), lost, mark, event(4, "DELETED", after)]


@pytest.mark.parametrize("payload", [*MARKDOWN, *(p for p in PAYLOADS if "\ud800" not in p)], ids=ascii)
def test_text_of_a_cluster_is_never_markup(tmp_path: Path, payload: str) -> None:
    header, documents = hostile_documents(payload)
    lines = written(write(tmp_path, documents, header=header))
    parts = inline("\n".join(lines))
    assert {part.type for part in parts} <= {"text", "code_inline", "softbreak"}
    assert any(part.content == safe(payload, 500) for part in parts if part.type == "code_inline")
    plain = "\n".join(part.content for part in parts if part.type == "text")
    assert len(payload) < 3 or payload not in plain


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40) | st.text("` \\|a", min_size=1))
def test_a_code_span_is_its_text(raw: str) -> None:
    (part,) = inline(f"# {code(raw)}") if raw.strip() else inline(f"# {code(raw)}x")[:1]
    assert (part.type, part.content) == ("code_inline", safe(raw, 500))
