"""What the rows need of each object, as it is on the wire. Nothing is optional that the fleet has."""

from __future__ import annotations

from msgspec import Struct, field


class Wire(Struct, rename="camel", gc=False):
    pass


class Metadata(Wire):
    name: str
    namespace: str = ""


class PodClaim(Wire):
    resource_claim_name: str


class PodSpec(Wire):
    node_name: str
    resource_claims: list[PodClaim]


class PodStatus(Wire):
    phase: str


class Pod(Wire):
    metadata: Metadata
    spec: PodSpec
    status: PodStatus


class Result(Wire):
    pool: str
    device: str


class Devices(Wire):
    results: list[Result]


class Allocation(Wire):
    devices: Devices


class ClaimStatus(Wire):
    allocation: Allocation


class Claim(Wire):
    metadata: Metadata
    status: ClaimStatus


class Device(Wire):
    name: str


class SliceSpec(Wire):
    devices: list[Device]


class Slice(Wire):
    metadata: Metadata
    spec: SliceSpec


class Gang(Wire):
    metadata: Metadata


class ListMetadata(Wire):
    resource_version: str


class PodList(Wire):
    metadata: ListMetadata
    items: list[Pod]


class ClaimList(Wire):
    items: list[Claim]


class SliceList(Wire):
    items: list[Slice]


class GangList(Wire):
    items: list[Gang]


class PodEvent(Wire):
    pod: Pod = field(name="object")
