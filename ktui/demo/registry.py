"""Reads and writes of single objects with the API server's rules: preconditions, optimistic locking, dry run, finalizers.

Both the HTTP handlers and the demo's controllers write through it. Kinds are stored once and served in any version the
server has: only apiVersion differs between versions here.
"""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from ktui.demo import admission, objects, status
from ktui.demo.mvcc import JSON, Database, Key
from ktui.model.kinds import Kind
from ktui.model.time import parse_time

_IMMUTABLE = ("uid", "creationTimestamp", "namespace", "name")
_DELETION = ("deletionTimestamp", "deletionGracePeriodSeconds")


def utc_now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Registry:
    """All methods take and return objects without kind and apiVersion, and raise `status.Refused`."""

    def __init__(
        self,
        database: Database,
        now: Callable[[], str] = utc_now,
        *,
        kubelets: bool = False,
        scale_to_zero: bool = True,
    ) -> None:
        """`kubelets` says that somebody ends the pods that are marked for deletion; without, they go at once. `scale_to_zero` is
        the gate HPAScaleToZero."""
        self._kubelets = kubelets
        self._scale_to_zero = scale_to_zero
        self.database = database
        self._now = now

    def get(self, kind: Kind, key: Key) -> JSON:
        found = self.database.get(kind.name, key)
        if found is None:
            raise status.not_found(kind, key[1])
        return found

    def create(self, kind: Kind, obj: JSON, *, dry_run: bool = False, strict: bool = False) -> JSON:
        _check_fields(kind, obj, strict)
        metadata = dict(obj.get("metadata") or {})
        if metadata.get("resourceVersion"):
            raise status.bad_request("resourceVersion should not be set on objects to be created")
        if not metadata.get("name") and metadata.get("generateName"):
            metadata["name"] = metadata["generateName"] + secrets.token_hex(3)[:5]
        name = metadata.get("name")
        if not name or not isinstance(name, str):
            raise status.invalid(
                kind, "", ("FieldValueRequired", "metadata.name", "Required value: name or generateName is required")
            )
        key = (metadata.get("namespace", "") if kind.namespaced else "", name)
        if self.database.get(kind.name, key) is not None:
            raise status.already_exists(kind, name)
        metadata |= {"uid": str(uuid.uuid4()), "creationTimestamp": self._now(), "generation": 1}
        made = admission.known_fields(kind, _plain({**obj, "metadata": metadata}))
        made = admission.admit(kind, made, self._now(), scale_to_zero=self._scale_to_zero)
        return made if dry_run else self.database.put(kind.name, key, made)

    def update(
        self,
        kind: Kind,
        key: Key,
        change: Callable[[JSON], JSON],
        *,
        subresource: str = "",
        dry_run: bool = False,
        strict: bool = False,
    ) -> JSON:
        """`change` gets the stored object and returns the wanted one (a whole object for PUT, a patched one for PATCH)."""
        old = self.get(kind, key)
        wanted = change(old)
        if not isinstance(wanted, dict) or not isinstance(wanted.get("metadata"), dict):
            raise status.bad_request("an object needs metadata")
        _check_fields(kind, wanted, strict)
        before, after = old["metadata"], wanted["metadata"]
        if after.get("resourceVersion") not in (None, "", before["resourceVersion"]):
            raise status.modified(kind, key[1])
        changed = [each for each in _IMMUTABLE if not _same(each, before.get(each), after.get(each))]
        if changed:
            value, field = after[changed[0]], f"metadata.{changed[0]}"
            raise status.invalid(
                kind, key[1], ("FieldValueInvalid", field, f'Invalid value: "{value}": field is immutable')
            )
        _check_finalizers(kind, before, after)
        new = admission.known_fields(kind, _merged(old, wanted, subresource))
        if not subresource:
            prepared = admission.prepared(kind, new, old)
            new = admission.admit(kind, prepared, self._now(), scale_to_zero=self._scale_to_zero)
        if new.get("spec") != old.get("spec") and "generation" in before:
            new["metadata"]["generation"] = before["generation"] + 1
        if new == old or dry_run:
            return new
        if before.get("deletionTimestamp") and not new["metadata"].get("finalizers"):
            return self.database.remove(kind.name, key)
        return self.database.put(kind.name, key, new)

    def delete(
        self,
        kind: Kind,
        key: Key,
        *,
        preconditions: dict[str, Any] | None = None,
        grace: int | None = None,
        dry_run: bool = False,
    ) -> JSON:
        """The last state. An object with finalizers stays, marked, until they are gone, and a pod until its kubelet has stopped
        it; `grace` is how many seconds that may take, if not the pod's own."""
        old = self.get(kind, key)
        metadata = old["metadata"]
        for field, label in (("uid", "UID"), ("resourceVersion", "ResourceVersion")):
            wanted = (preconditions or {}).get(field)
            if wanted is not None and wanted != metadata[field]:
                why = f"the {label} in the precondition ({wanted}) does not match the {label} in record ({metadata[field]})."
                raise status.conflict(kind, key[1], f"{why} The object might have been deleted and then recreated")
        if dry_run:
            return old
        seconds = objects.grace_period(old, grace) if kind.name == "Pod" and self._kubelets else 0
        if metadata.get("finalizers") or seconds:
            marked = objects.marked_for_deletion(old, self._now(), seconds)
            return self.database.put(kind.name, key, marked) if marked != old else old
        return self.database.remove(kind.name, key)


def _check_fields(kind: Kind, obj: JSON, strict: bool) -> None:
    if strict and (unknown := admission.unknown_fields(kind, obj)):
        listed = ", ".join(f'unknown field "{field}"' for field in unknown)
        raise status.bad_request(
            f'{kind.name} in version "{kind.versions[0]}" cannot be handled as a {kind.name}: strict decoding error: {listed}'
        )


def _same(field: str, before: Any, after: Any) -> bool:
    """Whether an update leaves a field alone, by saying nothing or by saying the same; a time may be written otherwise."""
    if field == "creationTimestamp" and isinstance(after, str) and after:
        return parse_time(after) == parse_time(before)
    return after in (None, "", before)


def _check_finalizers(kind: Kind, before: JSON, after: JSON) -> None:
    added = set(after.get("finalizers") or ()) - set(before.get("finalizers") or ())
    if before.get("deletionTimestamp") and added:
        listed = ", ".join(f'"{each}"' for each in sorted(added))
        why = (
            f"no new finalizers can be added if the object is being deleted, found new finalizers []string{{{listed}}}"
        )
        raise status.invalid(kind, before["name"], ("FieldValueForbidden", "metadata.finalizers", f"Forbidden: {why}"))


def _plain(obj: JSON) -> JSON:
    return {name: value for name, value in obj.items() if name not in ("kind", "apiVersion")}


def _merged(old: JSON, wanted: JSON, subresource: str) -> JSON:
    """A write to /status changes only the status; one to the object itself leaves it alone, where there is one."""
    kept = {
        each: old["metadata"][each]
        for each in (*_IMMUTABLE, "generation", "resourceVersion")
        if each in old["metadata"]
    }
    if subresource == "status":
        return {**old, "status": wanted.get("status"), "metadata": dict(old["metadata"])}
    deletion = {each: old["metadata"][each] for each in _DELETION if each in old["metadata"]}
    new = _plain({**wanted, "metadata": {**wanted["metadata"], **kept, **deletion}})
    new.pop("status", None)
    return {**new, "status": old["status"]} if "status" in old else new
