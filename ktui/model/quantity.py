"""Kubernetes quantities, exactly (k8s.io/apimachinery resource.Quantity).

A decimal number with one suffix: n u m (10⁻⁹ … 10⁻³), none, k M G T P E, Ki Mi Gi Ti Pi Ei, or a decimal exponent (1e3, 1E3).
"1E" is 10¹⁸, not an unfinished exponent.
"""

from __future__ import annotations

import functools
import re
from decimal import Context, Decimal, InvalidOperation

_FORM = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(?:([eE][+-]?[0-9]+)|([numkMGTPE]|[KMGTPE]i)?)\Z")
_MAX_LENGTH = 64  # no real quantity is longer; guards against megabytes of digits
_SCALE: dict[str | None, Decimal] = {
    None: Decimal(1),
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "k": Decimal(1000),
    **{s: Decimal(10) ** (3 * (i + 2)) for i, s in enumerate("MGTPE")},
    **{f"{s}i": Decimal(1024) ** (i + 1) for i, s in enumerate("KMGTPE")},
}
_EXACT = Context(prec=100, Emax=99, Emin=-99)


@functools.lru_cache(maxsize=4096)
def parse_quantity(text: str | float | None) -> Decimal | None:
    """The amount, or None when `text` is not a quantity (show it as written then)."""
    if text is None or isinstance(text, bool):
        return None
    written = str(text)
    if len(written) > _MAX_LENGTH or not (match := _FORM.match(written)):
        return None
    digits, exponent, suffix = match.groups()
    try:
        amount = _EXACT.create_decimal(digits + (exponent or ""))
        return _EXACT.multiply(amount, _SCALE[suffix])
    except (InvalidOperation, ArithmeticError):
        return None


_BINARY = tuple(zip(("Ei", "Pi", "Ti", "Gi", "Mi", "Ki"), (1024**n for n in range(6, 0, -1)), strict=True))


def format_bytes(amount: Decimal | int) -> str:
    """An amount of bytes in the largest binary unit that leaves at least 1, with at most one decimal: "141Gi", "1.5Ti"."""
    for suffix, size in _BINARY:
        if abs(amount) >= size:
            return f"{Decimal(amount) / size:.1f}".removesuffix(".0") + suffix
    return str(int(amount))
