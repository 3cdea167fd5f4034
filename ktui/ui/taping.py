"""Recording from the screens: start, stop, mark a moment, save the last minutes. Ends with the session."""

from __future__ import annotations

import asyncio
import re
import time

from textual.app import App
from textual.screen import ModalScreen

from ktui.errors import KtuiError
from ktui.model.time import format_age
from ktui.recording.recorder import Recorder
from ktui.recording.tape import STOPPED, Tape
from ktui.ui.feeds import Feed
from ktui.ui.lookback import Past
from ktui.ui.paint import notify
from ktui.ui.screens.recordforms import FileForm, NoteForm


class Taper:
    """`context` gives files their suggested names; `feed` is what the screens show."""

    def __init__(self, app: App[object], tape: Tape, context: str, feed: Feed) -> None:
        self._app = app
        self._tape = tape
        self._context = context
        self._looked_at = feed.remembered if isinstance(feed, Past) else None

    async def start(self) -> None:
        form = FileForm("Record from now on", "", name=_suggestion(self._context, time.time()))
        await self._ask(form)
        if form.path is None:
            return
        try:
            self._tape.start(form.path, anonymise=form.anonymise)
        except KtuiError as error:
            notify(self._app, str(error), "error")
        else:
            notify(self._app, f"recording to {form.path}")

    async def stop(self) -> None:
        ended = await asyncio.to_thread(self._tape.stop)
        if ended is not None:
            notify(self._app, summary(ended), "information" if ended.complete else "warning")

    async def mark(self) -> None:
        form = NoteForm()
        await self._ask(form)
        if form.text:
            self._tape.mark(form.text)
            notify(self._app, "marked")

    async def save(self) -> None:
        """What happened just before somebody looked; of the past, what is looked at, which may be forgotten since."""
        remembered = self._looked_at
        kept = format_age(self._tape.remembered if remembered is None else remembered.duration)
        form = FileForm(f"Save the last {kept}", "", name=_suggestion(self._context, time.time()))
        await self._ask(form)
        if form.path is None:
            return
        frames = None if remembered is None else remembered.taken
        save = self._tape.saver(form.path, frames, anonymise=form.anonymise)
        try:
            await asyncio.to_thread(save)
        except KtuiError as error:
            notify(self._app, str(error), "error")
        else:
            notify(self._app, f"the last {kept} are in {form.path}")

    async def _ask(self, form: ModalScreen[None]) -> None:
        await self._app.push_screen_wait(form)


def summary(ended: Recorder) -> str:
    """How a recording ended, and what there is of it."""
    why = "" if ended.ended == STOPPED else f": {ended.ended or 'the disk does not answer'}"
    return f"the recording {ended.path} ended{why} ({ended.frames:,} frames, {ended.size:,} bytes)"


def _suggestion(context: str, now: float) -> str:
    """A name that says what and when, whatever characters a context has (an ARN, a path)."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", context)[:40].strip("-")
    return f"ktui-{plain or 'recording'}-{time.strftime('%Y%m%d-%H%M%S', time.gmtime(now))}.ktui.gz"
