"""Counting right: whose devices, CPU and nodes count for a gang, and whether what is left can be used together."""

from __future__ import annotations

from typing import Any, Final

from tests.scenarios import manifests as m
from tests.scenarios.definitions import steps
from tests.scenarios.definitions.devices import ROOT, farm
from tests.scenarios.scenario import Scenario, Truth
from tests.scenarios.stage import Stage

Json = dict[str, Any]

DISK: Final = "ephemeral-storage"


def _with_disk(name: str, size: str) -> Json:
    made = m.node(name)
    for amounts in (made["status"]["capacity"], made["status"]["allocatable"]):
        amounts[DISK] = size
    return made


def _spread(label: str) -> list[Json]:
    """As many pods with this label in each zone as in any other, but for one."""
    return [
        {
            "maxSkew": 1,
            "topologyKey": "zone",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": label}},
        }
    ]


def _affinity(key: str, operator: str, *values: str) -> Json:
    wanted = {"key": key, "operator": operator, **({"values": list(values)} if values else {})}
    terms = [{"matchExpressions": [wanted]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def _published_without_a_used_one(stage: Stage) -> None:
    """The driver no longer publishes one of the devices that the pod holds."""
    gone = stage.devices_of("dingo")[0][2]
    left = [device for device in m.devices("d", 4) if device["name"] != gone]
    slice_ = m.slice_("gpu.dacite.example", "dacite-1", left)
    stage.patch(steps.DRA, "ResourceSlice", slice_["metadata"]["name"], {"spec": slice_["spec"]})
    stage.until_heard()


def _roots(count: int, *, alike: bool) -> list[Json]:
    return [m.device(f"r{i}", {m.NUMA: 0, ROOT: f"pci0000:{0 if alike else i}a"}) for i in range(count)]


def _two_constraints(name: str, of: str, count: int) -> Json:
    made = m.template(name, m.request("r", of, count), same=m.NUMA)
    made["spec"]["spec"]["devices"]["constraints"].append({"matchAttribute": ROOT})
    return made


NODES: list[Scenario] = [
    Scenario(
        "cpu-of-the-one-that-leads",
        "The gang's workers want a device each, of which there are enough; the pod that leads them wants none, and more CPU than"
        " any node has.",
        {"albatross": Truth("Pending", "NotEnoughNodeResources", {"resource": "cpu"})},
        [*farm("gpu.gabbro.example", "gabbro", "gabbro-1"), m.template("one", m.request("r", "gabbro"))],
        [
            m.pod_group("albatross", 3),
            m.pod("albatross-lead", group="albatross", cpu="18"),
            *(m.pod(f"albatross-{i}", group="albatross", made_from="one") for i in range(2)),
        ],
        fix=(steps.make("a larger node joins", m.node("gabbro-2", cpu="24")),),
    ),
    Scenario(
        "devices-of-those-that-follow",
        "The pod that leads would fit anywhere; of the three that want a device each, one finds none.",
        {"bobolink": Truth("Pending", "NotEnoughDevices", {"need": 3, "free": 2})},
        [*farm("gpu.norite.example", "norite", "norite-1", each=2), m.template("one", m.request("r", "norite"))],
        [
            m.pod_group("bobolink", 4),
            m.pod("bobolink-lead", group="bobolink"),
            *(m.pod(f"bobolink-{i}", group="bobolink", made_from="one") for i in range(3)),
        ],
        fix=(steps.republish("a third is published", m.slice_("gpu.norite.example", "norite-1", m.devices("d", 3))),),
        namespace="oder",
    ),
    Scenario(
        "cpu-in-pieces",
        "Six nodes of 16 CPUs have 96 in all, and 13 pods of 7 want 91; but only two fit on each node.",
        {"dickcissel": Truth("Pending", "NotEnoughNodeResources", {"resource": "cpu"})},
        m.nodes(*(f"shale-{i}" for i in range(6))),
        m.gang("dickcissel", 13, cpu="7"),
        fix=(steps.make("a seventh node joins", m.node("shale-6")),),
        namespace="isar",
    ),
    Scenario(
        "disk-of-the-node",
        "The pods want 200 Gi of the node's disk, and the node has 100.",
        {"phoebe": Truth("Pending", "NotEnoughNodeResources", {"resource": DISK})},
        [_with_disk("loam-1", "100Gi")],
        m.gang("phoebe", 1, extended={DISK: "200Gi"}),
        fix=(steps.make("a node with more disk joins", _with_disk("loam-2", "400Gi")),),
        namespace="elbe",
    ),
    Scenario(
        "cpu-of-the-pod-as-a-whole",
        "The pods' containers want one CPU, but each pod as a whole asks for 20; the nodes have 16.",
        {"veery": Truth("Pending", "NotEnoughNodeResources", {"resource": "cpu"})},
        m.nodes("silt-1"),
        m.gang("veery", 1, resources={"requests": {"cpu": "20"}}),
        fix=(steps.make("a larger node joins", m.node("silt-2", cpu="32")),),
        namespace="main",
    ),
    Scenario(
        "labels-compared-as-numbers",
        "The pods accept nodes whose generation is above 9, which 12 is as a number and would not be as text. That node has too"
        " little CPU left; the one that has enough is of generation 8.",
        {"dipper": Truth("Pending", "NotEnoughNodeResources", {"resource": "cpu"})},
        [*m.nodes("clay-1", labels={"generation": "12"}), *m.nodes("clay-2", labels={"generation": "8"})],
        m.gang("dipper", 2, cpu="6", affinity=_affinity("generation", "Gt", "9")),
        occupants=[m.pod("dhole", cpu="9", nodeName="clay-1")],
        herrings=(steps.make("a node of an older generation joins", *m.nodes("clay-3", labels={"generation": "9"})),),
        fix=(steps.delete_pod("dhole"),),
        namespace="ruhr",
    ),
    Scenario(
        "taint-that-is-only-a-wish",
        "The only node has a taint with effect PreferNoSchedule, which keeps nobody away; it has too little memory.",
        {"gnatcatcher": Truth("Pending", "NotEnoughNodeResources", {"resource": "memory"})},
        m.nodes("marsh-1", taints=[{"key": "rest.example.com/soon", "effect": "PreferNoSchedule"}]),
        m.gang("gnatcatcher", 2, memory="40Gi"),
        herrings=(steps.patch("the taint is removed", "v1", "Node", "marsh-1", {"spec": {"taints": None}}),),
        fix=(steps.make("a node joins", m.node("marsh-2")),),
        namespace="saale",
    ),
    Scenario(
        "pods-spread-over-zones",
        "The gang's pods must be spread evenly over two zones, one of which has room for one of them: with one there, no more"
        " than two may be in the other, and the gang has four.",
        {"ovenbird": Truth("Pending", "NodeConstraints")},
        [*m.nodes("delta-1", labels={"zone": "s"}), *m.nodes("delta-2", labels={"zone": "t"}, cpu="4")],
        m.gang("ovenbird", 4, cpu="3", labels={"app": "ovenbird"}, topologySpreadConstraints=_spread("ovenbird")),
        fix=(steps.make("a node joins the second zone", *m.nodes("delta-3", labels={"zone": "t"})),),
        namespace="weser",
    ),
]

DEVICES: list[Scenario] = [
    Scenario(
        "numa-three-and-one",
        "Four devices are free and two pods want two each, of one NUMA node: 3 are on the first and 1 on the second.",
        {"phalarope": Truth("Pending", "DeviceConstraint", {"attribute": m.NUMA})},
        [
            *m.nodes("fjord-1"),
            m.slice_(
                "gpu.fjord.example", "fjord-1", [m.device(f"f{i}", {m.NUMA: n}) for i, n in enumerate((0, 0, 0, 1))]
            ),
            m.device_class("fjord", "gpu.fjord.example"),
            m.template("pair", m.request("r", "fjord", 2), same=m.NUMA),
        ],
        m.gang("phalarope", 2, made_from="pair"),
        fix=(
            steps.republish(
                "one device is moved",
                m.slice_(
                    "gpu.fjord.example", "fjord-1", [m.device(f"f{i}", {m.NUMA: n}) for i, n in enumerate((0, 0, 1, 1))]
                ),
            ),
        ),
        namespace="donau",
    ),
    Scenario(
        "the-second-of-two-constraints",
        "The devices must be of one NUMA node, which all are, and of one PCIe root, which no two are.",
        {"killdeer": Truth("Pending", "DeviceConstraint", {"attribute": ROOT})},
        [
            *m.nodes("mesa-1"),
            m.slice_("gpu.mesa.example", "mesa-1", _roots(4, alike=False)),
            m.device_class("mesa", "gpu.mesa.example"),
            _two_constraints("pair", "mesa", 2),
        ],
        m.gang("killdeer", 1, made_from="pair"),
        fix=(
            steps.republish("the devices share a root", m.slice_("gpu.mesa.example", "mesa-1", _roots(4, alike=True))),
        ),
        namespace="neckar",
    ),
    Scenario(
        "admin-access-needs-no-free-device",
        "The gang looks at two devices with admin access. All are used, which is no matter; the node has too little CPU.",
        {"sora": Truth("Pending", "NotEnoughNodeResources", {"resource": "cpu"})},
        [
            *farm("gpu.karst.example", "karst", "karst-1", each=2),
            m.template("one", m.request("r", "karst")),
            m.template("look", m.request("r", "karst", 2, adminAccess=True)),
        ],
        m.gang("sora", 1, cpu="9", made_from="look"),
        occupants=[m.pod(f"jackal-{i}", cpu="4", made_from="one") for i in range(2)],
        herrings=(
            steps.republish("more devices are published", m.slice_("gpu.karst.example", "karst-1", m.devices("d", 8))),
        ),
        fix=(steps.delete_pod("jackal-1"),),
        namespace="spree",
    ),
    Scenario(
        "admin-access-and-a-taint",
        "The gang looks at a device with admin access, and the only one has a taint, which keeps also those away.",
        {"chiffchaff": Truth("Pending", "DevicesTainted", {"taint": "hall.example.com/closed"})},
        [
            *farm("gpu.tarn.example", "tarn", "tarn-1", each=1),
            m.taint_rule("monday", m.taint("hall.example.com/closed"), driver="gpu.tarn.example"),
            m.template("look", m.request("r", "tarn", adminAccess=True)),
        ],
        m.gang("chiffchaff", 1, made_from="look"),
        fix=(steps.untaint("monday"),),
        namespace="havel",
    ),
    Scenario(
        "used-and-not-published",
        "A pod has 2 devices, one of which the driver does not publish any more. Of the 3 that it publishes 2 are free, and the"
        " gang needs 3.",
        {"merganser": Truth("Pending", "NotEnoughDevices", {"need": 3, "free": 2})},
        [
            *farm("gpu.dacite.example", "dacite", "dacite-1"),
            m.template("one", m.request("r", "dacite")),
            m.template("pair", m.request("r", "dacite", 2)),
        ],
        m.gang("merganser", 3, made_from="one"),
        occupants=[m.pod("dingo", made_from="pair")],
        later=_published_without_a_used_one,
        fix=(steps.delete_pod("dingo"),),
        namespace="inn",
    ),
    Scenario(
        "taint-on-another-driver",
        "A rule taints the pool of that name, but of another driver. The gang's own driver has no device left.",
        {"redshank": Truth("Pending", "NotEnoughDevices", {"need": 1, "free": 0})},
        [
            *m.nodes("esker-1"),
            m.slice_("gpu.esker.example", "esker-1", m.devices("d", 2), name="esker-g"),
            m.slice_("nic.esker.example", "esker-1", m.devices("d", 2), name="esker-n"),
            m.device_class("esker", "gpu.esker.example"),
            m.taint_rule("sunday", m.taint("line.example.com/flap"), driver="nic.esker.example", pool="esker-1"),
            m.template("pair", m.request("r", "esker", 2)),
            m.template("one", m.request("r", "esker")),
        ],
        m.gang("redshank", 1, made_from="one"),
        occupants=[m.pod("quokka", made_from="pair")],
        herrings=(steps.untaint("sunday"),),
        fix=(steps.delete_pod("quokka"),),
        namespace="lech",
    ),
    Scenario(
        "taint-by-the-device-name",
        "A rule names a device, which every node has: of 8 devices two are tainted, and the gang needs all 8.",
        {"greenshank": Truth("Pending", "DevicesTainted", {"need": 8, "free": 6, "taint": "batch.example.com/recall"})},
        [
            *farm("gpu.scree.example", "scree", "scree-1", "scree-2"),
            m.taint_rule("friday", m.taint("batch.example.com/recall"), device="d2"),
            m.template("one", m.request("r", "scree")),
        ],
        m.gang("greenshank", 8, made_from="one"),
        fix=(steps.untaint("friday"),),
        namespace="traun",
    ),
    Scenario(
        "attributes-of-another-domain",
        "The selector reads an attribute of a domain that is not the driver's, and reckons with memory: of 4 devices 2 match,"
        " and one of these is used.",
        {"wheatear": Truth("Pending", "NotEnoughDevices", {"need": 2, "free": 1})},
        [
            *m.nodes("tundra-1"),
            m.slice_(
                "gpu.tundra.example",
                "tundra-1",
                [
                    m.device("a", {"fabric.example.org/rail": 3, "rail": 9}, capacity={"mem": "80Gi"}),
                    m.device("b", {"fabric.example.org/rail": 3, "rail": 9}, capacity={"mem": "78Gi"}),
                    m.device("c", {"fabric.example.org/rail": 9, "rail": 3}, capacity={"mem": "96Gi"}),
                    m.device("d", {"fabric.example.org/rail": 3, "rail": 9}, capacity={"mem": "96Gi"}),
                ],
            ),
            m.device_class("tundra", "gpu.tundra.example"),
            m.template(
                "one",
                m.request(
                    "r",
                    "tundra",
                    where="device.attributes['fabric.example.org'].rail == 3"
                    " && device.capacity['gpu.tundra.example'].mem.sub(quantity('4Gi')).isGreaterThan(quantity('75Gi'))",
                ),
            ),
        ],
        m.gang("wheatear", 2, made_from="one"),
        occupants=[m.pod("numbat", made_from="one")],
        fix=(steps.delete_pod("numbat"),),
        namespace="mosel",
    ),
]

SCENARIOS = [*NODES, *DEVICES]
