"""Random frames over a small world, in which names meet often: the food of the property tests.

Few names and many references between them, so that a handful of frames already makes groups without pods, pods without
groups, shared and foreign claims, devices in two generations of a pool, rules that hit everything.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from ktui.model.decode import from_builtins
from ktui.model.frame import Changed, Frame, Listed
from ktui.model.meta import Object
from tests.unit.builders import DRIVER, Document, kind_called, phase, source, uid_of

NAMESPACES = (*("ml",) * 7, "lab")
PODS = ("p0", "p1", "p2", "p3")
GROUPS = ("g0", "g1")
WORKLOADS = ("w0", "w1")
COMPOSITES = ("k0", "k1")
TRAINERS = ("t0", "t1")
CLAIMS = ("c0", "c1", "c2")
TEMPLATES = ("t0",)
POOLS = ("n0", "n1")
DEVICES = ("d0", "d1")
SLICES = ("s0", "s1", "s2")
RULES = ("r0", "r1")
NODES = ("n0", "n1")


def _maybe(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


def _of(*values: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(values)


@st.composite
def _meta(draw: st.DrawFn, names: tuple[str, ...], *, namespaced: bool = True) -> Document:
    name = draw(_of(*names))
    namespace = draw(_of(*NAMESPACES)) if namespaced else ""
    life = draw(_of(*("",) * 7, "-again"))
    return {
        "name": name,
        "namespace": namespace,
        "uid": uid_of(name, namespace) + life,
        "generation": draw(_of(None, 1, 2)),
        "creationTimestamp": draw(_of(None, "2026-11-30T05:54:09Z", "2026-11-30T05:54:19Z")),
        "deletionTimestamp": draw(_of(*(None,) * 7, "2026-11-30T05:55:00Z")),
    }


def _owned(metadata: Document, owners: list[Document]) -> Document:
    return {**metadata, "ownerReferences": [{**o, "controller": True} for o in owners]}


_taint = st.fixed_dictionaries({"key": _of("a", "b"), "effect": _of("None", "NoSchedule", "NoExecute", "Odd")})
_taints = st.lists(_taint, max_size=2)
_scheduled = st.builds(
    lambda status, reason, message: [
        {
            "type": "PodScheduled",
            "status": status,
            "reason": reason,
            "message": message,
            "lastTransitionTime": "2026-11-30T05:54:15Z",
        }
    ],
    _of("True", "False"),
    _of("Unschedulable", "SchedulerError", "SchedulingGated"),
    _of("0/2 nodes are available", "pod group is unschedulable, x", None),
)


@st.composite
def pods(draw: st.DrawFn) -> Document:
    metadata = _owned(draw(_meta(PODS)), draw(st.lists(_of(*_JOBS), max_size=1)))
    claims = draw(
        st.lists(
            st.fixed_dictionaries({"name": _of("x", "y")}).flatmap(
                lambda entry: _of(
                    {**entry, "resourceClaimName": "c0"},
                    {**entry, "resourceClaimName": "c1"},
                    {**entry, "resourceClaimTemplateName": "t0"},
                )
            ),
            max_size=2,
            unique_by=lambda entry: entry["name"],
        )
    )
    made = draw(st.lists(st.fixed_dictionaries({"name": _of("x", "y"), "resourceClaimName": _of(None, *CLAIMS)})))
    references = st.lists(st.fixed_dictionaries({"name": _of("x", "y"), "request": _of("", "gpu")}), max_size=2)
    containers = [
        {"name": name, "resources": {"claims": draw(references), "requests": {"example.com/gpu": 1}}} for name in "mn"
    ]
    reports = _of(
        None,
        [{"name": "claim:x", "resources": [{"resourceID": "cdi=0", "health": "Unhealthy"}]}],
        [{"name": "claim:x/gpu", "resources": [{"resourceID": f"{DRIVER}/n0/d0", "health": "Unhealthy"}]}],
    )
    metadata["annotations"] = draw(
        _of(
            None,
            *({"kueue.x-k8s.io/workload": name} for name in WORKLOADS),
            *({"scheduling.k8s.io/group-name": name} for name in GROUPS),
        )
    )
    group: Document = draw(
        _of(
            {},
            *({"schedulingGroup": {"podGroupName": name}} for name in (*GROUPS, *GROUPS, *GROUPS, "g-none")),
            *({"workloadRef": {"name": name, "podGroup": part}} for name in WORKLOADS for part in ("a", "b")),
            *({"workloadRef": {"name": "w0", "podGroup": "a", "podGroupReplicaKey": key}} for key in "01"),
        )
    )
    return {
        "kind": "Pod",
        "metadata": metadata,
        "spec": {
            **group,
            "nodeName": draw(_of(None, None, None, "n0")),
            "schedulerName": draw(_of(None, "volcano")),
            "schedulingGates": draw(_of(*(None,) * 7, [{"name": "example.com/quota"}])),
            "resourceClaims": claims,
            "initContainers": draw(_of(None, [containers[1]])),
            "containers": [containers[0]],
        },
        "status": {
            "phase": draw(_of("Pending", "Pending", "Pending", "Running", "Succeeded", "Failed")),
            "conditions": draw(_maybe(_maybe(_scheduled))),
            "resourceClaimStatuses": made,
            "extendedResourceClaimStatus": draw(
                _of(
                    None,
                    {
                        "resourceClaimName": "c2",
                        "requestMappings": [
                            {"containerName": "m", "resourceName": "example.com/gpu", "requestName": "gpu"}
                        ],
                    },
                )
            ),
            "containerStatuses": [
                {
                    "name": "m",
                    "allocatedResources": draw(_of(*(None,) * 3, {"example.com/gpu": "1"}, {"example.com/gpu": "2"})),
                    "allocatedResourcesStatus": draw(reports),
                }
            ],
        },
    }


@st.composite
def claims(draw: st.DrawFn) -> Document:
    metadata = draw(_meta(CLAIMS))
    namespace = metadata["namespace"]
    owners = [{"kind": "Pod", "name": name, "uid": uid_of(name, namespace), "apiVersion": "v1"} for name in PODS]
    owners += [{"kind": "PodGroup", "name": name, "apiVersion": "scheduling.k8s.io/v1beta1"} for name in GROUPS]
    results = st.lists(
        st.fixed_dictionaries(
            {
                "driver": st.just(DRIVER),
                "pool": _of(*POOLS),
                "device": _of(*DEVICES),
                "request": _of("gpu", "gpu/sub"),
                "adminAccess": _of(None, None, True),
            }
        ),
        max_size=2,
    )
    consumers = [{"resource": "pods", "name": name, "uid": uid_of(name, namespace)} for name in PODS]
    consumers += [{"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": name} for name in GROUPS]
    return {
        "kind": "ResourceClaim",
        "metadata": _owned(metadata, draw(st.lists(_of(*owners), max_size=1))),
        "spec": {"devices": draw(_asked())},
        "status": {
            "allocation": draw(_maybe(results.map(lambda found: {"devices": {"results": found}}))),
            "reservedFor": draw(st.lists(_of(*consumers), max_size=2)),
        },
    }


@st.composite
def _asked(draw: st.DrawFn) -> Document:
    """What a claim asks for."""
    expression = f'device.attributes["{DRIVER}"].?model.orValue("") == "a"'
    exactly = {
        "deviceClassName": draw(_of("gpu", "gpu", "gone")),
        "count": draw(_of(1, 1, 2)),
        "selectors": draw(_of(None, None, [{"cel": {"expression": expression}}], [{"cel": {"expression": "junk("}}])),
        "tolerations": draw(_of(None, None, [{"operator": "Exists"}])),
    }
    return {
        "requests": [{"name": "gpu", "exactly": exactly}],
        "constraints": draw(_of(None, None, [{"matchAttribute": f"{DRIVER}/numa"}])),
    }


@st.composite
def slices(draw: st.DrawFn) -> Document:
    consumption = [{"counterSet": "gpu", "counters": {"memory": {"value": "1"}}}]
    attributes = _of(None, *({"model": {"string": model}, "numa": {"int": numa}} for model in "ab" for numa in (0, 1)))
    device = st.fixed_dictionaries(
        {
            "name": _of(*DEVICES),
            "taints": _taints,
            "consumesCounters": _of(None, consumption),
            "attributes": attributes,
            "allowMultipleAllocations": _of(*(None,) * 5, True),
        },
    )
    devices = st.lists(device, max_size=2)
    counters = [{"name": "gpu", "counters": {"memory": {"value": "1"}}}]
    return {
        "kind": "ResourceSlice",
        "metadata": draw(_meta(SLICES, namespaced=False)),
        "spec": {
            "driver": DRIVER,
            "nodeName": draw(_of(None, "n0", "n1")),
            "pool": {
                "name": draw(_of(*POOLS)),
                "generation": draw(_of(1, 2)),
                "resourceSliceCount": draw(_of(1, 1, 2)),
            },
            "devices": draw(devices),
            "sharedCounters": draw(_of(None, counters, counters)),
        },
    }


@st.composite
def rules(draw: st.DrawFn) -> Document:
    selectors: tuple[Document | None, ...] = (
        None,
        {},
        {"driver": DRIVER},
        {"driver": "other.example.com"},
        {"pool": "n0"},
        {"device": "d0"},
        {"driver": DRIVER, "pool": "n0"},
        {"driver": DRIVER, "pool": "n0", "device": "d0"},
        {"driver": DRIVER, "pool": "n1", "device": "d1"},
    )
    return {
        "kind": "DeviceTaintRule",
        "metadata": draw(_meta(RULES, namespaced=False)),
        "spec": {"deviceSelector": draw(_of(*selectors)), "taint": draw(_taint)},
        "status": {
            "conditions": draw(
                _of(
                    None,
                    [
                        {
                            "type": "EvictionInProgress",
                            "status": "True",
                            "reason": "PodsPendingEviction",
                            "observedGeneration": 1,
                        }
                    ],
                )
            )
        },
    }


_TRAINERS = tuple(
    {"apiVersion": "example.com/v1", "kind": "Trainer", "name": name, "uid": uid_of(name, "ml")} for name in TRAINERS
)
_BATCH_JOB = {"apiVersion": "batch/v1", "kind": "Job", "name": "job", "uid": uid_of("job", "ml")}
_CONTROLLERS = (
    {"kind": "Job", "name": "job"},
    {"apiGroup": "batch", "kind": "Job", "name": "job"},
    {"apiGroup": "example.com", "kind": "Trainer", "name": "t0"},
)
_JOBS = tuple({"kind": "Job", "name": "job", "uid": uid_of("job", namespace)} for namespace in ("ml", "lab"))


@st.composite
def groups(draw: st.DrawFn) -> Document:
    placed = st.builds(
        lambda type_, status, message: [
            {"type": type_, "status": status, "message": message, "lastTransitionTime": "2026-11-30T05:54:15Z"}
        ],
        _of("PodGroupInitiallyScheduled", "PodGroupScheduled"),
        _of("True", "False"),
        _of(None, "pod group preemption: ongoing preemption on nominated nodes", "minCount (2) cannot be satisfied"),
    )
    shared = _of(
        None,
        [{"name": "x", "resourceClaimName": "c0"}],
        [{"name": "x", "resourceClaimTemplateName": "t0"}],
    )
    return {
        "kind": "PodGroup",
        "metadata": _owned(draw(_meta(GROUPS)), draw(st.lists(_of(*_JOBS), max_size=1))),
        "spec": {
            "workloadRef": draw(_of(None, *({"workloadName": name, "templateName": "t"} for name in WORKLOADS))),
            "parentCompositePodGroupName": draw(_of(None, *COMPOSITES)),
            "schedulingPolicy": draw(_of({"basic": {}}, *({"gang": {"minCount": n}} for n in (0, 1, 2)))),
            "resourceClaims": draw(shared),
        },
        "status": {
            "conditions": draw(_maybe(placed)),
            "resourceClaimStatuses": draw(_of(None, [{"name": "x", "resourceClaimName": "c1"}])),
        },
    }


@st.composite
def workloads(draw: st.DrawFn) -> Document:
    parts = st.lists(
        st.fixed_dictionaries({"name": _of("a", "b"), "policy": _of({"basic": {}}, {"gang": {"minCount": 2}})}),
        max_size=2,
        unique_by=lambda part: part["name"],
    )
    return {
        "kind": "Workload",
        "metadata": draw(_meta(WORKLOADS)),
        "spec": {"podGroups": draw(parts), "controllerRef": draw(_of(None, *_CONTROLLERS))},
    }


@st.composite
def trainers(draw: st.DrawFn) -> Document:
    return {
        "kind": "Owner",
        "metadata": _owned(draw(_meta(TRAINERS)), draw(st.lists(_of(*_TRAINERS, _BATCH_JOB), max_size=1))),
        "status": {"conditions": draw(_of(None, [{"type": "Suspended", "status": "True"}]))},
    }


@st.composite
def composites(draw: st.DrawFn) -> Document:
    return {
        "kind": "CompositePodGroup",
        "metadata": draw(_meta(COMPOSITES)),
        "spec": {
            "workloadRef": draw(_of(None, *({"workloadName": name, "templateName": "t"} for name in WORKLOADS))),
            "parentCompositePodGroupName": draw(_of(None, *COMPOSITES)),
            "schedulingPolicy": draw(_of({"basic": {}}, {"gang": {"minGroupCount": 2}})),
        },
    }


@st.composite
def autoscalers(draw: st.DrawFn) -> Document:
    return {
        "kind": "HorizontalPodAutoscaler",
        "metadata": draw(_meta(("h0",))),
        "spec": {"minReplicas": draw(_of(None, 0, 2)), "maxReplicas": draw(_of(0, 1, 5))},
        "status": {"currentReplicas": draw(_of(None, 0, 1)), "desiredReplicas": draw(_of(None, 0, 3))},
    }


@st.composite
def nodes(draw: st.DrawFn) -> Document:
    allocatable = _of(None, *({"example.com/gpu": gpus, "pods": "110"} for gpus in ("0", "2", "8")))
    return {
        "kind": "Node",
        "metadata": draw(_meta(NODES, namespaced=False)),
        "spec": {"unschedulable": draw(_of(None, True))},
        "status": {"allocatable": draw(allocatable)},
    }


@st.composite
def classes(draw: st.DrawFn) -> Document:
    selectors = _of(None, [{"cel": {"expression": f'device.driver == "{DRIVER}"'}}])
    return {
        "kind": "DeviceClass",
        "metadata": draw(_meta(("gpu", "ext"), namespaced=False)),
        "spec": {"selectors": draw(selectors), "extendedResourceName": draw(_of(None, "example.com/gpu"))},
    }


@st.composite
def events(draw: st.DrawFn) -> Document:
    """What the scheduler and the controllers say; about an object that may be gone by now."""
    kind, names = draw(_of(("Pod", PODS), ("PodGroup", GROUPS), ("Job", ("job",))))
    metadata = draw(_meta(("e0", "e1", "e2")))
    name = draw(_of(*names))
    texts = ("exceeded quota: share, requested: pods=1, used: pods=2, limited: pods=2", "0/2 nodes are available")
    return {
        "kind": "Event",
        "metadata": metadata,
        "involvedObject": {
            "kind": kind,
            "namespace": metadata["namespace"],
            "name": name,
            "uid": uid_of(name, metadata["namespace"]),
        },
        "reason": draw(
            _of("FailedScheduling", "FailedCreate", "SuccessfulCreate", "FailedResourceClaimCreation", "Preempted")
        ),
        "related": draw(_of(None, {"kind": "PodGroup", "namespace": "ml", "name": "g", "uid": uid_of("g", "ml")})),
        "message": draw(_of(*texts)),
        "lastTimestamp": draw(_of(None, "2026-11-30T05:54:30Z")),
    }


@st.composite
def jobs(draw: st.DrawFn) -> Document:
    text = "exceeded quota: share, requested: pods=1"
    conditions = [{"type": "FailureTarget", "status": "True", "message": text}]
    metadata = _owned(draw(_meta(("job",))), draw(st.lists(_of(*_TRAINERS), max_size=1)))
    return {"kind": "Job", "metadata": metadata, "spec": {}, "status": {"conditions": draw(_of(None, conditions))}}


QUEUES = ("q0", "q1")
CLUSTER_QUEUES = ("cq0", "cq1")
_SHORT = "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor f, 2 more needed"


@st.composite
def kueue_workloads(draw: st.DrawFn) -> Document:
    condition = st.fixed_dictionaries(
        {
            "type": _of("QuotaReserved", "QuotaReserved", "Admitted", "PodsReady", "Finished", "Evicted"),
            "status": _of("True", "False"),
            "reason": _of("Pending", "Inadmissible", "Failed"),
            "message": _of(None, _SHORT, "ClusterQueue cq0 doesn't exist", "Pending the preemption of 1 workload(s)"),
        }
    )
    return {
        "kind": "KueueWorkload",
        "metadata": _owned(draw(_meta(WORKLOADS)), draw(st.lists(_of(*_JOBS), max_size=1))),
        "spec": {
            "queueName": draw(_of(*QUEUES)),
            "active": draw(_of(None, True, False)),
            "podSets": [{"name": "main", "count": draw(_of(1, 2))}],
        },
        "status": {
            "conditions": draw(st.lists(condition, max_size=3)),
            "admission": draw(_of(None, {"clusterQueue": "cq1"})),
            "admissionChecks": draw(_of(None, [{"name": "check", "state": "Retry"}])),
        },
    }


_inactive = _of(None, None, [{"type": "Active", "status": "False", "reason": "Stopped", "message": "is stopped"}])


@st.composite
def local_queues(draw: st.DrawFn) -> Document:
    return {
        "kind": "KueueLocalQueue",
        "metadata": draw(_meta(QUEUES)),
        "spec": {"clusterQueue": draw(_of(*CLUSTER_QUEUES))},
        "status": {"conditions": draw(_inactive)},
    }


@st.composite
def cluster_queues(draw: st.DrawFn) -> Document:
    limits = [{"name": "cpu", "nominalQuota": draw(_of("4", "8", "odd"))}]
    usage = [{"name": "f", "resources": [{"name": "cpu", "total": draw(_of("0", "3"))}]}]
    return {
        "kind": "KueueClusterQueue",
        "metadata": draw(_meta(CLUSTER_QUEUES, namespaced=False)),
        "spec": {
            "cohortName": draw(_of(None, None, "all")),
            "resourceGroups": [{"flavors": [{"name": "f", "resources": limits}]}],
        },
        "status": {"conditions": draw(_inactive), "flavorsReservation": draw(_of(None, usage))},
    }


@st.composite
def volcano_groups(draw: st.DrawFn) -> Document:
    said = [{"type": "Unschedulable", "status": "True", "message": "queue resource quota insufficient"}]
    return {
        "kind": "VolcanoPodGroup",
        "metadata": draw(_meta(GROUPS)),
        "spec": {"minMember": draw(_of(None, 1, 2)), "queue": draw(_of(None, *QUEUES))},
        "status": {
            "phase": draw(_of(None, "Pending", "Inqueue", "Running", "Unknown", "Completed")),
            "conditions": draw(_of(None, said)),
        },
    }


@st.composite
def volcano_queues(draw: st.DrawFn) -> Document:
    return {
        "kind": "VolcanoQueue",
        "metadata": draw(_meta((*QUEUES, "default"), namespaced=False)),
        "status": {"state": draw(_of(None, "Open", "Closed"))},
    }


def templates() -> st.SearchStrategy[Document]:
    return st.builds(lambda meta: {"kind": "ResourceClaimTemplate", "metadata": meta}, _meta(TEMPLATES))


_documents: dict[str, st.SearchStrategy[Document]] = {
    "Pod": pods(),
    "ResourceClaim": claims(),
    "ResourceSlice": slices(),
    "DeviceTaintRule": rules(),
    "PodGroup": groups(),
    "Workload": workloads(),
    "CompositePodGroup": composites(),
    "Owner": trainers(),
    "HorizontalPodAutoscaler": autoscalers(),
    "ResourceClaimTemplate": templates(),
    "Node": nodes(),
    "DeviceClass": classes(),
    "Event": events(),
    "Job": jobs(),
    "KueueWorkload": kueue_workloads(),
    "KueueLocalQueue": local_queues(),
    "KueueClusterQueue": cluster_queues(),
    "VolcanoPodGroup": volcano_groups(),
    "VolcanoQueue": volcano_queues(),
}
_OFTEN = ("Pod", "Pod", "Pod", "ResourceClaim", "ResourceClaim", "ResourceSlice", "DeviceTaintRule", "PodGroup")
_KINDS = _of(*_OFTEN, *(kind for kind in _documents if kind not in _OFTEN))
PHASES = ("watching", "waiting", "no-access", "listing", "absent")

Step = tuple[str, str, Any]
"""("event", type, document), ("list", kind, documents) or ("phase", kind, phase)."""


def _events() -> st.SearchStrategy[Step]:
    documents = _KINDS.flatmap(lambda kind: _documents[kind])
    return st.tuples(st.just("event"), _of("ADDED", "MODIFIED", "MODIFIED", "DELETED"), documents)


def _lists() -> st.SearchStrategy[Step]:
    return _KINDS.flatmap(
        lambda kind: st.tuples(st.just("list"), st.just(kind), st.lists(_documents[kind], max_size=4))
    )


def _phases() -> st.SearchStrategy[Step]:
    return st.tuples(st.just("phase"), _of("Pod", "PodGroup", "ResourceClaim", "KueueLocalQueue"), _of(*PHASES))


def steps(length: int = 30, *, phases: bool = True) -> st.SearchStrategy[list[Step]]:
    """One course of events, on top of a list of every kind. `frame` gives each step a version that grows."""
    start = st.tuples(
        *(
            st.tuples(st.just("list"), st.just(kind), st.lists(_documents[kind], min_size=2, max_size=4))
            for kind in _documents
            if not kind_called(kind).program
        )
    )
    events = _events()
    others = _lists() | _phases() if phases else _lists()
    course = st.lists(st.one_of(*(events,) * 9, others), min_size=length // 2, max_size=length)
    return st.builds(lambda first, then: [*first, *then], start, course)


def frame(step: Step, version: int) -> Frame:
    what, detail, content = step
    if what == "phase":
        return phase(detail, content)
    if what == "list":
        objects = {obj.key: obj for obj in (_typed(document, version) for document in content)}
        return Listed(source(detail), str(version), tuple(objects.values()))
    obj = _typed(content, version)
    return Changed(source(type(obj).__name__), detail, obj)  # type: ignore[arg-type]  # drawn from the three types


def _typed(document: Document, version: int) -> Object:
    kind = kind_called(document["kind"])
    metadata = {**document["metadata"], "resourceVersion": str(version)}
    return from_builtins(kind, kind.versions[0], {**document, "metadata": metadata})
