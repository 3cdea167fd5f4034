"""What an action would send, decided before anything is sent.

A plan is a value: the one request, in words and in bytes, whom it hits, what must be typed to confirm it, and how to undo it.
The dialog shows it, the dry run and the real request both carry its body, and the audit line records it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal

from msgspec import Struct, field

from ktui.cluster.state import Cluster
from ktui.diagnose.blast import Blast
from ktui.errors import KtuiError, UsageError
from ktui.model.frame import ActionVerb
from ktui.model.kinds import Kind
from ktui.model.meta import Key

Verb = Literal["create", "patch", "delete"]
PatchType = Literal["application/json-patch+json", "application/merge-patch+json"]
METHODS: Final[dict[Verb, str]] = {"create": "POST", "patch": "PATCH", "delete": "DELETE"}
Document = dict[str, Any]
Body = Document | list[Document]


class NotPossibleError(UsageError):
    """The action cannot be done as asked, and the message says why and what to do instead. Nothing was sent."""


class AlreadyDoneError(KtuiError):
    """There is nothing to do: things are as asked already."""

    exit_code = 0


class ActionRequest(Struct, frozen=True):
    """The one request of a plan. For "delete" the body is a DeleteOptions with preconditions."""

    verb: Verb
    kind: Kind
    version: str
    namespace: str
    name: str
    body: Body

    @property
    def path(self) -> str:
        collection = self.kind.path(self.version, self.namespace)
        return collection if self.verb == "create" else f"{collection}/{self.name}"

    @property
    def method(self) -> str:
        return METHODS[self.verb]

    @property
    def content_type(self) -> PatchType:
        return "application/json-patch+json" if isinstance(self.body, list) else "application/merge-patch+json"


class Plan(Struct, frozen=True):
    """`sentence` says what happens, `before` and `after` what changes; `confirm` is the text a person must type, "" for a
    plain yes. `notes` are what else is worth knowing, a line each. `done` tells from the state whether the cluster shows the
    result; `undo` rebuilds the state before."""

    action: ActionVerb
    title: str
    sentence: str
    request: ActionRequest
    before: str
    after: str
    done: Callable[[Cluster], bool]
    applied: Callable[[Document | None], bool]  # does this object (None: gone) show that the request was carried out?
    blast: Blast = field(default_factory=Blast)
    budgets: tuple[Key, ...] | None = ()  # PodDisruptionBudgets of the pods that go; None: they could not be read
    helped: tuple[Key, ...] = ()  # gangs that wait and could be placed afterwards, each by itself
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    confirm: str = ""
    foreign: bool = False  # it touches what somebody else made
    countable: bool = False  # the eviction controller can be asked first whom it would evict (`count`)
    button: str = "Apply"
    subject: Key = ("", "")
    object: str = ""  # what it is done to, as people name it: DRIVER/POOL/DEVICE or NAMESPACE/AUTOSCALER
    undo: Undo | None = None


def part(document: Document | None, name: str) -> Document:
    """A member of an answer that should be an object; empty when it is anything else, or there is no answer."""
    value = (document or {}).get(name)
    return value if isinstance(value, dict) else {}


class Undo(Struct, frozen=True):
    """The arguments of the action that takes this one back."""

    action: ActionVerb
    arguments: Document
    sentence: str
