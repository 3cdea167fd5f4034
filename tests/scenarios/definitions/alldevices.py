"""All devices of a node, whichever it is: any node that is looked at can spoil it, also one that nobody would have chosen."""

from __future__ import annotations

from tests.scenarios import manifests as m
from tests.scenarios.definitions import steps
from tests.scenarios.definitions.devices import farm, halves
from tests.scenarios.scenario import Scenario, Truth

_TUFF, _MORE_TUFF = halves("nic.tuff.example", "basalt-2", "t", 1)
_CHERT, _MORE_CHERT = halves("nic.chert.example", "dolomite-2", "c", 1)
_LOAM, _MORE_LOAM = halves("nic.loam.example", "gneiss-2", "l", 1)


SCENARIOS: list[Scenario] = [
    Scenario(
        "all-devices-and-half-a-pool-elsewhere",
        "The gang asks for all devices of a node, and one node has two that are free. On the other node, a pool of another driver"
        " lacks a slice: the scheduler then gives no node's devices to anybody who asks for all.",
        {"whinchat": Truth("Pending", "PoolIncomplete", {"pool": "basalt-2"})},
        [
            *m.nodes("basalt-2"),
            *farm("gpu.basalt.example", "basalt", "basalt-1", each=2),
            _TUFF,
            m.template("all", m.request("r", "basalt", 0)),
        ],
        m.gang("whinchat", 1, made_from="all"),
        fix=(steps.make("the other slice is published", _MORE_TUFF),),
        namespace="saale",
    ),
    Scenario(
        "all-devices-and-half-a-pool-on-a-node-out-of-reach",
        "As before, but the node with half a pool is cordoned, so that nobody looks at its pools.",
        {"pipit": Truth("Running", None)},
        [
            m.node("gneiss-2", unschedulable=True),
            *farm("gpu.gneiss.example", "gneiss", "gneiss-1", each=2),
            _LOAM,
            m.template("all", m.request("r", "gneiss", 0)),
        ],
        m.gang("pipit", 1, made_from="all"),
        namespace="eider",
    ),
    Scenario(
        "one-device-or-all-and-half-a-pool-elsewhere",
        "One device is free, and would do; that all devices of a node would do as well is what keeps the pod from having it.",
        {"serin": Truth("Pending", "PoolIncomplete", {"pool": "dolomite-2"})},
        [
            *m.nodes("dolomite-2"),
            *farm("gpu.dolomite.example", "dolomite", "dolomite-1", each=2),
            _CHERT,
            m.template("any", m.either("r", m.choice("one", "dolomite"), m.choice("all", "dolomite", 0))),
        ],
        m.gang("serin", 1, made_from="any"),
        fix=(steps.make("the other slice is published", _MORE_CHERT),),
        namespace="werra",
    ),
    Scenario(
        "all-devices-and-another-node-of-two-numa-nodes",
        "All devices of a node, of one NUMA node: the first node's are, the second node's are not.",
        {"linnet": Truth("Pending", "DeviceConstraint", {"attribute": m.NUMA})},
        [
            *m.nodes("schist-1", "schist-2"),
            m.slice_("gpu.schist.example", "schist-1", m.devices("s", 2, {m.NUMA: 0})),
            m.slice_("gpu.schist.example", "schist-2", [m.device(f"s{i}", {m.NUMA: i}) for i in range(2)]),
            m.device_class("schist", "gpu.schist.example"),
            m.template("all", m.request("r", "schist", 0), same=m.NUMA),
        ],
        m.gang("linnet", 1, made_from="all"),
        fix=(
            steps.republish(
                "a device is moved", m.slice_("gpu.schist.example", "schist-2", m.devices("s", 2, {m.NUMA: 1}))
            ),
        ),
        namespace="fulda",
    ),
]
