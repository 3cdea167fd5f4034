"""What a person says about a recording: where it goes, and a note at a moment of it."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input, Static

from ktui.errors import UsageError
from ktui.recording.output import suffix_of
from ktui.ui.paint import content
from ktui.ui.screens.forms import Form
from ktui.ui.widgets.choice import Choice

_NAMES = ("names as they are", "anonymised")


class FileForm(Form):
    """The file is in `path` when it was filled in, and in `anonymise` whether names become others."""

    hint: ClassVar[str] = "secrets are masked, mode 0600"
    go: ClassVar[str] = "Write"

    def __init__(self, title: str, who: str, *, name: str) -> None:
        super().__init__(title, who)
        self._suggested = name
        self.path: Path | None = None
        self.anonymise = False

    def fields(self) -> ComposeResult:
        with Horizontal(classes="form-row"):
            yield Static(content("file "), classes="form-label")
            yield Input(self._suggested, id="form-file", compact=True)
        with Horizontal(classes="form-row"):
            yield Static(content("names"), classes="form-label")
            yield Choice(_NAMES, 0, id="form-effect")

    def on_mount(self) -> None:
        self.query_one("#form-file", Input).focus()

    def submit(self) -> None:
        path = Path(self.value("form-file"))
        try:
            path = path.expanduser()
        except RuntimeError:
            raise UsageError(f"{path}: there is no such home directory") from None
        suffix_of(path)
        self.path = path
        self.anonymise = bool(self.query_one("#form-effect", Choice).chosen)
        self.dismiss(None)


class NoteForm(Form):
    """The note is in `text` when it was filled in."""

    hint: ClassVar[str] = "kept in the recording at this moment"
    go: ClassVar[str] = "Add"

    def __init__(self) -> None:
        super().__init__("Mark this moment", "")
        self.text = ""

    def fields(self) -> ComposeResult:
        with Horizontal(classes="form-row"):
            yield Static(content("note"), classes="form-label")
            yield Input(id="form-note", compact=True, max_length=500)

    def on_mount(self) -> None:
        self.query_one("#form-note", Input).focus()

    def submit(self) -> None:
        if not (text := self.value("form-note")):
            raise UsageError("a mark needs a note")
        self.text = text
        self.dismiss(None)
