"""Whose a gang is: Kubernetes' own, Kueue's or Volcano's, told by its key.

A gang of Kubernetes has the key of its group. One of another program has that program in front of the object's name, with a
colon, which no name of an object has: two groups of one name in different programs are two gangs.
"""

from __future__ import annotations

from typing import Final, Literal

from ktui.model.meta import Key

GangSource = Literal["podgroup", "kueue", "volcano"]

GANG_KINDS: Final[dict[GangSource, str]] = {
    "podgroup": "PodGroup",
    "kueue": "KueueWorkload",
    "volcano": "VolcanoPodGroup",
}
"""The kind that makes a gang, by source."""


def gang_key(source: GangSource, namespace: str, name: str) -> Key:
    """The gang of an object."""
    return (namespace, name) if source == "podgroup" else (namespace, f"{source}:{name}")


def gang_source(key: Key) -> GangSource:
    front, colon, _ = key[1].partition(":")
    if colon and front == "kueue":
        return "kueue"
    return "volcano" if colon and front == "volcano" else "podgroup"


def object_key(key: Key) -> Key:
    """The key of the object behind a gang."""
    return key if gang_source(key) == "podgroup" else (key[0], key[1].partition(":")[2])


def gang_text(key: Key) -> str:
    """A gang by its object's name: "NAMESPACE/NAME", and whose it is where it is not Kubernetes' own."""
    source = gang_source(key)
    return "/".join(object_key(key)) + ("" if source == "podgroup" else f" ({source})")
