"""What a scenario is: what is made, what is then true, and how that is proven."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tests.scenarios.stage import Stage

Json = dict[str, Any]


class Truth(NamedTuple):
    """What holds of one gang or pod: its state, its cause (None when it does not wait), and the facts that prove the cause.

    Of the facts, only those that follow from the rules without any choice are here. `or_else` are causes that are
    true as well but say less: a quota keeps pods from being made, and so the gang waits for pods. They count as undecided.
    """

    state: str
    cause: str | None
    facts: Mapping[str, object] = {}
    or_else: tuple[str, ...] = ()


class Step(NamedTuple):
    """Something that is done to the cluster, and what it is in words."""

    text: str
    act: Callable[[Stage], object]


class Scenario(NamedTuple):
    """`world` is there first, then `occupants` run, then `subjects` arrive: those whose trouble is known.

    `gangs` and `pods` are the truths, by name. Steps of `herrings` do not help, those of `fix` do: after them `fixed` (all
    that wait, where it is not given) run. `later` happens after the subjects have been tried and before the recording is
    made. With `frozen`, the scheduler stands still from before the subjects arrive until the first step of `fix`.
    `gates` are feature gates that it needs beyond the usual ones.
    """

    name: str
    why: str
    gangs: Mapping[str, Truth]
    world: list[Json]
    subjects: list[Json]
    pods: Mapping[str, Truth] = {}
    occupants: Sequence[Json] = ()
    later: Callable[[Stage], object] | None = None
    herrings: tuple[Step, ...] = ()
    fix: tuple[Step, ...] = ()
    fixed: tuple[str, ...] = ()
    frozen: bool = False
    namespace: str = "lena"
    gates: tuple[str, ...] = ()

    @property
    def waiting(self) -> tuple[str, ...]:
        """Names of the gangs and pods that must run after the fix."""
        return self.fixed or tuple(
            name for name, truth in (*self.gangs.items(), *self.pods.items()) if truth.cause is not None
        )
