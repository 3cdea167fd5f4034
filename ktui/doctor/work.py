"""What runs on the cluster: gangs that wait, autoscalers that sleep."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ktui.cluster.gangs import gang_keys
from ktui.diagnose.diagnoses import diagnoses_of
from ktui.doctor.facts import Facts
from ktui.doctor.finding import Finding, Status, counted, some
from ktui.doctor.known import require, skips
from ktui.model.autoscaler import HorizontalPodAutoscaler
from ktui.views.autoscalers import autoscaler_state

_DEAF: Final = "asleep, and the metric that would wake it cannot be read"
_TODO: Final = {
    _DEAF: "make the metric readable: until then nothing wakes it",
    "paused": "scale the target to 1 or more: an autoscaler never wakes what a person scaled to 0",
    "cannot scale": "look at its conditions: kubectl describe hpa",
    "no metric": "look at its conditions: kubectl describe hpa; the metrics adapter or its access is missing",
}


@skips
def pending(facts: Facts) -> Iterator[Finding]:
    check = "pending-gangs"
    require(check, facts, "Pod")
    kept = diagnoses_of(facts.cluster)
    causes: dict[str, list[str]] = {}
    number = 0
    for key in sorted(gang_keys(facts.cluster)):
        number += 1
        diagnosis = kept.of(key)
        if diagnosis is not None and diagnosis.cause is not None:
            causes.setdefault(diagnosis.cause, []).append("/".join(key))
    where = facts.where("Pod")
    if not causes:
        yield Finding(check, "ok", f"none of {counted(number, 'gang')}{where} waits" if number else f"no gangs{where}")
        return
    waiting = tuple(name for names in causes.values() for name in names)
    ranked = sorted(causes.items(), key=lambda item: (-len(item[1]), item[0]))
    said = some((f"{cause} {len(names)} ({names[0]})" for cause, names in ranked), 6)
    text = f"{len(waiting)} of {counted(number, 'gang')}{where}: {said}"
    yield Finding(check, "warn", text, f"ktui why {waiting[0]}", waiting)


@skips
def autoscalers(facts: Facts) -> Iterator[Finding]:
    """Asleep is well; asleep without a metric to wake up by, and paused by a person who forgot it, are not."""
    check = "autoscalers"
    require(check, facts, "HorizontalPodAutoscaler")
    states: dict[str, list[str]] = {}
    every = list(facts.cluster.all(HorizontalPodAutoscaler))
    for hpa in every:
        states.setdefault(_word(hpa), []).append("/".join(hpa.key))
    tally = ", ".join(f"{len(names)} {state}" for state, names in sorted(states.items()))
    bad = {state: names for state, names in states.items() if state in _TODO}
    where = facts.where("HorizontalPodAutoscaler")
    if not bad:
        yield Finding(
            check,
            "ok",
            f"{counted(len(every), 'autoscaler') if every else 'no autoscalers'}{where}{f': {tally}' if tally else ''}",
        )
        return
    for state, names in sorted(bad.items()):
        status: Status = "fail" if state == _DEAF else "warn"
        objects = tuple(f"horizontalpodautoscalers/{name}" for name in names)
        yield Finding(check, status, f"{state}{where}: {some(sorted(names))}", _TODO[state], objects)


def _word(hpa: HorizontalPodAutoscaler) -> str:
    """As on the screen, but told apart whether one without a metric has anything running."""
    state = autoscaler_state(hpa)[0]
    asleep = hpa.min_replicas == 0 and not hpa.status.current_replicas
    return _DEAF if state == "no metric" and asleep else state
