"""Who asks (authentication), and whether they may (authorization), for the demo server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from ktui.demo import status

DEMO_USER: Final = "on-call"
"""Whom the demo's token stands for."""


@dataclass(frozen=True)
class User:
    name: str
    groups: tuple[str, ...] = ("system:authenticated",)


@dataclass(frozen=True)
class Attributes:
    """What is asked: a resource request, or with `path` a non-resource one. Cluster scope is namespace ""."""

    user: User
    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""


Authorizer = Callable[[Attributes], bool]

ANONYMOUS = User("system:anonymous", ("system:unauthenticated",))


def allow_all(_: Attributes) -> bool:
    return True


def authenticate(headers: Mapping[str, str], tokens: Mapping[str, User]) -> User:
    """The user of the bearer token, or whom they impersonate. Without known tokens everybody is anonymous.

    Raises Refused (401) for an unknown or a missing token.
    """
    if not tokens:
        user = ANONYMOUS
    else:
        scheme, _, token = headers.get("Authorization", "").partition(" ")
        known = tokens.get(token) if scheme == "Bearer" else None
        if known is None:
            raise status.unauthorized()
        user = known
    return User(headers["Impersonate-User"]) if "Impersonate-User" in headers else user


def check(authorizer: Authorizer, asked: Attributes) -> None:
    """Raises Refused (403) in the API server's words."""
    if authorizer(asked):
        return
    if asked.path:
        why = f'User "{asked.user.name}" cannot {asked.verb} path "{asked.path}"'
        raise status.forbidden("", "", "", why)
    where = f'in the namespace "{asked.namespace}"' if asked.namespace else "at the cluster scope"
    why = (
        f'User "{asked.user.name}" cannot {asked.verb} resource "{asked.resource}" in API group "{asked.group}" {where}'
    )
    raise status.forbidden(asked.resource, asked.group, asked.name, why)
