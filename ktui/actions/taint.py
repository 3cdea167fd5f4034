"""Taint one device: a DeviceTaintRule that names driver, pool and device, and nothing else.

An empty selector means every device of every driver, and a missing part means all that share the rest, so no body without all
three can be built here.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any, cast

from ktui.actions.api import ActionApi
from ktui.actions.budgets import budgets_over
from ktui.actions.notes import eviction_notes
from ktui.actions.plan import ActionRequest, AlreadyDoneError, NotPossibleError, Plan, Undo
from ktui.cluster.state import Cluster
from ktui.diagnose.blast import Blast, GangHit, blast_of_taint
from ktui.errors import UsageError
from ktui.kube.failures import ApiError
from ktui.model.decode import from_builtins
from ktui.model.kinds import KINDS
from ktui.model.resourceslice import DeviceId, DeviceTaint
from ktui.model.taintrule import DeviceTaintRule

RULE = KINDS["DeviceTaintRule"]
EFFECTS = ("None", "NoSchedule", "NoExecute")
MANAGED_BY = "app.kubernetes.io/managed-by"
ANNOTATION_DEVICE = "ktui/device"
ANNOTATION_REASON = "ktui/reason"
ANNOTATION_USER = "ktui/user"

_DNS_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_NAME_PART = r"[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?"
_KEY = re.compile(rf"(?:{_DNS_LABEL}(?:\.{_DNS_LABEL})*/)?{_NAME_PART}\Z")
_VALUE = re.compile(rf"(?:{_NAME_PART})?\Z")
_SUBDOMAIN = rf"{_DNS_LABEL}(?:\.{_DNS_LABEL})*"
_DRIVER = re.compile(rf"(?=.{{1,63}}\Z){_SUBDOMAIN}\Z", re.IGNORECASE | re.ASCII)
_POOL = re.compile(rf"(?=.{{1,253}}\Z){_SUBDOMAIN}(?:/{_SUBDOMAIN})*\Z")
_DEVICE = re.compile(rf"{_DNS_LABEL}\Z")


def parse_device(text: str) -> DeviceId:
    """DRIVER/POOL/DEVICE; a pool's name may hold slashes, so the first part is the driver and the last the device."""
    driver, _, rest = text.partition("/")
    pool, _, device = rest.rpartition("/")
    if not _names_one((driver, pool, device)):
        raise UsageError(f"{text[:400]!r} does not name a device; write DRIVER/POOL/DEVICE, all three")
    return driver, pool, device


def _names_one(device: DeviceId) -> bool:
    """Whether all three parts could be names of something (resource.k8s.io validation): none of them is empty."""
    return all(pattern.match(part) for pattern, part in zip((_DRIVER, _POOL, _DEVICE), device, strict=True))


def parse_taint(text: str) -> DeviceTaint:
    """KEY[=VALUE]:EFFECT, as kubectl writes taints. Raises UsageError."""
    spec, colon, effect = text.rpartition(":")
    if not colon:
        raise UsageError(f"{text!r} has no effect; write KEY[=VALUE]:EFFECT with the effect {', '.join(EFFECTS)}")
    key, _, value = spec.partition("=")
    return make_taint(key, value, effect)


def make_taint(key: str, value: str, effect: str) -> DeviceTaint:
    """A taint that the API would accept. Raises UsageError that names the wrong part."""
    if not _KEY.match(key) or len(key) > 316:
        raise UsageError(f"the taint's key {key[:80]!r} is not a label name, e.g. example.com/xid")
    if not _VALUE.match(value):
        raise UsageError(f"the taint's value {value[:80]!r} is not a label value: at most 63 of letters, digits, - _ .")
    if effect not in EFFECTS:
        raise UsageError(f"the effect {effect[:40]!r} is none of {', '.join(EFFECTS)}")
    return DeviceTaint(key=key, value=value or None, effect=effect)


async def plan_taint(
    api: ActionApi, cluster: Cluster, device: DeviceId, taint: DeviceTaint, *, reason: str = "", user: str = ""
) -> Plan:
    """Plan to taint the device; when ktui's own rule for the same key is there already, to change it."""
    body = rule_body(device, taint, api.version(RULE), reason=reason, user=user)
    name = body["metadata"]["name"]
    try:
        current = (await api.get(RULE, "", name)).document
    except ApiError as error:
        if error.status != 404:
            raise
        request = ActionRequest("create", RULE, api.version(RULE), "", name, body)
        before = "no taint"
    else:
        request, before = _change(current, body, device, taint, api.version(RULE))
    blast = blast_of_taint(cluster, device, taint, replacing=name)
    budgets = await budgets_over(api, cluster, (hit.key for hit in blast.deleted))
    where = "/".join(device)
    return Plan(
        action="taint",
        title=f"Taint {where}",
        sentence=_sentence(where, taint, blast),
        request=request,
        before=before,
        after=_text(taint),
        done=lambda state: _has(state, name, taint),
        applied=lambda document: document is not None and _shows(document, device, taint),
        blast=blast,
        budgets=budgets,
        notes=tuple(eviction_notes(blast, budgets)),
        warnings=_warnings(cluster, device, taint, blast),
        confirm=_confirm(device, blast),
        countable=taint.effect == "NoExecute" and request.verb == "create",
        button=_button(taint, blast),
        subject=("", name),
        object=where,
        undo=_undo(request, device, taint, current_text=before, rule=name),
    )


