"""Gangs that find no devices: there are too few, or of another kind, or tainted, or in pools that are not all there.

The scheduler has one sentence for all of these, "cannot allocate all claims".
"""

from __future__ import annotations

from typing import Any

from tests.scenarios import manifests as m
from tests.scenarios.definitions import steps
from tests.scenarios.scenario import Scenario, Truth

Json = dict[str, Any]

ROOT = "resource.kubernetes.io/pcieRoot"


def farm(driver: str, of: str, *names: str, each: int = 4, **more: Any) -> list[Json]:
    """Nodes with a pool of devices each, and a class for all of them; `more` is of the devices."""
    return [
        *m.nodes(*names),
        *(m.slice_(driver, name, m.devices("d", each, **more)) for name in names),
        m.device_class(of, driver),
    ]


def halves(driver: str, pool: str, prefix: str, size: int, **more: Any) -> tuple[Json, Json]:
    """The two slices of a pool, which is complete when both are published."""
    return (
        m.slice_(driver, pool, m.devices(f"{prefix}a", size), slices=2, name=f"{pool}-first", **more),
        m.slice_(driver, pool, m.devices(f"{prefix}b", size), slices=2, name=f"{pool}-second", **more),
    )


def _is(driver: str, name: str, value: str) -> str:
    return f"device.attributes['{driver}'].{name} == '{value}'"


_ALPHA, _BETA = halves("gpu.fornax.example", "beech-1", "f", 2)
_FIRST, _SECOND = halves("npu.corvus.example", "larch-2", "c", 3)
_LEFT, _RIGHT = halves("dpu.lynx.example", "maple-1", "x", 2)
_NUMA_OF = (0, 0, 1, 1)


def _numa(prefix: str, driver: str = "", more: int = 0) -> list[Json]:
    """Four devices, two on each NUMA node, and `more` on the first."""
    return [m.device(f"{prefix}{i}", {m.NUMA: numa}) for i, numa in enumerate((*_NUMA_OF, *([0] * more)))]


