"""The small parts of the watch layer: lines, back-off, Retry-After, the gate, timers, pages, versions."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any, cast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.demo.access import User
from ktui.kube import listing
from ktui.kube.backoff import Backoff
from ktui.kube.failures import ApiError, HeadersLate, UnexpectedAnswer, Unreachable, api_error, one_line
from ktui.kube.feed import Feed
from ktui.kube.gate import Gate, Hold
from ktui.kube.host import Host
from ktui.kube.lines import LineSplitter
from ktui.kube.listing import TooMany, read_pages
from ktui.kube.login import NeedsLogin
from ktui.kube.position import older
from ktui.kube.retry_after import retry_after
from ktui.kube.timers import Clock, Span, Timers
from ktui.kube.transport import Stream
from ktui.model.decode import DecodeError
from ktui.model.kinds import KINDS
from tests.unit.kube.harness import StaticCredentials, fast, rig, transport_to


@given(st.lists(st.binary(max_size=20).filter(lambda b: b"\n" not in b)), st.lists(st.integers(1, 9), min_size=1))
def test_w24_lines_do_not_depend_on_chunks(lines: list[bytes], sizes: list[int]) -> None:
    data = b"".join(line + b"\n" for line in lines)
    splitter, found, at, turn = LineSplitter(), [], 0, 0
    while at < len(data):
        size = sizes[turn % len(sizes)]
        found += splitter.feed(data[at : at + size])
        at, turn = at + size, turn + 1
    assert found == [line for line in lines if line and not line.isspace()]


@given(st.lists(st.integers(0, 30), max_size=12), st.lists(st.integers(1, 40), min_size=1))
def test_w23_only_lines_over_the_cap_are_dropped(lengths: list[int], sizes: list[int]) -> None:
    data = b"".join(b"x" * length + b"\n" for length in lengths)
    splitter, found, at, turn = LineSplitter(cap=10), [], 0, 0
    while at < len(data):
        size = sizes[turn % len(sizes)]
        found += splitter.feed(data[at : at + size])
        at, turn = at + size, turn + 1
    assert [len(line) for line in found] == [length for length in lengths if 0 < length <= 10]
    assert splitter.dropped == len([length for length in lengths if length > 10])


def test_the_wait_doubles_to_the_cap_and_starts_again() -> None:
    backoff = Backoff(Timers())
    for base in (0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0):
        assert base <= backoff.next() <= 2 * base
    backoff.reset()
    assert backoff.next() <= 1.6
    backoff.failures = 10**9
    assert backoff.next() <= 60.0


NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("7", 7.0),
        (" 5 ", 5.0),
        ("0", 1.0),
        ("1e9", 60.0),
        ("99999999999999999999999999", 60.0),
        ("86400", 60.0),
        (format_datetime(NOW.replace(second=30), usegmt=True), 30.0),
        (format_datetime(NOW.replace(hour=11), usegmt=True), 1.0),
        (format_datetime(NOW.replace(year=2027), usegmt=True), 60.0),
        ("-1", None),
        ("abc", None),
        ("", None),
        ("1.5.2", None),
        ("nan", None),
        ("٣", None),
        (None, None),
    ],
)
def test_w15_retry_after_in_all_its_forms(text: str | None, seconds: float | None) -> None:
    assert retry_after(text, NOW.timestamp(), 60.0) == seconds


@given(st.text(max_size=40))
def test_retry_after_takes_any_text(text: str) -> None:
    found = retry_after(text, NOW.timestamp(), 60.0)
    assert found is None or 1.0 <= found <= 60.0


def test_scaled_timers_keep_the_share_of_the_loop() -> None:
    timers = Timers().scaled(0.5)
    assert timers.idle == Span(65.0, 85.0)
    assert timers.decode_slice == Timers().decode_slice


@pytest.mark.parametrize(
    ("version", "than", "expected"),
    [
        ("9", "10", True),
        ("10", "9", False),
        ("10", "10", False),
        ("", "10", False),
        ("5", "", False),
        ("x", "10", False),
        ("٣", "10", False),
        pytest.param("9", "1" * 5000, False, id="too many digits"),
    ],
)
def test_versions_compare_as_numbers(version: str, than: str, expected: bool) -> None:
    assert older(version, than) is expected


@given(st.text())
def test_foreign_text_becomes_one_printable_line(text: str) -> None:
    shown = one_line(text, 50)
    assert len(shown) <= 50
    assert shown.isprintable()


class _Hands:
    """A clock that tests turn."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def _gate(**changes: Any) -> tuple[Gate, _Hands]:
    hands = _Hands()
    return Gate(fast(stagger=0.0, **changes), Clock(hands, hands)), hands


def _ignore(_: Hold) -> None:
    pass


