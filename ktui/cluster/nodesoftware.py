"""What a node's labels say of the accelerators on it and of the software that drives them.

Labels are written by the vendors' feature discovery (NVIDIA's GPU feature discovery, AMD's node labeller), where they run; the
release of NVIDIA's GPU Operator is in the chart label of the pods that it keeps on the node. All of it is as written there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from ktui.cluster.state import Cluster
from ktui.model.node import Node

_PRODUCT: Final = ("nvidia.com/gpu.product", "amd.com/gpu.product-name")
_DRIVER: Final = ("nvidia.com/cuda.driver-version.full", "amd.com/gpu.driver-version")
_RUNTIME: Final = ("nvidia.com/cuda.runtime-version.full",)
_DRIVER_PARTS: Final = tuple(f"nvidia.com/cuda.driver.{part}" for part in ("major", "minor", "rev"))
_RUNTIME_PARTS: Final = tuple(f"nvidia.com/cuda.runtime.{part}" for part in ("major", "minor"))
_UPGRADE: Final = "nvidia.com/gpu-driver-upgrade-state"
_MIG: Final = "nvidia.com/mig.config.state"
_CHART: Final = "helm.sh/chart"
_OPERATOR: Final = "gpu-operator-"


class NodeSoftware(Struct, frozen=True, rename="camel"):
    """None for what no label says. `upgrade` is how far the operator is with the driver of the node, `mig` whether the asked
    partitions are made; both in their own words."""

    product: str | None
    driver_version: str | None
    cuda_version: str | None
    operator_version: str | None
    upgrade: str | None
    mig: str | None


def node_software(cluster: Cluster, name: str) -> NodeSoftware | None:
    """What is said of a node, None when nothing is."""
    node = cluster.stores["Node"].get(("", name)) if name else None
    labels = (node.metadata.labels or {}) if isinstance(node, Node) else {}
    found = NodeSoftware(
        product=_first(labels, _PRODUCT),
        driver_version=_first(labels, _DRIVER) or _joined(labels, _DRIVER_PARTS),
        cuda_version=_first(labels, _RUNTIME) or _joined(labels, _RUNTIME_PARTS),
        operator_version=_operator(cluster, name) if name else None,
        upgrade=labels.get(_UPGRADE) or None,
        mig=labels.get(_MIG) or None,
    )
    return found if found != _NOTHING else None


_NOTHING: Final = NodeSoftware(None, None, None, None, None, None)


def _first(labels: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    return next((value for name in names if (value := labels.get(name))), None)


def _joined(labels: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    """A version whose parts have a label each, as far as they are there in a row; newer releases have one label for it."""
    parts: list[str] = []
    for name in names:
        if not (part := labels.get(name)):
            break
        parts.append(part)
    return ".".join(parts) or None


def _operator(cluster: Cluster, node: str) -> str | None:
    for key in cluster.pods_by_node[node]:
        pod = cluster.pod(key)
        chart = (pod.metadata.labels or {}).get(_CHART, "") if pod is not None else ""
        if chart.startswith(_OPERATOR):
            return chart.removeprefix(_OPERATOR)
    return None
