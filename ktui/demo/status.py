"""How the API says no: metav1.Status bodies in the words of a Kubernetes 1.37 API server."""

from __future__ import annotations

from ktui.demo.mvcc import JSON
from ktui.model.kinds import Kind


class Refused(Exception):
    """A request's failure: an HTTP status and the Status object for its body. `retry_after` is in whole seconds."""

    def __init__(
        self, code: int, reason: str, message: str, details: JSON | None = None, retry_after: int | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.retry_after = retry_after
        self.status: JSON = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": message,
            "reason": reason,
            **({"details": details} if details is not None else {}),
            "code": code,
        }


def not_found(kind: Kind, name: str) -> Refused:
    return Refused(404, "NotFound", f'{kind.resource} "{name}" not found', _details(kind, name))


def no_such_resource() -> Refused:
    """A resource or version that is not served, in a group that is."""
    return Refused(404, "NotFound", "the server could not find the requested resource", {})


def already_exists(kind: Kind, name: str) -> Refused:
    return Refused(409, "AlreadyExists", f'{kind.resource} "{name}" already exists', _details(kind, name))


def conflict(kind: Kind, name: str, why: str) -> Refused:
    message = f'Operation cannot be fulfilled on {kind.resource} "{name}": {why}'
    return Refused(409, "Conflict", message, _details(kind, name))


def modified(kind: Kind, name: str) -> Refused:
    why = "the object has been modified; please apply your changes to the latest version and try again"
    return conflict(kind, name, why)


def invalid(kind: Kind, name: str, *causes: tuple[str, str, str]) -> Refused:
    """`causes` are (reason, field, message), e.g. ("FieldValueInvalid", "spec.x", "Invalid value: 1: must be …")."""
    qualified = f"{kind.name}.{kind.group}" if kind.group else kind.name
    texts = [f"{field}: {message}" for _, field, message in causes]
    joined = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    details = {
        "name": name,
        **({"group": kind.group} if kind.group else {}),
        "kind": kind.name,
        "causes": [{"reason": reason, "message": message, "field": field} for reason, field, message in causes],
    }
    return Refused(422, "Invalid", f'{qualified} "{name}" is invalid: {joined}', details)


def unprocessable() -> Refused:
    """What a failed test of a JSON patch gets: no causes, and a message that says nothing."""
    message = "the server rejected our request due to an error in our request"
    return Refused(422, "Invalid", message, {})


def bad_options(kind: str, reason: str, field: str, message: str) -> Refused:
    """A query or DeleteOptions with a value that there is not; `kind` is e.g. "CreateOptions"."""
    details = {
        "group": "meta.k8s.io",
        "kind": kind,
        "causes": [{"reason": reason, "message": message, "field": field}],
    }
    return Refused(422, "Invalid", f'{kind}.meta.k8s.io "" is invalid: {field}: {message}', details)


def bad_list_options(field: str, message: str) -> Refused:
    """Parameters of a list or watch that do not go together."""
    return bad_options("ListOptions", "FieldValueForbidden", field, message)


def bad_request(message: str) -> Refused:
    return Refused(400, "BadRequest", message)


def unauthorized() -> Refused:
    return Refused(401, "Unauthorized", "Unauthorized")


def forbidden(kind_plural: str, group: str, name: str, why: str) -> Refused:
    resource = f"{kind_plural}.{group}" if group else kind_plural
    subject = f'{resource} "{name}"' if name else resource
    details = {
        **({"name": name} if name else {}),
        **({"group": group} if group else {}),
        "kind": kind_plural,
    }
    return Refused(403, "Forbidden", f"{subject} is forbidden: {why}", details)


def method_not_allowed() -> Refused:
    message = "the server does not allow this method on the requested resource"
    return Refused(405, "MethodNotAllowed", message, {})


def unsupported_media_type(accepted: str) -> Refused:
    message = f"the body of the request was in an unknown format - accepted media types include: {accepted}"
    return Refused(415, "UnsupportedMediaType", message)


def not_acceptable(spoken: str) -> Refused:
    return Refused(406, "NotAcceptable", f"only the following media types are accepted: {spoken}")


def too_old(requested: int, oldest: int) -> Refused:
    return Refused(410, "Expired", f"too old resource version: {requested} ({oldest})")


def continue_expired(token: str) -> Refused:
    """The Status carries a token for the rest of the list as it is now, which is not what the first pages showed."""
    message = (
        "The provided continue parameter is too old to display a consistent list result. You can start a new list without the"
        " continue parameter, or use the continue token in this response to retrieve the remainder of the results."
        " Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted"
        " between the time the first chunk was returned and now may show up in the list."
    )
    refused = Refused(410, "Expired", message)
    refused.status["metadata"] = {"continue": token}
    return refused


def too_large(requested: int, current: int) -> Refused:
    message = f"Timeout: Too large resource version: {requested}, current: {current}"
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    return Refused(504, "Timeout", message, {"causes": [cause], "retryAfterSeconds": 1}, retry_after=1)


def _details(kind: Kind, name: str) -> JSON:
    return {"name": name, **({"group": kind.group} if kind.group else {}), "kind": kind.plural}
