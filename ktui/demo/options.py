"""The options of a write, and which formats a request may use: checked as the API server checks them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct

from ktui.demo import status

_OPTIONS: Final = {"POST": "CreateOptions", "PUT": "UpdateOptions", "PATCH": "PatchOptions", "DELETE": "DeleteOptions"}
_VALIDATIONS: Final = ("", "Ignore", "Strict", "Warn")
_POLICIES: Final = ("Foreground", "Background", "Orphan")
_SPOKEN: Final = "application/json"
_FORMS: Final = ("", "PartialObjectMetadata", "PartialObjectMetadataList")


class WriteOptions(Struct, frozen=True):
    """`strict` refuses unknown fields; `warn` names them in a header; without either they are dropped in silence."""

    dry_run: bool = False
    strict: bool = False
    warn: bool = True


def write_options(method: str, dry_run: Sequence[str], validation: str) -> WriteOptions:
    """Raises Refused (422) for values that do not exist."""
    kind = _OPTIONS[method]
    if list(dry_run) not in ([], ["All"]):
        listed = ", ".join(f'"{each}"' for each in dry_run)
        raise _unsupported(kind, "dryRun", f"[{listed}]", ("All",))
    if validation not in _VALIDATIONS:
        raise _unsupported(kind, "fieldValidation", f'"{validation}"', _VALIDATIONS)
    return WriteOptions(bool(dry_run), validation == "Strict", validation in ("", "Warn"))


def check_propagation(policy: Any) -> None:
    """What becomes of dependents is the controllers' business; this server only knows the names of the policies."""
    if policy is not None and policy not in _POLICIES:
        raise _unsupported("DeleteOptions", "propagationPolicy", f'"{policy}"', (*_POLICIES, "nil"))


def grace_period(asked: Any) -> int | None:
    """gracePeriodSeconds of a deletion, None for the object's own. Raises Refused (400)."""
    try:
        return int(asked) if asked is not None else None
    except (TypeError, ValueError):
        raise status.bad_request(f"invalid gracePeriodSeconds: {str(asked)[:80]}") from None


def check_accept(header: str) -> None:
    """Raises Refused (406) when nothing in an Accept header is spoken here. JSON is, whole or as metadata only."""
    if header and not any(_speaks(each) for each in header.split(",")):
        raise status.not_acceptable(_SPOKEN)


def check_content_type(sent: str) -> None:
    """Raises Refused (415). `sent` is empty when the request does not say."""
    if sent not in ("", _SPOKEN):
        raise status.unsupported_media_type(_SPOKEN)


def _speaks(media_range: str) -> bool:
    media_type, *parameters = (part.strip() for part in media_range.split(";"))
    form = next((each.removeprefix("as=") for each in parameters if each.startswith("as=")), "")
    return media_type in (_SPOKEN, "*/*") and form in _FORMS


def _unsupported(kind: str, field: str, value: str, supported: Sequence[str]) -> status.Refused:
    listed = ", ".join(f'"{each}"' for each in supported)
    message = f"Unsupported value: {value}: supported values: {listed}"
    return status.bad_options(kind, "FieldValueNotSupported", field, message)
