"""Derived attributes: what an expression gives a device, as the scheduler's own rules convert it."""

from __future__ import annotations

import pytest

from ktui.cel.derived import derived_attribute
from ktui.model.resourceslice import Attribute, Device

DRIVER = "gpu.example.com"
DEVICE = Device(
    "gpu-0",
    {
        "slot": Attribute(string="n1-s3"),
        "numa": Attribute(integer=1),
        "fast": Attribute(boolean=True),
        "firmware": Attribute(version="1.2.3+build"),
        "near": Attribute(integers=(0, 1)),
    },
)
OWN = f"device.attributes['{DRIVER}']"


@pytest.mark.parametrize(
    ("expression", "attribute"),
    [
        (f"{OWN}.slot", Attribute(string="n1-s3")),
        (f"{OWN}.numa * 16", Attribute(integer=16)),
        (f"{OWN}.fast", Attribute(boolean=True)),
        (f"{OWN}.firmware", Attribute(version="1.2.3+build")),
        (f"{OWN}.near", Attribute(integers=(0, 1))),
        (f"[{OWN}.slot, 'other']", Attribute(strings=("n1-s3", "other"))),
        (f"{OWN}.numa == 1 ? 'left' : 'right'", Attribute(string="left")),
        ("device.driver", Attribute(string=DRIVER)),
        ("[]", Attribute(strings=())),
    ],
)
def test_what_it_comes_to(expression: str, attribute: Attribute) -> None:
    assert derived_attribute(expression, DRIVER, DEVICE) == attribute


@pytest.mark.parametrize(
    "expression",
    [f"{OWN}.missing", "1.5", f"[{OWN}.numa, {OWN}.slot]", "{'a': 1}", f"{OWN}.slot +", "", f"{OWN}.numa / 0"],
)
def test_what_fails_or_is_of_no_type_of_attributes_is_not_known(expression: str) -> None:
    assert derived_attribute(expression, DRIVER, DEVICE) is None