async def _fail(gate: Gate, error: Exception) -> None:
    with pytest.raises(type(error)):
        async with gate.admission(_ignore):
            raise error


async def test_w16_after_a_hold_one_tries_and_the_others_follow() -> None:
    gate, hands = _gate(retry_after_cap=60.0)
    await _fail(gate, ApiError(429, "", "busy", retry_after="5"))
    assert gate.hold is not None
    assert gate.hold.firm
    entered: list[int] = []
    proceed = asyncio.Event()

    async def one(number: int) -> None:
        async with gate.admission(_ignore):
            entered.append(number)
            await proceed.wait()

    tasks = [asyncio.create_task(one(number)) for number in range(10)]
    await asyncio.sleep(0.05)
    assert entered == []
    hands.now += 10
    gate.retry_now()
    gate._wake()
    await asyncio.sleep(0.05)
    assert len(entered) == 1
    proceed.set()
    async with asyncio.timeout(10):
        await asyncio.gather(*tasks)
    assert sorted(entered) == list(range(10))
    assert gate.hold is None


async def test_the_one_that_tries_may_be_cancelled() -> None:
    gate, hands = _gate()
    await _fail(gate, Unreachable("gone"))
    hands.now += 100
    stuck = asyncio.create_task(_stay(gate))
    await asyncio.sleep(0.02)
    waiting = asyncio.create_task(_pass(gate))
    await asyncio.sleep(0.02)
    assert not waiting.done()
    stuck.cancel()
    async with asyncio.timeout(10):
        await waiting
    assert gate.hold is None


@pytest.mark.parametrize("error", [UnexpectedAnswer("a login page"), HeadersLate("late"), ValueError("a defect")])
async def test_a_hold_does_not_outlive_an_answer_of_any_kind(error: Exception) -> None:
    """Else whoever waits "as long as there is a hold" would not wait at all."""
    gate, hands = _gate(retry_after_cap=60.0)
    await _fail(gate, ApiError(429, "", "busy", retry_after="5"))
    hands.now += 10
    await _fail(gate, error)
    assert gate.hold is None


async def _stay(gate: Gate) -> None:
    async with gate.admission(_ignore):
        await asyncio.Event().wait()


async def _pass(gate: Gate) -> None:
    async with gate.admission(_ignore):
        pass


async def test_an_old_answer_does_not_end_a_hold() -> None:
    gate, _ = _gate(retry_after_cap=60.0)
    async with gate.admission(_ignore):
        await _fail(gate, ApiError(503, "", "", retry_after="30"))
    assert gate.hold is not None


async def test_of_each_wait_is_told_once() -> None:
    """However many requests were under way when it began."""
    gate, hands = _gate(retry_after_cap=60.0)
    told: list[Hold] = []
    gate.on_wait = told.append
    for seconds in ("3", "5", "4"):
        gate.asked_to_wait(ApiError(429, "", "", retry_after=seconds))
    assert [hold.message for hold in told] == ["the server asks to wait 3 s"]
    hands.now += 10
    gate.asked_to_wait(ApiError(429, "", "", retry_after="7"))
    assert [hold.message for hold in told[1:]] == ["the server asks to wait 7 s"]


async def test_the_longest_wish_counts() -> None:
    gate, hands = _gate(retry_after_cap=60.0)
    gate.asked_to_wait(ApiError(429, "", "", retry_after="30"))
    gate.asked_to_wait(ApiError(429, "", "", retry_after="2"))
    assert gate.hold is not None
    assert gate.hold.until >= hands.now + 30


@pytest.mark.parametrize(
    ("error", "held"),
    [
        (ApiError(429, "", ""), True),
        (ApiError(401, "", ""), True),
        (ApiError(503, "", "", retry_after="1"), True),
        (ApiError(500, "", ""), False),
        (ApiError(403, "", "", retry_after="9"), False),
        (ApiError(504, "", "Too large resource version: 9", retry_after="1"), False),
        (ApiError(410, "Expired", ""), False),
    ],
)
def test_what_concerns_the_host(error: ApiError, held: bool) -> None:
    gate, _ = _gate()
    assert gate.asked_to_wait(error) is held
    assert (gate.hold is not None) is held


async def test_sign_in_is_a_hold_of_its_own_phase() -> None:
    gate, _ = _gate()
    await _fail(gate, NeedsLogin("u", "expired"))
    assert gate.hold is not None
    assert gate.hold.phase == "needs-login"


async def test_lists_are_paced_after_a_burst() -> None:
    gate, hands = _gate()
    for _ in range(10):
        async with asyncio.timeout(1):
            await gate.list_turn()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await gate.list_turn()
    hands.now += 10
    async with asyncio.timeout(1):
        await gate.list_turn()


