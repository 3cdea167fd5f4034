"""Where figures of what is used come from: a metrics server, and DCGM exporters on the nodes."""

from __future__ import annotations

from collections.abc import Iterator

from ktui.doctor.facts import Facts
from ktui.doctor.finding import Finding, counted, skipped, some
from ktui.doctor.known import known, require, skips
from ktui.model.usage import GROUP


@skips
def metrics(facts: Facts) -> Iterator[Finding]:
    check = "metrics"
    if version := known(check, facts.metrics):
        yield Finding(check, "ok", f"{GROUP} {version} served: CPU and memory of pods and nodes")
    else:
        yield skipped(check, f"{GROUP} is not served: without a metrics server there are no CPU and memory figures")


@skips
def gpus(facts: Facts) -> Iterator[Finding]:
    """Whether every node that publishes devices has an exporter, and whether its page may be asked for."""
    check = "gpu-metrics"
    require(check, facts, "Pod", "ResourceSlice")
    cluster = facts.cluster
    exported = set(cluster.exporters_by_node.values())
    if not exported:
        yield skipped(check, f"no DCGM exporter is seen{facts.where('Pod')}: there are no figures of GPUs")
        return
    nodes = {pool.node for pool in cluster.pools() if pool.node}
    text = f"DCGM exporters on {counted(len(exported), 'node')}; {counted(len(nodes), 'node')} with devices"
    may = known(check, facts.proxies)
    if lacking := sorted(namespace for namespace, allowed in may.items() if not allowed):
        todo = f"to see figures of GPUs: get on pods/proxy in namespace {some(lacking)}"
        yield Finding(check, "ok", f"{text}; they may not be asked", todo, tuple(lacking))
    else:
        without = tuple(f"nodes/{node}" for node in sorted(nodes - exported))
        yield Finding(check, "ok", f"{text}; none on {some(without)}" if without else text, objects=without)
