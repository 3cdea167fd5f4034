"""The embedded API server: the real protocol on loopback, so that `ktui demo` runs the same code as a live cluster.

It covers what ktui and a plain API client use: discovery, list, watch, single objects, patches, dry run, access reviews, tokens,
metrics.k8s.io and the metrics page of a pod. Not covered: protobuf and CBOR, Table answers, server-side apply, deletion of
collections, admission webhooks, other aggregated APIs.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import aclosing
from typing import Any, Final, Self

import msgspec
from aiohttp import web
from aiohttp.typedefs import Middleware

from ktui.demo import access, admission, options, patch, reads, status
from ktui.demo.documents import AGGREGATED, Documents
from ktui.demo.figures import Figures
from ktui.demo.mvcc import JSON, Database, Key
from ktui.demo.registry import Registry
from ktui.demo.releases import LATEST, V1_35, V1_36, Release
from ktui.demo.requests import Address, Serves, Shape, parse
from ktui.demo.strategic import strategic_merge_patch
from ktui.model.kinds import KINDS, Kind
from ktui.model.usage import GROUP as METRICS

Send = Callable[[web.Request, web.StreamResponse, bytes], Awaitable[None]]


def serves(release: Release) -> Serves:
    """What a server of a release serves: all that is Kubernetes' own, in the version that is preferred where it has no other."""
    return {name: release.versions.get(name, kind.versions[:1]) for name, kind in KINDS.items() if not kind.program}


SERVES_1_37: Final = serves(LATEST)
SERVES_1_36: Final = serves(V1_36)
SERVES_1_35: Final = serves(V1_35)

_PATCHES: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "application/merge-patch+json": patch.merge_patch,
    "application/json-patch+json": patch.json_patch,
    "application/strategic-merge-patch+json": strategic_merge_patch,
}
_PROXIED: Final = re.compile(r"/api/v1/namespaces/(?P<namespace>[^/]+)/pods/(?P<name>[^/:]+)/proxy/metrics")
_MAX_BODY: Final = 3 * 1024 * 1024


async def _write(_: web.Request, response: web.StreamResponse, data: bytes) -> None:
    await response.write(data)


