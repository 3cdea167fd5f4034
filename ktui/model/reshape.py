"""Older API versions, brought into the shape of the newest one, as plain data.

scheduling.k8s.io v1alpha2 (1.36): `podGroupTemplateRef` → `workloadRef`, `disruptionMode` from a string to an object.
resource.k8s.io v1beta1: the members of `exactly` sat on the request itself, those of a slice's device under `basic`.
The Workload of v1alpha1 (1.35) needs none: its `podGroups` have a field of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Document = dict[str, Any]

_DISRUPTION = {"Pod": "single", "PodGroup": "all"}


def needed(kind: str, version: str) -> bool:
    return (kind, version) in _RESHAPERS


def apply(kind: str, version: str, document: Document) -> Document:
    """The document in the newest shape; `document` itself is left as it is."""
    reshaper = _RESHAPERS.get((kind, version))
    return reshaper(document) if reshaper else document


def _with_spec(change: Callable[[Document], Document]) -> Callable[[Document], Document]:
    def reshaper(document: Document) -> Document:
        spec = document.get("spec")
        return {**document, "spec": change(spec)} if isinstance(spec, dict) else document

    return reshaper


def _disruption(spec: Document) -> Document:
    mode = spec.get("disruptionMode")
    if not isinstance(mode, str):
        return spec
    name = _DISRUPTION.get(mode)
    return {**spec, "disruptionMode": {name: {}} if name else None}


def _pod_group(spec: Document) -> Document:
    spec = _disruption(spec)
    reference = spec.get("podGroupTemplateRef")
    workload = reference.get("workload") if isinstance(reference, dict) else None
    if not isinstance(workload, dict):
        return spec
    names = {"workloadName": workload.get("workloadName"), "templateName": workload.get("podGroupTemplateName")}
    return {**spec, "workloadRef": names}


def _workload(spec: Document) -> Document:
    templates = spec.get("podGroupTemplates")
    if not isinstance(templates, list):
        return spec
    return {**spec, "podGroupTemplates": [_disruption(t) if isinstance(t, dict) else t for t in templates]}


def _claim(spec: Document) -> Document:
    devices = spec.get("devices")
    requests = devices.get("requests") if isinstance(devices, dict) else None
    if not isinstance(devices, dict) or not isinstance(requests, list):
        return spec
    return {**spec, "devices": {**devices, "requests": [_request(r) for r in requests]}}


def _request(request: object) -> object:
    if not isinstance(request, dict) or request.get("exactly") is not None or request.get("firstAvailable"):
        return request
    members = {k: v for k, v in request.items() if k not in ("name", "exactly")}
    return {"name": request.get("name"), "exactly": members}


def _template(spec: Document) -> Document:
    inner = spec.get("spec")
    return {**spec, "spec": _claim(inner)} if isinstance(inner, dict) else spec


def _slice(spec: Document) -> Document:
    devices = spec.get("devices")
    if not isinstance(devices, list):
        return spec
    return {**spec, "devices": [_device(d) for d in devices]}


def _device(device: object) -> object:
    if not isinstance(device, dict) or not isinstance(basic := device.get("basic"), dict):
        return device
    return {"name": device.get("name"), **basic}


_RESHAPERS: dict[tuple[str, str], Callable[[Document], Document]] = {
    ("PodGroup", "v1alpha2"): _with_spec(_pod_group),
    ("Workload", "v1alpha2"): _with_spec(_workload),
    ("ResourceClaim", "v1beta1"): _with_spec(_claim),
    ("ResourceClaimTemplate", "v1beta1"): _with_spec(_template),
    ("ResourceSlice", "v1beta1"): _with_spec(_slice),
}
