"""Recordings to show to strangers: every name another one, the same one everywhere, so that all joins still work.

Deny by default. A text stays only where the field holds Kubernetes' or a driver's own words (kinds, reasons, effects, keys,
resources, drivers, versions, times, quantities). Anything else is a name and becomes an alias, piece by piece where names are
put together ("WORKLOAD/GROUP", "driver/pool/device"). Of free texts, plain words and numbers stay.
"""

from __future__ import annotations

import re
from typing import Any, Final

from msgspec import structs

from ktui.model.deviceclass import IMPLICIT_RESOURCE
from ktui.model.frame import ActionTaken
from ktui.model.kueue import WORKLOAD_ANNOTATION
from ktui.model.meta import Object
from ktui.model.volcano import GROUP_ANNOTATIONS
from ktui.recording.rewrite import rewrite
from ktui.recording.writer import Facts, Plain
from ktui.redact import Secrets

_WORDS_OF_OTHERS: Final = frozenset(
    [
        "allocation_mode",
        "api_group",
        "api_version",
        "average_value",
        "capacity",
        "component",
        "consumed_capacity",
        "controller_name",
        "default",
        "distinct_attribute",
        "driver",
        "effect",
        "extended_resource_name",
        "finalizers",
        "health",
        "key",
        "kind",
        "kubelet_version",
        "limits",
        "match_attribute",
        "max",
        "min",
        "operator",
        "overhead",
        "phase",
        "preemption_policy",
        "qos_class",
        "queueing_strategy",
        "reason",
        "reporting_component",
        "resource",
        "resource_name",
        "resource_version",
        "restart_policy",
        "scheduler_name",
        "state",
        "status",
        "step",
        "stop_policy",
        "type",
        "valid_values",
        "version",
        "versions",
        "allocatable",
    ]
)
"""Fields, by the names they have in the model, whose texts stay. Times stay as well."""

_TIMES: Final = ("_time", "_timestamp", "time_added")
_PREFIXES: Final = {
    "node_name": "node",
    "nominated_node_name": "node",
    "namespace": "ns",
    "pool": "pool",
    "device": "device",
    "uid": "uid",
}

_NAMING: Final = (WORKLOAD_ANNOTATION, *GROUP_ANNOTATIONS)
"""Annotations that are a name and nothing else."""

# A number, a quantity, a percentage, a truth value: it names nobody.
_NAMELESS: Final = re.compile(r"[-+]?\d*\.?\d+(?:e[-+]?\d+)?[a-zA-Z%]{0,2}|true|false|", re.IGNORECASE)
_WORD: Final = re.compile(r"[\w.@+~-]*\w")
_PLAIN_WORD: Final = re.compile(r"[A-Za-z]+(?:_[a-z]+)*|\d+(?:\.\d+)?[A-Za-z%]{0,2}")
_QUOTED: Final = re.compile(r"([\"'])([^\"']*)\1")
_LITERAL: Final = re.compile(r"(driver\s*==\s*|\[\s*)?([\"'])([^\"']*)\2")
_TAINT: Final = re.compile(r"([^\s=:]+)(?:=([^\s:]*))?:(\w+)")
_IDENTITY: Final = re.compile(
    r".*[0-9a-f]{8}-[0-9a-f]{4}-.*"  # a UUID
    r"|(?:[0-9a-f]{2}[:.-]){5,7}[0-9a-f]{2}"  # a hardware address
    r"|\d{1,3}(?:\.\d{1,3}){3}.*"
    r"|(?:[\w-]+\.){2,}[a-z][\w-]*"  # a host
    r"|(?=.*\d)[0-9A-Za-z]{11,}",  # a serial number
    re.IGNORECASE,
)


