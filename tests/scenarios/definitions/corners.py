"""Harder ones: several rules of the scheduler meet, and the first number that comes to mind is not the one that decides."""

from __future__ import annotations

from typing import Any

from tests.scenarios import manifests as m
from tests.scenarios.definitions import steps
from tests.scenarios.definitions.devices import ROOT, farm, halves
from tests.scenarios.scenario import Scenario, Truth
from tests.scenarios.stage import Stage

Json = dict[str, Any]

_FIRST, _SECOND = halves("gpu.hay.example", "hay-1", "h", 2)


def _finish(gang: str, *pods: str) -> Any:
    """The pods succeed, and the scheduler tries the gang again with what they leave."""

    def act(stage: Stage) -> None:
        for pod in pods:
            stage.patch("v1", "Pod", pod, {"status": {"phase": "Succeeded"}}, "status")
        claims = stage.path("resource.k8s.io/v1", "ResourceClaim")
        stage.until(lambda: not _claims_of(stage.api.list(claims), pods), "their claims to go")
        stage.until(lambda: "cpu" not in " ".join(stage.words(gang)), f"{gang} to be tried again")

    return act


def _claims_of(claims: list[Json], pods: tuple[str, ...]) -> list[Json]:
    return [c for c in claims if any(o["name"] in pods for o in c["metadata"].get("ownerReferences", []))]


def _with_init(pod: Json, cpu: str, *, stays: bool = False) -> Json:
    """With an init container of this CPU, which with `stays` goes on beside the others."""
    (main,) = pod["spec"]["containers"]
    first = {"name": "first", "image": main["image"], "resources": {"requests": {"cpu": cpu}}}
    pod["spec"]["initContainers"] = [first | ({"restartPolicy": "Always"} if stays else {})]
    return pod


def _halves_of_a_card(count: int, size: str) -> list[Json]:
    draw = [{"counterSet": "card", "counters": {"memory": {"value": size}}}]
    return [m.device(f"h{i}", consumesCounters=draw) for i in range(count)]


def _card(driver: str, node: str, memory: str, published: list[Json]) -> list[Json]:
    """A pool of two slices: one with the card's memory, one with the devices that draw on it."""
    counters = [{"name": "card", "counters": {"memory": {"value": memory}}}]
    return [
        m.slice_(driver, node, [], slices=2, name=f"{node}-card", counters=counters),
        m.slice_(driver, node, published, slices=2, name=f"{node}-parts"),
    ]


def _both_with_a_constraint_on_the_first() -> Json:
    made = m.template("both", m.request("a", "topaz", 2), m.request("b", "topaz-nic"), same=ROOT)
    made["spec"]["spec"]["devices"]["constraints"][0]["requests"] = ["a"]
    return made


