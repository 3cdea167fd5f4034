"""Older API versions come out in the newest shape (the API reference, 1.10 and 2.3)."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.model import reshape
from ktui.model.claim import ResourceClaim, ResourceClaimTemplate
from ktui.model.podgroup import PodGroup
from ktui.model.resourceslice import ResourceSlice
from ktui.model.workload import Workload
from tests.unit.builders import make


def test_1_36_a_pod_group_names_its_workload() -> None:
    reference = {"workload": {"workloadName": "train", "podGroupTemplateName": "workers"}}
    spec = {
        "podGroupTemplateRef": reference,
        "disruptionMode": "PodGroup",
        "schedulingPolicy": {"gang": {"minCount": 4}},
    }
    group = make(PodGroup, {"metadata": {"name": "g"}, "spec": spec}, "v1alpha2")
    assert group.spec.workload_ref is not None
    assert (group.spec.workload_ref.workload_name, group.spec.workload_ref.template_name) == ("train", "workers")
    assert group.spec.disruption_mode is not None
    assert group.spec.disruption_mode.all is not None
    assert group.min_count == 4


@pytest.mark.parametrize(("word", "single", "all_"), [("Pod", True, False), ("PodGroup", False, True)])
def test_1_36_a_disruption_mode_is_a_word(word: str, single: bool, all_: bool) -> None:
    group = make(PodGroup, {"spec": {"podGroupTemplateRef": None, "disruptionMode": word}}, "v1alpha2")
    assert group.spec.workload_ref is None
    mode = group.spec.disruption_mode
    assert mode is not None
    assert (mode.single is not None, mode.all is not None) == (single, all_)


def test_1_36_a_disruption_mode_nobody_knows_is_none() -> None:
    assert make(PodGroup, {"spec": {"disruptionMode": "Never"}}, "v1alpha2").spec.disruption_mode is None


def test_1_36_templates_of_a_workload() -> None:
    spec = {"podGroupTemplates": [{"name": "t", "disruptionMode": "PodGroup"}, "odd"]}
    (template,) = make(Workload, {"spec": spec}, "v1alpha2").spec.pod_group_templates or ()
    assert template.disruption_mode is not None
    assert template.disruption_mode.all is not None


def test_1_35_groups_inside_a_workload_need_no_reshaping() -> None:
    spec = {"podGroups": [{"name": "a", "policy": {"gang": {"minCount": 3}}}, {"name": "b", "policy": {"basic": {}}}]}
    groups = make(Workload, {"spec": spec}, "v1alpha1").spec.pod_groups or ()
    assert [(g.name, g.min_count) for g in groups] == [("a", 3), ("b", 1)]


def test_v1beta1_requests_have_their_members_on_themselves() -> None:
    requests = [
        {"name": "gpu", "deviceClassName": "gpu.example.com", "allocationMode": "ExactCount", "count": 2},
        {"name": "any", "firstAvailable": [{"name": "big", "deviceClassName": "big.example.com"}]},
    ]
    claim = make(ResourceClaim, {"spec": {"devices": {"requests": requests}}}, "v1beta1")
    one, other = claim.spec.devices.requests or ()
    assert one.exactly is not None
    assert (one.name, one.exactly.device_class_name, one.exactly.count) == ("gpu", "gpu.example.com", 2)
    assert other.exactly is None
    assert [o.name for o in other.first_available or ()] == ["big"]
    template = make(ResourceClaimTemplate, {"spec": {"spec": {"devices": {"requests": requests}}}}, "v1beta1")
    assert template.spec.spec == claim.spec


def test_v1beta1_devices_are_nested_under_basic() -> None:
    devices = [{"name": "gpu-0", "basic": {"attributes": {"model": {"string": "H200"}}, "taints": [{"key": "k"}]}}]
    (device,) = make(ResourceSlice, {"spec": {"devices": devices}}, "v1beta1").spec.devices or ()
    assert device.name == "gpu-0"
    assert device.attributes is not None
    assert device.attributes["model"].string == "H200"
    assert [t.key for t in device.taints or ()] == ["k"]


@pytest.mark.parametrize("odd", [None, [], "x", {"devices": 3}, {"devices": {"requests": "x"}}, {"spec": []}])
@pytest.mark.parametrize(("kind", "version"), sorted(reshape._RESHAPERS))
def test_odd_documents_pass_through(kind: str, version: str, odd: Any) -> None:
    document = {"metadata": {"name": "x"}, "spec": odd}
    assert reshape.apply(kind, version, document)["metadata"] == {"name": "x"}


def test_the_document_itself_is_left_alone() -> None:
    document = {"spec": {"devices": [{"name": "d", "basic": {"taints": []}}]}}
    reshape.apply("ResourceSlice", "v1beta1", document)
    assert document == {"spec": {"devices": [{"name": "d", "basic": {"taints": []}}]}}
