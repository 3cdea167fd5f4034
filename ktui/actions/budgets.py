"""PodDisruptionBudgets of pods that a taint evicts: they do not hold it up, which people who made them should be told."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import cast

from ktui.actions.api import ActionApi
from ktui.cluster.state import Cluster
from ktui.errors import KtuiError
from ktui.kube.failures import ApiError
from ktui.model.decode import from_builtins
from ktui.model.disruptionbudget import BUDGET, PodDisruptionBudget
from ktui.model.meta import Key
from ktui.model.pod import Pod


async def budgets_over(api: ActionApi, cluster: Cluster, pods: Iterable[Key]) -> tuple[Key, ...] | None:
    """The budgets that cover any of the pods, read now; None when they cannot all be read, which keeps nobody from acting."""
    by_namespace: defaultdict[str, list[Pod]] = defaultdict(list)
    for key in pods:
        if (pod := cluster.pod(key)) is not None:
            by_namespace[key[0]].append(pod)
    try:
        found = [
            (namespace, budget.name)
            for namespace in sorted(by_namespace)
            for budget in await _budgets(api, namespace)
            if any(map(budget.covers, by_namespace[namespace]))
        ]
    except KtuiError:
        return None
    return tuple(found)


async def _budgets(api: ActionApi, namespace: str) -> list[PodDisruptionBudget]:
    version = BUDGET.versions[0]
    try:
        documents = await api.list(BUDGET, version, namespace)
    except ApiError as error:
        if error.status == 404:  # a server without the policy API has none
            return []
        raise
    return [cast("PodDisruptionBudget", from_builtins(BUDGET, version, document)) for document in documents]
