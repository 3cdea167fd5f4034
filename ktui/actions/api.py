"""The server as actions see it: single objects of known kinds, in the versions that this cluster serves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from ktui.actions.plan import ActionRequest, Document, NotPossibleError, part
from ktui.kube.failures import UnexpectedAnswer
from ktui.model.kinds import Kind

if TYPE_CHECKING:  # importing it costs half a second, which is spent when the first dialog opens
    from ktui.kube.apiclient import Access, Answer, Api


class ActionApi:
    """`served` is the version of each kind that the cluster serves (kind name → version)."""

    def __init__(self, client: Api, served: Mapping[str, str]) -> None:
        self._client = client
        self._served = served

    def version(self, kind: Kind) -> str:
        """The version to speak. Raises NotPossibleError where the cluster does not serve the kind."""
        if version := self._served.get(kind.name):
            return version
        raise NotPossibleError(f"this cluster does not serve {kind.resource}: {kind.enable or 'it is not installed'}")

    async def get(self, kind: Kind, namespace: str, name: str) -> Answer:
        """The object, fresh. UnexpectedAnswer for anything that is not it, with the identity that a write is bound to."""
        answer = await self._client.get(kind.group, self.version(kind), kind.plural, namespace, name)
        metadata = part(answer.document, "metadata")
        bound = all(metadata.get(field) and isinstance(metadata[field], str) for field in ("uid", "resourceVersion"))
        if metadata.get("name") != name or not bound:
            raise UnexpectedAnswer(f"the server's answer is not the object {kind.resource} {name}")
        return answer

    async def list(self, kind: Kind, version: str, namespace: str) -> tuple[Document, ...]:
        """The objects of a namespace, fresh. UnexpectedAnswer when the answer is no list of objects."""
        items = (await self._client.list(kind.group, version, kind.plural, namespace)).document.get("items")
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise UnexpectedAnswer(f"the server's answer is not a list of {kind.resource}")
        return tuple(items)

    async def send(self, request: ActionRequest, *, dry_run: bool) -> Answer:
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

    async def may(self, request: ActionRequest) -> Access:
        name = "" if request.verb == "create" else request.name
        return await self._client.may(request.verb, request.kind.group, request.kind.plural, request.namespace, name)