ROOM: list[Scenario] = [
    Scenario(
        "cpu-where-the-devices-are",
        "The node with the devices has no CPU left, the one with CPU has no devices. There are devices enough.",
        {"argus": Truth("Pending", "NotEnoughNodeResources", {"resource": "cpu"})},
        [
            *m.nodes("straw-1", "straw-2", cpu="8"),
            m.slice_("gpu.straw.example", "straw-1", m.devices("s", 4)),
            m.device_class("straw", "gpu.straw.example"),
            m.template("one", m.request("r", "straw")),
        ],
        m.gang("argus", 2, cpu="3", made_from="one"),
        occupants=[m.pod("otter", cpu="6", nodeSelector={"kubernetes.io/hostname": "straw-1"})],
        fix=(steps.delete_pod("otter"),),
    ),
    Scenario(
        "cpu-of-an-init-container",
        "The pods' containers want one CPU, but in each an init container wants 12 before, and the node has 8.",
        {"hoatzin": Truth("Pending", "NotEnoughNodeResources", {"resource": "cpu"})},
        m.nodes("chaff-1", cpu="8"),
        [m.pod_group("hoatzin", 2), *(_with_init(m.pod(f"hoatzin-{i}", group="hoatzin"), "12") for i in range(2))],
        fix=(steps.enlarge("the node gets more CPU", "chaff-1", {"cpu": "26"}),),
        namespace="oder",
    ),
    Scenario(
        "cpu-of-a-sidecar",
        "An init container that stays adds to the others: 3 and 2 CPUs a pod, three pods, and 14 CPUs.",
        {"motmot": Truth("Pending", "NotEnoughNodeResources", {"resource": "cpu"})},
        m.nodes("stem-1", cpu="14"),
        [
            m.pod_group("motmot", 3),
            *(_with_init(m.pod(f"motmot-{i}", group="motmot", cpu="3"), "2", stays=True) for i in range(3)),
        ],
        fix=(steps.enlarge("the node gets more CPU", "stem-1", {"cpu": "15"}),),
        namespace="isar",
    ),
    Scenario(
        "cpu-of-finished-pods",
        "Pods that have succeeded take no CPU and hold no device, although they are still on the node. What is missing is a"
        " device: 3 are there, one is used by a pod that runs.",
        {"trogon": Truth("Pending", "NotEnoughDevices", {"need": 3, "free": 2})},
        [*farm("gpu.husk.example", "husk", "husk-1", each=3), m.template("one", m.request("r", "husk"))],
        m.gang("trogon", 3, cpu="4", made_from="one"),
        occupants=[
            m.pod("gecko", cpu="7", made_from="one", restartPolicy="Never"),
            m.pod("skink", cpu="7", made_from="one", restartPolicy="Never"),
            m.pod("agama", made_from="one"),
        ],
        later=_finish("trogon", "gecko", "skink"),
        fix=(steps.delete_pod("agama"),),
        namespace="elbe",
    ),
    Scenario(
        "devices-of-pods-that-are-going",
        "The pod that has both devices is being deleted, but is not gone: it holds them until then.",
        {"toucan": Truth("Pending", "NotEnoughDevices", {"need": 1, "free": 0})},
        [
            *farm("gpu.bran.example", "bran", "bran-1", each=2),
            m.template("one", m.request("r", "bran")),
            m.template("pair", m.request("r", "bran", 2)),
        ],
        m.gang("toucan", 1, made_from="one"),
        occupants=[m.held(m.pod("iguana", made_from="pair"))],
        later=lambda stage: stage.delete("v1", "Pod", "iguana"),
        fix=(steps.let_go("the pod is gone", "iguana"),),
        namespace="main",
    ),
    Scenario(
        "claim-on-a-full-node",
        "The gang uses a claim that another pod uses as well. Its device is on one node, which has no CPU left for the gang.",
        {"barbet": Truth("Pending", "NotEnoughNodeResources", {"resource": "cpu"})},
        [
            *m.nodes("rush-1", "rush-2", cpu="8"),
            m.slice_("gpu.rush.example", "rush-1", m.devices("r", 2)),
            m.device_class("rush", "gpu.rush.example"),
            m.claim("slab", m.request("r", "rush")),
        ],
        m.gang("barbet", 2, cpu="2", uses="slab"),
        occupants=[m.pod("lizard", uses="slab"), m.pod("turtle", cpu="6", nodeName="rush-1")],
        fix=(steps.delete_pod("turtle"),),
        namespace="ruhr",
    ),
    Scenario(
        "cpu-that-may-not-be-taken",
        "Pods of lower priority have the CPU, but the gang's priority may not preempt.",
        {"jacana": Truth("Pending", "NotEnoughNodeResources", {"resource": "cpu"})},
        [
            *m.nodes("sedge-1", cpu="8"),
            m.priority("gentle", 500) | {"preemptionPolicy": "Never"},
            m.priority("humble", 5),
        ],
        m.gang("jacana", 2, cpu="3", priority="gentle"),
        occupants=[m.pod("mink", cpu="6", priorityClassName="humble")],
        fix=(steps.delete_pod("mink"),),
        namespace="saale",
    ),
]

