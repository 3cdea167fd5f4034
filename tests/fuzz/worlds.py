"""A cluster from a seed: nodes, drivers that publish devices in every way there is, occupants, and gangs that ask for them.

Everything is drawn so that about half of the gangs find a place: a world where nothing fits shows little, nor does one where
all does. Names are numbered and say nothing.
"""

from __future__ import annotations

import random
from typing import Any, Final, NamedTuple

from tests.scenarios import manifests as m

Json = dict[str, Any]

PCIE: Final = "resource.kubernetes.io/pcieRoot"
MEMORY: Final = "memory"
_ZONE: Final = "example.com/zone"
_MODELS: Final = ("s4", "s5")


class Driver(NamedTuple):
    """How a driver publishes. `kind`: "plain", "parts" (devices that draw from counters), "shared" (several claims may have
    one) or "network" (devices that several nodes reach)."""

    name: str
    kind: str
    classes: tuple[str, ...]
    resource: str  # the extended resource that its class serves, "" for none


class Asking(NamedTuple):
    """A gang as manifests, by what they are: `claims` are templates and claims, `pods` are all of the gang's."""

    name: str
    claims: tuple[Json, ...]
    group: Json
    pods: tuple[Json, ...]

    @property
    def manifests(self) -> tuple[Json, ...]:
        return (*self.claims, self.group, *self.pods)


class World(NamedTuple):
    seed: int
    cluster: tuple[Json, ...]
    occupants: tuple[Json, ...]  # templates and pods; some find no place
    gangs: tuple[Asking, ...]


def world(seed: int) -> World:
    """The world of a seed: always the same one."""
    return _Maker(seed).make()