NOT_ENOUGH: list[Scenario] = [
    Scenario(
        "devices-taken",
        "8 devices, 5 of them used by a gang that runs, and the gang needs 4.",
        {
            "magpie": Truth("Pending", "NotEnoughDevices", {"need": 4, "free": 3}),
            "jay": Truth("Running", None),
        },
        [*farm("gpu.aries.example", "aries", "poplar-1", "poplar-2"), m.template("one", m.request("r", "aries"))],
        m.gang("magpie", 4, made_from="one"),
        occupants=m.gang("jay", 5, made_from="one"),
        fix=(steps.delete_pod("jay-0"),),
        fixed=("magpie",),
    ),
    Scenario(
        "devices-fewer-than-asked-for",
        "The gang needs 6 devices, and 3 exist in the whole cluster; all of them are free.",
        {"thrush": Truth("Pending", "NotEnoughDevices", {"need": 6, "free": 3})},
        [
            *m.nodes("alder-1"),
            m.slice_("gpu.scutum.example", "alder-1", m.devices("s", 3)),
            m.device_class("scutum", "gpu.scutum.example"),
            m.template("pair", m.request("r", "scutum", 2)),
        ],
        m.gang("thrush", 3, made_from="pair"),
        fix=(
            steps.republish("six devices are published", m.slice_("gpu.scutum.example", "alder-1", m.devices("s", 6))),
        ),
        namespace="oder",
    ),
    Scenario(
        "devices-not-on-one-node",
        "One claim asks for 4 devices, which must all be on the pod's node. 6 are free, 3 on each of two nodes.",
        {"plover": Truth("Pending", "NotEnoughDevices", {"need": 4})},
        [
            *farm("gpu.musca.example", "musca", "cedar-1", "cedar-2", each=3),
            m.template("four", m.request("r", "musca", 4)),
        ],
        m.gang("plover", 1, made_from="four"),
        fix=(
            steps.republish(
                "a fourth device is published on one node", m.slice_("gpu.musca.example", "cedar-2", m.devices("d", 4))
            ),
        ),
        namespace="isar",
    ),
    Scenario(
        "devices-all-held-by-pods",
        "All 4 devices are held by four single pods, and a fifth pod asks for one. The fifth device of the node is of"
        " another driver.",
        {},
        [
            *farm("gpu.sculptor.example", "sculptor", "birch-1"),
            m.slice_("nic.sculptor.example", "birch-1", m.devices("n", 1)),
            m.template("one", m.request("r", "sculptor")),
        ],
        [m.pod("linnet", made_from="one")],
        pods={"linnet": Truth("Pending", "NotEnoughDevices", {"need": 1, "free": 0})},
        occupants=[m.pod(f"tit-{i}", made_from="one") for i in range(4)],
        fix=(steps.delete_pod("tit-2"),),
        namespace="elbe",
    ),
    Scenario(
        "devices-extended-resource",
        "The pods ask for an extended resource that a class provides with devices: 3 each, on a node that has 4.",
        {"siskin": Truth("Pending", "NotEnoughDevices", {"need": 6, "free": 4})},
        [
            *m.nodes("hazel-1"),
            m.slice_("gpu.indus.example", "hazel-1", m.devices("i", 4)),
            m.device_class("indus", "gpu.indus.example", extended="indus.example/gpu"),
        ],
        m.gang("siskin", 2, extended={"indus.example/gpu": "3"}),
        fix=(steps.republish("6 devices are published", m.slice_("gpu.indus.example", "hazel-1", m.devices("i", 6))),),
        namespace="main",
    ),
    Scenario(
        "devices-shared-by-the-gang",
        "The gang shares one claim for 3 devices; of the 4 on the only node, 2 are taken.",
        {"grouse": Truth("Pending", "NotEnoughDevices", {"need": 3, "free": 2})},
        [
            *farm("gpu.tucana.example", "tucana", "linden-1"),
            m.template("pair", m.request("r", "tucana", 2)),
            m.template("three", m.request("r", "tucana", 3)),
        ],
        m.gang("grouse", 2, shares="three", made_from="three"),
        occupants=[m.pod("vole", made_from="pair")],
        fix=(steps.delete_pod("vole"),),
        namespace="ruhr",
    ),
    Scenario(
        "devices-capacity-used-up",
        "The one device can be shared by claims, each of which takes a part of its memory. 60 of its 80 Gi are used, and the"
        " gang's two claims take 15 Gi each.",
        {"teal": Truth("Pending", "NotEnoughDevices", {"need": 2})},
        [
            *m.nodes("willow-1"),
            m.slice_(
                "gpu.volans.example",
                "willow-1",
                m.devices("v", 1, capacity={"memory": "80Gi"}, allowMultipleAllocations=True),
            ),
            m.device_class("volans", "gpu.volans.example"),
            m.template("big", m.request("r", "volans", capacity={"requests": {"memory": "60Gi"}})),
            m.template("small", m.request("r", "volans", capacity={"requests": {"memory": "15Gi"}})),
        ],
        m.gang("teal", 2, made_from="small"),
        occupants=[m.pod("shrew", made_from="big")],
        fix=(steps.delete_pod("shrew"),),
        namespace="saale",
    ),
    Scenario(
        "devices-counters-used-up",
        "A card can be used whole or as two halves, which draw on the same memory. One half is used, so the whole is not to"
        " be had, although nobody has it.",
        {"smew": Truth("Pending", "NotEnoughDevices", {"need": 1, "free": 0})},
        [
            *m.nodes("rowan-1"),
            m.slice_(
                "gpu.vela.example",
                "rowan-1",
                [],
                slices=2,
                name="rowan-counters",
                counters=[{"name": "card", "counters": {"memory": {"value": "96Gi"}}}],
            ),
            m.slice_(
                "gpu.vela.example",
                "rowan-1",
                [
                    m.device(
                        name,
                        {"shape": shape},
                        consumesCounters=[{"counterSet": "card", "counters": {"memory": {"value": memory}}}],
                    )
                    for name, shape, memory in (
                        ("w", "whole", "96Gi"),
                        ("h0", "half", "48Gi"),
                        ("h1", "half", "48Gi"),
                    )
                ],
                slices=2,
                name="rowan-devices",
            ),
            m.device_class("vela", "gpu.vela.example"),
            m.template("whole", m.request("r", "vela", where=_is("gpu.vela.example", "shape", "whole"))),
            m.template("half", m.request("r", "vela", where=_is("gpu.vela.example", "shape", "half"))),
        ],
        m.gang("smew", 1, made_from="whole"),
        occupants=[m.pod("stoat", made_from="half")],
        fix=(steps.delete_pod("stoat"),),
        namespace="weser",
    ),
    Scenario(
        "devices-no-alternative-left",
        "The pods would take one large device or two small ones; the large one is taken, and one small one is free.",
        {"auk": Truth("Pending", "NotEnoughDevices")},
        [
            *m.nodes("aspen-1"),
            m.slice_(
                "gpu.grus.example",
                "aspen-1",
                [
                    m.device("g0", {"size": "large"}),
                    m.device("g1", {"size": "small"}),
                    m.device("g2", {"size": "small"}),
                ],
            ),
            m.device_class("grus", "gpu.grus.example"),
            m.template("large", m.request("r", "grus", where=_is("gpu.grus.example", "size", "large"))),
            m.template("small", m.request("r", "grus", where=_is("gpu.grus.example", "size", "small"))),
            m.template(
                "any",
                m.either(
                    "r",
                    m.choice("l", "grus", where=_is("gpu.grus.example", "size", "large")),
                    m.choice("s", "grus", 2, where=_is("gpu.grus.example", "size", "small")),
                ),
            ),
        ],
        m.gang("auk", 1, made_from="any"),
        occupants=[m.pod("lynx", made_from="large"), m.pod("otter", made_from="small")],
        fix=(steps.delete_pod("otter"),),
        namespace="donau",
    ),
    Scenario(
        "devices-of-the-whole-pool",
        "The pod wants all devices of the class that its node can reach, and one of the 3 is taken.",
        {"rook": Truth("Pending", "NotEnoughDevices")},
        [
            *farm("gpu.antlia.example", "antlia", "spruce-1", each=3),
            m.template("all", m.request("r", "antlia", 0)),
            m.template("one", m.request("r", "antlia")),
        ],
        m.gang("rook", 1, made_from="all"),
        occupants=[m.pod("hare", made_from="one")],
        fix=(steps.delete_pod("hare"),),
        namespace="neckar",
    ),
    Scenario(
        "devices-two-requests-one-short",
        "Each claim has two requests, one device of each class. Of the first class 4 are free, of the second 1, and the gang"
        " has two pods.",
        {"coot": Truth("Pending", "NotEnoughDevices")},
        [
            *farm("gpu.mensa.example", "mensa", "holly-1"),
            m.slice_("nic.mensa.example", "holly-1", m.devices("n", 1), name="holly-nics"),
            m.device_class("mensa-nic", "nic.mensa.example"),
            m.template("both", m.request("a", "mensa"), m.request("b", "mensa-nic")),
        ],
        m.gang("coot", 2, made_from="both"),
        fix=(
            steps.republish(
                "a second device of that class is published",
                m.slice_("nic.mensa.example", "holly-1", m.devices("n", 2), name="holly-nics"),
            ),
        ),
        namespace="spree",
    ),
]

