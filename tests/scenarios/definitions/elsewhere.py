"""What is elsewhere, or of another kind, and counts for nothing; and what counts although it is easily forgotten."""

from __future__ import annotations

from typing import Any

from tests.scenarios import manifests as m
from tests.scenarios.definitions import steps
from tests.scenarios.definitions.devices import farm, halves
from tests.scenarios.scenario import Scenario, Truth
from tests.scenarios.stage import Stage

Json = dict[str, Any]

_NEAR, _FAR = halves("gpu.umber.example", "umber-2", "u", 2)
_PINNED = {"team": "sienna"}


def _on(node: str) -> Json:
    """Exactly this node, as controllers pin pods that belong to one."""
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    terms = [{"matchFields": [field]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def _cards(driver: str, node: str, count: int) -> list[Json]:
    """Cards that can be used whole or as two halves each."""
    sets = [{"name": f"card{i}", "counters": {"memory": {"value": "64Gi"}}} for i in range(count)]
    parts = [
        m.device(
            f"{shape}{card}{part}",
            {"shape": shape},
            consumesCounters=[{"counterSet": f"card{card}", "counters": {"memory": {"value": memory}}}],
        )
        for card in range(count)
        for shape, part, memory in (("whole", "", "64Gi"), ("half", "a", "32Gi"), ("half", "b", "32Gi"))
    ]
    return [
        m.slice_(driver, node, [], slices=2, name=f"{node}-cards", counters=sets),
        m.slice_(driver, node, parts, slices=2, name=f"{node}-parts"),
    ]


def _two_containers(name: str, resource: str, **more: Any) -> Json:
    made = m.pod(name, extended={resource: "1"}, **more)
    made["spec"]["containers"].append(made["spec"]["containers"][0] | {"name": "second"})
    return made


def _one_fails(stage: Stage) -> None:
    stage.patch("v1", "Pod", "phainopepla-1", {"status": {"phase": "Failed"}}, "status")


def _shape(driver: str, shape: str) -> str:
    return f"device.attributes['{driver}'].shape == '{shape}'"


SCENARIOS: list[Scenario] = [
    Scenario(
        "cpu-of-the-one-node-by-name",
        "The pods accept one node, by its name, and it has 3 CPUs left; the other is empty.",
        {"kinglet": Truth("Pending", "NotEnoughNodeResources", {"resource": "cpu"})},
        m.nodes("hill-1", "hill-2"),
        m.gang("kinglet", 2, cpu="2", affinity=_on("hill-1")),
        occupants=[m.pod("cougar", cpu="13", nodeName="hill-1")],
        fix=(steps.delete_pod("cougar"),),
    ),
    Scenario(
        "half-a-pool-where-nobody-goes",
        "The pods accept one node, whose devices are used. On the other a pool lacks a slice, which is of no use to them.",
        {"whydah": Truth("Pending", "NotEnoughDevices", {"need": 2}, ("NodeConstraints",))},
        [
            *m.nodes("umber-1", labels=_PINNED),
            m.node("umber-2"),
            m.slice_("gpu.umber.example", "umber-1", m.devices("d", 3)),
            _NEAR,
            m.device_class("umber", "gpu.umber.example"),
            m.template("one", m.request("r", "umber")),
        ],
        m.gang("whydah", 2, made_from="one", nodeSelector=_PINNED),
        occupants=[m.pod(f"serval-{i}", made_from="one", nodeSelector=_PINNED) for i in range(2)],
        herrings=(steps.make("the other slice is published", _FAR),),
        fix=(steps.delete_pod("serval-0"),),
        namespace="oder",
    ),
    Scenario(
        "taint-where-nobody-goes",
        "The pods accept one node, whose devices are used. Those of the other node are tainted, which is of no matter.",
        {"bulbul": Truth("Pending", "NotEnoughDevices", {"need": 2}, ("NodeConstraints",))},
        [
            *m.nodes("cobalt-1", labels=_PINNED),
            m.node("cobalt-2"),
            *(m.slice_("gpu.cobalt.example", f"cobalt-{i}", m.devices("d", 2)) for i in (1, 2)),
            m.device_class("cobalt", "gpu.cobalt.example"),
            m.taint_rule("noon", m.taint("yard.example.com/shut"), driver="gpu.cobalt.example", pool="cobalt-2"),
            m.template("one", m.request("r", "cobalt")),
        ],
        m.gang("bulbul", 2, made_from="one", nodeSelector=_PINNED),
        occupants=[m.pod("kudu", made_from="one", nodeSelector=_PINNED)],
        herrings=(steps.untaint("noon"),),
        fix=(steps.delete_pod("kudu"),),
        namespace="isar",
    ),
    Scenario(
        "cpu-in-pieces-beside-devices",
        "Two nodes with 16 CPUs and 4 devices each. Five pods want a device and 6 CPUs: 30 of 32 CPUs and 5 of 8 devices, but"
        " only two pods fit on a node.",
        {"fantail": Truth("Pending", "NotEnoughNodeResources", {"resource": "cpu"})},
        [*farm("gpu.copper.example", "copper", "copper-1", "copper-2"), m.template("one", m.request("r", "copper"))],
        m.gang("fantail", 5, cpu="6", made_from="one"),
        fix=(steps.enlarge("one node gets two CPUs more", "copper-1", {"cpu": "18"}),),
        namespace="elbe",
    ),
    Scenario(
        "whole-cards",
        "Two cards, each to be used whole or in halves. Half of one is used, so that one whole is left, and two are wanted.",
        {"monarch": Truth("Pending", "NotEnoughDevices", {"need": 2, "free": 1})},
        [
            *m.nodes("nickel-1"),
            *_cards("gpu.nickel.example", "nickel-1", 2),
            m.device_class("nickel", "gpu.nickel.example"),
            *(
                m.template(shape, m.request("r", "nickel", where=_shape("gpu.nickel.example", shape)))
                for shape in ("whole", "half")
            ),
        ],
        m.gang("monarch", 2, made_from="whole"),
        occupants=[m.pod("saiga", made_from="half")],
        fix=(steps.delete_pod("saiga"),),
        namespace="main",
    ),
    Scenario(
        "all-of-a-device-that-could-be-shared",
        "The device may be shared, but claims that say nothing of its memory take all of it; two of these want one device.",
        {"honeyguide": Truth("Pending", "NotEnoughDevices", {"need": 2})},
        [
            *m.nodes("zinc-1"),
            m.slice_(
                "gpu.zinc.example",
                "zinc-1",
                m.devices("z", 1, capacity={"memory": "80Gi"}, allowMultipleAllocations=True),
            ),
            m.device_class("zinc", "gpu.zinc.example"),
            m.template("one", m.request("r", "zinc")),
        ],
        m.gang("honeyguide", 2, made_from="one"),
        fix=(
            steps.republish(
                "a second device is published",
                m.slice_(
                    "gpu.zinc.example",
                    "zinc-1",
                    m.devices("z", 2, capacity={"memory": "80Gi"}, allowMultipleAllocations=True),
                ),
            ),
        ),
        namespace="ruhr",
    ),
    Scenario(
        "devices-of-two-containers",
        "Each of the pod's two containers asks for one of the resource that a class provides: two devices, and one is there.",
        {"weaver": Truth("Pending", "NotEnoughDevices", {"need": 2, "free": 1})},
        [
            *m.nodes("tin-1"),
            m.slice_("gpu.tin.example", "tin-1", m.devices("t", 1)),
            m.device_class("tin", "gpu.tin.example", extended="tin.example/chip"),
        ],
        [m.pod_group("weaver", 1), _two_containers("weaver-0", "tin.example/chip", group="weaver")],
        fix=(steps.republish("a second is published", m.slice_("gpu.tin.example", "tin-1", m.devices("t", 2))),),
        namespace="saale",
    ),
    Scenario(
        "all-of-none",
        "The pod asks for all devices of a model, of which there is none: all of nothing is not enough.",
        {"manakin": Truth("Pending", "NoMatchingDevice", {"matching": 0})},
        [
            *m.nodes("lead-1"),
            m.slice_("gpu.lead.example", "lead-1", m.devices("l", 3, {"shape": "flat"})),
            m.device_class("lead", "gpu.lead.example"),
            m.template("all", m.request("r", "lead", 0, where=_shape("gpu.lead.example", "tall"))),
        ],
        m.gang("manakin", 1, made_from="all"),
        fix=(
            steps.republish(
                "that model is published",
                m.slice_("gpu.lead.example", "lead-1", m.devices("l", 3, {"shape": "tall"})),
            ),
        ),
        namespace="weser",
    ),
    Scenario(
        "group-without-pods",
        "Somebody has made the group, and nobody a pod for it.",
        {"sunbird": Truth("Pending", "WaitingForPods", {"have": 0, "need": 3})},
        m.nodes("iron-1"),
        [m.pod_group("sunbird", 3)],
        fix=(steps.make("the pods are made", *(m.pod(f"sunbird-{i}", group="sunbird") for i in range(3))),),
        namespace="donau",
    ),
    Scenario(
        "degraded-pod-failed",
        "All three pods ran; one has failed, and nobody makes it again.",
        {"phainopepla": Truth("Degraded", "WaitingForPods", {"have": 2, "need": 3})},
        m.nodes("gold-1"),
        [],
        occupants=m.gang("phainopepla", 3, restartPolicy="Never"),
        later=_one_fails,
        fix=(steps.make("a pod is made in its place", m.pod("phainopepla-3", group="phainopepla")),),
        namespace="neckar",
    ),
    Scenario(
        "selectors-and-devices-of-the-network",
        "Each pod asks for a device of one model. One of the node's own is; the two that every node reaches are of another.",
        {"bushtit": Truth("Pending", "NoMatchingDevice", {"need": 2, "matching": 1})},
        [
            *m.nodes("nickel-1", "nickel-2"),
            m.slice_("gpu.nickel.example", "nickel-1", m.devices("n", 1, {"shape": "round"})),
            m.slice_("gpu.nickel.example", "fabric", m.devices("f", 2, {"shape": "flat"}), everywhere=True),
            m.device_class("nickel", "gpu.nickel.example"),
            m.template(
                "round", m.request("r", "nickel", where="device.attributes['gpu.nickel.example'].shape == 'round'")
            ),
        ],
        m.gang("bushtit", 2, made_from="round"),
        fix=(
            steps.republish(
                "another of that model is published",
                m.slice_("gpu.nickel.example", "fabric", m.devices("f", 2, {"shape": "round"}), everywhere=True),
            ),
        ),
        namespace="aller",
    ),
]
