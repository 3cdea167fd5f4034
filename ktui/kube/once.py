"""Read a cluster once: one consistent list of each kind, for commands that print and leave."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable
from functools import partial
from typing import Final

from ktui.errors import KtuiError
from ktui.kube.discovery import Discovery, Served
from ktui.kube.failures import ApiError
from ktui.kube.listing import read_pages
from ktui.kube.owners import Owners, unserved
from ktui.kube.patience import patiently
from ktui.kube.picked import Picked
from ktui.kube.transport import Transport
from ktui.model.frame import Frame, Listed, Source, StreamState
from ktui.model.kinds import KINDS, Kind, kind_name
from ktui.model.owner import OwnerType

ROUTINE: Final = ("Scheduled", "Pulling", "Pulled", "Created", "Started", "Killing")
"""Reasons of events that say of a pod that all goes as usual: most of the events that a busy cluster has. No row, diagnosis or
finding shows them, so commands leave them out; the screens, where a person reads all events of a pod, do not."""

_LEFT_OUT: Final = {"Event": {"fieldSelector": ",".join(f"reason!={reason}" for reason in ROUTINE)}}


async def read_once(
    transport: Transport,
    kinds: Iterable[str],
    namespace: str,
    sink: Callable[[Frame], object],
    picked: Picked | None = None,
    followed: Collection[str] = ("Workload",),
) -> Served:
    """Give the sink a list of each kind, or the state that says why there is none; of one kind perhaps only what is picked.
    Returns what the server serves.

    Kinds that are not served or not allowed are told by their state; anything else that goes wrong is raised. What owns objects
    of the kinds that are `followed` is read as well.
    """
    discovery = Discovery(transport)
    served = await discovery.refresh()
    owners, found = Owners(followed), dict[OwnerType, None]()

    def see(frame: Frame) -> None:
        found.update(dict.fromkeys(owners.see(frame)))
        sink(frame)

    read = {name: KINDS[name] for name in kinds}
    wanted = list(read.values())
    while wanted:
        async with asyncio.TaskGroup() as tasks:
            for kind in wanted:
                only = picked if picked is not None and picked.kind == kind.name else None
                tasks.create_task(_read(transport, served, kind, namespace, see, only))
        wanted = []
        if [type_ for type_ in found if served.owner(type_) is None and discovery.want(type_.group)]:
            served = await discovery.refresh()
        for type_ in found:
            owner = KINDS.get(kind_name(type_)) or served.owner(type_)
            if owner is None:
                sink(unserved(type_))
            elif owner.name not in read:
                read[owner.name] = owner
                wanted.append(owner)
        found.clear()
    return served


async def read_widely(
    transport: Transport, kinds: Iterable[str], namespace: str, sink: Callable[[Frame], object]
) -> None:
    """The same of all namespaces; of this one only, where all of them are not allowed."""
    refused: list[StreamState] = []

    def sort(frame: Frame) -> None:
        if isinstance(frame, StreamState) and frame.phase == "no-access" and _is_namespaced(frame.source.kind):
            refused.append(frame)
        else:
            sink(frame)

    await read_once(transport, kinds, "", sort)
    if refused and namespace:
        await read_once(transport, [frame.source.kind for frame in refused], namespace, sink)


def _is_namespaced(kind: str) -> bool:
    """Of an owner's kind that is not known: it is found again where its Workloads are."""
    return kind in KINDS and KINDS[kind].namespaced


async def read_each(
    transport: Transport,
    served: Served,
    kinds: Iterable[str],
    namespace: str,
    sink: Callable[[Frame], object],
    limit: float,
) -> None:
    """As widely as `read_widely`, but each kind by itself: what fails, or takes longer than `limit` seconds, is told by the state
    of its source and keeps nobody else from being read."""
    async with asyncio.TaskGroup() as tasks:
        for name in kinds:
            tasks.create_task(_read_alone(transport, served, KINDS[name], namespace, sink, limit))


async def _read_alone(
    transport: Transport, served: Served, kind: Kind, namespace: str, sink: Callable[[Frame], object], limit: float
) -> None:
    refused: list[Frame] = []

    def sort(frame: Frame) -> None:
        narrower = kind.namespaced and namespace and isinstance(frame, StreamState) and frame.phase == "no-access"
        (refused.append if narrower else sink)(frame)

    try:
        async with asyncio.timeout(limit):
            await _read(transport, served, kind, "", sort)
            if refused:
                await _read(transport, served, kind, namespace, sink)
    except TimeoutError:
        sink(StreamState(_source(served, kind, ""), "waiting", f"no complete list within {limit:g} s"))
    except KtuiError as error:
        sink(StreamState(_source(served, kind, ""), "waiting", str(error)))


def _source(served: Served, kind: Kind, namespace: str, picked: Picked | None = None) -> Source:
    scope = namespace if kind.namespaced else ""
    path = kind.path(served.version(kind) or kind.versions[0], scope)
    return Source(kind.name, path, scope, picked.text if picked is not None else "")


async def _read(
    transport: Transport,
    served: Served,
    kind: Kind,
    namespace: str,
    sink: Callable[[Frame], object],
    picked: Picked | None = None,
) -> None:
    version = served.version(kind)
    source = _source(served, kind, namespace, picked)
    selection = picked.query if picked is not None else _LEFT_OUT.get(kind.name, {})
    if version is None:
        sink(StreamState(source, "absent", kind.enable or f"this cluster does not serve {kind.resource}"))
        return

    async def fetch(query: dict[str, str]) -> bytes:
        ask = partial(
            transport.request,
            "GET",
            source.path,
            params=query | selection,
            headers=transport.compression,
            stall=transport.timers.page_stall,
        )
        return (await patiently(transport, ask)).body

    try:
        async with transport.gate.sync_slot():
            snapshot = await read_pages(kind, version, fetch, lambda *_: None)
        sink(Listed(source, snapshot.resource_version, snapshot.items))
    except ApiError as error:
        if error.status != 403:
            raise
        sink(StreamState(source, "no-access", str(error)))


def first_error(group: BaseExceptionGroup[BaseException]) -> KtuiError | None:
    """The first failure that has words for a person."""
    for error in group.exceptions:
        if isinstance(error, KtuiError):
            return error
        if isinstance(error, BaseExceptionGroup) and (inner := first_error(error)) is not None:
            return inner
    return None
