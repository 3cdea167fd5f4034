"""Questions about one's own rights (authorization.k8s.io/v1); every authenticated user may ask them."""

from __future__ import annotations

import msgspec

from ktui.kube.failures import UnexpectedAnswer
from ktui.kube.transport import Transport
from ktui.model.decode import NOT_DECODED
from ktui.model.kinds import Kind
from ktui.model.meta import Wire


class _ReviewStatus(Wire, frozen=True):
    allowed: bool = False


class _Review(Wire, frozen=True):
    status: _ReviewStatus = _ReviewStatus()


class _UserInfo(Wire, frozen=True):
    username: str = ""
    groups: tuple[str, ...] | None = None


class _SelfStatus(Wire, frozen=True):
    user_info: _UserInfo = _UserInfo()


class _SelfReview(Wire, frozen=True):
    status: _SelfStatus = _SelfStatus()


async def own_name(transport: Transport) -> str:
    """Who we are to the server; with impersonation, the impersonated user."""
    return (await own_identity(transport))[0]


async def own_identity(transport: Transport) -> tuple[str, tuple[str, ...]]:
    """(user name, groups), as a SelfSubjectReview says (authentication.k8s.io/v1)."""
    review = {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    answer = await transport.request("POST", path, body=msgspec.json.encode(review))
    try:
        found = msgspec.json.decode(answer.body, type=_SelfReview).status.user_info
    except NOT_DECODED:
        raise UnexpectedAnswer(
            f"unexpected answer from host {transport.target.host} to a review of ourselves"
        ) from None
    return found.username, found.groups or ()


async def allowed(transport: Transport, verb: str, kind: Kind, namespace: str = "", subresource: str = "") -> bool:
    """A SelfSubjectAccessReview for `verb` on the kind or a subresource of it, in a namespace or ("") at the cluster's scope."""
    attributes = {"verb": verb, "group": kind.group, "resource": kind.plural}
    if namespace:
        attributes["namespace"] = namespace
    if subresource:
        attributes["subresource"] = subresource
    review = {
        "kind": "SelfSubjectAccessReview",
        "apiVersion": "authorization.k8s.io/v1",
        "spec": {"resourceAttributes": attributes},
    }
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    answer = await transport.request("POST", path, body=msgspec.json.encode(review))
    try:
        return msgspec.json.decode(answer.body, type=_Review).status.allowed
    except NOT_DECODED:
        raise UnexpectedAnswer(f"unexpected answer from host {transport.target.host} to an access review") from None
