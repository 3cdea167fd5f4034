"""Gangs and pods that nodes keep out: too little of something, or constraints that no node with room satisfies."""

from __future__ import annotations

from typing import Any

from tests.scenarios import manifests as m
from tests.scenarios.definitions import steps
from tests.scenarios.definitions.devices import farm
from tests.scenarios.scenario import Scenario, Truth

Json = dict[str, Any]

ZONE = "topology.kubernetes.io/zone"
SEAT = "seats.example.org/editor"


def _apart(label: str) -> Json:
    """No two pods with this label on one node."""
    term = {"labelSelector": {"matchLabels": {"app": label}}, "topologyKey": "kubernetes.io/hostname"}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def _in_zone(*zones: str) -> Json:
    term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": list(zones)}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


ROOM: list[Scenario] = [
    Scenario(
        "cpu-taken",
        "The nodes have 8 CPUs each; a pod has 6 of the first, and each pod of the gang wants 5.",
        {"warbler": Truth("Pending", "NotEnoughNodeResources", {"resource": "cpu"})},
        m.nodes("vine-1", "vine-2", cpu="8"),
        m.gang("warbler", 2, cpu="5"),
        occupants=[m.pod("badger", cpu="6")],
        fix=(steps.delete_pod("badger"),),
    ),
    Scenario(
        "memory-of-the-nodes",
        "The nodes have 64 Gi each, of which a pod has 10 on the first; the gang's two pods want 60 each.",
        {"pintail": Truth("Pending", "NotEnoughNodeResources", {"resource": "memory"})},
        m.nodes("lime-1", "lime-2"),
        m.gang("pintail", 2, memory="60Gi"),
        occupants=[m.pod("ferret", memory="10Gi")],
        fix=(steps.delete_pod("ferret"),),
        namespace="oder",
    ),
    Scenario(
        "pods-of-the-node",
        "The node takes 3 pods, one is there, and the gang has 3.",
        {"cormorant": Truth("Pending", "NotEnoughNodeResources", {"resource": "pods"})},
        m.nodes("palm-1", pods="3"),
        m.gang("cormorant", 3),
        occupants=[m.pod("marten")],
        fix=(steps.delete_pod("marten"),),
        namespace="isar",
    ),
    Scenario(
        "resource-that-no-node-has",
        "The pods ask for an extended resource that no node reports and no class provides.",
        {"skua": Truth("Pending", "NotEnoughNodeResources", {"resource": SEAT})},
        m.nodes("date-1"),
        m.gang("skua", 2, extended={SEAT: "1"}),
        fix=(steps.enlarge("the node reports it", "date-1", {SEAT: "4"}),),
        namespace="elbe",
    ),
    Scenario(
        "cpu-and-a-small-tainted-node",
        "The worker is full. The node with a taint is empty, but too small for the pods even without it.",
        {"eider": Truth("Pending", "NotEnoughNodeResources", {"resource": "cpu"})},
        [
            *m.nodes("moss-1"),
            m.node("moss-2", cpu="2", taints=[{"key": "role.example.com/front", "effect": "NoSchedule"}]),
        ],
        m.gang("eider", 2, cpu="4"),
        occupants=[m.pod("beaver", cpu="10")],
        herrings=(steps.patch("the node's taint is removed", "v1", "Node", "moss-2", {"spec": {"taints": None}}),),
        fix=(steps.delete_pod("beaver"),),
        namespace="main",
    ),
    Scenario(
        "cpu-before-devices",
        "The nodes have too little CPU left, and too few devices too. The scheduler looks at CPU first, and so does who wants to"
        " help: with more CPU the gang still lacks a device.",
        {"gadwall": Truth("Pending", "NotEnoughNodeResources", {"resource": "cpu"}, ("NotEnoughDevices",))},
        [*farm("gpu.crater.example", "crater", "fern-1", each=2), m.template("one", m.request("r", "crater"))],
        m.gang("gadwall", 2, cpu="6", made_from="one"),
        occupants=[m.pod("tapir", cpu="14", made_from="one")],
        herrings=(
            steps.republish("more devices are published", m.slice_("gpu.crater.example", "fern-1", m.devices("d", 5))),
        ),
        fix=(steps.delete_pod("tapir"),),
        namespace="ruhr",
    ),
    Scenario(
        "cpu-of-a-group-without-minimum",
        "A group whose pods are placed as they come; none of its two fits on the only node.",
        {"wigeon": Truth("Pending", "NotEnoughNodeResources", {"resource": "cpu"})},
        m.nodes("clove-1", cpu="4"),
        [m.pod_group("wigeon"), *(m.pod(f"wigeon-{i}", group="wigeon", cpu="7") for i in range(2))],
        fix=(steps.enlarge("the node gets more CPU", "clove-1", {"cpu": "32"}),),
        namespace="saale",
    ),
    Scenario(
        "single-pods",
        "Pods without a gang: one wants more memory than any node has, one a label that no node has, one a claim that is not"
        " there, one has a gate, and one runs.",
        {},
        m.nodes("anise-1"),
        [
            m.pod("perch", memory="90Gi"),
            m.pod("bream", nodeSelector={"disk.example.com/kind": "nvme"}),
            m.pod("trout", uses="plate"),
            m.pod("roach", schedulingGates=[{"name": "desk.example.org/review"}]),
            m.pod("carp"),
        ],
        pods={
            "perch": Truth("Pending", "NotEnoughNodeResources", {"resource": "memory"}),
            "bream": Truth("Pending", "NodeConstraints"),
            "trout": Truth("Pending", "ClaimNotCreated", {"claim": "plate"}),
            "roach": Truth("Pending", "Gated", {"gates": ["desk.example.org/review"]}),
            "carp": Truth("Running", None),
        },
        fix=(
            steps.label_node("anise-1", **{"disk.example.com/kind": "nvme"}),
            steps.patch("the gate is taken off", "v1", "Pod", "roach", {"spec": {"schedulingGates": None}}),
            steps.enlarge("the node gets more memory", "anise-1", {"memory": "256Gi"}),
        ),
        fixed=("perch", "bream", "roach"),
        namespace="weser",
    ),
]

