"""What the scheduler says, taken apart: how many nodes for which reason, a gang's arithmetic, and what preemption would bring.

The texts are no API and change from release to release (1.35 to 1.37 are known here): what is not recognised is kept as it is,
never an error. Everything takes time in proportion to the text, which anyone who may write events controls.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from typing import Final, Literal

from msgspec import Struct

from ktui.cluster.gangs import Gang, pod_scheduled, scheduled_condition
from ktui.cluster.state import Cluster
from ktui.model.meta import Condition
from ktui.model.pod import Pod
from ktui.model.time import parse_time

ReasonKind = Literal[
    "insufficient",  # detail: the resource
    "too_many_pods",
    "claims",  # no combination of devices, for whatever reason
    "claim_elsewhere",  # allocated, and not reachable from the node
    "claim_busy",  # being allocated or deleted, or in use
    "claim_missing",
    "class_missing",  # detail: the class
    "pool_invalid",  # detail: DRIVER/POOL, where it is named
    "pool_updating",
    "constraint",
    "extended_claim",
    "selector_error",
    "name",
    "affinity",
    "taint",  # detail: the taint, where it is named
    "unschedulable",
    "features",
    "pod_affinity",
    "anti_affinity",
    "spread",
    "ports",
    "volume",
    "topology",
    "gang",  # the rest of the group
    "group_invalid",
    "gated",
    "timeout",  # detail: the plugin
    "other",
]

_BEGINNINGS: Final[tuple[tuple[ReasonKind, str], ...]] = (
    ("insufficient", r"Insufficient (\S{1,320})\Z"),
    ("too_many_pods", r"Too many pods"),
    ("claims", r"cannot allocate all claims"),
    ("claim_elsewhere", r"resourceclaim not available on the node"),
    ("claim_busy", r"resourceclaim in use|resource claim \S+ is in the process of being allocated"),
    ("claim_busy", r"resourceclaim \S+ is being deleted"),
    ("class_missing", r"(?:claim \S+, )?request \S+: device class (\S+) does not exist"),
    ("class_missing", r"claim \S+, request \S+: could not retrieve device class (\S+):"),
    ("pool_updating", r"claim \S+, request \S+: asks for all devices, but resource pool (\S+) is currently being"),
    ("pool_invalid", r"claim \S+, request \S+: asks for all devices, but resource pool (\S+) is currently invalid"),
    ("pool_invalid", r"invalid resource pools were encountered"),
    ("constraint", r"claim \S+, request \S+: cannot add device \S+ because a claim constraint"),
    ("extended_claim", r"cannot schedule extended resource claim|cannot fit resource"),
    ("name", r"node\(s\) didn't match the requested node name"),
    ("affinity", r"node\(s\) didn't match (?:Pod's|scheduler-enforced) node affinity"),
    ("features", r"node\(s\) didn't match Pod's required features"),
    ("affinity", r"pod affinity terms conflict"),
    ("taint", r"node\(s\) had untolerated taints?(?:\(s\))?(?: \{(.*?)\})?"),
    ("taint", r"node\(s\) had taints that the pod didn't tolerate"),
    ("unschedulable", r"node\(s\) were unschedulable"),
    ("pod_affinity", r"node\(s\) didn't match pod affinity rules"),
    ("anti_affinity", r"node\(s\) didn't (?:match|satisfy) (?:existing )?pods? anti-affinity rules"),
    ("spread", r"node\(s\) didn't match pod topology spread constraints"),
    ("ports", r"node\(s\) didn't have free ports"),
    ("volume", r"node\(s\) (?:didn't find available persistent|had no available (?:volume|disk)|exceed max volume)"),
    ("volume", r"node\(s\) (?:had volume|did not have enough free storage|didn't match PersistentVolume)"),
    ("volume", r"node\(s\) unavailable due to|(?:pod has unbound immediate )?[Pp]ersistent[Vv]olume"),
    ("volume", r"waiting for ephemeral volume controller"),
    ("topology", r"no feasible placements found"),
    ("gang", r"waiting for minCount pods|waiting for pods's pod group|waiting for composite pod group"),
    ("group_invalid", r"all pods in a single pod group should|profile not found for scheduler name"),
    ("group_invalid", r"different (?:parent|number of children) in "),
    ("gated", r"Scheduling is blocked due to non-empty scheduling gates|waiting for scheduling gates"),
    ("timeout", r"(?:pod )?rejected due to timeout after waiting \S+ at plugin (\S+)"),
)
"""How reasons begin, in the order in which they are tried."""

_PATTERNS: Final = tuple((kind, re.compile(pattern)) for kind, pattern in _BEGINNINGS)

_INSIDE: Final[tuple[tuple[ReasonKind, tuple[str, ...]], ...]] = (
    ("selector_error", ("CEL runtime error", "CEL compile error", "CEL expression empty")),
    ("claim_busy", ("in the meantime",)),
    ("claim_missing", ("ResourceClaim not created yet",)),
    ("timeout", ("timed out trying to allocate devices", "rejected due to timeout")),
)
"""What tells the kind wherever it stands: the wrapping of errors varies."""

_COUNT: Final = r"\d{1,9}"
_MOST_REASONS: Final = 500  # what follows stays in the text of the last one
_REPEATS: Final = re.compile(r"pod group is unschedulable(?:, |\Z)")
_ARITHMETIC: Final = re.compile(
    rf"minCount \(({_COUNT})\) (cannot be|is not yet) satisfied: ({_COUNT}) scheduled, ({_COUNT}) remaining(?:, |\Z)"
)
_PLACEMENTS: Final = re.compile(rf"0/({_COUNT}) placements are available, first placement status: ")
_NODES: Final = re.compile(rf"0/({_COUNT}) nodes are available: ?")
_COUNTED: Final = re.compile(rf"({_COUNT}) ")
_NEXT: Final = re.compile(rf", (?={_COUNT} )")
_PREEMPTION: Final = re.compile(r"(?:still not schedulable, )?(?:pod group )?preemption: ")
_CUT: Final = " ..."  # how the scheduler ends an event of more than 1,024 bytes
_VICTIMS: Final = re.compile(rf"preempting ({_COUNT}) ")

Outcome = Literal["victims", "ongoing", "none", "unhelpful", "never", "unfit"]


_OUTCOMES: Final[tuple[tuple[str, Outcome], ...]] = (
    ("ongoing preemption", "ongoing"),
    ("terminating pod on the nominated node", "ongoing"),
    ("preemptionPolicy=Never", "never"),
    ("No preemption victims found", "none"),
    ("not helpful for scheduling", "unhelpful"),
)


class Reason(Struct, frozen=True):
    """One reason. `count` is the number of nodes it was given for, all of them when it was found before nodes were looked at;
    0 when it is not about nodes."""

    kind: ReasonKind
    text: str
    count: int = 0
    detail: str = ""


class Arithmetic(Struct, frozen=True):
    """`scheduled` counts members that have a node or were given one in the attempt, `remaining` those not tried yet."""

    min_count: int
    scheduled: int
    remaining: int
    hopeless: bool  # even all that remain would be too few


class Preemption(Struct, frozen=True):
    """What the scheduler says of making room. "victims": `victims` pods have to go; "ongoing": they are going; "none": no pod
    of lower priority helps; "unhelpful": no node where fewer pods would help; "never": the pod's policy; "unfit": it would not
    fit even so, or what cannot be told."""

    outcome: Outcome
    text: str
    victims: int = 0


class Words(Struct, frozen=True):
    """A message taken apart. `nodes` is how many there are, None when the message does not say."""

    text: str
    nodes: int | None = None
    reasons: tuple[Reason, ...] = ()
    gang: Arithmetic | None = None
    placements: int | None = None
    preemption: Preemption | None = None

    @property
    def own(self) -> bool:
        """Whether it holds a reason of the pod itself, and does not only repeat what befell its group."""
        return any(reason.kind != "gang" for reason in self.reasons)


class Said(Struct, frozen=True):
    """What was said of one object, `at` Unix seconds (None: nobody knows). `members` of the gang were told exactly this; a
    condition keeps the time of the first telling, so an event with the same text says better when the last one was."""

    kind: str
    namespace: str
    name: str
    words: Words
    at: float | None
    members: int = 0


@functools.lru_cache(maxsize=256)
def parse(message: str) -> Words:
    """The message taken apart. Never fails: what is not recognised is a reason of the kind "other"."""
    before, preemption = _preemption(message)
    end = len(before)
    nodes = placements = gang = None
    at = 0
    while at < end:
        if match := _REPEATS.match(before, at):
            pass
        elif match := _ARITHMETIC.match(before, at):
            minimum, verdict, scheduled, remaining = match.groups()
            gang = Arithmetic(int(minimum), int(scheduled), int(remaining), verdict == "cannot be")
        elif match := _PLACEMENTS.match(before, at):
            placements = int(match[1])
        elif match := _NODES.match(before, at):
            nodes = int(match[1])
        else:
            break
        at = match.end()
    reasons = tuple(_reasons(before[at:].strip(" ,."), nodes))
    return Words(message, nodes, reasons, gang, placements, preemption)


def said(cluster: Cluster, gang: Gang) -> tuple[Said, ...]:
    """Everything the scheduler has said of a gang that waits, in conditions and events, each text once: reasons of members
    first, then what only repeats the group's; within both the newest first."""
    found: dict[str, Said] = {}
    group = scheduled_condition(gang.group)
    if group is not None and group.status == "False":
        _note(found, _said("PodGroup", *gang.key, group.message or group.reason, group.last_transition_time))
    waiting = [pod for pod in gang.members if not pod.finished and not pod.spec.node_name]
    for pod, refused in _refused(waiting):
        message = refused.message or refused.reason
        _note(found, _said("Pod", *pod.key, message, refused.last_transition_time, members=1))
    for pod in waiting:
        for event in cluster.events_of(pod.metadata.uid):
            if event.reason == "FailedScheduling":
                _note(found, _said("Pod", *pod.key, _whole(found, event.message), event.last_seen))
    return tuple(sorted(found.values(), key=lambda s: (not s.words.own, -(s.at or 0), s.kind, s.name)))


