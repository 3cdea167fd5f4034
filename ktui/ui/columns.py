"""Which columns of a view fit, and how wide each is: from what the view declares, never from content.

Widths measured from content would move the columns under the eye of whoever reads them, and cost a pass over all rows.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct

from ktui.views.base import Column

GAP = 1  # cells between two columns


class Placed(Struct, frozen=True):
    """A column that is shown. `index` is its place in the view's columns and in a row's cells; `width` in cells."""

    index: int
    width: int


def place(columns: Sequence[Column], width: int, hidden: Collection[int] = ()) -> tuple[Placed, ...]:
    """Columns, in order, that share `width` cells; those that are `hidden` have no part in it.

    Wide columns go first, then the one of lowest priority (the right-most of equals), until the minimum widths fit; one
    always stays, cut to the width if it must. What is left over is shared by weight.
    """
    shown = [index for index in range(len(columns)) if index not in hidden]
    while len(shown) > 1 and _minimum(columns, shown) > width:
        shown.remove(min(reversed(shown), key=lambda index: (not columns[index].wide, columns[index].priority)))
    if not shown:
        return ()
    spare = max(0, width - _minimum(columns, shown))
    shares = _shares(spare, [columns[index].weight for index in shown])
    return tuple(
        Placed(index, max(0, min(columns[index].width, width)) + share)
        for index, share in zip(shown, shares, strict=True)
    )


def _minimum(columns: Sequence[Column], shown: Sequence[int]) -> int:
    return sum(columns[index].width for index in shown) + GAP * (len(shown) - 1)


def _shares(spare: int, weights: Sequence[int]) -> list[int]:
    """`spare` cells in proportion to the weights, all of it used; nothing when no column wants more."""
    total = sum(weights)
    if not total:
        return [0] * len(weights)
    shares: list[int] = []
    given = seen = 0
    for weight in weights:
        seen += weight
        shares.append(spare * seen // total - given)
        given = spare * seen // total
    return shares