class ApiServer:
    """`database` and `registry` are for whoever plays the cluster's controllers: what they change, watchers see."""

    def __init__(
        self,
        *,
        serves: Serves = SERVES_1_37,
        git_version: str = LATEST.git_version,
        tokens: Mapping[str, access.User] | None = None,
        authorizer: access.Authorizer = access.allow_all,
        timers: reads.ReadTimers | None = None,
        middlewares: Iterable[Middleware] = (),
        send: Send = _write,
        ssl_context: ssl.SSLContext | None = None,
        kubelets: bool = False,
        scale_to_zero: bool = True,
    ) -> None:
        """`tokens`: bearer token → user; none: everybody is let in. `middlewares` see every request, `send` every piece of a
        watch on its way out: both are places to observe or disturb the traffic. `kubelets` and `scale_to_zero` are for
        Registry. `figures` is set where there is a metrics server, and exporters.
        """
        self.database = Database()
        self.registry = Registry(self.database, kubelets=kubelets, scale_to_zero=scale_to_zero)
        self.figures: Figures | None = None
        self.serves = serves
        self.git_version = git_version
        self.tokens = dict(tokens or {})
        self.authorizer = authorizer
        self._timers = timers or reads.ReadTimers()
        self._middlewares = tuple(middlewares)
        self._send = send
        self._ssl = ssl_context
        self._stopping = asyncio.Event()
        self._runner: web.AppRunner | None = None
        self._address = ("127.0.0.1", 0)

    async def start(self) -> None:
        """Listen on a free port of 127.0.0.1; after a `stop` on the same one again."""
        self._stopping = asyncio.Event()
        app = web.Application(middlewares=self._middlewares, client_max_size=_MAX_BODY)
        app.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=1.0)
        await runner.setup()
        listener = socket.create_server(self._address)
        self._address = listener.getsockname()
        await web.SockSite(runner, listener, ssl_context=self._ssl).start()
        self._runner = runner

    async def stop(self) -> None:
        """End every watch cleanly, close every connection. A restarted server refuses versions from before the stop."""
        self._stopping.set()
        for kind in KINDS:
            self.database.wake(kind)
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None
        self.database.revision += 1  # a real server writes leases of its own while it starts
        self.database.compact()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    @property
    def url(self) -> str:
        host, port = self._address
        return f"{'https' if self._ssl else 'http'}://{host}:{port}"

    @property
    def _documents(self) -> Documents:
        """Made anew for every request: what is served may change."""
        return Documents(KINDS, self.serves, self.git_version, self.figures.versions if self.figures else ())

    def create(self, kind: str, obj: JSON) -> JSON:
        """Put an object into the cluster, as a controller would."""
        return self.registry.create(KINDS[kind], obj)

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        try:
            user = access.authenticate(request.headers, self.tokens)
            if (proxied := _PROXIED.fullmatch(request.path)) is not None:
                return self._proxy(request, user, (proxied["namespace"], proxied["name"]))
            address = parse(request.path, KINDS, self.serves)
            if address is None:
                return self._non_resource(request, user)
            if address.group in ("authorization.k8s.io", "authentication.k8s.io"):
                return await self._review(request, address, user)
            access.check(self.authorizer, _attributes(user, request, address))
            if address.group == METRICS and self.figures is not None:
                return _metrics(request, address, self.figures)
            if address.kind is None:
                if not address.group or address.group in self._documents.groups():
                    raise status.no_such_resource()
                return _no_such_path()
            return await self._resource(request, address, address.kind)
        except status.Refused as refused:
            return _refusal(refused)
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            if request.method == "GET":
                raise
            # Nothing here checks the shape of what is sent before it is used; a real server's decoder does, and says 400.
            return _refusal(status.bad_request(f"the object provided does not have the shape of its kind: {error}"))

    def _non_resource(self, request: web.Request, user: access.User) -> web.StreamResponse:
        access.check(self.authorizer, access.Attributes(user, request.method.lower(), path=request.path))
        if request.path in ("/readyz", "/livez", "/healthz"):
            return web.Response(text="ok")
        documents = self._documents
        if "apidiscovery.k8s.io" in request.headers.get("Accept", "") and (found := documents.aggregated(request.path)):
            body, etag = found
            headers = {"ETag": etag, "Content-Type": AGGREGATED}
            if request.headers.get("If-None-Match") == etag:
                return web.Response(status=304, headers=headers)
            return web.Response(body=body, headers=headers)
        document = documents.get(request.path)
        return _no_such_path() if document is None else _json(document)

    def _proxy(self, request: web.Request, user: access.User, pod: Key) -> web.Response:
        """The metrics page of a pod, which is all that any of them serves here."""
        verb = "get" if request.method == "GET" else "create"
        access.check(self.authorizer, access.Attributes(user, verb, "", "pods", "proxy", *pod))
        self.registry.get(KINDS["Pod"], pod)
        page = self.figures.page(pod) if self.figures is not None and request.method == "GET" else None
        if page is None:
            raise status.Refused(503, "ServiceUnavailable", "error trying to reach service: connection refused")
        return web.Response(text=page, headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"})

    async def _resource(self, request: web.Request, address: Address, kind: Kind) -> web.StreamResponse:
        options.check_accept(request.headers.get("Accept", ""))
        if address.subresource and not (address.subresource == "status" and admission.has_status(kind)):
            raise status.no_such_resource()
        if not address.name:
            match request.method:
                case "GET" if _watches(request):
                    return await self._watch(request, address, kind)
                case "GET":
                    return await self._list(request, address, kind)
                case "POST":
                    return await self._create(request, address, kind)
            raise status.method_not_allowed()
        shape = Shape.of(kind, address, request.headers.get("Accept", ""))
        match request.method:
            case "GET":
                return _json(shape.object(self.registry.get(kind, address.key)))
            case "PUT":
                new = await _body(request)
                if (name := (new.get("metadata") or {}).get("name")) not in (None, address.name):
                    why = f"the name of the object ({name}) does not match the name on the URL ({address.name})"
                    raise status.bad_request(why)
                return self._updated(request, address, shape, lambda _: new)
            case "PATCH":
                apply = _PATCHES.get(request.content_type)
                if apply is None:
                    raise status.unsupported_media_type(", ".join(_PATCHES))
                change = await _decoded(request, list if apply is patch.json_patch else dict)
                return self._updated(request, address, shape, lambda old: apply(old, change))
            case "DELETE":
                return await self._delete(request, address, kind)
        raise status.method_not_allowed()

    async def _list(self, request: web.Request, address: Address, kind: Kind) -> web.StreamResponse:
        shape = Shape.of(kind, address, request.headers.get("Accept", ""))
        document = await reads.list_objects(self.database, shape, address, request.query, self._timers)
        body = msgspec.json.encode(document)
        packed = reads.compressed(body, request.headers.get("Accept-Encoding", ""))
        headers = {"Content-Type": "application/json", **({"Content-Encoding": "gzip"} if packed else {})}
        return web.Response(body=packed or body, headers=headers)

    async def _watch(self, request: web.Request, address: Address, kind: Kind) -> web.StreamResponse:
        shape = Shape.of(kind, address, request.headers.get("Accept", ""))
        watch = reads.Watch(self.database, shape, address, request.query, self._timers, self._stopping)
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        response.enable_chunked_encoding()
        await response.prepare(request)
        async with aclosing(watch.lines()) as lines:
            async for data in lines:
                await self._send(request, response, data)
        await response.write_eof()
        return response

    async def _create(self, request: web.Request, address: Address, kind: Kind) -> web.StreamResponse:
        obj = await _body(request)
        sent = (obj.get("kind", kind.name), obj.get("apiVersion", address.group_version))
        if sent != (kind.name, address.group_version):
            raise status.bad_request(
                f"the object provided ({sent[1]}, {sent[0]}) does not match the request's ({address.group_version}, {kind.name})"
            )
        if not isinstance(obj.get("metadata", {}), dict):
            raise status.bad_request("the metadata of the object provided is no mapping")
        metadata = dict(obj.get("metadata", {}))
        if address.namespace and metadata.setdefault("namespace", address.namespace) != address.namespace:
            raise status.bad_request(
                "the namespace of the provided object does not match the namespace sent on the request"
            )
        admission.check_name(kind, metadata.get("name"))
        wanted = admission.without_status(kind, {**obj, "metadata": metadata})
        asked = _write_options(request)
        made = self.registry.create(kind, wanted, dry_run=asked.dry_run, strict=asked.strict)
        return _warned(_json(Shape.of(kind, address, "").object(made), 201), kind, wanted, asked)

    def _updated(
        self, request: web.Request, address: Address, shape: Shape, change: Callable[[JSON], JSON]
    ) -> web.StreamResponse:
        asked = _write_options(request)
        wanted: JSON = {}

        def remembered(old: JSON) -> JSON:
            nonlocal wanted
            wanted = change(old)
            return wanted

        new = self.registry.update(
            shape.kind,
            address.key,
            remembered,
            subresource=address.subresource,
            dry_run=asked.dry_run,
            strict=asked.strict,
        )
        return _warned(_json(shape.object(new)), shape.kind, wanted, asked)

    async def _delete(self, request: web.Request, address: Address, kind: Kind) -> web.StreamResponse:
        # As in a real server, the query counts only where there is no body.
        said = await _body(request) if request.body_exists else {}
        query = request.query
        dry_run = (said.get("dryRun") or []) if request.body_exists else query.getall("dryRun", [])
        asked = options.write_options("DELETE", dry_run, "")
        options.check_propagation(said.get("propagationPolicy", query.get("propagationPolicy")))
        grace = options.grace_period(said.get("gracePeriodSeconds", query.get("gracePeriodSeconds")))
        last = self.registry.delete(
            kind, address.key, preconditions=said.get("preconditions"), grace=grace, dry_run=asked.dry_run
        )
        if "deletionTimestamp" in last["metadata"]:
            return _json(Shape.of(kind, address, "").object(last))
        details = {
            "name": address.name,
            **({"group": kind.group} if kind.group else {}),
            "kind": kind.plural,
            "uid": last["metadata"]["uid"],
        }
        return _json({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details})

    async def _review(self, request: web.Request, address: Address, user: access.User) -> web.StreamResponse:
        """Everybody may ask about themselves."""
        if address.version != "v1":
            return _no_such_path()
        if request.method != "POST":
            raise status.method_not_allowed()
        review = await _body(request)
        spec = review.get("spec") or {}
        match address.plural:
            case "selfsubjectreviews":
                answer: JSON = {"userInfo": {"username": user.name, "groups": list(user.groups)}}
            case "selfsubjectaccessreviews":
                answer = {"allowed": self.authorizer(_reviewed(user, spec))}
            case "selfsubjectrulesreviews":
                if not spec.get("namespace"):
                    raise status.bad_request("no namespace on request")
                answer = self._rules(user, spec.get("namespace", ""))
            case _:
                return _no_such_path()
        return _json({**review, "metadata": {"creationTimestamp": None}, "status": answer}, 201)

    def _rules(self, user: access.User, namespace: str) -> JSON:
        verbs = ("get", "list", "watch", "create", "update", "patch", "delete")
        rules = []
        for kind in KINDS.values():
            where = namespace if kind.namespaced else ""
            allowed = [
                verb
                for verb in verbs
                if self.authorizer(access.Attributes(user, verb, kind.group, kind.plural, namespace=where))
            ]
            if allowed:
                rules.append({"verbs": allowed, "apiGroups": [kind.group], "resources": [kind.plural]})
        return {"resourceRules": rules, "nonResourceRules": [], "incomplete": False}


def _metrics(request: web.Request, address: Address, figures: Figures) -> web.Response:
    """An object or a list of metrics.k8s.io."""
    if request.method != "GET":
        raise status.method_not_allowed()
    found: JSON | None
    match address.plural:
        case "pods" if address.version in figures.versions:
            one = figures.pod(address.version, address.key) if address.name else None
            found = one if address.name else figures.pods(address.version, address.namespace)
        case "nodes" if address.version in figures.versions:
            found = figures.node(address.version, address.name) if address.name else figures.nodes(address.version)
        case _:
            return _no_such_path()
    if found is None:
        raise status.Refused(404, "NotFound", f'{address.plural}.{METRICS} "{address.name}" not found')
    return _json(found)


def _attributes(user: access.User, request: web.Request, address: Address) -> access.Attributes:
    verb = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}.get(request.method, "get")
    if verb == "get" and not address.name:
        verb = "watch" if _watches(request) else "list"
    return access.Attributes(
        user, verb, address.group, address.plural, address.subresource, address.namespace, address.name
    )


