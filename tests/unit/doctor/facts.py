"""Facts for tests: all well, unless a test says otherwise."""

from __future__ import annotations

from typing import Any

from msgspec.structs import asdict

from ktui.cluster.state import Cluster
from ktui.doctor.facts import Connection, Facts, File, Identity, Right, ServerVersion, Usage
from ktui.model.cost import Cost
from tests.unit.builders import cluster_of

CONNECTION = Connection("prod", "10.0.0.1:6443", "token", "ml")
READING = tuple(Right("reading", verb, "pods", "everywhere") for verb in ("get", "list", "watch"))
ACTING = tuple(
    Right(action, verb, "devicetaintrules", "everywhere")
    for action, verb in (("taint", "create"), ("taint", "patch"), ("untaint", "patch"), ("untaint", "delete"))
)


def facts(cluster: Cluster | None = None, **changes: Any) -> Facts:
    healthy = Facts(
        cluster=cluster_of() if cluster is None else cluster,
        connection=CONNECTION,
        files=(File("/home/me/.kube/config", 0o600),),
        identity=Identity("alice", ("oncall", "system:authenticated")),
        rights=(*READING, *ACTING),
        skew=0.0,
        version=ServerVersion("v1.37.2"),
        served={"PodGroup": "v1beta1", "Workload": "v1beta1", "ResourceClaim": "v1", "DeviceTaintRule": "v1"},
        stale=(),
        gates={"GenericWorkload": True, "HPAScaleToZero": True, "CompositePodGroup": False},
        components=(("kube-scheduler", "v1.37.2"),),
        usage=Usage((Cost("list", "pods", 7, 0, 400_000, 2_900_000), Cost("get", "/version", 50, 0, 9_600, 9_600)), 14),
        metrics="v1beta1",
        proxies={},
    )
    return Facts(**(asdict(healthy) | changes))