class _Maker:
    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._random = random.Random(seed)
        self._nodes = [f"n{seed}-{i}" for i in range(self._random.randint(2, 6))]
        self._drivers: list[Driver] = []
        self._pools: list[tuple[str, str, list[str]]] = []  # (driver, pool, devices)

    def make(self) -> World:
        cluster = [self._node(name) for name in self._nodes]
        kinds = self._random.choices(
            ("plain", "parts", "shared", "network"), (6, 3, 3, 2), k=self._random.randint(1, 3)
        )
        for number, kind in enumerate(kinds):
            cluster += self._driver(number, kind)
        cluster += [self._rule(number) for number in range(self._some(0.5, 0.2))]
        occupants = [made for number in range(self._random.randint(0, 6)) for made in self._occupant(number)]
        gangs = tuple(self._gang(f"g{number}") for number in range(self._random.randint(4, 8)))
        return World(self._seed, tuple(cluster), tuple(occupants), gangs)

    # --- the cluster ---

    def _node(self, name: str) -> Json:
        labels = {_ZONE: self._random.choice("ab")}
        taints = [m.taint("example.com/reserved", value="batch")] if self._happens(0.1) else []
        return m.node(
            name,
            cpu=str(self._random.choice((8, 16, 32, 64))),
            memory=f"{self._random.choice((8, 32, 64))}Gi",
            labels=labels,
            taints=taints,
            unschedulable=self._happens(0.07),
        )

    def _driver(self, number: int, kind: str) -> list[Json]:
        name = f"d{number}.example.com"
        resource = f"d{number}.example.org/unit" if kind in ("plain", "parts") and self._happens(0.4) else ""
        driver = Driver(name, kind, (f"c{number}", f"c{number}-some"), resource)
        self._drivers.append(driver)
        made = [
            m.device_class(driver.classes[0], name, extended=resource),
            m.device_class(driver.classes[1], name, where=self._expression(driver)),
        ]
        if kind == "network":
            return made + self._network(driver)
        for node in self._nodes:
            if self._happens(0.8):
                made += self._pool(driver, f"{node}-p{number}", node)
        return made

    def _pool(self, driver: Driver, pool: str, node: str) -> list[Json]:
        devices = self._devices(driver)
        self._pools.append((driver.name, pool, [d["name"] for d in devices]))
        counters = [_counters(self._random.choice((4, 6, 8)))] if driver.kind == "parts" else []
        return self._slices(driver, pool, devices, counters, {"on": node})

    def _slices(
        self, driver: Driver, pool: str, devices: list[Json], counters: list[Json], where: dict[str, Any]
    ) -> list[Json]:
        """A pool: in one slice or in two, and sometimes in the middle of being published."""
        cut = self._random.randint(1, len(devices) - 1) if len(devices) > 1 and self._happens(0.35) else len(devices)
        if cut < len(devices) and self._happens(0.1):
            devices[-1]["name"] = devices[0]["name"]  # which makes the pool invalid
        parts = [part for part in (devices[:cut], devices[cut:]) if part]
        count = len(parts) + bool(counters)
        missing = self._happens(0.12)
        generation = 1 + self._happens(0.3)
        more = where | {"slices": count + missing, "generation": generation}
        made = [m.slice_(driver.name, pool, part, name=f"{pool}-{i}", **more) for i, part in enumerate(parts)]
        if counters:
            made.append(m.slice_(driver.name, pool, [], name=f"{pool}-counters", counters=counters, **more))
        if generation == 2 and self._happens(0.5):
            reach = {"everywhere": True} if "each" in where else where
            old = reach | {"slices": 1, "generation": 1, "name": f"{pool}-old"}
            made.append(m.slice_(driver.name, pool, self._devices(driver._replace(kind="plain")), **old))
        return made

    def _network(self, driver: Driver) -> list[Json]:
        made: list[Json] = []
        for number in range(self._random.randint(1, 2)):
            pool, devices = f"net{number}-{driver.classes[0]}", self._devices(driver)
            self._pools.append((driver.name, pool, [d["name"] for d in devices]))
            where: dict[str, Any]
            match self._random.randrange(3):
                case 0:
                    where = {"everywhere": True}
                case 1:
                    where = {"where": {_ZONE: self._random.choice("ab")}}
                case _:
                    where = {"each": True}
                    for device in devices:
                        device |= self._reach()
            made += self._slices(driver, pool, devices, [], where)
        return made

    def _reach(self) -> Json:
        return self._random.choice(
            (
                {"allNodes": True},
                {"nodeName": self._random.choice(self._nodes)},
                {"nodeSelector": m.node_selector({_ZONE: self._random.choice("ab")})},
            )
        )

    def _devices(self, driver: Driver) -> list[Json]:
        return [self._device(driver, f"x{i}") for i in range(self._random.randint(2, 8))]

    def _device(self, driver: Driver, name: str) -> Json:
        attributes: dict[str, object] = {
            "model": self._random.choice(_MODELS),
            "ready": self._happens(0.8),
            "firmware": f"v1.{self._random.randint(0, 3)}.0",
        }
        if self._happens(0.85):
            attributes[m.NUMA] = self._random.randint(0, 1)
        if self._happens(0.7):
            attributes[PCIE] = f"pci0000:0{self._random.randint(0, 2)}"
        more: dict[str, Any] = {"capacity": {MEMORY: f"{self._random.choice((16, 40, 80))}Gi"}}
        if driver.kind == "parts":
            amount = self._random.choice((1, 2, 4))
            more["consumesCounters"] = [{"counterSet": "set", "counters": {"units": {"value": str(amount)}}}]
        if driver.kind == "shared" and self._happens(0.8):
            more["allowMultipleAllocations"] = True
            more["capacity"] = {MEMORY: {"value": "40Gi", **self._policy()}}
        if self._happens(0.1):
            more["taints"] = [self._taint()]
        return m.device(name, attributes, **more)

    def _policy(self) -> Json:
        return self._random.choice(
            (
                {},
                {"requestPolicy": {"default": "10Gi"}},
                {"requestPolicy": {"default": "10Gi", "validValues": ["10Gi", "20Gi", "40Gi"]}},
                {"requestPolicy": {"default": "8Gi", "validRange": {"min": "8Gi", "max": "32Gi", "step": "8Gi"}}},
            )
        )

    def _taint(self) -> Json:
        effect = self._random.choices(("NoSchedule", "NoExecute", "None"), (5, 2, 1))[0]
        return m.taint(f"example.com/{self._random.choice(('hot', 'old'))}", effect, self._random.choice(("", "yes")))

    def _rule(self, number: int) -> Json:
        driver, pool, devices = self._random.choice(self._pools or [("none.example.com", "none", ["x0"])])
        selector = {"driver": driver}
        if self._happens(0.7):
            selector["pool"] = pool
            if self._happens(0.6):
                selector["device"] = self._random.choice(devices)
        return m.taint_rule(f"rule{number}", self._taint(), **selector)

    # --- those who ask ---

    def _occupant(self, number: int) -> list[Json]:
        driver = self._random.choice(self._drivers)
        name = f"o{number}"
        template = m.template(name, m.request("r", driver.classes[0], self._random.choice((1, 1, 2))))
        return [template, m.pod(name, made_from=name, cpu=str(self._random.choice((1, 2, 4))))]

    def _gang(self, name: str) -> Asking:
        count = self._random.choices((1, 2, 3, 4, 6), (5, 4, 2, 1, 1))[0]
        claims: list[Json] = []
        entries: list[list[Json]] = []
        first = self._entry(name, "a", claims)
        entries = [[first]] * count
        if self._happens(0.25):
            second = self._entry(name, "b", claims)
            entries = [[first, second]] * count if self._happens(0.5) else [[first]] * (count - 1) + [[second]]
        pods = self._pods(name, entries)
        return Asking(name, tuple(claims), self._group(name, count, claims), pods)

    def _group(self, name: str, count: int, claims: list[Json]) -> Json:
        """The PodGroup; some have one claim made for all pods from a template that these name."""
        group = m.pod_group(name, count)
        templates = [made["metadata"]["name"] for made in claims if made["kind"] == "ResourceClaimTemplate"]
        if templates and self._happens(0.12):
            suffix = templates[0].partition("-")[2]
            group["spec"]["resourceClaims"] = [{"name": suffix, "resourceClaimTemplateName": templates[0]}]
        return group

    def _pods(self, name: str, entries: list[list[Json]]) -> tuple[Json, ...]:
        spec: dict[str, Any] = {}
        if self._happens(0.2):
            spec["nodeSelector"] = {_ZONE: self._random.choice("ab")}
        if self._happens(0.15):
            spec["tolerations"] = [{"key": "example.com/reserved", "operator": "Exists"}]
        cpu = str(self._random.choices((1, 2, 6, 20), (6, 4, 2, 1))[0])
        served = [driver for driver in self._drivers if driver.resource]
        extended = {}
        if served and self._happens(0.2):
            extended = {self._random.choice(served).resource: str(self._random.randint(1, 3))}
            if self._happens(0.6):
                entries = [[] for _ in entries]
        return tuple(
            _with_claims(m.pod(f"{name}-{i}", group=name, cpu=cpu, extended=extended, **spec), entry)
            for i, entry in enumerate(entries)
        )

    def _entry(self, gang: str, suffix: str, claims: list[Json]) -> Json:
        """How a pod names its claim: from a template, or one that is there, for all pods of the gang."""
        name = f"{gang}-{suffix}"
        spec = self._claim_spec()
        if self._happens(0.2):
            claims.append(m.claim(name) | {"spec": spec})
            return {"name": suffix, "resourceClaimName": name}
        claims.append(m.template(name) | {"spec": {"spec": spec}})
        return {"name": suffix, "resourceClaimTemplateName": name}

    def _claim_spec(self) -> Json:
        driver = self._random.choice(self._drivers)
        requests = [self._request("r0", driver)]
        if self._happens(0.25):
            other = driver if self._happens(0.6) else self._random.choice(self._drivers)
            requests.append(self._request("r1", other))
        devices: Json = {"requests": requests}
        if self._happens(0.3):
            devices["constraints"] = [self._constraint(len(requests)) for _ in range(1 + self._happens(0.2))]
        return {"devices": devices}

    def _constraint(self, requests: int) -> Json:
        kind = "matchAttribute" if self._happens(0.7) else "distinctAttribute"
        rule: Json = {kind: self._random.choice((m.NUMA, PCIE))}
        if requests > 1 and self._happens(0.5):
            rule["requests"] = [f"r{self._random.randrange(requests)}"]
        return rule

    def _request(self, name: str, driver: Driver) -> Json:
        if self._happens(0.12):
            choices = (self._wanted(driver) | {"name": f"s{i}"} for i in range(2))
            return {"name": name, "firstAvailable": [c for c in choices if not c.pop("adminAccess", False)]}
        return {"name": name, "exactly": self._wanted(driver)}

    def _wanted(self, driver: Driver) -> Json:
        of = "ghost" if self._happens(0.02) else self._random.choices(driver.classes, (4, 1))[0]
        count = 0 if self._happens(0.1) else self._random.choices((1, 2, 3, 4), (6, 4, 1, 1))[0]
        more: dict[str, Any] = {}
        if self._happens(0.2):
            more["tolerations"] = [self._toleration()]
        if self._happens(0.04):
            more["adminAccess"] = True
        if (driver.kind == "shared" and self._happens(0.7)) or self._happens(0.04):
            more["capacity"] = {"requests": {MEMORY: f"{self._random.choice((4, 10, 12, 30))}Gi"}}
        where = self._expression(driver) if self._happens(0.35) else ""
        made = m.request("", of, count, where=where, **more)["exactly"]
        assert isinstance(made, dict)
        return made

    def _toleration(self) -> Json:
        key = f"example.com/{self._random.choice(('hot', 'old'))}"
        return self._random.choice(
            (
                {"operator": "Exists"},
                {"key": key, "operator": "Exists"},
                {"key": key, "operator": "Exists", "effect": "NoSchedule"},
                {"key": key, "operator": "Equal", "value": "yes"},
            )
        )

    def _expression(self, driver: Driver) -> str:
        own = f"device.attributes['{driver.name}']"
        return self._random.choice(
            (
                f"{own}.model == '{self._random.choice(_MODELS)}'",
                f"{own}.ready",
                f"{own}.firmware.compareTo(semver('1.{self._random.randint(0, 3)}.0')) >= 0",
                f"device.capacity['{driver.name}'].{MEMORY}.compareTo(quantity('40Gi')) >= 0",
                self._of_numa_node(),
            )
        )

    def _of_numa_node(self) -> str:
        """An expression that is also right about a device without the attribute; some people forget that there are such."""
        careful = self._happens(0.8)
        value = ".?numaNode.orValue(0)" if careful else ".numaNode"
        return f"device.attributes['resource.kubernetes.io']{value} == {self._random.randint(0, 1)}"

    # --- chance ---

    def _happens(self, chance: float) -> bool:
        return self._random.random() < chance

    def _some(self, one: float, more: float) -> int:
        return 0 if not self._happens(one) else 1 if not self._happens(more) else 2


def _counters(units: int) -> Json:
    return {"name": "set", "counters": {"units": {"value": str(units)}}}


def _with_claims(pod: Json, entries: list[Json]) -> Json:
    """The pod with these claims, each used by its container."""
    if entries:
        pod["spec"]["resourceClaims"] = [dict(entry) for entry in entries]
        pod["spec"]["containers"][0]["resources"]["claims"] = [{"name": entry["name"]} for entry in entries]
    return pod
