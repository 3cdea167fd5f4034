"""Whom a taint evicts, and whom it leaves: claims, tolerations and pods in every way that they can meet at one device."""

from __future__ import annotations

from typing import Any, Final

from tests.scenarios import manifests as m
from tests.scenarios.definitions.devices import farm
from tests.scenarios.eviction import KEY, VALUE, Eviction
from tests.scenarios.stage import Stage

Json = dict[str, Any]

_FOREVER: Final = {"key": KEY, "operator": "Exists", "effect": "NoExecute"}


def _for(seconds: int, **more: str) -> Json:
    return _FOREVER | {"tolerationSeconds": seconds} | more


def _site(name: str, driver: str, of: str, **more: Any) -> list[Json]:
    return [*farm(driver, of, name, **more), m.template("one", m.request("r", of))]


def _tolerant(of: str, *tolerations: Json, **more: Any) -> Json:
    return m.template("brave", m.request("r", of, tolerations=list(tolerations), **more))


def _shared(name: str, driver: str, of: str) -> list[Json]:
    """One device that any number of claims may have a part of."""
    card = m.devices("d", 1, capacity={"mem": "64Gi"}, allowMultipleAllocations=True)
    return [*m.nodes(name), m.slice_(driver, name, card), m.device_class(of, driver)]


def _part(of: str, *tolerations: Json) -> Json:
    return m.request("r", of, capacity={"requests": {"mem": "8Gi"}}, tolerations=list(tolerations))


def _two_claims(name: str, *templates: str) -> Json:
    made = m.pod(name, made_from=templates[0])
    made["spec"]["resourceClaims"] = [
        {"name": f"c{i}", "resourceClaimTemplateName": template} for i, template in enumerate(templates)
    ]
    made["spec"]["containers"][0]["resources"]["claims"] = [{"name": f"c{i}"} for i in range(len(templates))]
    return made


def _for_init_only(name: str, template: str) -> Json:
    made = m.pod(name, made_from=template)
    (main,) = made["spec"]["containers"]
    claims = main["resources"].pop("claims")
    made["spec"]["initContainers"] = [{"name": "first", "image": main["image"], "resources": {"claims": claims}}]
    return made


def _ends_with_its_claim(stage: Stage) -> None:
    stage.patch("v1", "Pod", "cod", {"status": {"phase": "Succeeded"}}, "status")
    claims = stage.path("resource.k8s.io/v1", "ResourceClaim")
    stage.until(lambda: len(stage.api.list(claims)) == 1, "the claim to go")


def _member_ends(stage: Stage) -> None:
    stage.patch("v1", "Pod", "crake-1", {"status": {"phase": "Succeeded"}}, "status")


def _already_going(stage: Stage) -> None:
    stage.delete("v1", "Pod", "hake")
    stage.until(lambda: [p for p in stage.pods() if p["metadata"]["name"] == "ling"], "the other pod")


