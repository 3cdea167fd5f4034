"""Every way to ask for a device, crossed with ways in which there is none: extended resources, shared claims, replacements."""

from __future__ import annotations

from typing import Any

from tests.scenarios import manifests as m
from tests.scenarios.definitions import steps
from tests.scenarios.definitions.devices import farm, halves
from tests.scenarios.scenario import Scenario, Truth
from tests.scenarios.stage import Stage

Json = dict[str, Any]

_WIDGET = "widgets.example.com/slot"
_HERE, _THERE = halves("gpu.pumice.example", "pumice-1", "p", 2)
_PART, _OTHER = halves("gpu.ochre.example", "ochre-2", "o", 1)


def _with_widgets(name: str, count: str) -> Json:
    made = m.node(name)
    for amounts in (made["status"]["capacity"], made["status"]["allocatable"]):
        amounts[_WIDGET] = count
    return made


def _overtaken(stage: Stage) -> None:
    """Another pod takes the device of one that goes, before that one is made anew."""
    stage.delete("v1", "Pod", "verdin-0")
    stage.until(lambda: len(stage.pods("verdin")) == 2, "a pod to go")
    stage.create([m.pod("panther", made_from="one")])
    stage.until(lambda: stage.runs("panther"), "the other pod to run")
    stage.create([m.pod("verdin-3", group="verdin", made_from="one")])
    stage.until(lambda: stage.refused("verdin"), "the replacement to be refused")


def _class_deleted(stage: Stage) -> None:
    stage.delete(steps.DRA, "DeviceClass", "rhyolite")
    stage.delete("v1", "Pod", "junco-1")
    stage.until(lambda: len(stage.pods("junco")) == 1, "a pod to go")
    stage.create([m.pod("junco-2", group="junco", made_from="one")])
    stage.until(lambda: stage.refused("junco"), "the replacement to be refused")


def _class_of(driver: str, name: str) -> Json:
    return m.device_class(name, driver, extended=f"{name}.example/unit")


EXTENDED: list[Scenario] = [
    Scenario(
        "extended-resource-of-a-plugin",
        "The node reports 4 of a resource, of which a pod has 3, and the gang's two pods want one each.",
        {"dunlin": Truth("Pending", "NotEnoughNodeResources", {"resource": _WIDGET})},
        [_with_widgets("gravel-1", "4")],
        m.gang("dunlin", 2, extended={_WIDGET: "1"}),
        occupants=[m.pod("caiman", extended={_WIDGET: "3"})],
        fix=(steps.delete_pod("caiman"),),
    ),
    Scenario(
        "extended-resource-and-cpu",
        "The class that provides the resource has devices enough. The pods want more CPU than the node has.",
        {"avocet": Truth("Pending", "NotEnoughNodeResources", {"resource": "cpu"})},
        [
            *m.nodes("breccia-1"),
            m.slice_("gpu.breccia.example", "breccia-1", m.devices("b", 8)),
            _class_of("gpu.breccia.example", "breccia"),
        ],
        m.gang("avocet", 2, cpu="10", extended={"breccia.example/unit": "2"}),
        fix=(steps.enlarge("the node gets more CPU", "breccia-1", {"cpu": "24"}),),
        namespace="oder",
    ),
    Scenario(
        "extended-resource-and-a-taint",
        "The class that provides the resource has devices enough, all of which are tainted; such requests tolerate nothing.",
        {"curlew": Truth("Pending", "DevicesTainted", {"need": 2, "free": 0, "taint": "gear.example.com/worn"})},
        [
            *m.nodes("pebble-1"),
            m.slice_("gpu.pebble.example", "pebble-1", m.devices("b", 3)),
            _class_of("gpu.pebble.example", "pebble"),
            m.taint_rule("wednesday", m.taint("gear.example.com/worn"), driver="gpu.pebble.example"),
        ],
        m.gang("curlew", 2, extended={"pebble.example/unit": "1"}),
        fix=(steps.untaint("wednesday"),),
        namespace="isar",
    ),
    Scenario(
        "extended-resource-and-half-a-pool",
        "The class that provides the resource has one pool, which lacks a slice.",
        {"plover": Truth("Pending", "PoolIncomplete", {"pool": "pumice-1"})},
        [*m.nodes("pumice-1"), _HERE, _class_of("gpu.pumice.example", "pumice")],
        m.gang("plover", 1, extended={"pumice.example/unit": "2"}),
        fix=(steps.make("the other slice is published", _THERE),),
        namespace="elbe",
    ),
]

