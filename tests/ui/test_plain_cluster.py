"""The screens on a cluster with nothing of what they are for: pods and autoscalers, and each other view says what is off."""

from __future__ import annotations

import pytest

from ktui.demo.apiserver import ApiServer
from ktui.kube.once import read_once
from ktui.model.frame import Frame, Listed, StreamState
from ktui.model.kinds import KINDS
from tests.ui.screen import lacks, running, shows
from tests.ui.world import ScriptedOpener
from tests.unit.commands.test_plain_cluster import PLAIN
from tests.unit.kube.harness import pod, transport_to


async def read() -> list[Frame]:
    """What such a server answers; what is read is live."""
    frames: list[Frame] = []
    async with ApiServer(serves=PLAIN) as server:
        server.create("Pod", pod("web-0", "ml"))
        target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
        spec = {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 3}
        server.create("HorizontalPodAutoscaler", {"metadata": {"name": "web", "namespace": "ml"}, "spec": spec})
        async with transport_to(server.url) as transport:
            await read_once(transport, KINDS, "", frames.append)
    live = [StreamState(frame.source, "watching") for frame in frames if isinstance(frame, Listed)]
    return [*frames, *live]


@pytest.mark.parametrize(
    ("view", "words"),
    [
        ("triage", ("0 gangs", "1 autoscaler")),
        ("gangs", ("No gangs.", "gang scheduling is off", "GenericWorkload=true", "scheduling.k8s.io/v1beta1=true")),
        ("devices", ("dynamic resource allocation is not served",)),
        ("claims", ("dynamic resource allocation is not served",)),
        ("taints", ("DRADeviceTaintRules=true",)),
        ("workloads", ("gang scheduling is off", "GenericWorkload=true")),
        ("pods", ("web-0", "1 pod")),
        ("autoscalers", ("Deployment/web", "1 autoscaler")),
    ],
)
async def test_each_view_is_useful_or_says_what_is_off(view: str, words: tuple[str, ...]) -> None:
    async with running(ScriptedOpener(await read()), (160, 40), view=view) as (_, pilot):
        await shows(pilot, *words)
        await shows(pilot, "live 7 of 7")
        await lacks(pilot, "loading")
