"""What a person fills in before an action is planned: a taint, a number of replicas."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static

from ktui.actions.minreplicas import parse_replicas
from ktui.actions.taint import EFFECTS, make_taint
from ktui.errors import UsageError
from ktui.model.resourceslice import DeviceTaint
from ktui.ui.paint import content
from ktui.ui.widgets.choice import Choice
from ktui.views.base import Cell

_EFFECT_HELP = {
    "None": "None, only look",
    "NoSchedule": "NoSchedule, no new pods",
    "NoExecute": "NoExecute, evict the pods",
}
_DEFAULT_EFFECT = "NoSchedule"


class Form(ModalScreen[None]):
    """Title, fields, one line for what is wrong, and two buttons, of which `go` fills it in. Nothing is sent from here."""

    # With priority, so that what is typed right behind a tab goes into the next field, however fast it comes.
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "app.focus_next", show=False, priority=True),
        Binding("shift+tab", "app.focus_previous", show=False, priority=True),
        Binding("enter", "look", show=False),  # from a field that has no use for it itself
        Binding("escape", "cancel", show=False),
    ]

    hint: ClassVar[str] = "the next step shows whom it hits"
    go: ClassVar[str] = "Look"

    def __init__(self, title: str, who: str) -> None:
        super().__init__()
        self._title = title
        self._who = who

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog"):
            yield Static(content(Cell(self._title), Cell("  " + self._who, "dim")), id="dialog-title")
            yield from self.fields()
            yield Static(id="form-error")
            with Horizontal(id="dialog-buttons"):
                yield Static(content(Cell(self.hint, "dim")), id="dialog-hint")
                yield Button(content("Cancel"), id="cancel", compact=True)
                yield Button(content(self.go), id="confirm", compact=True)

    def fields(self) -> ComposeResult:
        """The form's own fields."""
        raise NotImplementedError

    def submit(self) -> None:
        """Read the fields and dismiss; raises UsageError when they make no sense."""
        raise NotImplementedError

    @on(Input.Submitted)
    def _next(self) -> None:
        self._try()

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        if event.button.id == "cancel":
            self.dismiss(None)
        else:
            self._try()

    def action_look(self) -> None:
        self._try()

    def action_cancel(self) -> None:
        self.dismiss(None)

    def _try(self) -> None:
        try:
            self.submit()
        except UsageError as error:
            self.query_one("#form-error", Static).update(content(Cell(str(error), "bad")))

    def value(self, field: str) -> str:
        return self.query_one(f"#{field}", Input).value.strip()


class TaintForm(Form):
    """Dismisses with nothing; the taint and the reason are in `taint` and `reason` when it was filled in."""

    def __init__(self, device: str, who: str, *, key: str = "") -> None:
        super().__init__(f"Taint {device}", who)
        self._key = key
        self.taint: DeviceTaint | None = None
        self.reason = ""

    def fields(self) -> ComposeResult:
        with Horizontal(classes="form-row"):
            yield Static(content("key   "), classes="form-label")
            yield Input(self._key, id="form-key", compact=True, placeholder="e.g. example.com/xid")
            yield Static(content("value "), classes="form-label")
            yield Input(id="form-value", compact=True, placeholder="optional, e.g. 79")
        with Horizontal(classes="form-row"):
            yield Static(content("effect"), classes="form-label")
            yield Choice([_EFFECT_HELP[effect] for effect in EFFECTS], EFFECTS.index(_DEFAULT_EFFECT), id="form-effect")
        with Horizontal(classes="form-row"):
            yield Static(content("reason"), classes="form-label")
            yield Input(id="form-reason", compact=True, placeholder="kept on the rule and in the audit log")

    def on_mount(self) -> None:
        self.query_one("#form-key", Input).focus()

    def submit(self) -> None:
        effect = EFFECTS[self.query_one("#form-effect", Choice).chosen]
        self.taint = make_taint(self.value("form-key"), self.value("form-value"), effect)
        self.reason = self.value("form-reason")
        self.dismiss(None)


class ReplicasForm(Form):
    """The number is in `replicas` when it was filled in."""

    def __init__(self, autoscaler: str, who: str, *, current: int) -> None:
        super().__init__(f"minReplicas of {autoscaler}, now {current}", who)
        self._current = current
        self.replicas: int | None = None

    def fields(self) -> ComposeResult:
        with Horizontal(classes="form-row"):
            yield Static(content("minReplicas"), classes="form-label")
            yield Input(str(self._current), id="form-replicas", compact=True, select_on_focus=True)

    def on_mount(self) -> None:
        self.query_one("#form-replicas", Input).focus()

    def submit(self) -> None:
        self.replicas = parse_replicas(self.value("form-replicas"))
        self.dismiss(None)