def rule_body(
    device: DeviceId, taint: DeviceTaint, version: str, *, reason: str = "", user: str = ""
) -> dict[str, Any]:
    """The DeviceTaintRule. Its name follows from device and key, so that a second attempt meets the first one."""
    driver, pool, name = device
    if not _names_one(device):
        raise NotPossibleError(
            f"{'/'.join(device)[:400]!r} is not driver, pool and device: with one of them missing a taint would hit many devices"
        )
    annotations = {ANNOTATION_DEVICE: "/".join(device)}
    if reason:
        # Bytes of a command line that are no text arrive as surrogates, which JSON cannot hold.
        annotations[ANNOTATION_REASON] = reason[:1024].encode(errors="replace").decode()
    if user:
        annotations[ANNOTATION_USER] = user[:256]
    spec = {"key": taint.key, "effect": taint.effect}
    if taint.value:
        spec["value"] = taint.value
    return {
        "apiVersion": f"{RULE.group}/{version}",
        "kind": RULE.name,
        "metadata": {"name": rule_name(device, taint.key), "labels": {MANAGED_BY: "ktui"}, "annotations": annotations},
        "spec": {"deviceSelector": {"driver": driver, "pool": pool, "device": name}, "taint": spec},
    }


def rule_name(device: DeviceId, key: str) -> str:
    digest = hashlib.sha256("\0".join((*device, key)).encode()).hexdigest()[:16]
    return f"ktui-{digest}"


def _change(
    current: dict[str, Any], wanted: dict[str, Any], device: DeviceId, taint: DeviceTaint, version: str
) -> tuple[ActionRequest, str]:
    """A JSON patch that makes our own rule the wanted one, bound to the object and the spec that were read. The generation
    counts changes of the spec alone: the eviction controller writes the status while a dialog is open."""
    rule = cast("DeviceTaintRule", from_builtins(RULE, version, current))
    if rule.exact != device or (rule.metadata.labels or {}).get(MANAGED_BY) != "ktui":
        raise NotPossibleError(
            f"a DeviceTaintRule named {rule.name} exists and is not ktui's; remove or rename it first"
        )
    old = rule.spec.taint
    if (old.key, old.value or "", old.effect) == (taint.key, taint.value or "", taint.effect):
        raise AlreadyDoneError(f"{'/'.join(device)} is tainted with {_text(taint)} already (rule {rule.name})")
    annotations = {**(rule.metadata.annotations or {}), **wanted["metadata"]["annotations"]}
    patch = [
        {"op": "test", "path": "/metadata/uid", "value": rule.metadata.uid},
        {"op": "test", "path": "/metadata/generation", "value": rule.metadata.generation},
        {"op": "add", "path": "/metadata/annotations", "value": annotations},
        {"op": "replace", "path": "/spec/taint", "value": wanted["spec"]["taint"]},
    ]
    return ActionRequest("patch", RULE, version, "", rule.name, cast("list[dict[str, Any]]", patch)), _text(old)


def _text(taint: DeviceTaint) -> str:
    return f"{taint.key}{f'={taint.value}' if taint.value else ''}:{taint.effect}"


def _sentence(where: str, taint: DeviceTaint, blast: Blast) -> str:
    match taint.effect:
        case "None":
            return f"{where} gets an informational taint; nothing else happens"
        case "NoSchedule":
            return f"no new claim gets {where}; pods that have it keep it"
        case _:
            count = len(blast.deleted)
            return f"{count} pod{'s are' if count != 1 else ' is'} deleted, without regard to PodDisruptionBudgets"


def _warnings(cluster: Cluster, device: DeviceId, taint: DeviceTaint, blast: Blast) -> tuple[str, ...]:
    found = []
    if cluster.device(device) is None:
        found.append("no ResourceSlice publishes this device: check the name")
    if taint.effect == "NoExecute" and not cluster.synced("Pod", "ResourceClaim"):
        found.append("pods or claims cannot be read: who is hit is not fully known")
    found += map(_falls, blast.falling)
    return tuple(found)


def _falls(hit: GangHit) -> str:
    name = f"{hit.key[0]}/{hit.name}"
    if not hit.left:
        return f"gang {name} loses all that run of it: the whole job stops"
    return f"gang {name} falls to {hit.left} of {hit.needed}: the whole job may stop"


def _confirm(device: DeviceId, blast: Blast) -> str:
    """An eviction is confirmed by typing what is hit: the gang where there is one, else the device."""
    if not blast.deleted:
        return ""
    return blast.gangs[0].name if blast.gangs else device[2]


def _button(taint: DeviceTaint, blast: Blast) -> str:
    count = len(blast.deleted)
    return f"Evict {count} pod{'s' if count != 1 else ''}" if taint.effect == "NoExecute" and count else "Taint"


def _undo(request: ActionRequest, device: DeviceId, taint: DeviceTaint, *, current_text: str, rule: str) -> Undo:
    where = "/".join(device)
    if request.verb == "create":
        return Undo("untaint", {"device": device, "rule": rule}, f"untaint {where} ({_text(taint)})")
    return Undo(
        "taint",
        {"device": device, "taint": parse_taint(current_text)},
        f"set the taint of {where} back to {current_text}",
    )


def _has(cluster: Cluster, name: str, taint: DeviceTaint) -> bool:
    rule = cluster.stores[RULE.name].get(("", name))
    return isinstance(rule, DeviceTaintRule) and _text(rule.spec.taint) == _text(taint)


def _shows(document: dict[str, Any], device: DeviceId, taint: DeviceTaint) -> bool:
    rule = cast("DeviceTaintRule", from_builtins(RULE, RULE.versions[0], document))
    return rule.exact == device and _text(rule.spec.taint) == _text(taint)
