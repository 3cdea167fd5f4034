"""What `--if` asks: untaint=DRIVER/POOL/DEVICE, without=[NAMESPACE/]GANG, nodes=COUNTxNODE, all of them imagined together."""

from __future__ import annotations

from collections.abc import Sequence

from ktui.actions.taint import parse_device
from ktui.cluster.state import Cluster
from ktui.cluster.taints import taints_of
from ktui.diagnose.whatif import Change
from ktui.errors import KtuiError, UsageError
from ktui.model.meta import Key
from ktui.model.resourceslice import DeviceId
from ktui.views import why

_MOST_NODES = 10_000


def change_of(cluster: Cluster, asked: Sequence[str], namespace: str) -> Change:
    """The change that is asked for, about things that are there. A gang without a namespace is looked for in `namespace`.

    Raises:
        UsageError: it cannot be read.
        KtuiError: what it names is not there.
    """
    untainted: set[DeviceId] = set()
    gone: set[Key] = set()
    nodes: dict[str, int] = {}
    for text in asked:
        what, _, about = text.partition("=")
        match what:
            case "untaint" if about:
                untainted.add(_tainted(cluster, about))
            case "without" if about:
                gone.add(_gang(cluster, about, namespace))
            case "nodes" if about:
                node, count = _nodes(cluster, about)
                nodes[node] = nodes.get(node, 0) + count
            case _:
                raise UsageError(
                    f"--if takes untaint=DRIVER/POOL/DEVICE, without=[NAMESPACE/]GANG or nodes=COUNTxNODE, not {text[:200]!r}"
                )
    return Change(frozenset(untainted), frozenset(gone), tuple(sorted(nodes.items())))


def _tainted(cluster: Cluster, text: str) -> DeviceId:
    device = parse_device(text)
    if cluster.device(device) is None:
        raise KtuiError(f"no device {text!r} is published")
    if not any(taint.effect in ("NoSchedule", "NoExecute") for taint in taints_of(cluster, device)):
        raise KtuiError(f"{text} has no taint that keeps it from being allocated")
    return device


def _gang(cluster: Cluster, text: str, namespace: str) -> Key:
    found = why.find(cluster, text, namespace)
    if found.kind != "gang":
        raise KtuiError(f"{found.shown} is a pod outside any gang; without= takes a gang")
    return found.key


def _nodes(cluster: Cluster, text: str) -> tuple[str, int]:
    count, _, node = text.partition("x")
    if not (count.isascii() and count.isdigit() and 0 < int(count[:9]) <= _MOST_NODES and node):
        raise UsageError(f"{text[:200]!r} is not COUNTxNODE, as 2xgpu-node-0 is, with at most {_MOST_NODES}")
    if cluster.stores["Node"].get(("", node)) is None:
        raise KtuiError(f"no node {node!r}")
    return node, int(count)
