"""Reads the lists of pods, gangs, claims and slices at once, shows the first pods as soon as these are there, with their
devices when all is there; then follows the watch of pods, and moves a cursor on j and k.
"""

from __future__ import annotations

import asyncio
import os
import ssl
import sys
from collections.abc import Mapping
from typing import Final, TypeVar

import aiohttp
import msgspec

from tests.bench.floor.wire import Claim, ClaimList, GangList, Pod, PodEvent, PodList, SliceList

T = TypeVar("T")

_PODS: Final = "/api/v1/pods"
_GANGS: Final = "/apis/scheduling.k8s.io/v1beta1/podgroups"
_CLAIMS: Final = "/apis/resource.k8s.io/v1/resourceclaims"
_SLICES: Final = "/apis/resource.k8s.io/v1/resourceslices"
_MOVES: Final = {"j": 1, "k": -1}


async def run(server: Mapping[str, str]) -> None:
    """`server` has its url, a token, and the path of the certificate that vouches for it."""
    tls = ssl.create_default_context(cafile=server["authority"])
    headers = {"Authorization": f"Bearer {server['token']}", "Accept-Encoding": "identity"}
    connector = aiohttp.TCPConnector(ssl=tls)
    unlimited = aiohttp.ClientTimeout()
    async with aiohttp.ClientSession(server["url"], connector=connector, headers=headers, timeout=unlimited) as session:
        await _Program(session).run()


class _Program:
    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session
        self._columns, lines = os.get_terminal_size()
        self._visible = lines - 1
        self._cursor = 0
        self._pods: list[Pod] = []
        self._claims: dict[str, Claim] = {}
        self._ended = asyncio.Event()

    async def run(self) -> None:
        asyncio.get_running_loop().add_reader(0, self._press)
        others = asyncio.gather(
            self._list(_CLAIMS, ClaimList), self._list(_GANGS, GangList), self._list(_SLICES, SliceList)
        )
        pods = await self._list(_PODS, PodList)
        self._pods = pods.items
        self._show("pods")
        claims, *kept = await others
        self._claims = {claim.metadata.name: claim for claim in claims.items}
        self._show("pods, all joined")
        following = asyncio.create_task(self._follow(pods.metadata.resource_version))
        await self._ended.wait()
        following.cancel()
        del kept

    async def _list(self, path: str, into: type[T]) -> T:
        async with self._session.get(path, params={"resourceVersion": "0"}) as answer:
            return msgspec.json.decode(await answer.read(), type=into)

    async def _follow(self, version: str) -> None:
        places = {pod.metadata.name: place for place, pod in enumerate(self._pods)}
        decode = msgspec.json.Decoder(PodEvent).decode
        rest = b""
        async with self._session.get(_PODS, params={"watch": "1", "resourceVersion": version}) as answer:
            async for piece in answer.content.iter_any():
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines:
                    pod = decode(line).pod
                    place = places[pod.metadata.name]
                    self._pods[place] = pod
                    self._draw(place)
                sys.stdout.flush()

    def _press(self) -> None:
        for key in os.read(0, 100).decode():
            before, wanted = self._cursor, self._cursor + _MOVES.get(key, 0)
            self._cursor = max(0, min(wanted, self._visible - 1))
            self._draw(before)
            self._draw(self._cursor)
            if key == "q":
                self._ended.set()
        sys.stdout.flush()

    def _show(self, what: str) -> None:
        sys.stdout.write(f"\x1b[1;1H{len(self._pods)} {what}\x1b[K")
        for place in range(min(self._visible, len(self._pods))):
            self._draw(place)
        sys.stdout.flush()

    def _draw(self, place: int) -> None:
        if place >= min(self._visible, len(self._pods)):
            return
        pod = self._pods[place]
        claims = [self._claims[each.resource_claim_name] for each in pod.spec.resource_claims if self._claims]
        devices = [f"{each.pool}/{each.device}" for claim in claims for each in claim.status.allocation.devices.results]
        text = " ".join((pod.metadata.namespace, pod.metadata.name, pod.status.phase, pod.spec.node_name, *devices))
        background = 44 if place == self._cursor else 49
        sys.stdout.write(f"\x1b[{place + 2};1H\x1b[{background}m{text.ljust(self._columns)[: self._columns]}\x1b[0m")
