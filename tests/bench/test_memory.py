"""What objects take cannot grow unnoticed: against what one small mapping takes, so that it holds for any interpreter."""

from __future__ import annotations

import pytest

from ktui.cluster import inventory
from ktui.model.meta import ObjectMeta
from tests.bench import memory
from tests.bench.memory import Costs, Walk

PODS = 640

ONE_MAPPING = Walk().bytes_of(
    {"name": "worker-0001", "uid": "8f6c5c7e-0b5e-4c36-9a3b-1de3a1f4b001", "resourceVersion": "1234567"}
)


@pytest.fixture(scope="module")
def found() -> dict[str, Costs]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inventory, "WORTH_IT", -1)  # as of a fleet
        return {"demo": memory.costs(memory.demo(PODS)), "recording": memory.costs(memory.generated(PODS))}


@pytest.mark.parametrize(
    ("of", "kinds", "most"),
    [
        ("demo", ("Pod", "ResourceClaim"), 3.1),
        ("demo", ("ResourceSlice",), 1.0),
        ("recording", ("Pod", "ResourceClaim"), 2.8),
        ("recording", ("ResourceSlice",), 1.0),
    ],
)
def test_an_object_takes_not_much_more_than_its_names(
    found: dict[str, Costs], of: str, kinds: tuple[str, ...], most: float
) -> None:
    """A pod and its claim together: each has texts of the other."""
    each = [found[of].kinds[kind] for kind in kinds]
    kept, alone = sum(cost.kept for cost in each), sum(cost.alone for cost in each)
    assert kept < most * ONE_MAPPING
    assert kept < alone / 2


@pytest.mark.parametrize("of", ["demo", "recording"])
def test_keys_and_indexes_take_less_than_what_they_find(found: dict[str, Costs], of: str) -> None:
    kinds = found[of].kinds
    assert found[of].finding < (kinds["Pod"].kept + kinds["ResourceClaim"].kept) / 1.6


def test_everything_is_counted_once() -> None:
    text, walk = "x" * 1_000, Walk()
    alone = Walk().bytes_of(text)
    assert alone > 1_000
    twice = (ObjectMeta(name=text), [text, {text: {text}}])
    assert alone < walk.bytes_of(twice) < 2 * alone
    assert walk.bytes_of(twice) == 0
    assert walk.bytes_of("y" * 1_000) == alone
    assert walk.bytes_of([str, memory, memory.main, True, None]) < 200


def test_the_table_has_a_line_for_each_kind(found: dict[str, Costs]) -> None:
    lines = list(memory.table(found))
    assert len(lines) == 3 + len(memory.NAMED)
    assert len({line.count("|") for line in lines}) == 1
    assert all(name in "\n".join(lines) for name in memory.NAMED.values())
