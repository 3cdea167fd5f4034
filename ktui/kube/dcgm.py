"""The page of a DCGM exporter (Prometheus' text format) → figures of GPUs.

What each series means: the exporter's list of default counters. Only the lines that are shown are parsed, each by itself, so
that a line that is no series costs that line; what DCGM writes for "no value" (numbers near the largest of their type) is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from ktui.model.resourceslice import DeviceId
from ktui.model.usage import GpuUsage

_FIELDS: Final = {
    "DCGM_FI_DEV_GPU_UTIL": "utilization",
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": "engine_active",
    "DCGM_FI_DEV_FB_USED": "used",
    "DCGM_FI_DEV_FB_FREE": "free",
    "DCGM_FI_DEV_FB_RESERVED": "reserved",
    "DCGM_FI_DEV_FB_TOTAL": "total",
    "DCGM_FI_DEV_GPU_TEMP": "temperature",
    "DCGM_FI_DEV_POWER_USAGE": "power",
    "DCGM_FI_DEV_XID_ERRORS": "last_xid",
    "DCGM_EXP_XID_ERRORS_COUNT": "recent_xids",
}
_WANTED: Final = re.compile(rf"^(?:{'|'.join(_FIELDS)})(?=[ \t{{]).*$", re.MULTILINE)
_MOST_LINES: Final = 4_096
"""Ten series of 16 GPUs with seven instances each are a quarter of that."""
_LONGEST_LINE: Final = 4_096
_MOST_ESCAPES: Final = 64
"""The parser takes a time that grows with the square of their number."""
_LONGEST_LABEL: Final = 253
_BLANK: Final = 2_147_483_632.0
"""DCGM_INT32_BLANK; all of its other blanks are larger."""
_MIB: Final = 1024 * 1024


class _Identity(NamedTuple):
    uuid: str
    instance: str


class _Series(NamedTuple):
    name: str
    labels: dict[str, str]
    value: float


def parse_gpus(page: str) -> tuple[GpuUsage, ...]:
    """The GPUs on a page, in its order. The first use imports the parser: call it in a thread."""
    numbers: dict[_Identity, dict[str, float]] = {}
    labels: dict[_Identity, dict[str, str]] = {}
    xids: dict[_Identity, dict[int, int]] = {}
    for name, found, value in _series(page):
        identity = _Identity(found.get("UUID", "")[:_LONGEST_LABEL], found.get("GPU_I_ID", "")[:_LONGEST_LABEL])
        if not identity.uuid:
            continue
        labels.setdefault(identity, {}).update(found)
        field = _FIELDS[name]
        if field == "recent_xids":
            if (number := _whole(found.get("xid", ""))) and value >= 1:
                xids.setdefault(identity, {})[number] = int(value)
        else:
            # A device that several pods share has a series for each of them, all with the same value.
            numbers.setdefault(identity, {})[field] = value
    return tuple(
        _gpu(identity, numbers.get(identity, {}), labels[identity], xids.get(identity, {})) for identity in labels
    )


def _series(page: str) -> Iterator[_Series]:
    from prometheus_client.parser import text_string_to_metric_families

    for count, line in enumerate(_WANTED.finditer(page)):
        if count >= _MOST_LINES:
            return
        if len(line[0]) > _LONGEST_LINE or line[0].count("\\") > _MOST_ESCAPES:
            continue
        try:
            samples = [sample for family in text_string_to_metric_families(line[0]) for sample in family.samples]
        except (ValueError, IndexError, KeyError, OverflowError):
            continue
        for sample in samples:
            if (
                sample.name in _FIELDS and 0 <= sample.value < _BLANK
            ):  # which NaN is not, nor a number too large for a float
                yield _Series(sample.name, sample.labels, float(sample.value))


def _gpu(identity: _Identity, found: dict[str, float], labels: dict[str, str], xids: dict[int, int]) -> GpuUsage:
    active = found.get("engine_active")
    return GpuUsage(
        uuid=identity.uuid,
        instance=identity.instance,
        profile=labels.get("GPU_I_PROFILE", "")[:_LONGEST_LABEL],
        device=_device(labels),
        mig_uuid=labels.get("dra_mig_device_uuid", "")[:_LONGEST_LABEL],
        utilization=_percent(found.get("utilization")),
        engine_active=_percent(active * 100 if active is not None else None),
        memory_used=_bytes(found.get("used")),
        memory_total=_total(found),
        temperature=found.get("temperature"),
        power=found.get("power"),
        last_xid=int(found["last_xid"]) if "last_xid" in found else None,
        recent_xids=tuple(sorted(xids.items())),
    )


def _device(labels: dict[str, str]) -> DeviceId | None:
    driver, pool, device = (labels.get(f"dra_{part}_name", "") for part in ("driver", "pool", "device"))
    return (driver, pool, device) if driver and pool and device else None


def _percent(value: float | None) -> float | None:
    return value if value is not None and value <= 100 else None


def _total(found: dict[str, float]) -> int | None:
    if "total" in found:
        return _bytes(found["total"])
    if "used" not in found or "free" not in found:
        return None
    return _bytes(found["used"] + found["free"] + found.get("reserved", 0.0))


def _bytes(mebibytes: float | None) -> int | None:
    return int(mebibytes * _MIB) if mebibytes is not None else None


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