async def test_no_more_than_four_first_syncs() -> None:
    gate, _ = _gate()
    running = most = 0

    async def sync() -> None:
        nonlocal running, most
        async with gate.sync_slot():
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.005)
            running -= 1

    await asyncio.gather(*(sync() for _ in range(13)))
    assert most == 4


POD = KINDS["Pod"]


def _page(items: list[Any], version: str = "9", token: str = "", remaining: int | None = None) -> bytes:
    meta = {"resourceVersion": version, "continue": token, "remainingItemCount": remaining}
    return msgspec.json.encode({"kind": "PodList", "metadata": meta, "items": items})


async def test_w25_one_undecodable_object_costs_only_itself() -> None:
    objects: list[Any] = [{"metadata": {"name": f"p{n}"}} for n in range(40)]
    objects[13] = "not an object"

    async def fetch(query: dict[str, str]) -> bytes:
        start, limit = int(query.get("continue", "0")), int(query["limit"])
        end = start + limit
        return _page(objects[start:end], token=str(end) if end < len(objects) else "")

    snapshot = await read_pages(POD, "v1", fetch, lambda *_: None, 16)
    assert snapshot.undecodable == 1
    assert {obj.name for obj in snapshot.items} == {f"p{n}" for n in range(40)} - {"p13"}


async def test_w56_progress_with_and_without_a_total() -> None:
    told: list[tuple[int, int]] = []
    pages = [_page([{}], token="a", remaining=2), _page([{}], token="b"), _page([{}])]

    async def fetch(_: dict[str, str]) -> bytes:
        return pages.pop(0)

    await read_pages(POD, "v1", fetch, lambda *progress: told.append(progress), 1)
    assert told == [(1, 3), (2, 0)]


async def test_what_is_no_list_is_asked_for_only_a_few_times() -> None:
    asked = []

    async def fetch(query: dict[str, str]) -> bytes:
        asked.append(query)
        return b'{"kind":"Status"}'

    with pytest.raises(DecodeError):
        await read_pages(POD, "v1", fetch, lambda *_: None)
    assert len(asked) <= 10


@pytest.mark.parametrize("items", [[], [{}]], ids=["empty pages", "full pages"])
async def test_pages_without_end_are_given_up(monkeypatch: pytest.MonkeyPatch, items: list[Any]) -> None:
    monkeypatch.setattr(listing, "MAX_OBJECTS", 5000)
    asked = []

    async def fetch(query: dict[str, str]) -> bytes:
        asked.append(query)
        return _page(items * 500, token=str(len(asked)))

    with pytest.raises(TooMany, match="more than 5000 pods"):
        await read_pages(POD, "v1", fetch, lambda *_: None)
    assert len(asked) == 11


class _Torrent:
    """A stream that always has data."""

    outdated = False

    async def read(self) -> bytes:
        return b"{}\n"

    def abort(self) -> None:
        pass


async def test_a_torrent_does_not_stop_the_clock() -> None:
    feed = Feed(cast("Stream", _Torrent()), Clock())
    assert await feed.lines(10.0) == [b"{}"]
    feed.give_back([b"1"])
    assert await feed.lines(0.0) == [b"1"]
    with pytest.raises(TimeoutError):
        await feed.lines(0.0)


@pytest.mark.parametrize("before", [0, 150, 290, 1190, 1199, 4000])
@pytest.mark.parametrize("form", ["{}", '{{"kind":"Status","code":403,"message":"{}"}}'], ids=["plain", "Status"])
def test_a_secret_is_masked_before_the_message_is_cut(before: int, form: str) -> None:
    secret = "SECRET-" * 400
    text = form.format("x" * before + " " + secret)
    error = api_error(403, text.encode(), lambda said: said.replace(secret, "[redacted]"))
    assert "SECRET" not in str(error)
    assert len(str(error)) < 400


async def test_a_server_that_wants_to_be_left_alone_is_not_probed() -> None:
    async with rig() as r, transport_to(r.server.url, timers=fast(probe=0.0, retry_after_cap=60.0)) as transport:
        host = Host(transport)
        assert await host.alive()
        transport.gate.asked_to_wait(ApiError(429, "", "busy", retry_after="30"))
        assert await host.alive()
        assert len(r.faults.asked("GET /version")) == 1


async def test_a_login_that_ran_out_does_not_make_a_server_dead() -> None:
    async with rig(tokens={"good": User("u")}) as r:
        credentials = StaticCredentials("old")
        async with transport_to(r.server.url, credentials=credentials, timers=fast(probe=0.0)) as transport:
            assert await Host(transport).alive()
            assert credentials.renewed == 1
            assert transport.gate.hold is None