CLAIMS: list[Scenario] = [
    Scenario(
        "claim-of-the-gang-and-numa",
        "The gang shares a claim for 3 devices of one NUMA node; 4 are free, two on each.",
        {"lapwing": Truth("Pending", "DeviceConstraint", {"attribute": m.NUMA})},
        [
            *m.nodes("boulder-1"),
            m.slice_(
                "gpu.boulder.example",
                "boulder-1",
                [m.device(f"b{i}", {m.NUMA: n}) for i, n in enumerate((1, 0, 1, 0))],
            ),
            m.device_class("boulder", "gpu.boulder.example"),
            m.template("three", m.request("r", "boulder", 3), same=m.NUMA),
        ],
        m.gang("lapwing", 2, shares="three", made_from="three"),
        fix=(
            steps.republish(
                "one device is moved",
                m.slice_(
                    "gpu.boulder.example",
                    "boulder-1",
                    [m.device(f"b{i}", {m.NUMA: n}) for i, n in enumerate((1, 0, 1, 1))],
                ),
            ),
        ),
        namespace="main",
    ),
    Scenario(
        "capacity-in-two-places",
        "Two devices have 10 Gi left each, and the claim wants 15 of one.",
        {"dotterel": Truth("Pending", "NotEnoughDevices", {"need": 1})},
        [
            *m.nodes("lava-1"),
            m.slice_(
                "gpu.lava.example",
                "lava-1",
                m.devices("v", 2, capacity={"memory": "40Gi"}, allowMultipleAllocations=True),
            ),
            m.device_class("lava", "gpu.lava.example"),
            m.template("thirty", m.request("r", "lava", capacity={"requests": {"memory": "30Gi"}})),
            m.template("fifteen", m.request("r", "lava", capacity={"requests": {"memory": "15Gi"}})),
        ],
        m.gang("dotterel", 1, made_from="fifteen"),
        occupants=[m.pod(f"puma-{i}", made_from="thirty") for i in range(2)],
        fix=(steps.delete_pod("puma-0"),),
        namespace="ruhr",
    ),
    Scenario(
        "toleration-for-another-effect",
        "The claims tolerate the key with effect NoExecute, and the taint has effect NoSchedule.",
        {"sanderling": Truth("Pending", "DevicesTainted", {"need": 2, "free": 0, "taint": "room.example.com/warm"})},
        [
            *farm("gpu.moraine.example", "moraine", "moraine-1"),
            m.taint_rule("thursday", m.taint("room.example.com/warm"), driver="gpu.moraine.example"),
            m.template(
                "one",
                m.request(
                    "r",
                    "moraine",
                    tolerations=[{"key": "room.example.com/warm", "operator": "Exists", "effect": "NoExecute"}],
                ),
            ),
        ],
        m.gang("sanderling", 2, made_from="one"),
        fix=(steps.untaint("thursday"),),
        namespace="saale",
    ),
    Scenario(
        "class-that-takes-nothing",
        "The class takes only devices of a model that nobody publishes; the claims add no selector of their own.",
        {"turnstone": Truth("Pending", "NoMatchingDevice", {"need": 2, "matching": 0})},
        [
            *m.nodes("glacier-1"),
            m.slice_("gpu.glacier.example", "glacier-1", m.devices("g", 6, {"model": "old"})),
            m.device_class(
                "glacier", "gpu.glacier.example", where="device.attributes['gpu.glacier.example'].model == 'new'"
            ),
            m.template("one", m.request("r", "glacier")),
        ],
        m.gang("turnstone", 2, made_from="one"),
        fix=(
            steps.republish(
                "that model is published",
                m.slice_("gpu.glacier.example", "glacier-1", m.devices("g", 6, {"model": "new"})),
            ),
        ),
        namespace="weser",
    ),
    Scenario(
        "driver-that-publishes-nothing",
        "The class is there, and its driver has published no device on any node: there is none that the class could take.",
        {"pintail": Truth("Pending", "NoMatchingDevice", {"need": 2, "matching": 0}, ("NotEnoughDevices",))},
        [*m.nodes("dune-1"), m.device_class("dune", "gpu.dune.example"), m.template("one", m.request("r", "dune"))],
        m.gang("pintail", 2, made_from="one"),
        fix=(steps.make("the driver publishes", m.slice_("gpu.dune.example", "dune-1", m.devices("d", 2))),),
        namespace="donau",
    ),
    Scenario(
        "taint-where-the-pods-must-be",
        "The pods accept one node, all of whose devices are tainted; the devices of the other node are free.",
        {"wigeon": Truth("Pending", "DevicesTainted", {"taint": "area.example.com/works"}, ("NodeConstraints",))},
        [
            *farm("gpu.canyon.example", "canyon", "canyon-1"),
            m.node("canyon-2", labels={"team": "teal"}),
            m.slice_("gpu.canyon.example", "canyon-2", m.devices("d", 4)),
            m.taint_rule("saturday", m.taint("area.example.com/works"), driver="gpu.canyon.example", pool="canyon-2"),
            m.template("one", m.request("r", "canyon")),
        ],
        m.gang("wigeon", 2, made_from="one", nodeSelector={"team": "teal"}),
        fix=(steps.untaint("saturday"),),
        namespace="neckar",
    ),
    Scenario(
        "half-a-pool-and-far-too-few",
        "The gang needs 9 devices and can have 4. One more is published in a pool that lacks a slice, and whatever the other"
        " slice holds, devices elsewhere would do.",
        {"scaup": Truth("Pending", "NotEnoughDevices", {"need": 9, "free": 4}, ("PoolIncomplete",))},
        [
            *farm("gpu.ochre.example", "ochre", "ochre-1"),
            m.node("ochre-2"),
            _PART,
            m.template("one", m.request("r", "ochre")),
        ],
        m.gang("scaup", 9, made_from="one"),
        herrings=(steps.make("the other slice is published, with one device", _OTHER),),
        fix=(steps.republish("6 more are published", m.slice_("gpu.ochre.example", "ochre-1", m.devices("d", 10))),),
        namespace="spree",
    ),
]