DEVICES: list[Scenario] = [
    Scenario(
        "devices-scattered",
        "Six devices are free, and the gang's three pods want two each. On the nodes are 1, 3 and 2: room for two pods.",
        {"tinamou": Truth("Pending", "NotEnoughDevices", {"need": 6})},
        [
            *m.nodes("cane-1", "cane-2", "cane-3"),
            *(
                m.slice_("gpu.cane.example", f"cane-{i}", m.devices("c", count))
                for i, count in ((1, 1), (2, 3), (3, 2))
            ),
            m.device_class("cane", "gpu.cane.example"),
            m.template("pair", m.request("r", "cane", 2)),
        ],
        m.gang("tinamou", 3, made_from="pair"),
        fix=(
            steps.republish("the first node gets one more", m.slice_("gpu.cane.example", "cane-1", m.devices("c", 2))),
        ),
        namespace="weser",
    ),
    Scenario(
        "parts-that-exclude-each-other",
        "A card publishes 4 parts of 30 Gi and has 96 Gi: each part can be had by itself, but only 3 at once.",
        {"rhea": Truth("Pending", "NotEnoughDevices", {"need": 4})},
        [
            *m.nodes("mallow-1"),
            *_card("gpu.mallow.example", "mallow-1", "96Gi", _halves_of_a_card(4, "30Gi")),
            m.device_class("mallow", "gpu.mallow.example"),
            m.template("one", m.request("r", "mallow")),
        ],
        m.gang("rhea", 4, made_from="one"),
        fix=(steps.republish("the card has more memory", _card("gpu.mallow.example", "mallow-1", "120Gi", [])[0]),),
        namespace="donau",
    ),
    Scenario(
        "capacity-rounded-up",
        "A claim that asks for 11 Gi is given 20, for the device gives out steps of 10. Three such claims do not fit into 50.",
        {"emu": Truth("Pending", "NotEnoughDevices", {"need": 3})},
        [
            *m.nodes("tansy-1"),
            m.slice_(
                "gpu.tansy.example",
                "tansy-1",
                [
                    m.device(
                        "t0",
                        capacity={
                            "memory": {
                                "value": "50Gi",
                                "requestPolicy": {
                                    "default": "10Gi",
                                    "validRange": {"min": "10Gi", "max": "50Gi", "step": "10Gi"},
                                },
                            }
                        },
                        allowMultipleAllocations=True,
                    )
                ],
            ),
            m.device_class("tansy", "gpu.tansy.example"),
            m.template("one", m.request("r", "tansy", capacity={"requests": {"memory": "11Gi"}})),
        ],
        m.gang("emu", 3, made_from="one"),
        fix=(
            steps.republish(
                "a second device is published",
                m.slice_(
                    "gpu.tansy.example",
                    "tansy-1",
                    m.devices("u", 2, capacity={"memory": "50Gi"}, allowMultipleAllocations=True),
                ),
            ),
        ),
        namespace="neckar",
    ),
    Scenario(
        "extended-resource-by-the-class-name",
        "The pods ask for the resource that every class provides under its own name; 2 devices are there, and 3 are wanted.",
        {"kiwi": Truth("Pending", "NotEnoughDevices", {"need": 3, "free": 2})},
        farm("gpu.flint.example", "flint", "flint-1", each=2),
        m.gang("kiwi", 3, extended={"deviceclass.resource.kubernetes.io/flint": "1"}),
        fix=(steps.republish("a third is published", m.slice_("gpu.flint.example", "flint-1", m.devices("d", 3))),),
        namespace="spree",
    ),
    Scenario(
        "optional-attributes",
        "The selector asks with has() and orValue() for attributes that some devices lack: of 5 devices 2 match, and one of"
        " these is used.",
        {"booby": Truth("Pending", "NotEnoughDevices", {"need": 2, "free": 1})},
        [
            *m.nodes("chalk-1"),
            m.slice_(
                "gpu.chalk.example",
                "chalk-1",
                [
                    m.device("a", {"family": "cx-12"}),
                    m.device("b"),
                    m.device("c", {"family": "cx-7", "lanes": 16}),
                    m.device("d", {"family": "dx-12", "lanes": 16}),
                    m.device("e", {"family": "cx-12", "lanes": 8}),
                ],
            ),
            m.device_class("chalk", "gpu.chalk.example"),
            m.template(
                "one",
                m.request(
                    "r",
                    "chalk",
                    where="has(device.attributes['gpu.chalk.example'].family)"
                    " && device.attributes['gpu.chalk.example'].family.startsWith('cx-')"
                    " && device.attributes['gpu.chalk.example'].?lanes.orValue(4) in [4, 16]",
                ),
            ),
        ],
        m.gang("booby", 2, made_from="one"),
        occupants=[m.pod("hyrax", made_from="one")],
        fix=(steps.delete_pod("hyrax"),),
        namespace="havel",
    ),
    Scenario(
        "class-missing-in-an-alternative",
        "The pods would take a device of either of two classes. The second does not exist, and that ends the search, though a"
        " device of the first is free.",
        {"noddy": Truth("Pending", "DeviceClassMissing", {"deviceClass": "marl-mini"})},
        [
            *farm("gpu.marl.example", "marl", "marl-1"),
            m.template("any", m.either("r", m.choice("a", "marl"), m.choice("b", "marl-mini"))),
        ],
        m.gang("noddy", 2, made_from="any"),
        fix=(steps.make("the class is made", m.device_class("marl-mini", "gpu.marl.example")),),
        namespace="inn",
    ),
    Scenario(
        "all-devices-of-a-pool-in-two-parts",
        "The pod asks for all devices of its node, and the pool lacks a slice: how many all are is not known.",
        {"shoebill": Truth("Pending", "PoolIncomplete", {"pool": "hay-1"}, ("GroupInvalid",))},
        [
            *m.nodes("hay-1"),
            _FIRST,
            m.device_class("hay", "gpu.hay.example"),
            m.template("all", m.request("r", "hay", 0)),
        ],
        m.gang("shoebill", 1, made_from="all"),
        fix=(steps.make("the other slice is published", _SECOND),),
        namespace="lech",
    ),
    Scenario(
        "attribute-that-is-not-published",
        "The pod wants two devices of one PCIe root, and the driver publishes no roots: such devices meet no such constraint.",
        {"frogmouth": Truth("Pending", "DeviceConstraint", {"attribute": ROOT})},
        [
            *farm("gpu.slate.example", "slate", "slate-1"),
            m.template("pair", m.request("r", "slate", 2), same=ROOT),
        ],
        m.gang("frogmouth", 1, made_from="pair"),
        fix=(
            steps.republish(
                "the driver publishes roots",
                m.slice_("gpu.slate.example", "slate-1", m.devices("d", 4, {ROOT: "pci0000:3a"})),
            ),
        ),
        namespace="traun",
    ),
    Scenario(
        "pool-name-of-two-drivers",
        "A rule taints the pool of that name, whichever driver has it. The gang wants a device of the second driver.",
        {"potoo": Truth("Pending", "DevicesTainted", {"need": 2, "free": 0, "taint": "rack.example.com/heat"})},
        [
            *m.nodes("basalt-1"),
            m.slice_("gpu.basalt.example", "basalt-1", m.devices("g", 2), name="basalt-g"),
            m.slice_("nic.basalt.example", "basalt-1", m.devices("n", 2), name="basalt-n"),
            m.device_class("basalt-nic", "nic.basalt.example"),
            m.taint_rule("winter", m.taint("rack.example.com/heat", value="78"), pool="basalt-1"),
            m.template("one", m.request("r", "basalt-nic")),
        ],
        m.gang("potoo", 2, made_from="one"),
        fix=(steps.untaint("winter"),),
        namespace="mosel",
    ),
    Scenario(
        "a-mark-and-a-taint",
        "The devices have two taints: one with effect None, which does nothing, and one that keeps the gang away.",
        {"ani": Truth("Pending", "DevicesTainted", {"need": 1, "free": 0, "taint": "shop.example.com/repair"})},
        [
            *farm("gpu.gneiss.example", "gneiss", "gneiss-1", each=2),
            m.taint_rule("spring", m.taint("audit.example.com/seen", "None"), driver="gpu.gneiss.example"),
            m.taint_rule("summer", m.taint("shop.example.com/repair"), driver="gpu.gneiss.example"),
            m.template("one", m.request("r", "gneiss")),
        ],
        m.gang("ani", 1, made_from="one"),
        herrings=(steps.untaint("spring"),),
        fix=(steps.untaint("summer"),),
        namespace="nahe",
    ),
    Scenario(
        "taint-tolerated-for-a-while",
        "The claims tolerate the taint for some seconds, which is enough to be given the device: tolerationSeconds matter only"
        " to those who have it. What is missing is a device.",
        {"cotinga": Truth("Pending", "NotEnoughDevices", {"need": 2, "free": 1})},
        [
            *farm("gpu.tuff.example", "tuff", "tuff-1", each=1),
            m.taint_rule("autumn", m.taint("lab.example.com/hot", "NoSchedule"), driver="gpu.tuff.example"),
            m.template(
                "one",
                m.request("r", "tuff", tolerations=[{"key": "lab.example.com/hot", "operator": "Exists"}]),
            ),
        ],
        m.gang("cotinga", 2, made_from="one"),
        herrings=(steps.untaint("autumn"),),
        fix=(steps.republish("a second device", m.slice_("gpu.tuff.example", "tuff-1", m.devices("d", 2))),),
        namespace="aller",
    ),
    Scenario(
        "devices-of-single-nodes-in-one-slice",
        "One slice holds devices of two nodes. The pods accept only the second node, whose two devices are used.",
        {"tanager": Truth("Pending", "NotEnoughDevices", {"need": 2}, ("NodeConstraints",))},
        [
            *m.nodes("agate-1"),
            *m.nodes("agate-2", labels={"team": "umber"}),
            m.slice_(
                "gpu.agate.example",
                "agate",
                [m.device(f"a{i}", nodeName=f"agate-{1 + i // 2}") for i in range(4)],
                each=True,
                name="agate-all",
            ),
            m.device_class("agate", "gpu.agate.example"),
            m.template("one", m.request("r", "agate")),
        ],
        m.gang("tanager", 2, made_from="one", nodeSelector={"team": "umber"}),
        occupants=[m.pod(f"vicuna-{i}", made_from="one", nodeSelector={"team": "umber"}) for i in range(2)],
        fix=(steps.delete_pod("vicuna-0"), steps.delete_pod("vicuna-1")),
        namespace="bode",
    ),
    Scenario(
        "constraint-of-one-request-only",
        "The constraint is about the first request and is met. The second request finds no device of its class free.",
        {"vireo": Truth("Pending", "NotEnoughDevices")},
        [
            *m.nodes("topaz-1"),
            m.slice_("gpu.topaz.example", "topaz-1", m.devices("g", 2, {ROOT: "pci0000:17"}), name="topaz-g"),
            m.slice_("nic.topaz.example", "topaz-1", m.devices("n", 1, {ROOT: "pci0000:c9"}), name="topaz-n"),
            m.device_class("topaz", "gpu.topaz.example"),
            m.device_class("topaz-nic", "nic.topaz.example"),
            _both_with_a_constraint_on_the_first(),
            m.template("nic", m.request("r", "topaz-nic")),
        ],
        m.gang("vireo", 1, made_from="both"),
        occupants=[m.pod("alpaca", made_from="nic")],
        fix=(steps.delete_pod("alpaca"),),
        namespace="ilm",
    ),
    Scenario(
        "more-pods-than-needed",
        "The gang has 5 pods and needs 3 of them; 2 devices are free.",
        {"antwren": Truth("Pending", "NotEnoughDevices", {"free": 2})},
        [*farm("gpu.opal.example", "opal", "opal-1"), m.template("one", m.request("r", "opal"))],
        m.gang("antwren", 5, min_count=3, made_from="one"),
        occupants=[m.pod(f"llama-{i}", made_from="one") for i in range(2)],
        fix=(steps.delete_pod("llama-0"),),
        namespace="leine",
    ),
    Scenario(
        "quota-of-cpu",
        "The quota of the namespace has 2 CPUs left, and each of the Job's 2 pods asks for 2.",
        {"drongo": Truth("Pending", "QuotaExceeded", {"quota": "purse"}, ("WaitingForPods",))},
        [*m.nodes("jade-1"), m.quota("purse", **{"requests.cpu": "3"})],
        [m.gang_job("drongo", 2, cpu="2")],
        later=steps.until_event("FailedCreate"),
        fix=(
            steps.patch(
                "the quota is raised", "v1", "ResourceQuota", "purse", {"spec": {"hard": {"requests.cpu": "8"}}}
            ),
        ),
        namespace="ems",
    ),
]


