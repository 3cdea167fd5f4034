"""What keeps a gang out of the scheduler's queue, or makes it wait in the queue: nothing is said about most of these."""

from __future__ import annotations

from typing import Any

from tests.scenarios import manifests as m
from tests.scenarios.definitions import steps
from tests.scenarios.scenario import Scenario, Step, Truth
from tests.scenarios.stage import Stage

Json = dict[str, Any]


def _room(prefix: str, driver: str, of: str) -> list[Json]:
    """Two nodes with 4 devices each: enough for every gang of this module."""
    names = [f"{prefix}-{index}" for index in (1, 2)]
    return [
        *m.nodes(*names),
        *(m.slice_(driver, name, m.devices("d", 4)) for name in names),
        m.device_class(of, driver),
    ]


def _ungate(*pods: str) -> Step:
    def act(stage: Stage) -> None:
        for pod in pods:
            stage.patch("v1", "Pod", pod, {"spec": {"schedulingGates": None}})

    return Step("the gates are taken off", act)


def _placed_by(scheduler: str, pod: str, node: str) -> Step:
    """What a scheduler of that name does with one of its pods; the API does not ask who it is."""

    def act(stage: Stage) -> None:
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": pod, "namespace": stage.namespace},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        }
        stage.api.request("POST", f"{stage.path('v1', 'Pod', pod)}/binding", body)

    return Step(f"{scheduler} places {pod} on {node}", act)


def _tern_is_placed(stage: Stage) -> None:
    stage.create([m.pod("tern", schedulerName="mill")])
    _placed_by("mill", "tern", "reed-1").act(stage)


def _low(name: str, **more: Any) -> Json:
    """A pod of low priority, which goes only when somebody lets it go."""
    return m.held(m.pod(name, **{"cpu": "4", "priorityClassName": "low-tide"} | more))


_GATE = [{"name": "queue.example.org/admission"}]
_TWO_GATES = [{"name": "zeta.example.net/budget"}, {"name": "alpha.example.net/data"}]

