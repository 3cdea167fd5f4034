"""Large pages are decoded a little at a time, and give what they give in one go."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from ktui.kube.listing import AT_ONCE, read_pages
from ktui.model.decode import DecodeError, decode_list, decode_list_slowly
from ktui.model.kinds import KINDS

SLICE = KINDS["ResourceSlice"]


def _page(count: int, **odd: Any) -> bytes:
    devices = [{"name": f"gpu-{i}", "attributes": {"model": {"string": "H200"}}} for i in range(128)]
    spec = {"driver": "gpu.example.com", "pool": {"name": "p", "generation": 1}, "devices": devices}
    items = [{"metadata": {"name": f"s{i}", "resourceVersion": str(i)}, "spec": spec} for i in range(count)]
    page = {"kind": "ResourceSliceList", "metadata": {"resourceVersion": "9", "continue": "more"}, "items": items}
    return json.dumps({**page, **odd}).encode()


@pytest.mark.parametrize(
    ("version", "odd"),
    [
        ("v1", {}),
        ("v1beta1", {}),
        ("v1", {"items": [{"metadata": {"name": "x"}, "spec": None}, {"metadata": None, "spec": {"devices": "none"}}]}),
        ("v1", {"items": []}),
        ("v1", {"items": None}),
        ("v1", {"kind": ""}),
    ],
)
def test_slowly_is_the_same(version: str, odd: dict[str, Any]) -> None:
    body = _page(3, **odd)
    *turns, page = decode_list_slowly(SLICE, version, body)
    assert page == decode_list(SLICE, version, body)
    assert turns == [None] * len(turns)


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", _page(1, kind="Status"), _page(1, items=[3])])
def test_what_is_no_list_is_refused_the_same(body: bytes) -> None:
    with pytest.raises(DecodeError):
        list(decode_list_slowly(SLICE, "v1", body))
    with pytest.raises(DecodeError):
        decode_list(SLICE, "v1", body)


async def test_others_have_their_turn_during_a_large_page() -> None:
    body = _page(200).replace(b'"more"', b'""')
    assert len(body) > AT_ONCE
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def fetch(_query: dict[str, str]) -> bytes:
        return body

    counting = asyncio.create_task(count())
    await asyncio.sleep(0)
    before = turns
    snapshot = await read_pages(SLICE, "v1", fetch, lambda *_: None)
    counting.cancel()
    assert len(snapshot.items) == 200
    assert turns > before + 1
