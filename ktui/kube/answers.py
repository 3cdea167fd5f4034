"""What a server answered, as what was asked for."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from ktui.kube.failures import UnexpectedAnswer
from ktui.kube.transport import Response
from ktui.model.decode import NOT_DECODED

T = TypeVar("T")


def decoded(kind: type[T], answer: Response, host: str) -> T:
    """The document in an answer's body. Raises UnexpectedAnswer, which names the host, when it is something else."""
    try:
        return msgspec.json.decode(answer.body, type=kind)
    except NOT_DECODED:
        raise UnexpectedAnswer(
            f"unexpected answer from host {host}: not what a Kubernetes API says at this address"
        ) from None
