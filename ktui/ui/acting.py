"""Actions from the screens: form → plan → may I → dry run → confirm → send → wait until the cluster shows it.

One flow for all actions. It runs as a worker that ends with the session, so a dialog opened on one cluster can never send
anything to another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

from textual.app import App
from textual.screen import ModalScreen

from ktui.actions.count import Counting, left_behind, take_back, wait_for_count
from ktui.actions.minreplicas import plan_min_replicas
from ktui.actions.plan import AlreadyDoneError, Plan, Undo
from ktui.actions.runner import Outcome, Rehearsal
from ktui.actions.taint import plan_taint
from ktui.actions.untaint import plan_untaint
from ktui.cluster.taints import taints_of
from ktui.errors import KtuiError
from ktui.model.autoscaler import HorizontalPodAutoscaler
from ktui.ui.paint import notify
from ktui.ui.parting import LEFT_BEHIND
from ktui.ui.preview import preview, who
from ktui.ui.screens.dialog import ActionDialog
from ktui.ui.screens.forms import ReplicasForm, TaintForm
from ktui.ui.screens.picker import Picker
from ktui.ui.screens.text import TextScreen
from ktui.ui.screens.waiting import Waiting
from ktui.views.base import Cell
from ktui.views.targets import devices_behind

if TYPE_CHECKING:
    from ktui.actions.desk import Desk
    from ktui.cluster.dirty import Entity
    from ktui.cluster.taints import TaintKey
    from ktui.model.meta import Key
    from ktui.model.resourceslice import DeviceId
    from ktui.ui.session import Session
    from ktui.views.base import RowKey

_SHOWN_BY = 20.0  # seconds to wait for the watch to show what was done
_LOOK = 0.1
_MOMENT = 0.7  # seconds; a wait that is longer is explained (admission webhooks may take half a minute)

Planning = Callable[[], Awaitable[Plan]]


@runtime_checkable
class Acting(Protocol):
    """A feed through which actions can be taken."""

    async def desk(self) -> Desk: ...


class Actor:
    """Carries actions out for one session. `undo` takes back the last one that was done."""

    def __init__(self, app: App[object], session: Session) -> None:
        self._app = app
        self.session = session
        self._last: Undo | None = None

    async def taint_row(self, view: Entity, key: RowKey) -> None:
        """Taint the device behind a row; where there are several, ask which."""
        if (device := await self._device(view, key)) is not None:
            await self.taint(device)

    async def untaint_row(self, view: Entity, key: RowKey) -> None:
        """Untaint the device behind a row; a row of the taints says which of its taints."""
        rule = cast("TaintKey", key)[1] if view == "taints" and cast("TaintKey", key)[0] == "rule" else ""
        if (device := await self._device(view, key)) is not None:
            await self.untaint(device, rule=rule)

    async def _device(self, view: Entity, key: RowKey) -> DeviceId | None:
        devices = {"/".join(device): device for device in devices_behind(self.session.cluster, view, key)}
        if not devices:
            notify(self._app, "there is no device behind this row", "warning")
            return None
        if len(devices) == 1:
            return next(iter(devices.values()))
        chosen = await self._ask(Picker("Which device", list(devices)))
        return devices[chosen] if chosen is not None else None

    async def taint(self, device: DeviceId) -> None:
        if (desk := await self._desk()) is None:
            return
        form = TaintForm("/".join(device), who(desk.where))
        await self._ask(form)
        if (taint := form.taint) is not None:
            await self._act(
                desk,
                lambda: plan_taint(
                    desk.api, self.session.cluster, device, taint, reason=form.reason, user=desk.where.user
                ),
            )

    async def untaint(self, device: DeviceId, *, rule: str = "") -> None:
        """Where rules add up on the device, and none was named, ask which one is meant."""
        if (desk := await self._desk()) is None:
            return
        rules = {t.rule: f"{t.text}  rule {t.rule}" for t in taints_of(self.session.cluster, device) if t.rule}
        if len(rules) > 1 and not rule:
            rule = await self._ask(Picker("Which taint", list(rules), labels=rules)) or ""
            if not rule:
                return
        await self._act(desk, lambda: plan_untaint(desk.api, self.session.cluster, device, rule=rule))

    async def min_replicas(self, key: Key) -> None:
        if (desk := await self._desk()) is None:
            return
        found = self.session.cluster.stores["HorizontalPodAutoscaler"].get(key)
        current = found.min_replicas if isinstance(found, HorizontalPodAutoscaler) else 1
        form = ReplicasForm("/".join(key), who(desk.where), current=current)
        await self._ask(form)
        if (replicas := form.replicas) is not None:
            await self._act(desk, lambda: plan_min_replicas(desk.api, key, replicas))

    async def undo(self) -> None:
        last = self._last
        if last is None:
            notify(self._app, "nothing to undo")
        elif (desk := await self._desk()) is not None:
            await self._act(desk, lambda: desk.undo(self.session.cluster, last))

    async def _desk(self) -> Desk | None:
        feed = self.session.feed
        if not isinstance(feed, Acting):
            notify(self._app, "this is a recording: actions are explained in the help, and never sent", "warning")
            return None
        try:
            return await feed.desk()
        except KtuiError as error:
            self._explain("Not possible now", str(error))
            return None

    async def _ask(self, screen: ModalScreen[Any]) -> Any:
        return await self._app.push_screen_wait(screen)

    async def _act(self, desk: Desk, planning: Planning) -> None:
        """Until it is done, refused or given up: when somebody changed the object meanwhile, plan and ask again."""
        try:
            while True:
                plan = await planning()
                outcome = await self._attempt(desk, plan)
                if outcome is None or outcome.status != "conflict":
                    return
                notify(self._app, outcome.message, "warning")
        except AlreadyDoneError as done:
            notify(self._app, str(done))
        except KtuiError as error:
            self._explain("Not done", str(error))

    async def _attempt(self, desk: Desk, plan: Plan) -> Outcome | None:
        """None when it was not sent: refused beforehand, or cancelled."""
        with self._waiting(f"{plan.title}: waiting for the server's answer to the dry run"):
            if refusal := await desk.runner.refusal(plan):
                self._explain(plan.title, refusal)
                return None
            rehearsal = await desk.runner.rehearse(plan)
        if rehearsal.status == "refused":
            self._explain(plan.title, f"the server refuses: {rehearsal.message}")
            return None
        dialog = ActionDialog(preview(plan, rehearsal, desk.where))
        confirmed = await self._ask(dialog)
        if dialog.count_first:
            return await self._count_first(desk, Counting.of(plan))
        if not confirmed:
            notify(self._app, "cancelled, nothing was sent")
            return None
        outcome = await self._send(desk, plan, rehearsal)
        for warning in outcome.warnings:
            notify(self._app, warning, "warning")
        if outcome.status == "applied":
            self._last = plan.undo
            await self._watch_for(plan, outcome)
        elif outcome.status != "conflict":
            self._explain(plan.title, outcome.message)
        return outcome

    async def _count_first(self, desk: Desk, counting: Counting) -> Outcome | None:
        """Place the taint with effect None, show the controller's count, then change the effect or take the taint back."""
        placed = await self._attempt(desk, await counting.plan_look(desk.api, self.session.cluster))
        if placed is None or placed.status != "applied":
            return placed
        outcome = None
        LEFT_BEHIND[counting.rule] = left_behind(counting, "ktui ended before it was taken back")
        try:
            outcome = await self._decide(desk, counting)
        except asyncio.CancelledError:
            notify(self._app, left_behind(counting, "its cluster was left"), "warning")
            raise
        finally:
            if outcome is not None and outcome.status == "applied":
                del LEFT_BEHIND[counting.rule]
        if counting.rule in LEFT_BEHIND:
            await self._take_back(desk, counting)
        return outcome

    async def _decide(self, desk: Desk, counting: Counting) -> Outcome | None:
        """None when it is not to be done, or cannot be."""
        words = "the taint is placed with effect None; waiting for the eviction controller's count"
        waiting = Waiting(f"Taint {'/'.join(counting.device)}", words, lambda: wait_for_count(desk.api, counting.rule))
        await self._ask(waiting)
        if waiting.given_up:
            return None
        try:
            plan = await counting.plan_evict(desk.api, self.session.cluster, waiting.result)
            return await self._attempt(desk, plan)
        except KtuiError as error:
            self._explain("Not done", str(error))
            return None

    async def _take_back(self, desk: Desk, counting: Counting) -> None:
        left = await take_back(desk.api, desk.runner, self.session.cluster, counting)
        self._last = None
        if left:
            self._explain("Not taken back", left)
        else:
            del LEFT_BEHIND[counting.rule]
            notify(self._app, "the taint with effect None was taken back")

    async def _send(self, desk: Desk, plan: Plan, rehearsal: Rehearsal) -> Outcome:
        try:
            with self._waiting(f"{plan.title}: sent, waiting for the server's answer"):
                return await desk.runner.apply(plan, rehearsal)
        except asyncio.CancelledError:
            notify(self._app, f"{plan.title}: left while it was being sent; look whether it was done", "warning")
            raise

    @contextmanager
    def _waiting(self, words: str) -> Iterator[None]:
        """Say what is waited for, when it takes more than a moment."""
        notice = asyncio.get_running_loop().call_later(_MOMENT, notify, self._app, words)
        try:
            yield
        finally:
            notice.cancel()

    async def _watch_for(self, plan: Plan, outcome: Outcome) -> None:
        """Say that it is done once the cluster's own stream says so."""
        deadline = asyncio.get_running_loop().time() + _SHOWN_BY
        while not plan.done(self.session.cluster):
            if asyncio.get_running_loop().time() > deadline:
                notify(self._app, f"{plan.title}: accepted, but not seen in the cluster yet", "warning")
                return
            await asyncio.sleep(_LOOK)
        notify(self._app, f"{plan.title}: {outcome.message}")

    def _explain(self, title: str, message: str) -> None:
        self._app.push_screen(TextScreen(title, [(Cell(message, "bad"),)]))
