"""Quantities as CEL sees them: an exact amount, and whether it can be taken as an integer.

Kubernetes keeps a quantity as a 64-bit number with a decimal scale where it fits, else as a big decimal, and `isInteger` and
`asInteger` answer from that form, not from the amount: "1000m" is not an integer, nor is "1.0" (apimachinery, resource.Quantity).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import ROUND_UP, Context, Decimal
from typing import Final

from ktui.model.quantity import parse_quantity

_INT64: Final = range(-(2**63), 2**63)
_NANO: Final = Decimal("1e-9")
_EXACT: Final = Context(prec=120)
_SURELY_READ: Final = (
    16  # a shorter text that does not parse is no quantity; a longer one may be too large to read exactly
)
_FORM: Final = re.compile(r"([+-]?)0*([0-9]*)(?:\.([0-9]*))?([eE][+-]?[0-9]+|[a-zA-Z]*)\Z")
_DECIMAL_EXPONENT: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY_EXPONENT: Final = {f"{letter}i": 10 * (n + 1) for n, letter in enumerate("KMGTPE")}


class Unclear(Exception):
    """What Kubernetes answers here is not known for certain."""


@dataclass(frozen=True, slots=True, order=True)
class Quantity:
    """Compared by amount. `form` is (number, decimal scale) where Kubernetes keeps it in 64 bits, else None."""

    amount: Decimal
    form: tuple[int, int] | None = field(compare=False)
    computed: bool = field(default=False, compare=False)
    """Whether add() or sub() gave it: Kubernetes 1.37 fails on == with such a quantity on the right."""

    @property
    def integer(self) -> int | None:
        """What asInteger() gives; None where it fails."""
        if self.form is None or self.form[1] < 0:
            return None
        value = self.form[0] * 10 ** self.form[1]
        return value if value in _INT64 else None

    def as_float(self) -> float:
        """What asApproximateFloat() gives. Raises Unclear for amounts beyond 64 bits."""
        if self.form is None:
            raise Unclear("the approximate value of a quantity beyond 64 bits")
        return self.form[0] * float(f"1e{self.form[1]}") if self.form[1] else float(self.form[0])

    def plus(self, other: Quantity, sign: int = 1) -> Quantity:
        """The sum, or the difference where sign is -1."""
        amount = _EXACT.add(self.amount, sign * other.amount)
        return Quantity(amount, _sum(self.form, other.form, sign), computed=True)


def whole(number: int) -> Quantity:
    """A quantity from an integer."""
    return Quantity(Decimal(number), (number, 0))


def to_quantity(text: str) -> Quantity | None:
    """None for what is no quantity. Raises Unclear for a form that is one, but beyond what is computed here."""
    match = _FORM.match(text)
    if match is None or not text:
        return None
    negative, digits, decimals, suffix = match[1] == "-", match[2], match[3] or "", match[4]
    has_digits = re.search("[0-9]", text[: match.start(4)]) is not None
    # Kubernetes takes "." and "Ki" for zero, though not "Pi".
    amount = parse_quantity(text if has_digits else f"0{suffix}")
    if amount is None:
        if len(text) > _SURELY_READ or suffix[1:].lstrip("+-").isdigit():
            raise Unclear("a quantity with very many digits")
        return None
    form = _form(digits, decimals, suffix)
    if form is None and not has_digits:
        return None
    if form is not None:
        return Quantity(amount, (-form[0], form[1]) if negative else form)
    return Quantity(_bounded(amount, suffix), None)


def _form(digits: str, decimals: str, suffix: str) -> tuple[int, int] | None:
    if suffix in _BINARY_EXPONENT:
        exponent = _BINARY_EXPONENT[suffix]
        # Kubernetes' own estimate of the digits that are left; a number that would fit can still fail it.
        if decimals or 15 - max(len(digits), 1) - exponent * 3 // 10 - 1 < 0:
            return None
        value, scale = int(digits or "0") << exponent, 0
    else:
        scale = (_DECIMAL_EXPONENT[suffix] if suffix in _DECIMAL_EXPONENT else int(suffix[1:])) - len(decimals)
        if max(len(digits), 1) + len(decimals) > 18 or scale < -9:
            return None
        value = int(digits + decimals or "0")
    return (value, scale) if value in _INT64 else None


def _bounded(amount: Decimal, suffix: str) -> Decimal:
    """Away from zero to whole nanos, and binary amounts not above 64 bits, as Kubernetes keeps them."""
    rounded = amount.quantize(_NANO, rounding=ROUND_UP, context=_EXACT)
    if suffix in _BINARY_EXPONENT and abs(rounded) > _INT64[-1]:
        return Decimal(_INT64[-1]).copy_sign(rounded)
    return rounded


def _sum(a: tuple[int, int] | None, b: tuple[int, int] | None, sign: int) -> tuple[int, int] | None:
    if a is None or b is None:
        return None
    if b[0] == 0:
        return a
    if a[0] == 0:
        return (sign * b[0], b[1])
    scale = min(a[1], b[1])
    left, right = (number * 10 ** (own - scale) for number, own in (a, b))
    value = left + sign * right
    return (value, scale) if all(number in _INT64 for number in (left, right, value)) else None