BEFORE: list[Scenario] = [
    Scenario(
        "too-few-pods-and-a-gate",
        "Two pods of three exist, and one of them has a gate. Neither alone would do.",
        {"brant": Truth("Pending", "WaitingForPods", {"have": 2, "need": 3}, ("Gated",))},
        m.nodes("cliff-1"),
        [
            m.pod_group("brant", 3),
            m.pod("brant-0", group="brant"),
            m.pod("brant-1", group="brant", schedulingGates=[{"name": "queue.example.org/turn"}]),
        ],
        fix=(
            steps.patch("the gate is taken off", "v1", "Pod", "brant-1", {"spec": {"schedulingGates": None}}),
            steps.make("the third pod is made", m.pod("brant-2", group="brant")),
        ),
        namespace="havel",
    ),
    Scenario(
        "degraded-device-overtaken",
        "The gang of 3 ran on 3 devices. A pod was made anew, and another pod had taken its device.",
        {"verdin": Truth("Degraded", "NotEnoughDevices", {"free": 0})},
        [*farm("gpu.geode.example", "geode", "geode-1", each=3), m.template("one", m.request("r", "geode"))],
        [],
        occupants=m.gang("verdin", 3, made_from="one"),
        later=_overtaken,
        fix=(steps.delete_pod("panther"),),
        namespace="inn",
    ),
    Scenario(
        "degraded-class-deleted",
        "Both pods ran. The class was deleted, which hurts nobody who has a device; then a pod was made anew.",
        {"junco": Truth("Degraded", "DeviceClassMissing", {"deviceClass": "rhyolite"})},
        [*farm("gpu.rhyolite.example", "rhyolite", "rhyolite-1"), m.template("one", m.request("r", "rhyolite"))],
        [],
        occupants=m.gang("junco", 2, made_from="one"),
        later=_class_deleted,
        fix=(steps.make("the class is made", m.device_class("rhyolite", "gpu.rhyolite.example")),),
        namespace="lech",
    ),
]

SCENARIOS = [*EXTENDED, *CLAIMS, *BEFORE]
