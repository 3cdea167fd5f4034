"""All checks, in the order in which a person reads them. To add one: a function from facts to findings, and a line here."""

from __future__ import annotations

from typing import Final

from ktui.cluster.state import Cluster
from ktui.doctor import access, devices, nodes, server, usage, work
from ktui.doctor.facts import Connection, Facts, File, Unknown
from ktui.doctor.finding import Finding
from ktui.doctor.known import Check

CHECKS: Final[tuple[Check, ...]] = (
    access.who,
    access.files,
    access.tls,
    access.clock,
    access.reading,
    access.acting,
    server.version,
    server.components,
    server.apis,
    server.stale_apis,
    server.gates,
    server.scale_to_zero,
    server.upgrade,
    nodes.kubelets,
    nodes.cgroups,
    nodes.rootless,
    nodes.unpublished,
    devices.pools,
    devices.drivers,
    devices.stray_slices,
    devices.broad_rules,
    devices.evicting_rules,
    work.autoscalers,
    work.pending,
    usage.metrics,
    usage.gpus,
    access.usage,
)

_NO_SERVER: Final = "see that the context is the right one, and that kubectl reaches the server"


def examine(facts: Facts) -> tuple[Finding, ...]:
    """What every check says, ok and skipped ones included."""
    return tuple(finding for check in CHECKS for finding in check(facts))


def unreachable(connection: Connection, files: tuple[File, ...], why: str) -> tuple[Finding, ...]:
    """What can be said without an answer from the server."""
    unknown = Unknown("the server gives no answer")
    facts = Facts(
        cluster=Cluster(),
        connection=connection,
        files=files,
        identity=unknown,
        rights=unknown,
        skew=unknown,
        version=unknown,
        served=unknown,
        stale=unknown,
        gates=unknown,
        components=unknown,
        usage=unknown,
        metrics=unknown,
        proxies=unknown,
    )
    return (*access.files(facts), *access.tls(facts), Finding("server", "fail", why, _NO_SERVER))