KIND: list[Scenario] = [
    Scenario(
        "kind-of-another-model",
        "The gang asks for a model that no device has; 8 others are free.",
        {"bittern": Truth("Pending", "NoMatchingDevice", {"need": 2, "matching": 0})},
        [
            *farm("gpu.lyra.example", "lyra", "juniper-1", "juniper-2", attributes={"model": "K7"}),
            m.template("one", m.request("r", "lyra", where=_is("gpu.lyra.example", "model", "K9"))),
        ],
        m.gang("bittern", 2, made_from="one"),
        fix=(
            steps.republish(
                "a node gets that model",
                m.slice_("gpu.lyra.example", "juniper-1", m.devices("d", 4, {"model": "K9"})),
            ),
        ),
        namespace="havel",
    ),
    Scenario(
        "kind-with-more-memory",
        "The gang asks for 200 Gi of memory on each device, and the devices have 141 Gi.",
        {"curlew": Truth("Pending", "NoMatchingDevice", {"need": 3, "matching": 0})},
        [
            *farm("gpu.dorado.example", "dorado", "myrtle-1", capacity={"memory": "141Gi"}),
            m.template(
                "one",
                m.request(
                    "r",
                    "dorado",
                    where="device.capacity['gpu.dorado.example'].memory.compareTo(quantity('200Gi')) >= 0",
                ),
            ),
        ],
        m.gang("curlew", 3, made_from="one"),
        fix=(
            steps.republish(
                "devices with more memory are published",
                m.slice_("gpu.dorado.example", "myrtle-1", m.devices("d", 4, capacity={"memory": "0.25Ti"})),
            ),
        ),
        namespace="inn",
    ),
    Scenario(
        "kind-of-a-newer-driver",
        "The gang asks for a driver of version 5.10 or later, and the devices report 5.9.3. As text, 5.9 would be later.",
        {"avocet": Truth("Pending", "NoMatchingDevice", {"need": 2, "matching": 0})},
        [
            *farm("gpu.pyxis.example", "pyxis", "olive-1", attributes={"driver": "v5.9.3"}),
            m.template(
                "one",
                m.request(
                    "r",
                    "pyxis",
                    where="device.attributes['gpu.pyxis.example'].driver.compareTo(semver('5.10.0')) >= 0",
                ),
            ),
        ],
        m.gang("avocet", 2, made_from="one"),
        fix=(
            steps.republish(
                "the driver is upgraded",
                m.slice_("gpu.pyxis.example", "olive-1", m.devices("d", 4, {"driver": "v5.10.0"})),
            ),
        ),
        namespace="lech",
    ),
    Scenario(
        "kind-that-may-be-shared",
        "The class takes only devices that say they may be shared, and the claim only those that are not; no device is both.",
        {"grebe": Truth("Pending", "NoMatchingDevice", {"need": 2, "matching": 0})},
        [
            *m.nodes("quince-1"),
            m.slice_(
                "gpu.reticulum.example",
                "quince-1",
                [m.device(f"q{i}", {"shareable": i % 2 == 0}) for i in range(4)],
            ),
            m.device_class(
                "reticulum", "gpu.reticulum.example", where="device.attributes['gpu.reticulum.example'].shareable"
            ),
            m.template(
                "one", m.request("r", "reticulum", where="!device.attributes['gpu.reticulum.example'].shareable")
            ),
        ],
        m.gang("grebe", 2, made_from="one"),
        fix=(
            steps.patch(
                "the class takes all devices of the driver",
                steps.DRA,
                "DeviceClass",
                "reticulum",
                {"spec": {"selectors": [{"cel": {"expression": "device.driver == 'gpu.reticulum.example'"}}]}},
            ),
        ),
        namespace="traun",
    ),
    Scenario(
        "kind-and-gone-class",
        "The class that the claims name does not exist. Devices of that driver are there and free.",
        {"petrel": Truth("Pending", "DeviceClassMissing", {"deviceClass": "horologium-xl"})},
        [
            *farm("gpu.horologium.example", "horologium", "acacia-1"),
            m.template("one", m.request("r", "horologium-xl")),
        ],
        m.gang("petrel", 2, made_from="one"),
        fix=(steps.make("the class is made", m.device_class("horologium-xl", "gpu.horologium.example")),),
        namespace="mosel",
    ),
    Scenario(
        "class-missing-in-one-request",
        "One of the two requests of each claim names a class that does not exist; and the node has too little CPU for a pod,"
        " about which nobody asks before the class is there.",
        {"scoter": Truth("Pending", "DeviceClassMissing", {"deviceClass": "circinus-net"})},
        [
            *farm("gpu.circinus.example", "circinus", "laurel-1"),
            m.slice_("nic.circinus.example", "laurel-1", m.devices("n", 2), name="laurel-nics"),
            m.template("both", m.request("a", "circinus"), m.request("b", "circinus-net")),
        ],
        m.gang("scoter", 2, made_from="both", cpu="12"),
        herrings=(steps.enlarge("the node gets more CPU", "laurel-1", {"cpu": "40"}),),
        fix=(steps.make("the class is made", m.device_class("circinus-net", "nic.circinus.example")),),
        namespace="nahe",
    ),
]

