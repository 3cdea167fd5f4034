"""Untaint one device: delete the rule that names exactly this device, and never touch more than was named."""

from __future__ import annotations

from typing import Any, cast

from ktui.actions.api import ActionApi
from ktui.actions.notes import helped_note
from ktui.actions.plan import ActionRequest, NotPossibleError, Plan, Undo, part
from ktui.actions.taint import MANAGED_BY, RULE
from ktui.cluster.state import Cluster
from ktui.cluster.taints import EffectiveTaint, scope, taints_of
from ktui.diagnose.blast import gangs_helped, still_tainted
from ktui.errors import UsageError
from ktui.kube.failures import ApiError
from ktui.model.decode import from_builtins
from ktui.model.resourceslice import DeviceId
from ktui.model.taintrule import DeviceTaintRule


async def plan_untaint(api: ActionApi, cluster: Cluster, device: DeviceId, *, taint: str = "", rule: str = "") -> Plan:
    """Plan to remove one taint. `taint` is KEY[=VALUE][:EFFECT] and `rule` a rule's name, to choose where there are several."""
    where = "/".join(device)
    name = _choose(api, cluster, device, taint, rule)
    try:
        document = (await api.get(RULE, "", name)).document
    except ApiError as error:
        if error.status == 404:
            raise NotPossibleError(f"the rule {name} is gone already; {where} is no longer tainted by it") from None
        raise
    found = cast("DeviceTaintRule", from_builtins(RULE, api.version(RULE), document))
    if found.exact != device:
        raise NotPossibleError(_too_broad(cluster, found, where))
    text = EffectiveTaint(found.spec.taint, "rule", name).text
    preconditions = {"uid": found.metadata.uid, "resourceVersion": found.metadata.resource_version}
    options: dict[str, Any] = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": preconditions}
    helped = gangs_helped(cluster, device, name)
    ours = (found.metadata.labels or {}).get(MANAGED_BY) == "ktui"
    return Plan(
        action="untaint",
        title=f"Untaint {where}",
        sentence=f"the taint {text} goes from {where}; pods that were evicted do not come back by themselves",
        request=ActionRequest("delete", RULE, api.version(RULE), "", name, options),
        before=text,
        after="no taint",
        done=lambda state: state.stores[RULE.name].get(("", name)) is None,
        applied=lambda after: _gone(after, found.metadata.uid),
        helped=helped,
        notes=(helped_note(helped),) if helped else (),
        warnings=_warnings(cluster, device, found, ours=ours),
        confirm="" if ours else name,
        foreign=not ours,
        button="Untaint",
        subject=("", name),
        object=where,
        undo=Undo("taint", {"device": device, "taint": found.spec.taint}, f"taint {where} with {text} again"),
    )


def _choose(api: ActionApi, cluster: Cluster, device: DeviceId, taint: str, rule: str) -> str:
    """The name of the one rule that is meant."""
    where = "/".join(device)
    if rule:
        return rule
    all_taints = taints_of(cluster, device)
    wanted = [t for t in all_taints if _matches(t, taint)]
    if not wanted:
        api.version(RULE)  # says what is missing where rules are not served
        if not cluster.synced(RULE.name):
            raise NotPossibleError(f"whether {where} is tainted is not known: {RULE.resource} cannot be read right now")
        have = ", ".join(t.text for t in all_taints)
        raise NotPossibleError(
            f"{where} has no taint {taint}; it has {have}" if taint and have else f"{where} is not tainted"
        )
    rules = [t for t in wanted if t.source == "rule"]
    if not rules:
        raise NotPossibleError(
            f"{wanted[0].text} on {where} is published by the driver in its ResourceSlice and cannot be removed by a person:"
            " repair the device, or give a new claim a toleration"
        )
    if len(rules) > 1:
        named = ", ".join(f"{t.text} (rule {t.rule})" for t in rules)
        raise UsageError(
            f"{where} has several taints: {named}; say which one, as KEY=VALUE:EFFECT or by the name of its rule"
        )
    return rules[0].rule


def _matches(taint: EffectiveTaint, wanted: str) -> bool:
    """KEY, KEY=VALUE or KEY=VALUE:EFFECT, or the name of a rule; nothing matches every taint."""
    t = taint.taint
    if taint.rule and wanted == taint.rule:
        return True
    with_value = f"{t.key}={t.value}" if t.value else t.key
    return wanted in ("", t.key, with_value, f"{t.key}:{t.effect}", f"{with_value}:{t.effect}")


def _gone(document: dict[str, Any] | None, uid: str) -> bool:
    """Whether the rule is no more: absent, made anew by somebody, or waiting for its finalizers."""
    metadata = part(document, "metadata")
    return metadata.get("uid") != uid or "deletionTimestamp" in metadata


def _too_broad(cluster: Cluster, rule: DeviceTaintRule, where: str) -> str:
    count = sum(1 for _ in cluster.devices_of_rule(rule))
    selected = scope(rule.spec.device_selector)
    return (
        f"the taint on {where} comes from the rule {rule.name}, which selects {selected} ({count} devices): one device"
        f" cannot be exempted; narrow or delete the rule with kubectl, for all {count}"
    )


def _warnings(cluster: Cluster, device: DeviceId, rule: DeviceTaintRule, *, ours: bool) -> tuple[str, ...]:
    found = []
    if not ours:
        found.append(f"ktui did not make the rule {rule.name}: whoever did may have a reason, or may put it back")
    rest = still_tainted(cluster, device, rule.name)
    if rest:
        found.append(f"the device stays tainted: {', '.join(rest)}")
    return tuple(found)