def _reviewed(user: access.User, spec: JSON) -> access.Attributes:
    if "resourceAttributes" not in spec:
        path = spec.get("nonResourceAttributes")
        if path is None:
            why = "Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified"
            raise status.Refused(422, "Invalid", f'.authorization.k8s.io "" is invalid: spec: {why}')
        return access.Attributes(user, path.get("verb", ""), path=path.get("path", "/"))
    asked = spec["resourceAttributes"]
    fields = ("verb", "group", "resource", "subresource", "namespace", "name")
    return access.Attributes(user, *(asked.get(field, "") for field in fields))


def _watches(request: web.Request) -> bool:
    """As Go reads a bool: clients of other languages write it in their own way."""
    return request.query.get("watch") in ("1", "t", "T", "true", "TRUE", "True")


def _write_options(request: web.Request) -> options.WriteOptions:
    query = request.query
    return options.write_options(request.method, query.getall("dryRun", []), query.get("fieldValidation", ""))


def _warned(answer: web.Response, kind: Kind, wanted: JSON, asked: options.WriteOptions) -> web.Response:
    """With a Warning header (RFC 7234, section 5.5) for each unknown field."""
    for field in admission.unknown_fields(kind, wanted) if asked.warn else ():
        answer.headers.add("Warning", f'299 - "unknown field \\"{field}\\""')
    return answer


async def _body(request: web.Request) -> JSON:
    """The object that the request carries."""
    options.check_content_type(request.headers.get("Content-Type", "").partition(";")[0].strip())
    body: JSON = await _decoded(request, dict)
    return body


async def _decoded(request: web.Request, kind: type[Any]) -> Any:
    try:
        return msgspec.json.decode(await request.read(), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise status.bad_request(f"the body of the request is not what it should be: {error}") from None


def _json(document: JSON | msgspec.Raw, code: int = 200) -> web.Response:
    return web.Response(body=msgspec.json.encode(document), status=code, content_type="application/json")


def _refusal(refused: status.Refused) -> web.Response:
    answer = _json(refused.status, refused.code)
    if refused.retry_after is not None:
        answer.headers["Retry-After"] = str(refused.retry_after)
    return answer


def _no_such_path() -> web.Response:
    return web.Response(status=404, text="404 page not found\n")