class Anonymous(Plain):
    """Masks secrets first. Aliases are counted, so what they stand for cannot be computed from them."""

    anonymised = True

    def __init__(self, secrets: Secrets = tuple) -> None:
        super().__init__(secrets)
        self._aliases: dict[str, str] = {}
        self._made: set[str] = set()
        self._stay = {"cpu", "memory", "ephemeral-storage", "pods"}

    def object(self, obj: Object) -> Any:
        kind = type(obj).__name__.lower()
        self._compound(obj.name, kind)
        self._compound(obj.namespace, "ns")
        for annotation in _NAMING:
            self._compound((obj.metadata.annotations or {}).get(annotation, ""), "name")
        return rewrite(super().object(obj), self._change, self._key)

    def text(self, text: str) -> str:
        """A free text: words and numbers stay, names and whatever may be one do not."""
        text = super().text(text)
        text = _QUOTED.sub(lambda found: f"{found[1]}{_WORD.sub(self._quoted, found[2])}{found[1]}", text)
        return _WORD.sub(self._word, text)

    def action(self, taken: ActionTaken) -> ActionTaken:
        driver = taken.object.partition("/")[0]
        if taken.verb != "min-replicas":
            self._stay.add(driver)
        return structs.replace(
            super().action(taken),
            object=self._compound(taken.object, "name" if taken.verb == "min-replicas" else "device"),
            before=self._taint(taken.before),
            after=self._taint(taken.after),
            who=self._alias(taken.who, "user"),
        )

    def _taint(self, text: str) -> str:
        """KEY[=VALUE]:EFFECT, or words."""
        text = Plain.text(self, text)
        if (found := _TAINT.fullmatch(text)) is None:
            return self.text(text)
        key, value, effect = found.groups(default="")
        return f"{key}={self._piece(value, 'name')}:{effect}" if value else f"{key}:{effect}"

    def path(self, path: str) -> str:
        before, mark, rest = path.partition("/namespaces/")
        namespace, slash, plural = rest.partition("/")
        return f"{before}{mark}{self._piece(namespace, 'ns')}/{plural}" if mark and slash else path

    def facts(self, facts: Facts) -> Facts:
        return Facts("", self._alias(facts.context, "context"), facts.git_version)

    def _change(self, field: str, text: str) -> str:
        if field == "expression":
            return _LITERAL.sub(self._literal, text)
        if field in _WORDS_OF_OTHERS or field.endswith(_TIMES):
            self._stay.add(text)
            return text
        if field in ("message", "annotations"):
            return self.text(text)
        if field in ("string", "strings"):
            return self._attribute(text)
        if field == "resource_id" and text.count("/") > 1:
            self._stay.add(text.partition("/")[0])  # driver/pool/device
        return self._compound(text, _PREFIXES.get(field, "name"))

    def _key(self, field: str, key: str) -> str:  # noqa: ARG002 - whatever the mapping
        """Keys of labels, attributes and resources are words of others, but one names a device class."""
        if key.startswith(IMPLICIT_RESOURCE):
            return IMPLICIT_RESOURCE + self._piece(key.removeprefix(IMPLICIT_RESOURCE), "deviceclass")
        self._stay.add(key)
        return key

    def _compound(self, text: str, prefix: str) -> str:
        """ "claim:NAME/REQUEST", "driver/pool/device", "WORKLOAD/GROUP", or just a name."""
        return re.sub(r"[^/:]+", lambda found: self._piece(found[0], prefix), text)

    def _piece(self, piece: str, prefix: str) -> str:
        """Whatever came first goes on: a name that was given an alias keeps it, a word that was left stays."""
        if piece not in self._aliases and (piece == "claim" or piece in self._stay):
            return piece
        return self._alias(piece, prefix)

    def _alias(self, name: str, prefix: str) -> str:
        if _NAMELESS.fullmatch(name):
            return name
        if (alias := self._aliases.get(name)) is None:
            alias = self._aliases[name] = f"{prefix}-{len(self._aliases):05}"
            self._made.add(alias)
        return alias

    def _attribute(self, text: str) -> str:
        """What a device says of itself: models and modes stay, since expressions ask for them."""
        return self._alias(text, "name") if text in self._aliases or _IDENTITY.fullmatch(text) else text

    def _literal(self, found: re.Match[str]) -> str:
        before, quote, text = found.groups(default="")
        if before:  # a driver, or the domain of an attribute
            self._stay.add(text)
            return found[0]
        return f"{quote}{self._attribute(text)}{quote}"

    def _quoted(self, found: re.Match[str]) -> str:
        return self._piece(found[0], "name")

    def _word(self, found: re.Match[str]) -> str:
        word = found[0]
        if word in self._aliases:
            return self._aliases[word]
        if word in self._stay or _PLAIN_WORD.fullmatch(word) or word in self._made:
            return word
        return self._alias(word, "name")
