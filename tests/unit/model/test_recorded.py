"""Every object of every recording: the fast decoder and the one for odd documents agree."""

from __future__ import annotations

import json

import msgspec
import pytest

from ktui.model import lenient, reshape
from ktui.model.decode import decode_event, decode_list, decode_object, from_builtins
from ktui.model.kinds import KINDS
from tests.recordings import PATHS, raw_objects

KIND_OF_RECORDING = [(name, kind) for name in PATHS for kind in KINDS]


@pytest.mark.parametrize(("name", "kind_name"), KIND_OF_RECORDING)
def test_fast_and_lenient_agree(name: str, kind_name: str) -> None:
    kind = KINDS[kind_name]
    for path, document in raw_objects(name, kind_name):
        version = path.split("/")[-2]
        data = json.dumps(document).encode()
        shaped = reshape.apply(kind_name, version, document)
        fast = msgspec.json.decode(json.dumps(shaped), type=kind.type)
        assert lenient.convert(shaped, kind.type) == fast
        assert decode_object(kind, version, data) == fast
        assert from_builtins(kind, version, document) == fast
        line = json.dumps({"type": "MODIFIED", "object": document}).encode()
        assert decode_event(kind, version, line).object == fast
        page = json.dumps({"kind": f"{kind_name}List", "metadata": {}, "items": [document]}).encode()
        assert decode_list(kind, version, page).items == (fast,)


@pytest.mark.parametrize(("name", "kind_name"), KIND_OF_RECORDING)
def test_field_by_field_gives_what_the_whole_gives(name: str, kind_name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lenient, "_whole", lenient._struct)  # as if something were wrong with every part
    kind = KINDS[kind_name]
    for path, document in raw_objects(name, kind_name):
        shaped = reshape.apply(kind_name, path.split("/")[-2], document)
        assert lenient.convert(shaped, kind.type) == msgspec.convert(shaped, kind.type)


def test_all_four_recordings_are_there() -> None:
    assert set(PATHS) >= {"xid79", "causes", "v1.35", "v1.36"}
