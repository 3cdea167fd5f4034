"""When a plug-in runs and when not: row 62, 63 and section 6 of the kubeconfig cases, K10, W33."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.errors import KtuiError
from ktui.kube.execplugin import PluginCredential, PluginError
from ktui.kube.pluginsession import PluginSession, Refused


class Plugin:
    """A plug-in in a world where time passes only when a test says so."""

    def __init__(self, life: float | None = None) -> None:
        self.now = 1_000_000.0
        self.life = life
        self.runs: list[float] = []
        self.error: KtuiError | None = None
        self.hold: asyncio.Event | None = None
        self.credential: Callable[[int], PluginCredential] = self._token
        self.session = PluginSession(self._run, lambda: self.now)

    def _token(self, number: int) -> PluginCredential:
        return PluginCredential(f"t{number}", expires=None if self.life is None else self.now + self.life)

    async def _run(self) -> PluginCredential:
        self.runs.append(self.now)
        number = len(self.runs)
        if self.hold is not None:
            await self.hold.wait()
        if self.error is not None:
            raise self.error
        return self.credential(number)

    async def started(self) -> None:
        async with asyncio.timeout(20):
            while not self.runs or self.runs[-1] != self.now:
                await asyncio.sleep(0)

    def running(self) -> bool:
        return self.session.running_since == self.now

    async def token(self) -> str:
        return (await self.session.credential()).token


async def test_33_one_run_for_25_callers() -> None:
    plugin = Plugin()
    plugin.hold = asyncio.Event()
    callers = [asyncio.create_task(plugin.token()) for _ in range(25)]
    await asyncio.sleep(0)
    plugin.hold.set()
    assert set(await asyncio.gather(*callers)) == {"t1"}
    assert len(plugin.runs) == 1


async def test_w33_one_run_for_25_refused_streams() -> None:
    plugin = Plugin()
    await plugin.token()
    plugin.hold = asyncio.Event()
    refused = [asyncio.create_task(plugin.session.renew("t1")) for _ in range(25)]
    await asyncio.sleep(0)
    plugin.hold.set()
    assert all(await asyncio.gather(*refused))
    assert await plugin.session.renew("t1")  # a late one
    assert await plugin.token() == "t2"
    assert len(plugin.runs) == 2


async def test_k10_a_token_of_30_seconds_has_one_run_a_life() -> None:
    plugin = Plugin(life=30)
    for _ in range(300):
        for _ in range(20):
            await plugin.token()
        plugin.now += 1
    assert len(plugin.runs) <= 300 / 29 + 1


@pytest.mark.parametrize(("life", "early"), [(900, 90), (3600, 360), (300, 60), (100, 1)])
async def test_62_renewed_before_expiry(life: float, early: float) -> None:
    plugin = Plugin(life)
    await plugin.token()
    plugin.now += life - early - 0.5
    assert await plugin.token() == "t1"
    plugin.now += 1
    assert await plugin.token() == "t2"


async def test_62_without_an_expiry_it_is_kept() -> None:
    plugin = Plugin()
    await plugin.token()
    plugin.now += 10 * 86400
    assert await plugin.token() == "t1"


async def test_62_expired_on_arrival_is_used_and_asked_for_again_after_a_pause() -> None:
    plugin = Plugin(life=-600)
    for _ in range(60):
        await plugin.token()
        plugin.now += 1
    assert len(plugin.runs) == 2


async def test_63_a_failing_plugin_is_not_asked_again_at_once() -> None:
    plugin = Plugin()
    plugin.error = PluginError("no")
    for _ in range(60):
        with pytest.raises(PluginError, match="no"):
            await plugin.token()
        plugin.now += 1
    assert len(plugin.runs) == 2
    plugin.error = None
    plugin.now += 30
    assert await plugin.token() == "t3"


async def test_63_at_most_ten_failures_an_hour_unless_a_person_asks() -> None:
    plugin = Plugin()
    plugin.error = PluginError("no")
    for _ in range(3600 // 10):
        with pytest.raises(PluginError):
            await plugin.token()
        plugin.now += 10
    assert len(plugin.runs) <= 11
    before = len(plugin.runs)
    plugin.session.allow_run()
    plugin.error = None
    assert await plugin.token() == f"t{before + 1}"


async def test_a_raised_failure_does_not_grow() -> None:
    plugin = Plugin()
    plugin.error = PluginError("no")
    depths = []
    for _ in range(3):
        with pytest.raises(PluginError) as caught:
            await plugin.token()
        depths.append(len(caught.traceback))
    assert depths[1] == depths[2]


async def test_a_failed_renewal_keeps_what_is_still_valid() -> None:
    plugin = Plugin(life=900)
    await plugin.token()
    plugin.now += 850
    plugin.error = PluginError("no")
    assert await plugin.token() == "t1"
    assert await plugin.token() == "t1"
    assert len(plugin.runs) == 2
    plugin.now += 50
    with pytest.raises(PluginError):
        await plugin.token()


async def test_62_a_refused_credential_has_one_more_run() -> None:
    plugin = Plugin()
    await plugin.token()
    assert await plugin.session.renew("t1")
    with pytest.raises(Refused):
        await plugin.session.renew("t2")
    assert len(plugin.runs) == 2
    plugin.now += 31
    assert await plugin.session.renew("t2")
    assert len(plugin.runs) == 3


async def test_the_same_token_again_is_refused() -> None:
    plugin = Plugin()
    plugin.credential = lambda _number: PluginCredential("same")
    await plugin.token()
    with pytest.raises(Refused):
        await plugin.session.renew("same")


async def test_a_certificate_that_was_refused() -> None:
    plugin = Plugin()
    plugin.credential = lambda number: PluginCredential(certificate=b"%d" % number, key=b"k")
    await plugin.session.credential()
    assert await plugin.session.renew(None)  # an answer to what was sent before it
    assert len(plugin.runs) == 1
    plugin.now += 10
    assert await plugin.session.renew(None)
    assert len(plugin.runs) == 2
    plugin.now += 10
    with pytest.raises(Refused):
        await plugin.session.renew(None)


async def test_54_the_last_one_to_give_up_ends_the_run() -> None:
    plugin = Plugin()
    plugin.hold = asyncio.Event()
    first, second = asyncio.create_task(plugin.token()), asyncio.create_task(plugin.token())
    await plugin.started()
    assert plugin.running()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert plugin.running()
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    assert not plugin.running()
    plugin.hold.set()
    assert await plugin.token() == "t2"


async def test_54_who_comes_while_a_run_is_given_up_gets_another() -> None:
    plugin = Plugin()
    plugin.hold = asyncio.Event()
    first = asyncio.create_task(plugin.token())
    await plugin.started()
    first.cancel()
    await asyncio.sleep(0)
    plugin.hold.set()
    assert await plugin.token() == "t2"
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_54_cancelled_before_the_run_has_begun() -> None:
    plugin = Plugin()
    caller = asyncio.create_task(plugin.token())
    await asyncio.sleep(0)
    plugin.session.cancel()
    with pytest.raises(PluginError):
        await caller
    assert plugin.runs == []
    assert await plugin.token() == "t1"


async def test_54_a_person_cancels_the_run_for_all() -> None:
    plugin = Plugin()
    plugin.hold = asyncio.Event()
    callers = [asyncio.create_task(plugin.token()) for _ in range(3)]
    await plugin.started()
    plugin.session.cancel()
    for result in await asyncio.gather(*callers, return_exceptions=True):
        assert isinstance(result, PluginError)
    assert len(plugin.runs) == 1


@given(st.lists(st.sampled_from(["ask", "refuse", "fail", "heal", "wait", "pause"]), max_size=60))
async def test_never_more_runs_than_allowed(steps: list[str]) -> None:
    """Whatever happens in an hour, a plug-in without expiry runs once, and then at most ten times unattended."""
    plugin = Plugin()
    for step in steps:
        try:
            if step == "ask":
                await plugin.token()
            elif step == "refuse" and plugin.session.current is not None:
                await plugin.session.renew(plugin.session.current.token)
        except KtuiError:
            pass
        plugin.error = PluginError("no") if step == "fail" else None if step == "heal" else plugin.error
        plugin.now += {"wait": 5, "pause": 40}.get(step, 0)
    assert len([run for run in plugin.runs if run < 1_000_000 + 3600]) <= 11
    # A failure, or a refusal right after a success, may be followed by one more run; then there is a pause.
    assert all(third - first >= 30 for first, third in zip(plugin.runs, plugin.runs[2:], strict=False))