def _m(model: str) -> str:
    return f"device.attributes['gpu.quartz.example'].model == '{model}'"


def _one_goes(stage: Stage) -> None:
    stage.until(lambda: stage.refused("limpkin"), "the gang to be refused")
    stage.delete("v1", "Pod", "limpkin-2")
    stage.until(lambda: len(stage.pods("limpkin")) == 2, "a pod to go")


TOGETHER: list[Scenario] = [
    Scenario(
        "many-at-once",
        "One gang runs on 5 of 8 devices of the first model; eight wait on the same nodes, each for a reason of its own.",
        {
            "condor": Truth("Running", None),
            "vulture": Truth("Pending", "NotEnoughDevices", {"need": 4, "free": 3}),
            "falcon": Truth("Pending", "NoMatchingDevice", {"need": 2, "matching": 0}),
            "buzzard": Truth("Pending", "DevicesTainted", {"need": 2, "free": 0, "taint": "dock.example.com/swap"}),
            "harrier": Truth("Pending", "NotEnoughNodeResources", {"resource": "cpu"}),
            "caracara": Truth("Pending", "NodeConstraints"),
            "kestrel": Truth("Pending", "Gated", {"gates": ["queue.example.org/admission"]}),
            "seriema": Truth("Pending", "WaitingForPods", {"have": 2, "need": 3}),
            "chachalaca": Truth("Pending", "DeviceClassMissing", {"deviceClass": "quartz-x"}),
        },
        [
            *m.nodes("quarry-1", "quarry-2", labels={"zone": "a"}),
            *m.nodes("quarry-3", labels={"zone": "b"}),
            *(
                m.slice_("gpu.quartz.example", f"quarry-{i}", m.devices("q", count, {"model": model}))
                for i, count, model in ((1, 4, "M1"), (2, 4, "M1"), (3, 2, "M2"))
            ),
            m.device_class("quartz", "gpu.quartz.example"),
            m.taint_rule("tuesday", m.taint("dock.example.com/swap"), driver="gpu.quartz.example", pool="quarry-3"),
            *(m.template(model.lower(), m.request("r", "quartz", where=_m(model))) for model in ("M1", "M2", "M3")),
            m.template("x", m.request("r", "quartz-x")),
        ],
        [
            *m.gang("vulture", 4, made_from="m1"),
            *m.gang("falcon", 2, made_from="m3"),
            *m.gang("buzzard", 2, made_from="m2"),
            *m.gang("harrier", 2, cpu="20"),
            *m.gang("caracara", 2, nodeSelector={"zone": "c"}),
            *m.gang("kestrel", 2, schedulingGates=[{"name": "queue.example.org/admission"}]),
            m.pod_group("seriema", 3),
            *(m.pod(f"seriema-{i}", group="seriema") for i in range(2)),
            *m.gang("chachalaca", 2, made_from="x"),
        ],
        occupants=m.gang("condor", 5, made_from="m1"),
        fix=(
            steps.untaint("tuesday"),
            steps.delete_pod("condor-0"),
            steps.make("the third pod is made", m.pod("seriema-2", group="seriema")),
            steps.make("the class is made", m.device_class("quartz-x", "gpu.quartz.example")),
            steps.make("a node with all that is asked for", m.node("quarry-4", cpu="64", labels={"zone": "c"})),
            steps.make("its devices", m.slice_("gpu.quartz.example", "quarry-4", m.devices("q", 9, {"model": "M3"}))),
        ),
        fixed=("vulture", "falcon", "buzzard", "harrier", "caracara", "seriema", "chachalaca"),
        namespace="wupper",
    ),
    Scenario(
        "tried-and-then-short-of-a-pod",
        "The scheduler refused the gang for want of devices; since then one of its pods was deleted, and what the scheduler said"
        " is still there. Nothing is tried before there are three pods again.",
        {"limpkin": Truth("Pending", "WaitingForPods", {"have": 2, "need": 3})},
        [*farm("gpu.beryl.example", "beryl", "beryl-1", each=2), m.template("one", m.request("r", "beryl"))],
        m.gang("limpkin", 3, made_from="one"),
        later=_one_goes,
        fix=(
            steps.republish("a third device is published", m.slice_("gpu.beryl.example", "beryl-1", m.devices("d", 3))),
            steps.make("the pod is made again", m.pod("limpkin-2", group="limpkin", made_from="one")),
        ),
        namespace="lippe",
    ),
]

SCENARIOS = [*ROOM, *DEVICES, *TOGETHER]
