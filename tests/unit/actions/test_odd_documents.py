"""A server, or a proxy that plays one, may answer anything: a plan is made, or one line says why not; nothing else escapes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ktui.actions.api import ActionApi
from ktui.actions.minreplicas import plan_min_replicas
from ktui.actions.plan import Plan
from ktui.actions.taint import plan_taint, rule_body
from ktui.actions.untaint import plan_untaint
from ktui.errors import KtuiError
from ktui.kube.apiclient import Answer
from ktui.kube.failures import UnexpectedAnswer
from ktui.model.resourceslice import DeviceTaint
from tests.unit.actions.rig import DEVICE
from tests.unit.builders import cluster_of

XID = DeviceTaint(key="a", effect="NoExecute")
SERVED = {"DeviceTaintRule": "v1", "HorizontalPodAutoscaler": "v2"}

_odd: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(("", "x", "\x1b", "argocd")),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(("name", "uid", "x")), inner, max_size=2)
    ),
    max_leaves=4,
)
RULE = rule_body(DEVICE, DeviceTaint(key="a", effect="None"), "v1")
HPA = {
    "metadata": {"name": "chat", "namespace": "ml", "uid": "u", "resourceVersion": "1", "managedFields": []},
    "spec": {
        "scaleTargetRef": {"kind": "Deployment", "name": "chat"},
        "minReplicas": 1,
        "maxReplicas": 9,
        "metrics": [],
    },
    "status": {"currentReplicas": 1},
}


@st.composite
def bent(draw: st.DrawFn, document: dict[str, Any]) -> Any:
    """The document with something odd in a place of it, or in place of it."""

    def bend(value: Any, depth: int) -> Any:
        if depth == 0 or not isinstance(value, dict) or not value or not draw(st.integers(0, 3)):
            return draw(_odd)
        name = draw(st.sampled_from(sorted(value)))
        return {**value, name: bend(value[name], depth - 1)}

    found = bend(document, 3)
    return found if isinstance(found, dict) else {"metadata": found}


class OddServer:
    """Answers every GET with one document, under the name that was asked for where it has metadata."""

    def __init__(self, document: Any) -> None:
        self._document = document

    async def get(self, *where: str) -> Answer:
        metadata = self._document.get("metadata")
        if isinstance(metadata, dict):
            identity = {"name": where[-1], "uid": "u", "resourceVersion": "1"}
            return Answer({**self._document, "metadata": {**metadata, **identity}}, "")
        return Answer(self._document, "")


def check(planning: Any, document: Any, later: Any) -> None:
    """`later` is what the server shows when the answer to the write is lost."""
    api = ActionApi(OddServer(document), SERVED)  # type: ignore[arg-type]  # plans only read
    try:
        plan: Plan = asyncio.run(planning(api))
    except KtuiError:
        return
    for text in (plan.title, plan.sentence, plan.before, plan.after, plan.button, *plan.warnings):
        assert isinstance(text, str)
    assert plan.applied(later) in (True, False)
    assert plan.applied(None) in (True, False)


@given(bent(RULE), bent(RULE))
def test_taint(document: Any, later: Any) -> None:
    check(lambda api: plan_taint(api, cluster_of(), DEVICE, XID), document, later)


@given(bent(RULE), bent(RULE))
def test_untaint(document: Any, later: Any) -> None:
    check(lambda api: plan_untaint(api, cluster_of(), DEVICE, rule="r"), document, later)


class Nameless:
    """Answers with whatever the test says."""

    def __init__(self, metadata: Any) -> None:
        self._metadata = metadata

    async def get(self, *_: str) -> Answer:
        return Answer({**HPA, "metadata": self._metadata}, "")


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        [],
        {},
        {"name": "other", "uid": "u", "resourceVersion": "1"},
        {"name": "chat", "uid": "", "resourceVersion": "1"},
        {"name": "chat", "uid": "u"},
        {"name": "chat", "uid": "u", "resourceVersion": 1},
    ],
)
async def test_a_write_is_never_bound_to_nothing(metadata: Any) -> None:
    """A patch with an empty resourceVersion would overwrite whatever is there."""
    api = ActionApi(Nameless(metadata), SERVED)  # type: ignore[arg-type]  # plans only read
    with pytest.raises(UnexpectedAnswer, match=r"is not the object horizontalpodautoscalers\.autoscaling chat"):
        await plan_min_replicas(api, ("ml", "chat"), 3)


@given(bent(HPA), bent(HPA))
@example({"metadata": {"managedFields": 5}}, {"spec": []})
@example({"metadata": []}, {})
def test_min_replicas(document: Any, later: Any) -> None:
    check(lambda api: plan_min_replicas(api, ("ml", "chat"), 3), document, later)
