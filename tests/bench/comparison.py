"""ktui, the floor and the peers on one full cluster, by turns: what disturbs the machine disturbs them all."""

from __future__ import annotations

import ssl
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from tests.bench import fleet, gateway, lives, programs
from tests.bench.gateway import Gateway, GatewayError, Server
from tests.bench.lives import Pace, Samples
from tests.bench.programs import Cluster, Printer, Program
from tests.cluster.controlplane.cluster import ControlPlane

Tell = Callable[[str], None]

_LONGEST: Final = 500  # letters of a failure, which may have a whole screen in it


@dataclass(frozen=True)
class Place:
    """The fleet: asked directly, and through the gateway. `writes` is how many a second the server took while it was filled."""

    direct: Cluster
    counted: Cluster
    gateway: Gateway
    writes: float


class Comparison:
    """`results` has the samples of each program, `failures` a line for each measurement that could not be made."""

    def __init__(self, command: Path, home: Path, place: Place, pace: Pace, tell: Tell, *, peers: bool) -> None:
        self._ktui = programs.ktui(command, home)
        self._floor = programs.floor(home)
        self._k9s = programs.k9s(home) if peers else None
        self._kubectl = programs.kubectl(home) if peers else None
        self._place = place
        self._pace = pace
        self._tell = tell
        everybody = (self._ktui, self._floor, self._k9s, self._kubectl)
        self.results = {program.name: Samples(list) for program in everybody if program is not None}
        self.failures: list[str] = []

    def run(self) -> None:
        """One turn of everybody."""
        place, pace = self._place, self._pace
        screens = [program for program in (self._ktui, self._k9s, self._floor) if program is not None]
        self._take(self._ktui, "gangs", partial(lives.gangs, self._ktui, place.direct))
        for program in screens:
            self._take(program, "quiet", partial(lives.quiet, program, place.direct, pace))
        if (kubectl := self._kubectl) is not None:
            self._take(kubectl, "quiet", partial(lives.following, kubectl, place.direct, pace))
            self._take(kubectl, "requests", partial(lives.asked, kubectl, place.counted, place.gateway, pace))
        self._commands()
        for program in screens:
            self._take(program, "busy", partial(lives.stormy, program, place.counted, place.gateway, pace))

    def _commands(self) -> None:
        direct, ktui, kubectl = self._place.direct, self._ktui, self._kubectl
        get = ["get", "pods", "-A"]
        self._take(ktui, "version", partial(_whole, ktui, direct, "version", [*ktui.command, "--version"]))
        self._take(ktui, "get", partial(_whole, ktui, direct, "get pods", [*ktui.command, *get]))
        if kubectl is not None:
            self._take(kubectl, "get", partial(_whole, kubectl, direct, "get pods", [*kubectl.command, *get]))

    def _take(self, program: Program | Printer, what: str, live: Callable[[], Samples]) -> None:
        self._tell(f"{program.name}: {what}")
        try:
            found = live()
        except (OSError, GatewayError) as error:
            self.failures.append(textwrap.shorten(f"{program.name}, {what}: {error}", _LONGEST))
            return
        for key, values in found.items():
            self.results[program.name][key] += values


def _whole(program: Program | Printer, cluster: Cluster, key: str, command: list[str]) -> Samples:
    return Samples(list, {key: [lives.whole(command, program.surroundings(cluster))]})


@contextmanager
def filled(plane: ControlPlane, pods: int, home: Path) -> Iterator[Place]:
    """A fleet of running pods on a new control plane, with nothing running that would change them."""
    for name in ("kwok", "kube-controller-manager", "kube-scheduler"):
        plane.process(name).stop()
    access = plane.access
    authority, token = access.authority.certificate, access.tokens["admin"]
    begun = time.monotonic()
    fleet.fill(plane.url, token, ssl.create_default_context(cafile=str(authority)), pods)
    writes = fleet.writes(pods) / (time.monotonic() - begun)
    pair = access.serving
    server = Server(plane.url, str(pair.public), str(pair.private), str(authority), token)
    direct = Cluster(plane.kubeconfig, server, fleet.rounded(pods))
    with gateway.running(server) as before:
        url = f"https://127.0.0.1:{before.port}"
        kubeconfig = home / "kubeconfig-of-the-gateway"
        kubeconfig.touch(mode=0o600)
        kubeconfig.write_text(plane.kubeconfig.read_text().replace(plane.url, url))
        counted = replace(direct, kubeconfig=kubeconfig, server=replace(server, url=url))
        yield Place(direct, counted, before, writes)