TAINTED: list[Scenario] = [
    Scenario(
        "taint-by-a-rule",
        "A rule taints the only pool, and the claims do not tolerate it.",
        {"merlin": Truth("Pending", "DevicesTainted", {"need": 2, "free": 0, "taint": "care.example.org/inspection"})},
        [
            *farm("gpu.phoenix.example", "phoenix", "teak-1"),
            m.taint_rule("march", m.taint("care.example.org/inspection"), driver="gpu.phoenix.example", pool="teak-1"),
            m.template("one", m.request("r", "phoenix")),
        ],
        m.gang("merlin", 2, made_from="one"),
        fix=(steps.untaint("march"),),
        namespace="aller",
    ),
    Scenario(
        "taint-by-the-driver",
        "The driver publishes 3 of its 4 devices with a taint; the gang needs 2 and can have one.",
        {"dunlin": Truth("Pending", "DevicesTainted", {"need": 2, "free": 1, "taint": "caelum.example/link-down"})},
        [
            *m.nodes("balsa-1"),
            m.slice_(
                "gpu.caelum.example",
                "balsa-1",
                [
                    m.device("b0"),
                    *(m.device(f"b{i}", taints=[m.taint("caelum.example/link-down", "NoSchedule")]) for i in (1, 2, 3)),
                ],
            ),
            m.device_class("caelum", "gpu.caelum.example"),
            m.template("one", m.request("r", "caelum")),
        ],
        m.gang("dunlin", 2, made_from="one"),
        fix=(
            steps.republish(
                "the driver takes the taints back", m.slice_("gpu.caelum.example", "balsa-1", m.devices("b", 4))
            ),
        ),
        namespace="bode",
    ),
    Scenario(
        "taint-tolerated-in-part",
        "The claims tolerate the maintenance of the pool, but not the fault that one more rule reports of all its devices.",
        {"sanderling": Truth("Pending", "DevicesTainted", {"need": 3, "free": 0, "taint": "faults.example.net/ecc"})},
        [
            *farm("gpu.eridanus.example", "eridanus", "ebony-1"),
            m.taint_rule("april", m.taint("care.example.org/window", value="w14"), driver="gpu.eridanus.example"),
            m.taint_rule("may", m.taint("faults.example.net/ecc", "NoExecute"), driver="gpu.eridanus.example"),
            m.template(
                "one",
                m.request("r", "eridanus", tolerations=[{"key": "care.example.org/window", "operator": "Exists"}]),
            ),
        ],
        m.gang("sanderling", 3, made_from="one"),
        herrings=(steps.untaint("april"),),
        fix=(steps.untaint("may"),),
        namespace="ilm",
    ),
    Scenario(
        "taint-and-the-rest-is-taken",
        "Of 4 devices 2 are used and 2 tainted; the gang needs 2. Without the taint it would have them.",
        {
            "whimbrel": Truth("Pending", "DevicesTainted", {"need": 2, "free": 0, "taint": "ops.example.com/drain"}),
            "knot": Truth("Running", None),
        },
        [
            *m.nodes("lemon-1"),
            m.slice_(
                "gpu.microscopium.example",
                "lemon-1",
                [
                    *m.devices("m", 2),
                    *(m.device(f"t{i}", taints=[m.taint("ops.example.com/drain", value="q3")]) for i in (0, 1)),
                ],
            ),
            m.device_class("microscopium", "gpu.microscopium.example"),
            m.template("one", m.request("r", "microscopium")),
        ],
        m.gang("whimbrel", 2, made_from="one"),
        occupants=m.gang("knot", 2, made_from="one"),
        fix=(
            steps.republish(
                "the driver takes the taints back",
                m.slice_("gpu.microscopium.example", "lemon-1", [*m.devices("m", 2), *m.devices("t", 2)]),
            ),
        ),
        fixed=("whimbrel",),
        namespace="leine",
    ),
    Scenario(
        "taint-though-too-few-anyway",
        "Of 6 devices 3 are used and one is tainted, and the gang needs 5: without the taint it would still lack two, so the"
        " taint is not what to look at.",
        {
            "godwit": Truth("Pending", "NotEnoughDevices", {"need": 5, "free": 2}),
            "ruff": Truth("Running", None),
        },
        [
            *farm("gpu.carina.example", "carina", "mango-1", each=6),
            m.taint_rule(
                "june",
                m.taint("ops.example.com/audit"),
                driver="gpu.carina.example",
                pool="mango-1",
                device="d5",
            ),
            m.template("one", m.request("r", "carina")),
        ],
        m.gang("godwit", 5, made_from="one"),
        occupants=m.gang("ruff", 3, made_from="one"),
        herrings=(steps.untaint("june"),),
        fix=(steps.delete_pod("ruff-0"), steps.delete_pod("ruff-1")),
        fixed=("godwit",),
        namespace="ems",
    ),
]

