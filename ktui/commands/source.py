"""Where a command reads from: a recording up to a moment, or one consistent list of each kind from the cluster."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ktui.cluster.state import Cluster
from ktui.errors import UsageError
from ktui.kube.picked import Picked
from ktui.model.kinds import KINDS
from ktui.model.usage import Wanted
from ktui.ui.safe import safe

if TYPE_CHECKING:  # a recording is read without what talks to a cluster
    from ktui.kube.gate import Hold


class Filled(NamedTuple):
    """A filled state, the moment it shows (Unix seconds), and the namespace asked for ("" for all). `git_version`: the server's,
    as a recording tells it. `measured`: with figures of what is used."""

    cluster: Cluster
    now: float
    namespace: str
    git_version: str = ""
    measured: bool = False


Measure = Callable[[Cluster], Wanted]
"""Whose figures of what is used are shown, of what was read."""


def fill(
    args: argparse.Namespace,
    kinds: tuple[str, ...],
    *,
    timeline: bool = False,
    everywhere: bool = False,
    measure: Measure | None = None,
    picked: Picked | None = None,
    trees: bool = False,
) -> Filled:
    """Read what the command needs, with the timeline up to that moment if wanted. `everywhere`: of all namespaces, as far as
    that is allowed, whichever is asked for. `measure`: with figures of what is used, which no recording has. `picked`: of one
    kind only these; a recording has all of them. `trees`: with everything above Workloads, groups and pods. Raises KtuiError when
    it cannot."""
    if getattr(args, "at", None) is not None and not getattr(args, "recording", None):
        raise UsageError("--at goes with --recording")
    if getattr(args, "recording", None):
        return _from_recording(args, timeline=timeline)
    if timeline:
        raise UsageError("one look at a cluster sees no changes: the timeline needs --recording FILE")
    return asyncio.run(_from_cluster(args, kinds, everywhere=everywhere, measure=measure, picked=picked, trees=trees))


def _from_recording(args: argparse.Namespace, *, timeline: bool) -> Filled:
    from ktui.cluster.changes import chronicle
    from ktui.cluster.timeline import Timeline
    from ktui.recording.player import replay_to
    from ktui.recording.reader import Recording

    recording = Recording(Path(args.recording))
    cluster = Cluster()
    at = getattr(args, "at", None)
    reached = replay_to(recording, at, cluster.apply)
    if timeline:
        cluster = Cluster()
        cluster.timeline = Timeline(most=None)
        start = recording.header.start
        frames = ((start + t, frame) for t, frame in recording.frames() if t <= reached)
        chronicle(cluster, cluster.timeline, frames)
    for note, count in recording.notes.items():
        print(f"ktui: skipped {count} {safe(note)}", file=sys.stderr)
    namespace = "" if getattr(args, "all_namespaces", False) else getattr(args, "namespace", "") or ""
    return Filled(cluster, recording.header.start + reached, namespace, recording.header.server.git_version)


async def _from_cluster(
    args: argparse.Namespace,
    kinds: tuple[str, ...],
    *,
    everywhere: bool,
    measure: Measure | None,
    picked: Picked | None,
    trees: bool,
) -> Filled:
    """`kinds` begins with the one that the rows are made of."""
    from ktui.commands.cluster import wanted
    from ktui.kube.once import first_error, read_once, read_widely
    from ktui.kube.opening import open_transport, resolve
    from ktui.kube.owners import STEMS
    from ktui.kube.usageonce import measure_once

    wish = wanted(args)
    target = resolve(wish)
    cluster = Cluster()
    # A device may be in use from any namespace: what is not of a namespace is joined with all of them.
    all_of_them = getattr(args, "all_namespaces", False) or not KINDS[kinds[0]].namespaced
    namespace = "" if all_of_them else target.namespace
    followed = STEMS if trees else ()
    async with open_transport(wish, target) as transport:
        transport.gate.on_wait = _say_why_it_takes
        try:
            if everywhere:
                await read_widely(transport, kinds, target.namespace, cluster.apply)
            else:
                served = await read_once(transport, kinds, namespace, cluster.apply, picked, followed)
                if measure is not None:
                    await measure_once(transport, served, measure(cluster), namespace, cluster.measure)
        except BaseExceptionGroup as group:
            raise first_error(group) or group from None
    return Filled(cluster, time.time(), namespace, measured=measure is not None)


def _say_why_it_takes(hold: Hold) -> None:
    """Who looks at an empty terminal for a minute would think that nothing happens. What cannot be waited for is an error."""
    if hold.firm:
        print(f"ktui: {safe(hold.message, 300)}", file=sys.stderr)
