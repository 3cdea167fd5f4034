"""The control plane: its versions, what it serves, which feature gates are on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ktui.doctor.facts import Facts, ServerVersion, Unknown
from ktui.doctor.finding import Finding, counted, skipped, some
from ktui.doctor.known import known, skips
from ktui.model.autoscaler import HorizontalPodAutoscaler
from ktui.model.kinds import KINDS
from ktui.model.version import numbers

OLDEST: Final = (1, 35)
NEWEST: Final = (1, 37)
"""What ktui is made for and tested with."""

_GONE_IN_1_37: Final = ("v1alpha1", "v1alpha2")
"""Of scheduling.k8s.io: 1.37 cannot read what is stored in them."""

_GATES: Final = (
    "GenericWorkload",
    "DRAWorkloadResourceClaims",
    "TopologyAwareWorkloadScheduling",
    "CompositePodGroup",
    "WorkloadWithJob",
    "PodGroupPreemptionPolicy",
    "DRADeviceTaints",
    "DRADeviceTaintRules",
    "DRAExtendedResource",
    "DRAPartitionableDevices",
    "DRAConsumableCapacity",
    "DRADerivedAttributes",
    "DRADeviceCompatibilityGroups",
    "DRAListTypeAttributes",
    "ResourceHealthStatus",
    "HPAScaleToZero",
)


def minor(version: str) -> tuple[int, int] | None:
    """(1, 37) of "v1.37.2-gke.1", None when it is no version."""
    return numbers(version) if numbers(version) != (0, 0) else None


@skips
def version(facts: Facts) -> Iterator[Finding]:
    check = "server-version"
    found = known(check, facts.version)
    numbers = minor(found.git)
    shown = f"Kubernetes {found.git}" + (f", emulating {found.emulated}" if found.emulated else "")
    supported = "ktui is made for 1.35 to 1.37"
    if numbers is None:
        yield Finding(check, "warn", f"the server calls its version {found.git!r}, which is none", supported)
    elif numbers < OLDEST:
        yield Finding(check, "warn", f"{shown} is older than what ktui knows", f"{supported}; some views stay empty")
    elif numbers > NEWEST:
        yield Finding(check, "warn", f"{shown} is newer than what ktui knows", f"{supported}; look for a newer ktui")
    else:
        yield Finding(check, "ok", f"{shown}; {supported}")


@skips
def components(facts: Facts) -> Iterator[Finding]:
    """The policy on version skew: not newer than kube-apiserver, and at most one minor version older."""
    check = "control-plane"
    found = known(check, facts.components)
    api = minor(facts.version.git) if isinstance(facts.version, ServerVersion) else None
    shown = [f"{component} {version}" for component, version in found]
    wrong = [
        f"{component} {version}"
        for component, version in found
        if api is not None and (its := minor(version)) is not None and not _may_serve(component, its, api)
    ]
    if wrong:
        text = f"too new or too old for kube-apiserver {api[0]}.{api[1]}: {some(wrong)}" if api else some(wrong)
        todo = "bring all of the control plane to one minor version, kube-apiserver first"
        yield Finding(check, "fail", text, todo, tuple(wrong))
    else:
        yield Finding(check, "ok", f"{some(shown, 6)} (from the images of its pods)", objects=tuple(shown))


def _may_serve(component: str, found: tuple[int, int], api: tuple[int, int]) -> bool:
    if component == "etcd" or component == "kube-apiserver":
        return True  # etcd has versions of its own; API servers are upgraded one after the other
    return found[0] == api[0] and api[1] - 1 <= found[1] <= api[1]


@skips
def apis(facts: Facts) -> Iterator[Finding]:
    check = "apis"
    served = known(check, facts.served)
    yield from _feature(served, "dynamic-resource-allocation", ("ResourceClaim", "ResourceSlice", "DeviceClass"))
    yield from _feature(served, "gang-scheduling", ("PodGroup", "Workload"))
    yield from _feature(served, "taint-rules", ("DeviceTaintRule",))


def _feature(served: dict[str, str], check: str, kinds: tuple[str, ...]) -> Iterator[Finding]:
    """Whether the server serves the API says that kube-apiserver has the feature; of the others it says nothing."""
    found = [f"{KINDS[kind].plural} {served[kind]}" for kind in kinds if kind in served]
    if found:
        yield Finding(check, "ok", f"{', '.join(found)} served (inferred from discovery; of kube-apiserver only)")
    else:
        yield Finding(check, "warn", KINDS[kinds[0]].enable)


@skips
def stale_apis(facts: Facts) -> Iterator[Finding]:
    """Groups of aggregated API servers that do not answer: whatever is in them is missing everywhere."""
    check = "stale-apis"
    stale = known(check, facts.stale)
    if stale:
        todo = "kubectl get apiservices, and look at the one that is not Available"
        yield Finding(check, "warn", f"no present answer from {some(stale)}", todo, stale)
    else:
        yield Finding(check, "ok", "every API group answers")


@skips
def gates(facts: Facts) -> Iterator[Finding]:
    check = "feature-gates"
    told = known(check, facts.gates)
    ours = {gate: told[gate] for gate in _GATES if gate in told}
    if not ours:
        yield skipped(check, "kube-apiserver's /metrics name none of the gates that matter here")
        return
    on = [gate for gate, enabled in ours.items() if enabled]
    off = [gate for gate, enabled in ours.items() if not enabled]
    text = f"of kube-apiserver, from its /metrics: on: {', '.join(on) or 'none'}; off: {', '.join(off) or 'none'}"
    objects = tuple(f"{gate}={'true' if enabled else 'false'}" for gate, enabled in ours.items())
    yield Finding(check, "ok", text, objects=objects)


def scale_to_zero(facts: Facts) -> Iterator[Finding]:
    check, gate = "scale-to-zero", "HPAScaleToZero"
    off = "minReplicas 0 is refused: HPAScaleToZero is off"
    todo = "to let autoscalers sleep: --feature-gates=HPAScaleToZero=true on kube-apiserver and kube-controller-manager"
    if not isinstance(facts.gates, Unknown) and gate in facts.gates:
        if facts.gates[gate]:
            yield Finding(check, "ok", f"minReplicas may be 0: {gate} is on (from /metrics of kube-apiserver)")
        else:
            yield Finding(check, "ok", f"{off} (from /metrics of kube-apiserver)", todo)
        return
    if any(hpa.spec.min_replicas == 0 for hpa in facts.cluster.all(HorizontalPodAutoscaler)):
        yield Finding(check, "ok", f"minReplicas may be 0: {gate} is on (inferred from an autoscaler that has it)")
        return
    numbers = minor(facts.version.git) if isinstance(facts.version, ServerVersion) else None
    if numbers is None:
        yield skipped(check, "neither the server's gates nor its version are known")
    elif numbers >= (1, 37):
        yield Finding(check, "ok", f"minReplicas may be 0: {gate} is on by default (inferred from the version)")
    else:
        yield Finding(check, "ok", f"{off} by default before 1.37 (inferred from the version)", todo)


@skips
def upgrade(facts: Facts) -> Iterator[Finding]:
    """scheduling.k8s.io v1alpha1 and v1alpha2 are not in 1.37: what is stored in them cannot even be read there."""
    check = "upgrade"
    served = known(check, facts.served)
    old = {
        kind: version
        for kind in ("PodGroup", "Workload")
        if (version := served.get(kind)) is not None and version in _GONE_IN_1_37
    }
    if not old:
        yield Finding(check, "ok", "no scheduling objects are served in a version that 1.37 cannot read")
        return
    if why := facts.unread(*old):
        yield skipped(check, f"what blocks an upgrade to 1.37 is not known: {why}")
        return
    found = [
        f"{KINDS[kind].plural}/{'/'.join(key)}" for kind in old for key in sorted(facts.cluster.stores[kind].objects)
    ]
    versions = ", ".join(sorted(set(old.values())))
    where = facts.where(next(iter(old)))
    if found:
        text = f"{counted(len(found), 'scheduling object')}{where} in {versions}, which 1.37 cannot read: {some(found)}"
        yield Finding(check, "warn", text, "delete them before the upgrade to 1.37", tuple(found))
    else:
        yield Finding(check, "ok", f"no scheduling objects{where} in {versions}, which 1.37 cannot read")