POOLS: list[Scenario] = [
    Scenario(
        "pool-half-published",
        "The pool has two slices and one of them is there, so nothing is given out of it.",
        {"bunting": Truth("Pending", "PoolIncomplete", {"pool": "beech-1"})},
        [
            *m.nodes("beech-1"),
            _ALPHA,
            m.device_class("fornax", "gpu.fornax.example"),
            m.template("one", m.request("r", "fornax")),
        ],
        m.gang("bunting", 2, made_from="one"),
        fix=(steps.make("the other slice is published", _BETA),),
        namespace="fulda",
    ),
    Scenario(
        "pool-of-the-node-that-is-left",
        "The gang needs 5 devices. One node has 3 that it can have, the other's pool lacks a slice.",
        {"oriole": Truth("Pending", "PoolIncomplete", {"pool": "larch-2"})},
        [
            *m.nodes("larch-1", "larch-2"),
            m.slice_("npu.corvus.example", "larch-1", m.devices("c", 3)),
            _FIRST,
            m.device_class("corvus", "npu.corvus.example"),
            m.template("one", m.request("r", "corvus")),
        ],
        m.gang("oriole", 5, made_from="one"),
        fix=(steps.make("the other slice is published", _SECOND),),
        namespace="werra",
    ),
    Scenario(
        "pool-in-the-middle-of-an-upgrade",
        "Of the new generation of the pool one slice of two is published, and the slices of the old one count no longer:"
        " 4 devices can be read, and none can be had.",
        {"dipper": Truth("Pending", "PoolIncomplete", {"pool": "maple-1"})},
        [
            *m.nodes("maple-1"),
            _LEFT | {"spec": _LEFT["spec"] | {"pool": _LEFT["spec"]["pool"] | {"generation": 2}}},
            _RIGHT,
            m.device_class("lynx", "dpu.lynx.example"),
            m.template("one", m.request("r", "lynx")),
        ],
        m.gang("dipper", 2, made_from="one"),
        fix=(
            steps.republish(
                "the other slice of the new generation is published",
                _RIGHT | {"spec": _RIGHT["spec"] | {"pool": _RIGHT["spec"]["pool"] | {"generation": 2}}},
            ),
        ),
        namespace="unstrut",
    ),
]