SCENARIOS: list[Scenario] = [
    Scenario(
        "waiting-for-pods-by-hand",
        "The gang needs 4 pods and somebody has made 3; everything else they need is free.",
        {"heron": Truth("Pending", "WaitingForPods", {"have": 3, "need": 4})},
        [*_room("ash", "npu.vela.example", "npu"), m.template("one", m.request("r", "npu"))],
        [m.pod_group("heron", 4), *(m.pod(f"heron-{i}", group="heron", made_from="one") for i in range(3))],
        fix=(steps.make("the fourth pod is made", m.pod("heron-3", group="heron", made_from="one")),),
    ),
    Scenario(
        "waiting-for-pods-some-done",
        "Of the 5 pods that the gang needs, one has been deleted by a person; nobody makes it again.",
        {"stork": Truth("Pending", "WaitingForPods", {"have": 4, "need": 5})},
        [*_room("elm", "tpu.orion.example", "tpu"), m.template("one", m.request("r", "tpu"))],
        [m.pod_group("stork", 5), *(m.pod(f"stork-{i}", group="stork", made_from="one") for i in range(4))],
        fix=(steps.make("the pod is made again", m.pod("stork-4", group="stork", made_from="one")),),
        namespace="oder",
    ),
    Scenario(
        "waiting-for-pods-and-no-class",
        "Two pods of three exist, and the class their claims name does not: before there are three pods nothing is tried,"
        " so the pods come first.",
        {"crane": Truth("Pending", "WaitingForPods", {"have": 2, "need": 3})},
        [*m.nodes("fir-1"), m.template("one", m.request("r", "asic"))],
        [m.pod_group("crane", 3), *(m.pod(f"crane-{i}", group="crane", made_from="one") for i in range(2))],
        herrings=(steps.make("the class is made", m.device_class("asic", "asic.lyra.example")),),
        fix=(
            steps.make("devices are published", m.slice_("asic.lyra.example", "fir-1", m.devices("a", 3))),
            steps.make("the third pod is made", m.pod("crane-2", group="crane", made_from="one")),
        ),
        namespace="isar",
    ),
    Scenario(
        "group-missing",
        "Three pods name a group that nobody has made.",
        {"egret": Truth("Pending", "GroupMissing", {"pods": 3})},
        m.nodes("oak-1"),
        [m.pod(f"egret-{i}", group="egret") for i in range(3)],
        fix=(steps.make("the group is made", m.pod_group("egret", 3)),),
        namespace="elbe",
    ),
    Scenario(
        "group-missing-and-gated",
        "The pods name a group that does not exist, and one of them has a gate. Who takes the gate off finds that nothing is"
        " tried still: without the group nobody knows how many pods belong together.",
        {"ibis": Truth("Pending", "GroupMissing", {"pods": 2})},
        m.nodes("yew-1"),
        [m.pod("ibis-0", group="ibis", schedulingGates=_GATE), m.pod("ibis-1", group="ibis")],
        fix=(_ungate("ibis-0"), steps.make("the group is made", m.pod_group("ibis", 2))),
        namespace="main",
    ),
    Scenario(
        "gated-one-pod",
        "One pod of three has a scheduling gate; one gated member holds the whole gang.",
        {"robin": Truth("Pending", "Gated", {"gates": ["queue.example.org/admission"]})},
        [*_room("box", "gpu.draco.example", "draco"), m.template("one", m.request("r", "draco"))],
        [
            m.pod_group("robin", 3),
            m.pod("robin-0", group="robin", made_from="one"),
            m.pod("robin-1", group="robin", made_from="one", schedulingGates=_GATE),
            m.pod("robin-2", group="robin", made_from="one"),
        ],
        fix=(_ungate("robin-1"),),
        namespace="ruhr",
    ),
    Scenario(
        "gated-and-too-few-devices",
        "Both pods have two gates, and there is one device for the two of them. The gates come first: the scheduler will not"
        " look at devices before they are gone.",
        {"finch": Truth("Pending", "Gated", {"gates": ["alpha.example.net/data", "zeta.example.net/budget"]})},
        [
            *m.nodes("bay-1"),
            m.slice_("fpga.cetus.example", "bay-1", m.devices("f", 1)),
            m.device_class("fpga", "fpga.cetus.example"),
            m.template("one", m.request("r", "fpga")),
        ],
        m.gang("finch", 2, made_from="one", schedulingGates=_TWO_GATES),
        fix=(
            _ungate("finch-0", "finch-1"),
            steps.republish("a second device is published", m.slice_("fpga.cetus.example", "bay-1", m.devices("f", 2))),
        ),
        namespace="saale",
    ),
    Scenario(
        "claim-not-created-no-template",
        "The template that the pods name does not exist, so no claims are made for them.",
        {"raven": Truth("Pending", "ClaimNotCreated", {"template": "pair"})},
        _room("gum", "gpu.hydra.example", "hydra"),
        m.gang("raven", 2, made_from="pair"),
        fix=(steps.make("the template is made", m.template("pair", m.request("r", "hydra", 2))),),
        namespace="weser",
    ),
    Scenario(
        "claim-not-created-by-name",
        "The pods share a claim by its name, and it is not there.",
        {"swift": Truth("Pending", "ClaimNotCreated", {"claim": "slab"})},
        _room("fig", "gpu.pavo.example", "pavo"),
        m.gang("swift", 2, uses="slab"),
        fix=(steps.make("the claim is made", m.claim("slab", m.request("r", "pavo"))),),
        namespace="donau",
    ),
    Scenario(
        "claim-not-created-for-the-group",
        "The gang shares one claim, to be made from a template that does not exist.",
        {"dove": Truth("Pending", "ClaimNotCreated", {"template": "slab"})},
        _room("nut", "gpu.crux.example", "crux"),
        m.gang("dove", 3, shares="slab", made_from="slab"),
        fix=(steps.make("the template is made", m.template("slab", m.request("r", "crux", 2))),),
        namespace="neckar",
    ),
    Scenario(
        "no-scheduler",
        "The pods ask for a scheduler that does not run here.",
        {"wren": Truth("Pending", "NoScheduler", {"schedulerName": "night-shift"})},
        m.nodes("tea-1"),
        m.gang("wren", 2, schedulerName="night-shift"),
        namespace="spree",
    ),
    Scenario(
        "no-scheduler-and-no-devices",
        "The pods ask for a scheduler that does not run, and there is no device for them either; other pods that ask for the"
        " same scheduler wait as well. As long as nobody looks at the gang, no device would help it.",
        {
            "quail": Truth("Pending", "NoScheduler", {"schedulerName": "fleetwise"}),
            "snipe": Truth("Pending", "NoScheduler", {"schedulerName": "fleetwise"}),
        },
        [*m.nodes("rye-1"), m.device_class("lupus", "gpu.lupus.example"), m.template("one", m.request("r", "lupus"))],
        [
            *m.gang("quail", 2, made_from="one", schedulerName="fleetwise"),
            *m.gang("snipe", 1, schedulerName="fleetwise"),
        ],
        herrings=(steps.make("devices are published", m.slice_("gpu.lupus.example", "rye-1", m.devices("l", 4))),),
        namespace="havel",
    ),
    Scenario(
        "group-invalid-priority",
        "The group has another priority than its pods, which the scheduler refuses.",
        {
            "eagle": Truth(
                "Pending",
                "GroupInvalid",
                {
                    "message": "all pods in a single pod group should have the same priority as the pod group's priority,"
                    " got 100 and 900"
                },
            )
        },
        [*m.nodes("hop-1"), m.priority("high-tide", 900), m.priority("low-tide", 100)],
        [
            m.pod_group("eagle", 2, priority="high-tide"),
            *(m.pod(f"eagle-{i}", group="eagle", priorityClassName="low-tide") for i in range(2)),
        ],
        fix=(
            steps.delete_pod("eagle-0"),
            steps.delete_pod("eagle-1"),
            steps.make(
                "the pods are made with the group's priority",
                *(m.pod(f"eagle-{i}", group="eagle", priorityClassName="high-tide") for i in range(2)),
            ),
        ),
        namespace="inn",
    ),
    Scenario(
        "group-invalid-preemption-policies",
        "The pods of one group have the same priority, but one of them may preempt others and the other may not.",
        {"kite": Truth("Pending", "GroupInvalid")},
        [
            *m.nodes("flax-1"),
            m.priority("brisk", 50),
            m.priority("calm", 50) | {"preemptionPolicy": "Never"},
        ],
        [
            m.pod_group("kite", 2, priority="brisk"),
            m.pod("kite-0", group="kite", priorityClassName="brisk"),
            m.pod("kite-1", group="kite", priorityClassName="calm"),
        ],
        fix=(
            steps.delete_pod("kite-1"),
            steps.make("the pod is made as its sister is", m.pod("kite-1", group="kite", priorityClassName="brisk")),
        ),
        namespace="lech",
    ),
    Scenario(
        "no-scheduler-for-one-member",
        "One of the two pods asks for a scheduler that does not run here; the other waits for it.",
        {"shrike": Truth("Pending", "NoScheduler", {"schedulerName": "ropewalk"})},
        m.nodes("hemp-1"),
        [
            m.pod_group("shrike", 2),
            m.pod("shrike-0", group="shrike"),
            m.pod("shrike-1", group="shrike", schedulerName="ropewalk"),
        ],
        fix=(
            steps.delete_pod("shrike-1"),
            steps.make("the pod is made for the scheduler that runs", m.pod("shrike-1", group="shrike")),
        ),
        namespace="traun",
    ),
    Scenario(
        "queued-scheduler-stands-still",
        "The scheduler hangs: nothing is wrong with the gang, and nothing has been said about it.",
        {"lark": Truth("Pending", "Queued")},
        [*_room("ivy", "gpu.norma.example", "norma"), m.template("one", m.request("r", "norma"))],
        m.gang("lark", 3, made_from="one"),
        frozen=True,
        fix=(Step("the scheduler goes on", lambda _: None),),
        namespace="mosel",
    ),
    Scenario(
        "queued-another-scheduler-works",
        "The pods ask for a scheduler of their own. It has placed another pod, so it is there, and has said nothing yet.",
        {"gull": Truth("Pending", "Queued")},
        [*m.nodes("reed-1")],
        m.gang("gull", 2, schedulerName="mill"),
        later=_tern_is_placed,
        fix=(_placed_by("mill", "gull-0", "reed-1"), _placed_by("mill", "gull-1", "reed-1")),
        namespace="nahe",
    ),
    Scenario(
        "quota-of-pods",
        "The quota of the namespace lets the Job make 2 of its 4 pods.",
        {"goose": Truth("Pending", "QuotaExceeded", {"quota": "ration"}, ("WaitingForPods",))},
        [*m.nodes("kale-1"), m.quota("ration", pods="2")],
        [m.gang_job("goose", 4)],
        later=steps.until_event("FailedCreate"),
        fix=(steps.patch("the quota is raised", "v1", "ResourceQuota", "ration", {"spec": {"hard": {"pods": "9"}}}),),
        namespace="aller",
    ),
    Scenario(
        "quota-of-devices",
        "The quota of the namespace lets two claims for a device of the class be made, and the gang needs three.",
        {"pipit": Truth("Pending", "QuotaExceeded", {"quota": "share"}, ("ClaimNotCreated",))},
        [
            *_room("mint", "gpu.ara.example", "ara"),
            m.quota("share", **{"ara.deviceclass.resource.k8s.io/devices": "2"}),
            m.template("one", m.request("r", "ara")),
        ],
        m.gang("pipit", 3, made_from="one"),
        later=steps.until_event("FailedResourceClaimCreation"),
        fix=(
            steps.patch(
                "the quota is raised",
                "v1",
                "ResourceQuota",
                "share",
                {"spec": {"hard": {"ara.deviceclass.resource.k8s.io/devices": "3"}}},
            ),
        ),
        namespace="bode",
    ),
    Scenario(
        "preempting-single-pods",
        "The gang has found its place: two pods of lower priority are told to go, and take their time.",
        {"hawk": Truth("Preempting", "WaitingForPreemption", {"victims": 2})},
        [*m.nodes("sage-1", cpu="8"), m.priority("high-tide", 900), m.priority("low-tide", 100)],
        m.gang("hawk", 2, cpu="4", priority="high-tide"),
        occupants=[_low(f"mole-{i}") for i in range(2)],
        later=lambda stage: stage.until(lambda: len(stage.pods()) == 2, "the victims to be told to go"),
        fix=(steps.let_go("the victims are gone", "mole-0", "mole-1"),),
        namespace="ilm",
    ),
    Scenario(
        "preempting-a-gang",
        "The gang has found its place: a gang of lower priority, whose pods are disrupted together, is told to go.",
        {"osprey": Truth("Preempting", "WaitingForPreemption", {"victims": 3})},
        [*m.nodes("dill-1", "dill-2", cpu="6"), m.priority("gold", 70), m.priority("tin", 7)],
        m.gang("osprey", 2, cpu="5", priority="gold"),
        occupants=[
            m.pod_group("newt", 3, priority="tin", together=True),
            *(_low(f"newt-{i}", group="newt", cpu="3", priorityClassName="tin") for i in range(3)),
        ],
        later=lambda stage: stage.until(lambda: not stage.pods("newt"), "the victims to be told to go"),
        fix=(steps.let_go("the victims are gone", "newt-0", "newt-1", "newt-2"),),
        namespace="leine",
    ),
]
