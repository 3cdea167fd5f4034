"""What a person is asked to confirm."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ktui.actions.audit import AuditContext
from ktui.actions.plan import ActionRequest, Plan
from ktui.actions.runner import Rehearsal
from ktui.diagnose.blast import Blast, PodHit
from ktui.model.kinds import KINDS
from ktui.ui.preview import Preview, preview, who

WHERE = AuditContext(context="prod-eu", host="10.0.0.1:6443", user="oncall")
PLAN = Plan(
    action="taint",
    title="Taint gpu.example.com/node-1/gpu-0",
    sentence="Pods that do not tolerate it are evicted.",
    request=ActionRequest("create", KINDS["DeviceTaintRule"], "v1beta2", "", "rule", {"spec": {}}),
    before="free",
    after="example.com/xid=79:NoExecute",
    done=lambda _: False,
    applied=lambda _: False,
    subject=("", "gpu-0"),
)
ACCEPTED = Rehearsal("accepted")


def words(shown: Preview) -> list[str]:
    return ["".join(cell.text for cell in line) for line in shown.lines]


def hit(count: int, *, tolerating: int = 0) -> Plan:
    deleted = tuple(PodHit(("ml", f"train-{number}"), "", after=60 * number) for number in range(count))
    return replace(PLAN, blast=Blast(deleted=deleted, tolerating=tuple(("ml", f"calm-{n}") for n in range(tolerating))))


def test_it_names_what_changes_whom_it_is_sent_to_and_what_the_dry_run_said() -> None:
    shown = preview(PLAN, Rehearsal("accepted", "it would be created", ("deprecated",)), WHERE)
    assert shown.who == "context prod-eu · 10.0.0.1:6443 · oncall"
    assert words(shown)[:2] == ["free  to  example.com/xid=79:NoExecute", PLAN.sentence]
    assert words(shown)[-2:] == [
        "server dry run  it would be created",
        "POST /apis/resource.k8s.io/v1beta2/devicetaintrules",
    ]
    assert shown.warnings == ("deprecated",)
    assert shown.confirm is None


@pytest.mark.parametrize(("count", "named", "more"), [(40, 40, None), (41, 40, "  and 1 more"), (0, 0, None)])
def test_pods_that_go_are_named_up_to_a_number_and_then_counted(count: int, named: int, more: str | None) -> None:
    shown = words(preview(hit(count), ACCEPTED, WHERE))
    assert sum("ml/train-" in line for line in shown) == named
    assert [line for line in shown if "more" in line] == ([more] if more else [])


def test_pods_that_go_later_say_when() -> None:
    assert words(preview(hit(2), ACCEPTED, WHERE))[2:4] == ["  ml/train-0", "  ml/train-1  after 60s"]


@pytest.mark.parametrize(("count", "said"), [(1, "1 pod tolerates it"), (2, "2 pods tolerate it")])
def test_pods_that_stay_are_counted(count: int, said: str) -> None:
    assert said in words(preview(hit(0, tolerating=count), ACCEPTED, WHERE))


@pytest.mark.parametrize(
    ("where", "warning"),
    [
        (replace(WHERE, insecure=True), "the server's certificate is not checked"),
        (replace(WHERE, impersonating="admin"), "you act as admin"),
    ],
)
def test_an_unusual_session_is_confirmed_by_typing_and_says_first_why(where: AuditContext, warning: str) -> None:
    shown = preview(replace(PLAN, warnings=("it is not yours",)), ACCEPTED, where)
    assert shown.confirm == "gpu-0"
    assert shown.warnings == (warning, "it is not yours")
    assert preview(replace(PLAN, confirm="node-1"), ACCEPTED, where).confirm == "node-1"


def test_a_user_that_nobody_knows_and_one_who_acts_as_another() -> None:
    assert who(replace(WHERE, user="")).endswith(" · unknown user")
    assert who(replace(WHERE, impersonating="admin")).endswith(" · oncall as admin")
