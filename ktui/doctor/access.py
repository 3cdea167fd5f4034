"""Credentials, files, TLS and clock of this machine; who we are to the server and what we may."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ktui.doctor.facts import Connection, Facts, Right, Unknown
from ktui.doctor.finding import Finding, Status, counted, skipped, some
from ktui.doctor.known import known, skips
from ktui.model.cost import Cost, size_text, total

_NOBODY: Final = "system:anonymous"
_ALMIGHTY: Final = "system:masters"
_CLOCK_NOTICED: Final = 5.0
"""Seconds; a Date header has whole ones, and the answer takes its time."""
_CLOCK_WRONG: Final = 300.0
"""Seconds at which tokens and certificates that are quite new, or nearly over, are refused."""
_ROLES: Final = "ask for the role {} of docs/rbac.yaml"


@skips
def who(facts: Facts) -> Iterator[Finding]:
    check, identity = "credentials", facts.identity
    connection = known(check, facts.connection)
    way = f"context {connection.context}, {connection.host}, {connection.method}"
    if connection.impersonating:
        way += f", acting as {connection.impersonating}"
    if isinstance(identity, Unknown):
        yield skipped(check, f"who we are to the server is not known: {identity.why} ({way})")
    elif identity.name == _NOBODY:
        yield Finding(check, "warn", f"the server takes us for nobody: {way}", "sign in, or choose another context")
    elif _ALMIGHTY in identity.groups:
        text = f"{identity.name} is in {_ALMIGHTY}, which no role limits: {way}"
        yield Finding(check, "warn", text, "use a user of your own with the roles of docs/rbac.yaml")
    else:
        yield Finding(check, "ok", f"{identity.name}: {way}")


@skips
def files(facts: Facts) -> Iterator[Finding]:
    check = "files"
    found = known(check, facts.files)
    writable = [file.path for file in found if file.mode & 0o022]
    readable = [file.path for file in found if file.mode & 0o044 and not file.mode & 0o022]
    if writable:
        text = f"others can write, and so choose what runs as you: {some(writable)}"
        yield Finding(check, "fail", text, "chmod go-rwx, and look at what is in it", tuple(writable))
    if readable:
        yield Finding(check, "warn", f"others can read: {some(readable)}", "chmod go-rwx", tuple(readable))
    if not writable and not readable:
        number = counted(len(found), "file")
        yield Finding(check, "ok", f"{number} with credentials or the way to them, nobody else's to read or write")


@skips
def tls(facts: Facts) -> Iterator[Finding]:
    check = "tls"
    connection = known(check, facts.connection)
    if connection.plain:
        text = f"{connection.host} is reached over plain http, without credentials"
        yield Finding(check, "warn", text, "use https, unless it is a tunnel or a proxy of your own on this machine")
    elif connection.insecure:
        text = f"nobody checks that {connection.host} is the right server, and it gets your credentials"
        yield Finding(check, "fail", text, "put certificate-authority into the kubeconfig for insecure-skip-tls-verify")
    else:
        yield Finding(check, "ok", f"the certificate of {connection.host} is checked")


@skips
def clock(facts: Facts) -> Iterator[Finding]:
    check = "clock"
    skew = known(check, facts.skew)
    off = abs(skew)
    if off <= _CLOCK_NOTICED:
        yield Finding(check, "ok", f"this machine and the server agree within {_CLOCK_NOTICED:.0f} s")
        return
    status: Status = "fail" if off > _CLOCK_WRONG else "warn"
    side = "ahead of" if skew > 0 else "behind"
    text = f"this machine is {off:,.0f} s {side} the server: ages are wrong by as much"
    yield Finding(check, status, text, "set the clock (NTP) on whichever is wrong")


@skips
def reading(facts: Facts) -> Iterator[Finding]:
    check = "reading"
    rights = known(check, facts.rights)
    asked = [right for right in rights if right.purpose == "reading"]
    missing = [right.text for right in asked if right.scope == "nowhere"]
    narrow = sorted({right.resource for right in asked if right.scope == "namespace"})
    status: Status = "fail" if "list pods" in missing else "warn" if missing or narrow else "ok"
    parts = [f"may not {_in_short(asked)}"] if missing else []
    if narrow and not isinstance(facts.connection, Unknown):
        parts.append(f"only in namespace {facts.connection.namespace}: {some(narrow)}")
    text = (
        "; ".join(parts) or f"may get, list and watch all {counted(len({r.resource for r in asked}), 'kind')} it shows"
    )
    todo = _ROLES.format("ktui-reader") if parts else ""
    yield Finding(check, status, text, todo, (*missing, *narrow))


def _in_short(asked: list[Right]) -> str:
    """ "read nodes; watch pods": what lacks every verb, then the verbs that are missing of the others."""
    verbs: dict[str, list[str]] = {}
    for right in asked:
        if right.scope == "nowhere":
            verbs.setdefault(right.resource, []).append(right.verb)
    number = len({right.verb for right in asked})
    unseen = some((resource for resource, lacks in verbs.items() if len(lacks) == number), 6)
    partly = some(f"{' and '.join(lacks)} {resource}" for resource, lacks in verbs.items() if len(lacks) < number)
    return "; ".join(part for part in (f"read {unseen}" if unseen else "", partly) if part)


@skips
def acting(facts: Facts) -> Iterator[Finding]:
    """Nobody has to be allowed to act, but half of it is a trap: who may taint and not untaint leaves the taint behind."""
    check = "actions"
    rights = known(check, facts.rights)
    by_action: dict[str, list[Right]] = {}
    for right in rights:
        if right.purpose != "reading":
            by_action.setdefault(right.purpose, []).append(right)
    missing = {
        action: [right.text for right in needed if right.scope == "nowhere"] for action, needed in by_action.items()
    }
    allowed = [action for action, lacks in missing.items() if not lacks]
    forbidden = [action for action, lacks in missing.items() if lacks]
    text = "; ".join(
        part for part in (_list("may: ", allowed), _list("may not: ", forbidden), _only_reading(facts)) if part
    )
    lacking = tuple(dict.fromkeys(text for lacks in missing.values() for text in lacks))
    half = "taint" in allowed and "untaint" in forbidden
    todo = _ROLES.format("ktui-operator") if forbidden else ""
    yield Finding(check, "warn" if half else "ok", text or "none of them is served here", todo, lacking)


def _list(begin: str, names: Iterable[str]) -> str:
    listed = ", ".join(names)
    return f"{begin}{listed}" if listed else ""


def _only_reading(facts: Facts) -> str:
    connection = facts.connection
    return "read-only mode: nothing is written" if isinstance(connection, Connection) and connection.read_only else ""


@skips
def usage(facts: Facts) -> Iterator[Finding]:
    check = "requests"
    used = known(check, facts.usage)
    all_, each = total(used.costs), tuple(map(_spent, used.costs))
    unpacked = f" ({size_text(all_.unpacked)} unpacked)" if all_.unpacked != all_.received else ""
    took = f"{counted(all_.requests, 'request')} and {size_text(all_.received)} of answers{unpacked}"
    most = f", most of it for {some(each)}" if each else ""
    keep = f"the screens keep {counted(used.streams, 'watch', 'watches')} open"
    yield Finding(check, "ok", f"this look took {took}{most}; {keep}", objects=each)


def _spent(cost: Cost) -> str:
    return f"{cost.what} ({counted(cost.requests, 'request')}, {size_text(cost.received)})"