PLACE: list[Scenario] = [
    Scenario(
        "zone-that-no-node-is-in",
        "The pods select a zone in which there is no node.",
        {"nightjar": Truth("Pending", "NodeConstraints")},
        m.nodes("broom-1", "broom-2", labels={ZONE: "east"}),
        m.gang("nightjar", 2, nodeSelector={ZONE: "west"}),
        fix=(steps.label_node("broom-2", **{ZONE: "west"}),),
        namespace="donau",
    ),
    Scenario(
        "affinity-to-two-zones",
        "The pods accept two zones; the nodes are in a third, and one is in none.",
        {"martin": Truth("Pending", "NodeConstraints")},
        [*m.nodes("gorse-1", labels={ZONE: "n3"}), *m.nodes("gorse-2")],
        m.gang("martin", 2, affinity=_in_zone("n1", "n2")),
        fix=(steps.label_node("gorse-2", **{ZONE: "n2"}),),
        namespace="neckar",
    ),
    Scenario(
        "nodes-with-taints",
        "Both nodes have a taint that the pods do not tolerate; they tolerate another value of the same key.",
        {"swallow": Truth("Pending", "NodeConstraints")},
        m.nodes(
            "heath-1", "heath-2", taints=[{"key": "team.example.com/owner", "value": "red", "effect": "NoSchedule"}]
        ),
        m.gang(
            "swallow",
            2,
            tolerations=[
                {"key": "team.example.com/owner", "operator": "Equal", "value": "blue", "effect": "NoSchedule"}
            ],
        ),
        fix=(steps.patch("one taint is removed", "v1", "Node", "heath-1", {"spec": {"taints": None}}),),
        namespace="spree",
    ),
    Scenario(
        "nodes-that-are-cordoned",
        "The only node with devices for the gang is cordoned; the other has none.",
        {"cuckoo": Truth("Pending", "NodeConstraints")},
        [
            m.node("cork-1", unschedulable=True),
            m.node("cork-2"),
            m.slice_("gpu.vulpecula.example", "cork-1", m.devices("k", 4)),
            m.device_class("vulpecula", "gpu.vulpecula.example"),
            m.template("one", m.request("r", "vulpecula")),
        ],
        m.gang("cuckoo", 2, made_from="one"),
        fix=(steps.patch("the node is uncordoned", "v1", "Node", "cork-1", {"spec": {"unschedulable": None}}),),
        namespace="havel",
    ),
    Scenario(
        "pods-that-must-be-apart",
        "No two of the gang's three pods may be on one node, and there are two nodes.",
        {"hoopoe": Truth("Pending", "NodeConstraints")},
        m.nodes("sloe-1", "sloe-2"),
        m.gang("hoopoe", 3, labels={"app": "hoopoe"}, affinity=_apart("hoopoe")),
        fix=(steps.make("a third node joins", m.node("sloe-3")),),
        namespace="inn",
    ),
    Scenario(
        "devices-on-the-wrong-nodes",
        "4 devices are free on a node that the pods do not accept; the node that they accept has none.",
        {"bee-eater": Truth("Pending", "NodeConstraints")},
        [
            *m.nodes("pine-1", labels={ZONE: "a"}),
            *m.nodes("pine-2", labels={ZONE: "b"}),
            m.slice_("gpu.perseus.example", "pine-1", m.devices("p", 4)),
            m.device_class("perseus", "gpu.perseus.example"),
            m.template("one", m.request("r", "perseus")),
        ],
        m.gang("bee-eater", 2, made_from="one", affinity=_in_zone("b")),
        fix=(steps.label_node("pine-1", **{ZONE: "b"}),),
        namespace="lech",
    ),
    Scenario(
        "devices-over-the-network",
        "The devices can be reached from the nodes of one rack, and the pods accept only a node in another.",
        {"redstart": Truth("Pending", "NodeConstraints")},
        [
            *m.nodes("tulip-1", labels={"rack.example.com/id": "r1"}),
            *m.nodes("tulip-2", labels={"rack.example.com/id": "r2", "team": "ochre"}),
            m.slice_(
                "net.andromeda.example", "fabric", m.devices("n", 3), where={"rack.example.com/id": "r1"}, name="fabric"
            ),
            m.device_class("andromeda", "net.andromeda.example"),
            m.template("one", m.request("r", "andromeda")),
        ],
        m.gang("redstart", 2, made_from="one", nodeSelector={"team": "ochre"}),
        fix=(steps.label_node("tulip-1", team="ochre"),),
        namespace="traun",
    ),
]

SCENARIOS = [*ROOM, *PLACE]
