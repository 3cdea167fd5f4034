"""Things that look like a trouble and are none, beside gangs that run or that wait for something else."""

from __future__ import annotations

from typing import Any

from tests.scenarios import manifests as m
from tests.scenarios.definitions import steps
from tests.scenarios.definitions.devices import farm, halves
from tests.scenarios.scenario import Scenario, Truth
from tests.scenarios.stage import Stage

Json = dict[str, Any]

_HALF, _REST = halves("gpu.sagitta.example", "ginkgo-1", "s", 2)


def _free_behind_its_back(stage: Stage) -> None:
    """The devices become free, and the scheduler does not notice."""
    stage.stop_scheduler()
    stage.delete("v1", "Pod", "jerboa")
    claims = stage.path("resource.k8s.io/v1", "ResourceClaim")
    stage.until(
        lambda: not [c for c in stage.api.list(claims) if "allocation" in c.get("status", {})],
        "no device to be allocated",
    )


def _cel(driver: str, text: str) -> str:
    return text.replace("ATTR", f"device.attributes['{driver}']").replace("CAP", f"device.capacity['{driver}']")


ACQUITTED: list[Scenario] = [
    Scenario(
        "tainted-device-that-nobody-needs",
        "The gang waits for CPU. A device of its class is tainted, but 6 others are free, more than it needs.",
        {"sparrow": Truth("Pending", "NotEnoughNodeResources", {"resource": "cpu"})},
        [
            *farm("gpu.auriga.example", "auriga", "thorn-1", each=7),
            m.taint_rule("july", m.taint("ops.example.com/check"), driver="gpu.auriga.example", device="d3"),
            m.template("one", m.request("r", "auriga")),
        ],
        m.gang("sparrow", 3, cpu="5", made_from="one"),
        occupants=[m.pod("ocelot", cpu="4")],
        herrings=(steps.untaint("july"),),
        fix=(steps.delete_pod("ocelot"),),
    ),
    Scenario(
        "incomplete-pool-of-another-class",
        "The gang's class has no device left. A pool of another driver lacks a slice, which has nothing to do with it.",
        {"dotterel": Truth("Pending", "NotEnoughDevices", {"need": 2, "free": 1})},
        [
            *farm("gpu.columba.example", "columba", "ginkgo-1", each=3),
            _HALF,
            m.device_class("sagitta", "gpu.sagitta.example"),
            m.template("one", m.request("r", "columba")),
        ],
        m.gang("dotterel", 2, made_from="one"),
        occupants=[m.pod("tamarin", made_from="one"), m.pod("gibbon", made_from="one")],
        herrings=(steps.make("the other slice is published", _REST),),
        fix=(steps.delete_pod("gibbon"),),
        namespace="oder",
    ),
    Scenario(
        "slice-of-an-old-generation",
        "The pool's second generation is complete with 2 devices, one of them used. A slice of the first, with 4 more, has"
        " been left behind: its devices are not to be had, and the pool lacks nothing.",
        {"turnstone": Truth("Pending", "NotEnoughDevices", {"need": 2, "free": 1})},
        [
            *m.nodes("maize-1"),
            m.slice_("gpu.cygnus.example", "maize-1", m.devices("old", 4), name="maize-old"),
            m.slice_("gpu.cygnus.example", "maize-1", m.devices("new", 2), name="maize-new", generation=2),
            m.device_class("cygnus", "gpu.cygnus.example"),
            m.template("one", m.request("r", "cygnus")),
        ],
        m.gang("turnstone", 2, made_from="one"),
        occupants=[m.pod("civet", made_from="one")],
        herrings=(steps.delete("the old slice is deleted", steps.DRA, "ResourceSlice", "maize-old"),),
        fix=(steps.delete_pod("civet"),),
        namespace="isar",
    ),
    Scenario(
        "tolerated-taint",
        "All devices are tainted, and the claims tolerate it; what is missing is a free device.",
        {"chough": Truth("Pending", "NotEnoughDevices", {"need": 3, "free": 2})},
        [
            *farm("gpu.serpens.example", "serpens", "wheat-1"),
            m.taint_rule("august", m.taint("tier.example.net/spot", value="yes"), driver="gpu.serpens.example"),
            m.template(
                "one",
                m.request(
                    "r",
                    "serpens",
                    tolerations=[{"key": "tier.example.net/spot", "operator": "Equal", "value": "yes"}],
                ),
            ),
        ],
        m.gang("chough", 3, made_from="one"),
        occupants=[m.pod("ibex", made_from="one"), m.pod("oryx", made_from="one")],
        herrings=(steps.untaint("august"),),
        fix=(steps.delete_pod("oryx"),),
        namespace="elbe",
    ),
    Scenario(
        "taint-without-effect",
        "A rule marks the whole pool with effect None, which keeps nobody away; both devices are taken.",
        {"stilt": Truth("Pending", "NotEnoughDevices", {"need": 1, "free": 0})},
        [
            *farm("gpu.delphinus.example", "delphinus", "oat-1", each=2),
            m.taint_rule("september", m.taint("notes.example.com/seen", "None"), driver="gpu.delphinus.example"),
            m.template("one", m.request("r", "delphinus")),
        ],
        m.gang("stilt", 1, made_from="one"),
        occupants=m.gang("wader", 2, made_from="one"),
        herrings=(steps.untaint("september"),),
        fix=(steps.delete_pod("wader-1"),),
        namespace="main",
    ),
    Scenario(
        "admin-access",
        "A monitor looks at all 4 devices with admin access, which takes none of them; 3 are used by pods.",
        {"pratincole": Truth("Pending", "NotEnoughDevices", {"need": 2, "free": 1})},
        [
            *farm("gpu.equuleus.example", "equuleus", "millet-1"),
            m.template("look", m.request("r", "equuleus", 0, adminAccess=True)),
            m.template("one", m.request("r", "equuleus")),
        ],
        m.gang("pratincole", 2, made_from="one"),
        occupants=[m.pod("meerkat", made_from="look"), *(m.pod(f"coati-{i}", made_from="one") for i in range(3))],
        herrings=(steps.delete_pod("meerkat"),),
        fix=(steps.delete_pod("coati-1"),),
        namespace="ruhr",
    ),
    Scenario(
        "selectors-that-match-some",
        "Of 8 devices the class and the claim's selector leave 3: those with a driver from 5.10 on, 80 Gi or more and not"
        " reserved. Two of the three are used.",
        {"lapwing": Truth("Pending", "NotEnoughDevices", {"need": 2, "free": 1})},
        [
            *m.nodes("sorrel-1"),
            m.slice_(
                "gpu.triangulum.example",
                "sorrel-1",
                [
                    m.device(f"t{i}", {"fw": fw, "reserved": kept}, capacity={"mem": mem})
                    for i, (fw, kept, mem) in enumerate(
                        [
                            ("v5.9.9", False, "80Gi"),
                            ("v5.10.0", False, "80Gi"),
                            ("v5.10.0", True, "80Gi"),
                            ("v5.11.2", False, "81920Mi"),
                            ("v5.11.2", False, "79Gi"),
                            ("v6.0.0", False, "0.5Ti"),
                            ("v6.0.0-rc.1", True, "0.5Ti"),
                            ("v4.20.0", False, "96Gi"),
                        ]
                    )
                ],
            ),
            m.device_class(
                "triangulum", "gpu.triangulum.example", where=_cel("gpu.triangulum.example", "!ATTR.reserved")
            ),
            m.template(
                "one",
                m.request(
                    "r",
                    "triangulum",
                    where=_cel(
                        "gpu.triangulum.example",
                        "cel.bind(a, ATTR, a.fw.isGreaterThan(semver('5.10.0')) || a.fw == semver('5.10.0'))"
                        " && CAP.mem.compareTo(quantity('80Gi')) >= 0",
                    ),
                ),
            ),
        ],
        m.gang("lapwing", 2, made_from="one"),
        occupants=[m.pod("genet", made_from="one"), m.pod("fossa", made_from="one")],
        fix=(steps.delete_pod("genet"),),
        namespace="saale",
    ),
    Scenario(
        "the-right-kind-is-tainted",
        "The gang asks for one model. The only device of it is tainted; three of another model are free and no help.",
        {"dabchick": Truth("Pending", "DevicesTainted", {"need": 1, "free": 0, "taint": "bench.example.com/broken"})},
        [
            *m.nodes("chive-1"),
            m.slice_(
                "gpu.piscis.example",
                "chive-1",
                [*m.devices("a", 3, {"model": "P1"}), m.device("z", {"model": "P2"})],
            ),
            m.taint_rule(
                "october", m.taint("bench.example.com/broken", "NoExecute"), driver="gpu.piscis.example", device="z"
            ),
            m.device_class("piscis", "gpu.piscis.example"),
            m.template("one", m.request("r", "piscis", where="device.attributes['gpu.piscis.example'].model == 'P2'")),
        ],
        m.gang("dabchick", 1, made_from="one"),
        fix=(steps.untaint("october"),),
        namespace="weser",
    ),
]

