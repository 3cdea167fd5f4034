"""Ask a cluster everything that `ktui doctor` judges. Each question has a time limit, and none depends on another's answer."""

from __future__ import annotations

import argparse
import asyncio
import stat
from collections.abc import Awaitable, Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from ktui import settings
from ktui.cluster.state import Cluster
from ktui.commands.cluster import wanted
from ktui.doctor.checkup import examine, unreachable
from ktui.doctor.facts import Connection, Facts, File, Identity, Known, Right, Scope, ServerVersion, Unknown, Usage
from ktui.doctor.finding import Finding
from ktui.errors import KtuiError
from ktui.kube import inquiry, reviews
from ktui.kube.discovery import Served
from ktui.kube.failures import ApiError
from ktui.kube.kubeconfig import load
from ktui.kube.once import read_each, read_once
from ktui.kube.opening import Wanted, open_transport, resolve
from ktui.kube.target import Target
from ktui.kube.transport import Transport
from ktui.kube.usage import metrics_version
from ktui.model.disruptionbudget import BUDGET
from ktui.model.kinds import KINDS, Kind
from ktui.views.registry import VIEWS

_LIMIT: Final = 15.0
"""Seconds for one question."""
_LIST_LIMIT: Final = 60.0
"""Seconds for one kind of object, all pages of it."""
_AT_ONCE: Final = 6
"""Reviews in flight: a good guest of the API server."""

_WATCHED: Final = tuple(dict.fromkeys(kind for view in VIEWS.values() for kind in (*view.kinds, *view.joins)))
_READ: Final = tuple(dict.fromkeys((*_WATCHED, "Job")))

T = TypeVar("T")


class _Question(NamedTuple):
    purpose: str
    verb: str
    kind: Kind


async def look(args: argparse.Namespace) -> tuple[Finding, ...]:
    """All findings; where the server gives no answer, those about this machine and why. Raises UsageError for settings."""
    wish = wanted(args)
    read_only = wish.read_only or (await asyncio.to_thread(settings.load)).readonly
    target = await asyncio.to_thread(resolve, wish)
    files = await asyncio.to_thread(_files, wish, target)
    connection = _connection(target, read_only=read_only)
    async with open_transport(wish, target) as transport:
        cluster = Cluster()
        try:
            async with asyncio.timeout(_LIST_LIMIT):
                served = await read_once(transport, (), "", cluster.apply)
        except TimeoutError:
            return unreachable(connection, files, f"{target.host} did not say within {_LIST_LIMIT:g} s what it serves")
        except KtuiError as error:
            return unreachable(connection, files, str(error))
        return examine(await _facts(transport, served, cluster, connection, files))


async def _facts(
    transport: Transport, served: Served, cluster: Cluster, connection: Connection, files: tuple[File, ...]
) -> Facts:
    namespace = transport.target.namespace
    _, identity, rights, presence, gates, components = await asyncio.gather(
        read_each(transport, served, _READ, namespace, cluster.apply, _LIST_LIMIT),
        _answer(_identity(transport)),
        _answer(_rights(transport, served, namespace), _LIST_LIMIT),
        _answer(inquiry.presence(transport)),
        _answer(inquiry.feature_gates(transport), _LIST_LIMIT),
        _answer(inquiry.component_versions(transport)),
    )
    return Facts(
        cluster=cluster,
        connection=connection,
        files=files,
        identity=identity,
        rights=rights,
        skew=_skew(presence),
        version=ServerVersion(served.git_version, presence.emulated if isinstance(presence, inquiry.Presence) else ""),
        served=served.versions(),
        stale=tuple(sorted(served.stale)),
        gates=_refused(gates, "the server's /metrics may not be read"),
        components=_visible(_refused(components, "pods of kube-system may not be read")),
        metrics=metrics_version(served),
        proxies=await _answer(_proxies(transport, cluster)),
        usage=Usage(transport.ledger.costs(), _streams(served)),
    )


async def _proxies(transport: Transport, cluster: Cluster) -> dict[str, bool]:
    exporters = (key for node in cluster.exporters_by_node.values() for key in cluster.exporters_by_node[node])
    namespaces = sorted({namespace for namespace, _ in exporters})
    asked = (reviews.allowed(transport, "get", KINDS["Pod"], each, "proxy") for each in namespaces)
    return dict(zip(namespaces, await asyncio.gather(*asked), strict=True))


