"""The gangs that only make a fleet larger: alike but for a few words, so the words are kept and the objects written on demand.

One squad is one Job of 64 pods on eight nodes of its own, every GPU in use. A hundred thousand pods are 1,563 squads; as objects
they would take a gigabyte.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Hashable, Iterator
from functools import partial
from typing import Final

import msgspec

from ktui.demo import gangs, objects
from ktui.demo.mvcc import JSON, Key, Lazy, plain
from ktui.demo.objects import DRIVER
from ktui.demo.releases import LATEST, Release

PODS: Final = 64
PER_NODE: Final = 8
_TEAMS: Final = 24
_DEDICATED: Final = "example.com/dedicated"
_OF_GANG: Final = {"Workload": 2, "PodGroup": 3}
"""The kinds that a gang may be written as, with what makes their uids different."""


class Form:
    """The JSON of objects that differ in words. In the sample these stand between at signs: "@node@"."""

    def __init__(self, sample: JSON, *words: str) -> None:
        text = msgspec.json.encode(sample).decode().replace("%", "%%")
        for word in words:
            text = text.replace(f"@{word}@", f"%({word})s")
        self._text = text

    def fill(self, words: dict[str, object]) -> bytes:
        return (self._text % words).encode()


class Forms:
    """One form for each kind of which a squad has objects. `gang` is those that its gang is written as."""

    def __init__(self, release: Release = LATEST) -> None:
        self.release = release
        then = "@then@"
        template = objects.claim_template("@team@", "@gang@-gpus", then, count=1)
        spec = objects.pod_spec("registry.example.com/train:1.9", template="@gang@-gpus", cpu="16")
        spec["tolerations"] = [{"key": _DEDICATED, "operator": "Exists", "effect": "NoSchedule"}]
        spec["nodeSelector"] = {_DEDICATED: "@team@"}
        job = _with_uid(gangs.job(release, "@team@", "@gang@", then, pods=PODS, spec=spec), "@job@")
        gang = dict(gangs.written(release, "@team@", "@gang@", then, min_count=PODS, job_=job))
        if "PodGroup" in gang:
            gang["PodGroup"] = gangs.placed(release, gang["PodGroup"], then)
        pod = _with_uid(objects.job_pod(job, 0, then), "@uid@")
        pod["metadata"] |= {"name": "@pod@", "labels": {objects.JOB_NAME: "@gang@", objects.JOB_INDEX: "@index@"}}
        entry = spec["resourceClaims"][0]
        claim = objects.claim_for(pod, entry, template, then)
        claim["metadata"]["name"] = "@claim@"
        device = ("gpu", (DRIVER, "@node@", "@gpu@"))
        claim = _with_uid(objects.allocated(claim, [device], "@node@", pod, then), "@claim_uid@")
        pod = objects.with_claim(pod, entry["name"], "@claim@")
        node = objects.node("@node@", then, zone="zone-b", kubelet=release.git_version)
        node["metadata"]["labels"][_DEDICATED] = "@team@"
        node["spec"]["taints"] = [{"key": _DEDICATED, "value": "@team@", "effect": "NoSchedule"}]
        self.template = _form(_with_uid(template, "@uid@"))
        self.job = _form(job)
        self.gang = {kind: _form(_with_uid(obj, "@uid@")) for kind, obj in gang.items()}
        self.pod = _form(objects.running(objects.bound(pod, "@node@", then), then))
        self.claim = _form(claim)
        self.node = _form(_with_uid(node, "@uid@"))
        self.slice = _form(_with_uid(objects.resource_slice("@node@", then), "@uid@"))


_WORDS: Final = (
    *("team", "gang", "then", "revision", "job", "uid", "node"),
    *("pod", "index", "claim", "claim_uid", "gpu"),
)


def _form(sample: JSON) -> Form:
    return Form({**sample, "metadata": {**sample["metadata"], "resourceVersion": "@revision@"}}, *_WORDS)


def _with_uid(sample: JSON, uid: str) -> JSON:
    return {**sample, "metadata": {**sample["metadata"], "uid": uid}}


class Squad:
    """Squad `number` of a fleet, as it was laid: made at `then` (RFC 3339), at one revision. `seed` makes its random parts."""

    def __init__(self, forms: Forms, number: int, seed: int, revision: int, then: str) -> None:
        self._forms = forms
        self._number = number
        self._seed = seed
        self._team = f"team-{number % _TEAMS:02}"
        self._gang = f"pretrain-{number:04}"
        self._words: dict[str, object] = {
            "team": self._team,
            "gang": self._gang,
            "then": then,
            "revision": revision,
            "job": self._uid(0, 0),
        }

    @property
    def names(self) -> list[Hashable]:
        """What its objects are found by: the gang's key, the Job's uid, the names of its nodes, which are those of its pools."""
        gang = gangs.key(self._forms.release, self._team, self._gang)
        return [gang, self._uid(0, 0), *map(self._node_name, range(PODS // PER_NODE))]

    def laid(self) -> Iterator[tuple[str, dict[Key, Lazy]]]:
        """Its objects by kind, as the database keeps them."""
        team, gang = self._team, self._gang
        nodes = [("", self._node_name(place)) for place in range(PODS // PER_NODE)]
        yield "ResourceClaimTemplate", _lazy([(team, f"{gang}-gpus")], self._template)
        yield "Job", _lazy([(team, gang)], self._job)
        for kind, number in _OF_GANG.items():
            if kind in self._forms.gang:
                yield kind, {(team, gang): Lazy(partial(self._of_gang, kind), number)}
        yield "Node", _lazy(nodes, self._node)
        yield "ResourceSlice", _lazy([("", f"{name}-{DRIVER}") for _, name in nodes], self._slice)
        yield "Pod", _lazy([(team, self._pod_name(index)) for index in range(PODS)], self._pod)
        yield "ResourceClaim", _lazy([(team, self._claim_name(index)) for index in range(PODS)], self._claim)

    def objects(self) -> Iterator[tuple[str, Key, JSON]]:
        """(kind, key, object) of each."""
        for kind, laid in self.laid():
            for key, each in laid.items():
                yield kind, key, plain(each)

    def _template(self, _: int) -> bytes:
        return self._forms.template.fill({**self._words, "uid": self._uid(1, 0)})

    def _job(self, _: int) -> bytes:
        return self._forms.job.fill(self._words)

    def _of_gang(self, kind: str, number: int) -> bytes:
        return self._forms.gang[kind].fill({**self._words, "uid": self._uid(number, 0)})

    def _node(self, place: int) -> bytes:
        return self._forms.node.fill({**self._words, "node": self._node_name(place), "uid": self._uid(4, place)})

    def _slice(self, place: int) -> bytes:
        return self._forms.slice.fill({**self._words, "node": self._node_name(place), "uid": self._uid(5, place)})

    def _pod(self, index: int) -> bytes:
        return self._forms.pod.fill(self._of_pod(index))

    def _claim(self, index: int) -> bytes:
        return self._forms.claim.fill(self._of_pod(index))

    def _of_pod(self, index: int) -> dict[str, object]:
        return {
            **self._words,
            "index": index,
            "pod": self._pod_name(index),
            "uid": self._uid(6, index),
            "claim": self._claim_name(index),
            "claim_uid": self._uid(7, index),
            "node": self._node_name(index // PER_NODE),
            "gpu": f"gpu-{index % PER_NODE}",
        }

    def _node_name(self, place: int) -> str:
        return f"gpu-{self._number:04}-{place}"

    def _pod_name(self, index: int) -> str:
        return f"{self._gang}-{index}-{self._random(index):05x}"

    def _claim_name(self, index: int) -> str:
        return f"{self._pod_name(index)}-gpu-{self._random(PODS + index):05x}"

    def _random(self, index: int) -> int:
        return zlib.crc32(b"%d %d %d" % (self._seed, self._number, index)) & 0xFFFFF

    def _uid(self, kind: int, index: int) -> str:
        return f"{self._seed:08x}-{self._number & 0xFFFF:04x}-4{kind:03x}-8000-{index:012x}"


def _lazy(keys: list[Key], write: Callable[[int], bytes]) -> dict[Key, Lazy]:
    return {key: Lazy(write, number) for number, key in enumerate(keys)}
