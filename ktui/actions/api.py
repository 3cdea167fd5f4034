"""The server as actions see it: single objects of known kinds, in the versions that this cluster serves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, cast

from ktui.actions.plan import ActionRequest, Body, Document, NotPossibleError, PatchType, part
from ktui.kube.failures import UnexpectedAnswer
from ktui.model.kinds import Kind


class ServerAnswer(Protocol):
    """What `ktui.kube.apiclient.Answer` holds."""

    @property
    def document(self) -> Document: ...
    @property
    def audit_id(self) -> str: ...
    @property
    def warnings(self) -> tuple[str, ...]: ...


class ServerAccess(Protocol):
    """What `ktui.kube.apiclient.Access` holds."""

    @property
    def allowed(self) -> bool: ...
    @property
    def reason(self) -> str: ...


class Client(Protocol):
    """What `ktui.kube.apiclient.Api` does."""

    async def get(self, group: str, version: str, plural: str, namespace: str, name: str) -> ServerAnswer: ...
    async def create(
        self, group: str, version: str, plural: str, namespace: str, body: Document, *, dry_run: bool
    ) -> ServerAnswer: ...
    async def patch(
        self,
        group: str,
        version: str,
        plural: str,
        namespace: str,
        name: str,
        body: Body,
        *,
        content_type: PatchType,
        dry_run: bool,
    ) -> ServerAnswer: ...
    async def delete(
        self, group: str, version: str, plural: str, namespace: str, name: str, options: Document, *, dry_run: bool
    ) -> ServerAnswer: ...
    async def may(self, verb: str, group: str, plural: str, namespace: str = "", name: str = "") -> ServerAccess: ...


class ActionApi:
    """`served` is the version of each kind that the cluster serves (kind name → version)."""

    def __init__(self, client: Client, served: Mapping[str, str]) -> None:
        self._client = client
        self._served = served

    def version(self, kind: Kind) -> str:
        """The version to speak. Raises NotPossibleError where the cluster does not serve the kind."""
        if version := self._served.get(kind.name):
            return version
        raise NotPossibleError(f"this cluster does not serve {kind.resource}: {kind.enable or 'it is not installed'}")

    async def get(self, kind: Kind, namespace: str, name: str) -> ServerAnswer:
        """The object, fresh. UnexpectedAnswer for anything that is not it, with the identity that a write is bound to."""
        answer = await self._client.get(kind.group, self.version(kind), kind.plural, namespace, name)
        metadata = part(answer.document, "metadata")
        bound = all(metadata.get(field) and isinstance(metadata[field], str) for field in ("uid", "resourceVersion"))
        if metadata.get("name") != name or not bound:
            raise UnexpectedAnswer(f"the server's answer is not the object {kind.resource} {name}")
        return answer

    async def send(self, request: ActionRequest, *, dry_run: bool) -> ServerAnswer:
        """Send the plan's request; the dry run carries the very same body."""
        kind = request.kind
        place = (kind.group, request.version, kind.plural, request.namespace)
        match request.verb:
            case "create":
                return await self._client.create(*place, cast("Document", request.body), dry_run=dry_run)
            case "patch":
                return await self._client.patch(
                    *place, request.name, request.body, content_type=request.content_type, dry_run=dry_run
                )
            case "delete":
                return await self._client.delete(*place, request.name, cast("Document", request.body), dry_run=dry_run)

    async def may(self, request: ActionRequest) -> ServerAccess:
        name = "" if request.verb == "create" else request.name
        return await self._client.may(request.verb, request.kind.group, request.kind.plural, request.namespace, name)
