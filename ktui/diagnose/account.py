"""The whole account of why one gang or pod waits: the diagnosis, with the objects it rests on and what would help by name, and
what each step of the funnel takes away.

A diagnosis is kept for every gang; this is found out when somebody asks about one.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec import structs

from ktui.cluster.gangs import Gang
from ktui.diagnose.beyond import Beyond, waiting_beyond
from ktui.diagnose.demand import GangDemand
from ktui.diagnose.diagnosis import Diagnosis
from ktui.diagnose.evidence import of_objects, of_shortage
from ktui.diagnose.gang import Tried, conclude, look_at
from ktui.diagnose.hints import hints
from ktui.diagnose.losses import Losses, losses
from ktui.diagnose.pods import alone, look_at_pod
from ktui.diagnose.shortage import CAUSES, Line, assess
from ktui.diagnose.supply import Supply
from ktui.diagnose.verdict import judge
from ktui.model.claim import Constraint
from ktui.model.pod import Pod


class Asked(NamedTuple):
    """What the funnel counts: devices for a request of `pods` pods, `rules` say what their devices must have in common, or
    not."""

    device_class: str
    selectors: tuple[str, ...]
    rules: tuple[str, ...]
    pods: int
    each: int


class Account(NamedTuple):
    """`asked` and `lost` go with the diagnosis' funnel. `demand`: what would have to be placed, None where that is not looked
    at. `unknown`: why what the funnel does not say cannot be told. `beyond`: pods that wait although the gang runs."""

    diagnosis: Diagnosis
    asked: Asked | None = None
    lost: Losses = Losses()
    unknown: str = ""
    demand: GangDemand | None = None
    beyond: tuple[Beyond, ...] = ()


def account_of_gang(supply: Supply, gang: Gang) -> Account:
    """The account of a gang, with what its nodes and devices are now."""
    found = _account(supply, gang, look_at(supply.cluster, gang))
    return found._replace(beyond=waiting_beyond(supply, gang))


def account_of_pod(supply: Supply, pod: Pod) -> Account:
    """The account of a pod outside any gang."""
    return _account(supply, alone(pod), look_at_pod(supply.cluster, pod))


def _account(supply: Supply, gang: Gang, looked: Diagnosis | Tried) -> Account:
    if isinstance(looked, Diagnosis):
        return Account(structs.replace(looked, evidence=of_objects(looked, gang)))
    demand = looked.demand
    verdict = judge(supply, demand, looked.named)
    diagnosis = conclude(looked, verdict)
    found = assess(supply, demand, looked.named)
    line = found.line if diagnosis.funnel is not None else None
    lost = _lost(supply, demand, line) if line is not None else Losses()
    blame = next((obstacle for obstacle, cause in CAUSES.items() if cause == diagnosis.cause), None)
    unblock = hints(supply, demand, found, lost, blame) if blame and verdict.told else diagnosis.unblock
    evidence = of_shortage(supply, demand, line, lost, diagnosis)
    asked = _asked(demand, line) if line is not None else None
    return Account(structs.replace(diagnosis, evidence=evidence, unblock=unblock), asked, lost, verdict.reason, demand)


def _lost(supply: Supply, demand: GangDemand, line: Line) -> Losses:
    claims = [claim for part in demand.parts for claim in supply.split(part.demand, "")[1]]
    return losses(supply.cluster, line.want, supply.catalog((*claims, *demand.shared.values())))


def _asked(demand: GangDemand, line: Line) -> Asked:
    rules = dict.fromkeys(_rule(rule) for claim in demand.claims for rule in claim.constraints)
    pods = sum(part.pods for part in demand.parts)
    return Asked(line.want.device_class, line.want.selectors, tuple(rules), pods, line.ask.count)


def _rule(rule: Constraint) -> str:
    name = (rule.match_attribute or rule.distinct_attribute or "").rpartition("/")[2]
    return f"the same {name}" if rule.match_attribute else f"different {name}"
