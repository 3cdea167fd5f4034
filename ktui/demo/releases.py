"""The Kubernetes releases that the demo cluster can be, and in what they differ as far as it shows.

In all of them gangs and device taint rules are switched on; scale to zero is as the release has it when nobody switches it on.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

Versions = dict[str, tuple[str, ...]]
"""Kind's name → the API versions it is served in, in the server's order of preference."""


class Release(Struct, frozen=True):
    """`versions` are those of kinds that are served in more than one over the releases, or not at all. `condition` is the one
    that the scheduler keeps on a PodGroup, "" where there are no PodGroups: a gang is then a group within its Workload. `jobs`
    says whether the Job controller makes the gang of a Job (Job.spec.scheduling); where not, who submits the Job makes it.
    `scale_to_zero` and `hpa_generation` are the gates HPAScaleToZero and HPAGeneration."""

    name: str
    git_version: str
    versions: Versions
    condition: str
    jobs: bool
    scale_to_zero: bool
    hpa_generation: bool


LATEST: Final = Release(
    name="1.37",
    git_version="v1.37.2",
    versions={"PodGroup": ("v1beta1",), "Workload": ("v1beta1",)},
    condition="PodGroupInitiallyScheduled",
    jobs=True,
    scale_to_zero=True,
    hpa_generation=True,
)
V1_36: Final = Release(
    name="1.36",
    git_version="v1.36.3",
    versions={
        "PodGroup": ("v1alpha2",),
        "Workload": ("v1alpha2",),
        "CompositePodGroup": (),
        "DeviceTaintRule": ("v1beta2", "v1alpha3"),
    },
    condition="PodGroupScheduled",
    jobs=False,
    scale_to_zero=False,
    hpa_generation=False,
)
V1_35: Final = Release(
    name="1.35",
    git_version="v1.35.4",
    versions={
        "PodGroup": (),
        "Workload": ("v1alpha1",),
        "CompositePodGroup": (),
        "DeviceTaintRule": ("v1alpha3",),
    },
    condition="",
    jobs=False,
    scale_to_zero=False,
    hpa_generation=False,
)

RELEASES: Final = {release.name: release for release in (LATEST, V1_36, V1_35)}
