"""All scenarios, by name. Names of what is in them say nothing about what is wrong: gangs are birds, namespaces are rivers."""

from __future__ import annotations

from typing import Final

from tests.scenarios.definitions import (
    alldevices,
    corners,
    counting,
    crossed,
    devices,
    elsewhere,
    evictions,
    lookalikes,
    nodes,
    queue,
    states,
)
from tests.scenarios.eviction import Eviction
from tests.scenarios.scenario import Scenario

SCENARIOS: Final[dict[str, Scenario]] = {
    s.name: s
    for module in (queue, devices, nodes, lookalikes, states, corners, counting, crossed, elsewhere, alldevices)
    for s in module.SCENARIOS
}
EVICTIONS: Final[dict[str, Eviction]] = {e.name: e for e in evictions.EVICTIONS}