EVICTIONS: list[Eviction] = [
    Eviction(
        "one-pod",
        "One pod has the device; the three others have their own.",
        {"tench-2": 0},
        _site("yarrow-1", "gpu.one.example", "one"),
        [m.pod(f"tench-{i}", made_from="one") for i in range(4)],
        "tench-2",
    ),
    Eviction(
        "claim-shared-by-pods",
        "Three pods use one claim by its name; a fourth has a claim of its own.",
        {"pike": 0, "zander": 0, "burbot": 0},
        [*_site("yarrow-2", "gpu.two.example", "two"), m.claim("slab", m.request("r", "two"))],
        [*(m.pod(name, uses="slab") for name in ("pike", "zander", "burbot")), m.pod("ide", made_from="one")],
        "pike",
        namespace="oder",
    ),
    Eviction(
        "claim-of-a-gang",
        "The gang has one claim for all of its pods, which is reserved for the group and not for a pod.",
        {"avocet-0": 0, "avocet-1": 0, "avocet-2": 0},
        [*farm("gpu.three.example", "three", "yarrow-3"), m.template("two", m.request("r", "three", 2))],
        m.gang("avocet", 3, shares="two", made_from="two"),
        "avocet-1",
        namespace="isar",
    ),
    Eviction(
        "claim-of-a-gang-with-a-finished-pod",
        "The gang has one claim for all of its pods, and one of them has succeeded. The claim stays reserved for the group, so"
        " the controller deletes that pod too.",
        {"crake-0": 0, "crake-1": 0},
        [*farm("gpu.four.example", "four", "yarrow-4"), m.template("two", m.request("r", "four", 2))],
        m.gang("crake", 2, shares="two", made_from="two", restartPolicy="Never"),
        "crake-0",
        later=_member_ends,
        namespace="elbe",
    ),
    Eviction(
        "extended-resources",
        "Both pods ask for an extended resource, for which the scheduler has made a claim for each.",
        {"bleak": 0},
        [
            *m.nodes("yarrow-5"),
            m.slice_("gpu.five.example", "yarrow-5", m.devices("d", 4)),
            m.device_class("five", "gpu.five.example", extended="five.example/gpu"),
        ],
        [m.pod(name, extended={"five.example/gpu": "2"}) for name in ("bleak", "dace")],
        "bleak",
        namespace="main",
    ),
    Eviction(
        "tolerated-for-ever",
        "The claim tolerates the taint without a limit.",
        {},
        [*_site("yarrow-6", "gpu.six.example", "six"), _tolerant("six", _FOREVER)],
        [m.pod("chub", made_from="brave"), m.pod("rudd", made_from="one")],
        "chub",
        namespace="ruhr",
    ),
    Eviction(
        "tolerated-for-a-while",
        "Three claims have a part of the device: one tolerates the taint for 5 seconds, one for ever, one not at all.",
        {"barbel": 5, "nase": 0},
        [
            *_shared("yarrow-7", "gpu.seven.example", "seven"),
            m.template("a-while", _part("seven", _for(5))),
            m.template("ever", _part("seven", _FOREVER)),
            m.template("never", _part("seven")),
        ],
        [m.pod("barbel", made_from="a-while"), m.pod("huchen", made_from="ever"), m.pod("nase", made_from="never")],
        "nase",
        namespace="saale",
    ),
    Eviction(
        "tolerated-without-an-effect",
        "The toleration has no effect. The scheduler takes that for every effect, the eviction controller for none.",
        {"asp": 0},
        [
            *_site("yarrow-8", "gpu.eight.example", "eight"),
            _tolerant("eight", {"key": KEY, "operator": "Exists"}),
        ],
        [m.pod("asp", made_from="brave"), m.pod("vimba", made_from="one")],
        "asp",
        namespace="weser",
    ),
    Eviction(
        "tolerated-another-value",
        "The claim tolerates another value of the taint's key.",
        {"gudgeon": 0},
        [
            *_site("yarrow-9", "gpu.nine.example", "nine"),
            _tolerant("nine", {"key": KEY, "operator": "Equal", "value": "on", "effect": "NoExecute"}),
        ],
        [m.pod("gudgeon", made_from="brave")],
        "gudgeon",
        namespace="donau",
    ),
    Eviction(
        "tolerated-twice",
        "Two tolerations match, for 30 and for 4 seconds: the shorter counts. One for less is for another taint.",
        {"loach": 4},
        [
            *_site("yarrow-10", "gpu.ten.example", "ten"),
            _tolerant(
                "ten",
                _for(30),
                {"key": KEY, "operator": "Equal", "value": VALUE, "effect": "NoExecute", "tolerationSeconds": 4},
                _for(1, key="fault.example.com/fan"),
            ),
        ],
        [m.pod("loach", made_from="brave")],
        "loach",
        namespace="neckar",
    ),
    Eviction(
        "monitor-with-admin-access",
        "A monitor with admin access looks at every device, and goes with the pod that uses the tainted one.",
        {"sculpin": 0, "lamprey": 0},
        [
            *_site("yarrow-11", "gpu.eleven.example", "eleven", each=3),
            m.template("look", m.request("r", "eleven", 0, adminAccess=True)),
        ],
        [m.pod("lamprey", made_from="look"), m.pod("sculpin", made_from="one"), m.pod("minnow", made_from="one")],
        "sculpin",
        namespace="spree",
    ),
    Eviction(
        "two-claims-of-a-pod",
        "The pod has two claims on the device, one of which tolerates the taint for a long time and the other for 3 seconds.",
        {"grayling": 3},
        [
            *_shared("yarrow-12", "gpu.twelve.example", "twelve"),
            m.template("long", _part("twelve", _for(300))),
            m.template("short", _part("twelve", _for(3))),
        ],
        [_two_claims("grayling", "long", "short")],
        "grayling",
        namespace="havel",
    ),
    Eviction(
        "only-the-other-claim",
        "The pod has two claims, and only the first is on the tainted device; the second tolerates everything.",
        {"smelt": 0},
        [
            *_site("yarrow-13", "gpu.thirteen.example", "thirteen", each=1),
            m.slice_("nic.thirteen.example", "yarrow-13", m.devices("n", 1), name="yarrow-nic"),
            m.device_class("thirteen-nic", "nic.thirteen.example"),
            m.template(
                "nic", m.request("r", "thirteen-nic", tolerations=[{"operator": "Exists", "effect": "NoExecute"}])
            ),
        ],
        [_two_claims("smelt", "one", "nic")],
        "smelt",
        namespace="inn",
    ),
    Eviction(
        "init-container",
        "Only an init container uses the claim, which the pod holds all the same.",
        {"sterlet": 0},
        _site("yarrow-14", "gpu.fourteen.example", "fourteen"),
        [_for_init_only("sterlet", "one")],
        "sterlet",
        namespace="lech",
    ),
    Eviction(
        "finished-pod",
        "The pod has succeeded, and its claim went with it: nobody has the device any more.",
        {},
        _site("yarrow-15", "gpu.fifteen.example", "fifteen"),
        [m.pod(name, made_from="one", restartPolicy="Never") for name in ("cod", "cisco")],
        "cod",
        later=_ends_with_its_claim,
        namespace="traun",
    ),
    Eviction(
        "pod-without-a-node",
        "A second pod names the claim, but waits behind a gate and is on no node.",
        {"tope": 0},
        [*farm("gpu.sixteen.example", "sixteen", "yarrow-16"), m.claim("slab", m.request("r", "sixteen"))],
        [m.pod("tope", uses="slab")],
        "tope",
        later=lambda stage: stage.create(
            [m.pod("dab", uses="slab", schedulingGates=[{"name": "desk.example.org/review"}])]
        ),
        namespace="mosel",
    ),
    Eviction(
        "pod-on-its-way-out",
        "One of the two users of the claim is being deleted already.",
        {"ling": 0},
        [*farm("gpu.seventeen.example", "seventeen", "yarrow-17"), m.claim("slab", m.request("r", "seventeen"))],
        [m.held(m.pod("hake", uses="slab")), m.pod("ling", uses="slab")],
        "ling",
        later=_already_going,
        namespace="nahe",
    ),
    Eviction(
        "one-more-taint",
        "The device has a taint already, which the claim tolerates for ever; it does not tolerate the new one.",
        {"wels": 0},
        [
            *_site("yarrow-18", "gpu.eighteen.example", "eighteen"),
            m.taint_rule("january", m.taint("fault.example.com/fan", "NoExecute"), driver="gpu.eighteen.example"),
            _tolerant("eighteen", {"key": "fault.example.com/fan", "operator": "Exists", "effect": "NoExecute"}),
        ],
        [m.pod("wels", made_from="brave"), m.pod("orfe", made_from="brave")],
        "wels",
        namespace="aller",
    ),
    Eviction(
        "disruption-budget",
        "A PodDisruptionBudget allows no disruption; the controller deletes pods directly and does not ask.",
        {"charr-1": 0},
        [
            *_site("yarrow-19", "gpu.nineteen.example", "nineteen"),
            {
                "apiVersion": "policy/v1",
                "kind": "PodDisruptionBudget",
                "metadata": {"name": "keep"},
                "spec": {"minAvailable": "100%", "selector": {"matchLabels": {"app": "charr"}}},
            },
        ],
        [m.pod(f"charr-{i}", made_from="one", labels={"app": "charr"}) for i in range(2)],
        "charr-1",
        namespace="bode",
    ),
    Eviction(
        "no-schedule",
        "With effect NoSchedule nobody who has the device goes.",
        {},
        _site("yarrow-20", "gpu.twenty.example", "twenty"),
        [m.pod("powan", made_from="one")],
        "powan",
        effect="NoSchedule",
        namespace="ilm",
    ),
]