TOGETHER: list[Scenario] = [
    Scenario(
        "numa-three-of-a-node-with-two",
        "Each pod wants 3 devices of one NUMA node, and no NUMA node has more than 2.",
        {"puffin": Truth("Pending", "DeviceConstraint", {"attribute": m.NUMA})},
        [
            *m.nodes("plum-1"),
            m.slice_("gpu.hydrus.example", "plum-1", _numa("p")),
            m.device_class("hydrus", "gpu.hydrus.example"),
            m.template("three", m.request("r", "hydrus", 3), same=m.NUMA),
        ],
        m.gang("puffin", 1, made_from="three"),
        fix=(
            steps.republish(
                "a third device is published on one NUMA node",
                m.slice_("gpu.hydrus.example", "plum-1", _numa("p", more=1)),
            ),
        ),
        namespace="eider",
    ),
    Scenario(
        "numa-free-ones-are-apart",
        "Two devices are free, one on each NUMA node, and the pod wants two of the same.",
        {"gannet": Truth("Pending", "DeviceConstraint", {"attribute": m.NUMA})},
        [
            *m.nodes("pear-1"),
            m.slice_("gpu.ursa.example", "pear-1", _numa("u")),
            m.device_class("ursa", "gpu.ursa.example"),
            *(
                m.template(
                    f"on-{n}",
                    m.request("r", "ursa", where=f"device.attributes['resource.kubernetes.io'].numaNode == {n}"),
                )
                for n in (0, 1)
            ),
            m.template("pair", m.request("r", "ursa", 2), same=m.NUMA),
        ],
        m.gang("gannet", 1, made_from="pair"),
        occupants=[m.pod("weasel", made_from="on-0"), m.pod("polecat", made_from="on-1")],
        fix=(steps.delete_pod("polecat"),),
        namespace="peene",
    ),
    Scenario(
        "roots-of-two-requests",
        "A device of each class on one PCIe root is wanted; those of the first class are all on one root, those of the second"
        " on another.",
        {"fulmar": Truth("Pending", "DeviceConstraint", {"attribute": ROOT})},
        [
            *m.nodes("cherry-1"),
            m.slice_("gpu.monoceros.example", "cherry-1", m.devices("g", 2, {ROOT: "pci0000:00"}), name="cherry-g"),
            m.slice_("nic.monoceros.example", "cherry-1", m.devices("n", 2, {ROOT: "pci0000:80"}), name="cherry-n"),
            m.device_class("mono", "gpu.monoceros.example"),
            m.device_class("mono-nic", "nic.monoceros.example"),
            m.template("both", m.request("a", "mono"), m.request("b", "mono-nic"), same=ROOT),
        ],
        m.gang("fulmar", 2, made_from="both"),
        fix=(
            steps.republish(
                "the devices of the second class are moved",
                m.slice_("nic.monoceros.example", "cherry-1", m.devices("n", 2, {ROOT: "pci0000:00"}), name="cherry-n"),
            ),
        ),
        namespace="warnow",
    ),
    Scenario(
        "distinct-boards",
        "The pod wants 2 devices of different boards, and all 4 are of one.",
        {"nuthatch": Truth("Pending", "DeviceConstraint", {"attribute": "gpu.tau.example/board"})},
        [
            *farm("gpu.tau.example", "tau", "peach-1", attributes={"board": "b17"}, allowMultipleAllocations=True),
            m.template("apart", m.request("r", "tau", 2), distinct="gpu.tau.example/board"),
        ],
        m.gang("nuthatch", 1, made_from="apart"),
        fix=(
            steps.republish(
                "two boards are published",
                m.slice_(
                    "gpu.tau.example",
                    "peach-1",
                    [m.device(f"d{i}", {"board": f"b{i}"}, allowMultipleAllocations=True) for i in range(4)],
                ),
            ),
        ),
        namespace="trave",
    ),
    Scenario(
        "numa-lists-that-do-not-meet",
        "Devices list the NUMA nodes that they are near to. The pod wants 3 that are near to one; two are near to 0 and 1, two"
        " to 2 and 3.",
        {"pigeon": Truth("Pending", "DeviceConstraint", {"attribute": m.NUMA})},
        [
            *m.nodes("apple-1"),
            m.slice_(
                "gpu.chi.example",
                "apple-1",
                [m.device(f"c{i}", {m.NUMA: near}) for i, near in enumerate([[0, 1], [1, 0], [2, 3], [3, 2]])],
            ),
            m.device_class("chi", "gpu.chi.example"),
            m.template("three", m.request("r", "chi", 3), same=m.NUMA),
        ],
        m.gang("pigeon", 1, made_from="three"),
        fix=(
            steps.republish(
                "one of the others is near to 1 as well",
                m.slice_(
                    "gpu.chi.example",
                    "apple-1",
                    [m.device(f"c{i}", {m.NUMA: near}) for i, near in enumerate([[0, 1], [1, 0], [2, 1], [3, 2]])],
                ),
            ),
        ),
        namespace="stoer",
        gates=("DRAListTypeAttributes",),
    ),
]

SCENARIOS = [*NOT_ENOUGH, *KIND, *TAINTED, *POOLS, *TOGETHER]
