"""Device drivers: what they publish, and the taint rules over it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from ktui.cluster.pools import Pool
from ktui.cluster.state import Cluster
from ktui.cluster.taints import scope
from ktui.doctor.facts import Facts
from ktui.doctor.finding import Finding, Status, counted, some
from ktui.doctor.known import require, skips
from ktui.model.meta import condition
from ktui.model.node import Node
from ktui.model.resourceslice import attribute, attribute_value
from ktui.model.taintrule import EVICTION_IN_PROGRESS, DeviceTaintRule

_VERSION: Final = "driverVersion"
"""The attribute by which drivers tell their version; nothing in the API requires it."""


@skips
def pools(facts: Facts) -> Iterator[Finding]:
    check = "pools"
    require(check, facts, "ResourceSlice")
    every = list(facts.cluster.pools())
    broken = [pool for pool in every if pool.status != "ok"]
    if broken:
        said = some(f"{_name(pool)} is {pool.status} ({pool.problem})" for pool in broken)
        todo = "look at the driver on the pool's node: the scheduler allocates nothing from these"
        yield Finding(check, "fail", said, todo, tuple(_name(pool) for pool in broken))
    elif every:
        yield Finding(check, "ok", f"{counted(len(every), 'pool')}, all complete and valid")
    else:
        yield Finding(check, "ok", "no driver publishes devices")


def _name(pool: Pool) -> str:
    return "/".join(pool.id)


@skips
def drivers(facts: Facts) -> Iterator[Finding]:
    """One finding for each driver."""
    check = "drivers"
    require(check, facts, "ResourceSlice")
    by_driver: dict[str, list[Pool]] = {}
    for pool in facts.cluster.pools():
        by_driver.setdefault(pool.id[0], []).append(pool)
    for driver, found in sorted(by_driver.items()):
        yield _driver(check, driver, found)


def _driver(check: str, driver: str, found: list[Pool]) -> Finding:
    devices = [published.device for pool in found for published in pool.devices.values()]
    told = Counter(
        str(value) for device in devices if (value := attribute_value(attribute(device, driver, _VERSION))) is not None
    )
    text = f"{driver}: {counted(len(devices), 'device')} in {counted(len(found), 'pool')}"
    versions = ", ".join(f"{version} ({number})" for version, number in told.most_common(4))
    if len(told) > 1:
        text = f"{text}, of several versions: {versions}"
        return Finding(check, "warn", text, "finish the upgrade of the driver, unless it is meant so", tuple(told))
    return Finding(check, "ok", f"{text}, {_VERSION} {versions or 'not published'}", objects=tuple(told))


@skips
def stray_slices(facts: Facts) -> Iterator[Finding]:
    check = "slices-without-node"
    require(check, facts, "ResourceSlice", "Node")
    nodes = {node.name for node in facts.cluster.all(Node)}
    stray = sorted({node for node in facts.cluster.slices_by_node.values() if node not in nodes})
    if stray:
        text = f"devices are published for nodes that are not there: {some(stray)}"
        yield Finding(check, "warn", text, "delete their ResourceSlices if the nodes are gone for good", tuple(stray))
    else:
        yield Finding(check, "ok", "every node that devices are published for is there")


@skips
def broad_rules(facts: Facts) -> Iterator[Finding]:
    """A rule with an empty selector, or only a driver in it, is seldom meant."""
    check = "broad-taint-rules"
    require(check, facts, "DeviceTaintRule")
    broad = [rule for rule in facts.cluster.all(DeviceTaintRule) if _is_broad(rule)]
    if not broad:
        yield Finding(check, "ok", "no taint rule is for everything or a whole driver")
        return
    acting = any(rule.spec.taint.effect in ("NoSchedule", "NoExecute") for rule in broad)
    said = some(f"{rule.name} taints {scope(rule.spec.device_selector)}: {_taint(rule)}" for rule in broad)
    status: Status = "fail" if acting else "warn"
    names = tuple(f"devicetaintrules/{rule.name}" for rule in broad)
    yield Finding(check, status, said, "give the rule a pool and a device, or delete it", names)


def _is_broad(rule: DeviceTaintRule) -> bool:
    selector = rule.spec.device_selector
    return selector is not None and selector.pool is None


def _taint(rule: DeviceTaintRule) -> str:
    taint = rule.spec.taint
    return f"{taint.key}{f'={taint.value}' if taint.value else ''}:{taint.effect}"


@skips
def evicting_rules(facts: Facts) -> Iterator[Finding]:
    check = "evicting-taint-rules"
    require(check, facts, "DeviceTaintRule")
    rules = [rule for rule in facts.cluster.all(DeviceTaintRule) if rule.spec.taint.effect == "NoExecute"]
    if rules:
        said = some(
            f"{rule.name} on {scope(rule.spec.device_selector)}{_progress(facts.cluster, rule)}" for rule in rules
        )
        todo = "ktui untaint DRIVER/POOL/DEVICE once the device is well"
        names = tuple(f"devicetaintrules/{rule.name}" for rule in rules)
        yield Finding(check, "warn", f"NoExecute in force: {said}", todo, names)
    else:
        yield Finding(check, "ok", "no taint rule evicts pods")


def _progress(cluster: Cluster, rule: DeviceTaintRule) -> str:
    devices = counted(sum(1 for _ in cluster.devices_of_rule(rule)), "device")
    found = condition(rule.status.conditions, EVICTION_IN_PROGRESS)
    said = found.message or found.reason if found is not None else ""
    return f" ({devices}{f': {said}' if said else ''})"