def _refused(pods: Iterable[Pod]) -> Iterator[tuple[Pod, Condition]]:
    for pod in pods:
        if pod.finished or pod.spec.node_name:
            continue
        found = pod_scheduled(pod)
        if found is not None and found.status == "False":
            yield pod, found


def _said(kind: str, namespace: str, name: str, message: str | None, time: str | None, members: int = 0) -> Said:
    return Said(kind, namespace, name, parse(message or ""), parse_time(time), members)


def _note(found: dict[str, Said], new: Said) -> None:
    """The first object that was told a text stands for all others."""
    if (known := found.get(new.words.text)) is None:
        found[new.words.text] = new
        return
    at = max((time for time in (known.at, new.at) if time is not None), default=None)
    found[new.words.text] = Said(known.kind, known.namespace, known.name, known.words, at, known.members + new.members)


def _whole(found: dict[str, Said], message: str | None) -> str:
    """The condition's text that an event was cut from, otherwise the event's own."""
    text = message or ""
    if not text.endswith(_CUT):
        return text
    return next((whole for whole in found if whole.startswith(text.removesuffix(_CUT))), text)


def _preemption(message: str) -> tuple[str, Preemption | None]:
    """The message before its part about preemption, and that part."""
    match = _PREEMPTION.search(message)
    if match is None:
        return message, None
    text = message[match.end() :].strip()
    return message[: match.start()], Preemption(*_outcome(text)) if text else None


def _outcome(text: str) -> tuple[Outcome, str, int]:
    if victims := _VICTIMS.search(text):
        return "victims", text, int(victims[1])
    for said_so, outcome in _OUTCOMES:
        if said_so in text:
            return outcome, text, 0
    return "unfit", text, 0


def _reasons(text: str, nodes: int | None) -> Iterator[Reason]:
    """Counted reasons, or the one that was found before nodes were looked at."""
    if not text:
        return
    if nodes is None or not _COUNTED.match(text):
        yield _reason(text, nodes or 0)
        return
    for part in _NEXT.split(text, maxsplit=_MOST_REASONS - 1):
        count, _, reason = part.partition(" ")
        yield _reason(reason, int(count))


def _reason(text: str, count: int) -> Reason:
    for kind, pattern in _PATTERNS:
        if match := pattern.match(text):
            return Reason(kind, text, count, (match[1] or "") if pattern.groups else "")
    for kind, signs in _INSIDE:
        if any(sign in text for sign in signs):
            return Reason(kind, text, count)
    return Reason("other", text, count)