HEALTHY: list[Scenario] = [
    Scenario(
        "all-is-well",
        "Gangs that run, each with something beside it that could be blamed: an alternative of second choice, a constraint that"
        " is met, a taint without eviction on a device that is used, a pool that anybody can reach, two pods more than needed.",
        {
            "pelican": Truth("Running", None),
            "flamingo": Truth("Running", None),
            "spoonbill": Truth("Running", None),
            "kingfisher": Truth("Running", None),
            "treecreeper": Truth("Running", None),
        },
        [
            *m.nodes("thyme-1", "thyme-2"),
            m.slice_(
                "gpu.leo.example",
                "thyme-1",
                [m.device(f"l{i}", {m.NUMA: i // 2, "size": "small"}) for i in range(4)],
            ),
            m.slice_("net.leo.example", "mesh", m.devices("n", 2), everywhere=True, name="mesh"),
            m.slice_("asic.leo.example", "thyme-2", m.devices("a", 3), name="thyme-asics"),
            m.device_class("leo", "gpu.leo.example"),
            m.device_class("leo-net", "net.leo.example"),
            m.device_class("leo-asic", "asic.leo.example"),
            m.template(
                "any",
                m.either(
                    "r",
                    m.choice("l", "leo", where="device.attributes['gpu.leo.example'].size == 'large'"),
                    m.choice("s", "leo", 2),
                ),
            ),
            m.template("pair", m.request("r", "leo", 2), same=m.NUMA),
            m.template("net", m.request("r", "leo-net")),
            m.template("asic", m.request("r", "leo-asic")),
        ],
        m.gang("treecreeper", 3, min_count=1, nodeSelector={"kubernetes.io/hostname": "thyme-2"}, cpu="12"),
        occupants=[
            *m.gang("pelican", 1, made_from="any"),
            *m.gang("flamingo", 1, made_from="pair"),
            *m.gang("spoonbill", 1, made_from="asic"),
            *m.gang("kingfisher", 2, made_from="net"),
        ],
        later=lambda stage: stage.create(
            [m.taint_rule("november", m.taint("desk.example.com/watch"), driver="asic.leo.example")]
        ),
        namespace="neckar",
    ),
    Scenario(
        "words-that-are-out-of-date",
        "The scheduler refused the gang when the devices were taken, and hangs since. They are free again, so its words are old:"
        " nothing that can be read keeps the gang waiting.",
        {"nutcracker": Truth("Pending", "Unexplained")},
        [*farm("gpu.virgo.example", "virgo", "basil-1", each=2), m.template("one", m.request("r", "virgo"))],
        m.gang("nutcracker", 2, made_from="one"),
        occupants=[m.pod("jerboa", made_from="one")],
        later=_free_behind_its_back,
        fix=(steps.make("the scheduler goes on", m.pod("lemming")),),
        namespace="spree",
    ),
]

UNEXPLAINED: list[Scenario] = [
    Scenario(
        "volume-that-is-not-there",
        "The pods mount a volume claim that does not exist; ktui knows nothing of volumes and gives the scheduler's words.",
        {"waxwing": Truth("Pending", "Unexplained", or_else=("GroupInvalid",))},
        m.nodes("cress-1"),
        m.gang("waxwing", 2, volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "corpus"}}]),
        namespace="havel",
    ),
    Scenario(
        "selector-that-fails",
        "The selector reads an attribute that the first device lacks. That is an error, which ends the search on the node,"
        " though the other devices would do.",
        {"brambling": Truth("Pending", "Unexplained", or_else=("GroupInvalid",))},
        [
            *m.nodes("dock-1"),
            m.slice_("gpu.libra.example", "dock-1", [m.device("a"), *m.devices("b", 3, {"model": "L5"})]),
            m.device_class("libra", "gpu.libra.example"),
            m.template("one", m.request("r", "libra", where="device.attributes['gpu.libra.example'].model == 'L5'")),
        ],
        m.gang("brambling", 2, made_from="one"),
        fix=(
            steps.republish(
                "the driver publishes the attribute on every device",
                m.slice_("gpu.libra.example", "dock-1", m.devices("b", 4, {"model": "L5"})),
            ),
        ),
        namespace="inn",
    ),
]

SCENARIOS = [*ACQUITTED, *HEALTHY, *UNEXPLAINED]