def _streams(served: Served) -> int:
    """Watches that the screens keep open: one a kind that is served."""
    return sum(served.version(KINDS[name]) is not None for name in _WATCHED)


async def _answer(question: Awaitable[T], limit: float = _LIMIT) -> Known[T]:
    try:
        async with asyncio.timeout(limit):
            return await question
    except TimeoutError:
        return Unknown(f"no answer within {limit:g} s")
    except ApiError as error:
        return Unknown(_FORBIDDEN if error.status == 403 else str(error))
    except KtuiError as error:
        return Unknown(str(error))


_FORBIDDEN: Final = "it is forbidden"


def _refused(found: Known[T], why: str) -> Known[T]:
    """The server's own words for a refusal are long, and say no more than this."""
    return Unknown(why) if found == Unknown(_FORBIDDEN) else found


def _visible(found: Known[tuple[tuple[str, str], ...]]) -> Known[tuple[tuple[str, str], ...]]:
    return Unknown("scheduler and controllers do not run in pods that can be seen here") if found == () else found


def _skew(found: Known[inquiry.Presence]) -> Known[float]:
    if isinstance(found, Unknown):
        return found
    return Unknown("the server's answers have no time on them") if found.ahead is None else found.ahead


async def _identity(transport: Transport) -> Identity:
    name, groups = await reviews.own_identity(transport)
    return Identity(transport.redact(name), tuple(transport.redact(group) for group in groups))


def _questions(served: Served) -> Iterator[_Question]:
    for name in _WATCHED:
        if served.version(KINDS[name]) is not None:
            yield from (_Question("reading", verb, KINDS[name]) for verb in ("get", "list", "watch"))
    rules, autoscalers = KINDS["DeviceTaintRule"], KINDS["HorizontalPodAutoscaler"]
    if served.version(rules) is not None:
        yield from (_Question("taint", verb, rules) for verb in ("create", "patch"))
        yield from (_Question("untaint", verb, rules) for verb in ("patch", "delete"))
        yield _Question("list budgets", "list", BUDGET)
    yield _Question("min-replicas", "patch", autoscalers)


async def _rights(transport: Transport, served: Served, namespace: str) -> tuple[Right, ...]:
    slots = asyncio.Semaphore(_AT_ONCE)

    async def ask(verb: str, kind: Kind) -> Scope:
        async with slots:
            if await reviews.allowed(transport, verb, kind):
                return "everywhere"
            if kind.namespaced and namespace and await reviews.allowed(transport, verb, kind, namespace):
                return "namespace"
            return "nowhere"

    questions = list(_questions(served))
    different = list(dict.fromkeys((question.verb, question.kind) for question in questions))
    scopes = dict(zip(different, await asyncio.gather(*(ask(*each) for each in different)), strict=True))
    return tuple(Right(q.purpose, q.verb, q.kind.plural, scopes[q.verb, q.kind]) for q in questions)


def _connection(target: Target, *, read_only: bool) -> Connection:
    return Connection(
        context=target.context,
        host=target.host,
        method=target.auth.method,
        namespace=target.namespace,
        plain=target.tls is None,
        insecure=target.tls is not None and target.tls.insecure,
        impersonating=target.impersonate.user if target.impersonate else "",
        read_only=read_only,
    )


def _files(wish: Wanted, target: Target) -> tuple[File, ...]:
    """The kubeconfig files, and the key and the token that the user entry names. Blocks for a stat each."""
    certificate = target.auth.certificate
    named = (target.auth.token_file, certificate.key_file if certificate else None)
    kubeconfigs = (file.path for file in load(wish.load).files if file.state != "missing")
    return tuple(_modes((*kubeconfigs, *(path for path in named if path is not None))))


def _modes(paths: Iterable[Path]) -> Iterator[File]:
    for path in dict.fromkeys(paths):
        try:
            yield File(str(path), stat.S_IMODE(path.stat().st_mode))
        except OSError:
            continue  # whoever needs it says so
