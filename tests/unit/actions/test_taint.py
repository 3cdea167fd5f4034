"""Taint one device: exactly the one that was named, by a rule that a second attempt finds again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.actions.plan import AlreadyDoneError, NotPossibleError
from ktui.actions.taint import EFFECTS, make_taint, parse_device, parse_taint, plan_taint, rule_body, rule_name
from ktui.demo.apiserver import SERVES_1_35, SERVES_1_36, SERVES_1_37
from ktui.errors import UsageError
from ktui.model.resourceslice import DeviceTaint
from tests.unit.actions.rig import DEVICE, RULES, WHERE, rig
from tests.unit.builders import DRIVER, claim, cluster_of, group, piece, pod, pod_consumer, result

XID = DeviceTaint(key="example.com/xid", value="79", effect="NoExecute")
WATCH = DeviceTaint(key="example.com/xid", value="79", effect="None")

_anything = st.text(st.characters(), max_size=40)
_names = st.sampled_from(("", " ", "gpu.example.com", "a", "n-1", "gpu-0", "*", ".", "..", "A/B", "pool/of/1"))
_parts = _names | _anything


class TestText:
    @pytest.mark.parametrize(
        ("text", "device"),
        [
            ("gpu.example.com/node-1/gpu-0", ("gpu.example.com", "node-1", "gpu-0")),
            ("gpu.example.com/rack-1/node-1/gpu-0", ("gpu.example.com", "rack-1/node-1", "gpu-0")),
            ("GPU.example.com/node.1/gpu-0", ("GPU.example.com", "node.1", "gpu-0")),
        ],
    )
    def test_a_device(self, text: str, device: tuple[str, str, str]) -> None:
        assert parse_device(text) == device

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "/",
            "//",
            "a/b",
            "/pool/gpu",
            "drv//gpu",
            "drv/pool/",
            "drv/ /gpu",
            "drv/pool/*",
            "drv/pool/gpu\n",
            "d/p/\udcff",
        ],
    )
    def test_a04_what_names_no_single_device_is_refused(self, text: str) -> None:
        with pytest.raises(UsageError, match="DRIVER/POOL/DEVICE, all three"):
            parse_device(text)

    def test_a_taint(self) -> None:
        assert parse_taint("example.com/xid=79:NoExecute") == XID
        assert parse_taint("a:None") == DeviceTaint(key="a", value=None, effect="None")

    @pytest.mark.parametrize(
        ("text", "wrong"),
        [
            ("a", "no effect"),
            ("", "no effect"),
            (":NoExecute", "key ''"),
            ("-a:NoExecute", "key '-a'"),
            ("a b:NoExecute", "key 'a b'"),
            ("a:PreferNoSchedule", "none of None, NoSchedule, NoExecute"),
            ("a:noexecute", "none of"),
            ("a=b c:None", "value 'b c'"),
            ("a=b=c:None", "value 'b=c'"),
            ("a=" + "x" * 64 + ":None", "value"),
            ("a\n:None", "key"),
            ("a=b\n:None", "value"),
            ("é:None", "key"),
            ("a:\x1b[31m", "effect"),
        ],
    )
    def test_a_taint_that_the_api_would_not_take(self, text: str, wrong: str) -> None:
        with pytest.raises(UsageError, match=wrong):
            parse_taint(text)


class TestBody:
    @given(_parts, _parts, _parts, _parts, _parts, st.sampled_from(EFFECTS) | _anything)
    def test_a04_no_body_has_an_empty_or_missing_part(
        self, driver: str, pool: str, device: str, key: str, value: str, effect: str
    ) -> None:
        """Whatever was typed or edited: three parts, none of them empty, or nothing is built."""
        try:
            body = rule_body((driver, pool, device), make_taint(key, value, effect), "v1", reason=value, user=key)
        except UsageError:
            return
        assert body["spec"]["deviceSelector"] == {"driver": driver, "pool": pool, "device": device}
        assert all(part.strip() for part in (driver, pool, device))
        assert body["spec"]["taint"] == {"key": key, "effect": effect, **({"value": value} if value else {})}

    @given(st.text(st.characters(), max_size=60))
    def test_a04_no_text_of_the_command_line_gets_past(self, text: str) -> None:
        try:
            device = parse_device(text)
        except UsageError:
            return
        assert "/".join(device) == text
        assert rule_body(device, XID, "v1")["spec"]["deviceSelector"] == dict(
            zip(("driver", "pool", "device"), device, strict=True)
        )

    def test_a04_the_name_tells_devices_and_keys_apart(self) -> None:
        """Pool names hold slashes: joined by one, two devices could share a name."""
        names = {
            rule_name(device, key)
            for device in (("d", "a/b", "c"), ("d", "a", "b"), ("d/a", "b", "c"), DEVICE)
            for key in ("x", "y")
        }
        assert len(names) == 8
        assert rule_name(DEVICE, "x") == rule_name(DEVICE, "x")

    def test_a_reason_of_broken_bytes_can_be_sent(self) -> None:
        """Bytes of a command line that are no UTF-8 reach Python as surrogates."""
        body = rule_body(DEVICE, XID, "v1", reason="xid\udcff" + "x" * 5000)
        reason = body["metadata"]["annotations"]["ktui/reason"]
        assert reason.encode().startswith(b"xid?")
        assert len(reason) == 1024


class TestPlan:
    async def test_says_what_happens_to_whom(self, tmp_path: Path) -> None:
        held = claim("c", [result("gpu-0")], reserved=[pod_consumer("p0")])
        gang = [
            pod(
                f"p{n}",
                group="train",
                node="node-1",
                spec={"resourceClaims": [{"name": "gpu", "resourceClaimName": c}]},
            )
            for n, c in enumerate(("c", "other"))
        ]
        cluster = cluster_of(held, *gang, group("train", 2), piece("s", ["gpu-0"]))
        async with rig(tmp_path) as at:
            await at.look()
            plan = await plan_taint(at.api, cluster, DEVICE, XID, reason="broken", user="oncall")
        assert (plan.before, plan.after) == ("no taint", "example.com/xid=79:NoExecute")
        assert plan.sentence == "1 pod is deleted, without regard to PodDisruptionBudgets"
        assert plan.warnings == ("gang ml/train falls to 1 of 2: the whole job may stop",)
        assert (plan.button, plan.confirm) == ("Evict 1 pod", "train")
        assert [hit.key for hit in plan.blast.deleted] == [("ml", "p0")]
        assert (plan.request.method, plan.request.path) == ("POST", RULES)
        assert plan.undo is not None
        assert plan.undo.sentence == f"untaint {WHERE} (example.com/xid=79:NoExecute)"

    @pytest.mark.parametrize(
        ("effect", "sentence"),
        [
            ("None", f"{WHERE} gets an informational taint; nothing else happens"),
            ("NoSchedule", f"no new claim gets {WHERE}; pods that have it keep it"),
            ("NoExecute", "0 pods are deleted, without regard to PodDisruptionBudgets"),
        ],
    )
    async def test_without_victims_a_plain_yes_is_enough(self, effect: str, sentence: str, tmp_path: Path) -> None:
        async with rig(tmp_path) as at:
            await at.look()
            cluster = cluster_of(piece("s", ["gpu-0"]))
            plan = await plan_taint(at.api, cluster, DEVICE, DeviceTaint(key="a", effect=effect))
        assert (plan.sentence, plan.confirm, plan.button, plan.warnings) == (sentence, "", "Taint", ())

    async def test_a_gang_that_loses_all_that_run_stops(self, tmp_path: Path) -> None:
        member = pod(
            "p", group="train", node="node-1", spec={"resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}]}
        )
        held = claim("c", [result("gpu-0")], reserved=[pod_consumer("p")])
        async with rig(tmp_path) as at:
            await at.look()
            cluster = cluster_of(held, member, group("train", 1), piece("s", ["gpu-0"]))
            plan = await plan_taint(at.api, cluster, DEVICE, XID)
        assert plan.warnings == ("gang ml/train loses all that run of it: the whole job stops",)
        assert plan.notes == ("held by 1 claim: ml/c",)

    async def test_warns_where_it_cannot_see(self, tmp_path: Path) -> None:
        async with rig(tmp_path) as at:
            await at.look()
            plan = await plan_taint(at.api, cluster_of(without=("Pod",)), DEVICE, XID)
        assert "no ResourceSlice publishes this device: check the name" in plan.warnings
        assert "pods or claims cannot be read: who is hit is not fully known" in plan.warnings


class TestStored:
    async def test_creates_one_rule_that_says_who_and_why(self, tmp_path: Path) -> None:
        async with rig(tmp_path) as at:
            plan = await plan_taint(at.api, await at.look(), DEVICE, XID, reason="fell off the bus", user="oncall")
            outcome = await at.carry_out(plan)
            rule = at.server.rule()
            assert plan.done(await at.look())
        assert outcome.status == "applied"
        assert rule["spec"]["deviceSelector"] == {"driver": DRIVER, "pool": "node-1", "device": "gpu-0"}
        assert rule["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "ktui"}
        assert rule["metadata"]["annotations"] == {
            "ktui/device": WHERE,
            "ktui/reason": "fell off the bus",
            "ktui/user": "oncall",
        }

    async def test_a_second_taint_with_the_key_changes_the_first_and_says_why(self, tmp_path: Path) -> None:
        async with rig(tmp_path) as at:
            await at.carry_out(await plan_taint(at.api, await at.look(), DEVICE, WATCH, reason="look", user="anna"))
            plan = await plan_taint(at.api, await at.look(), DEVICE, XID, reason="it is broken", user="ben")
            assert (plan.before, plan.after) == ("example.com/xid=79:None", "example.com/xid=79:NoExecute")
            assert plan.request.content_type == "application/json-patch+json"
            await at.carry_out(plan)
            rule = at.server.rule()
        assert rule["spec"]["taint"]["effect"] == "NoExecute"
        assert rule["metadata"]["annotations"]["ktui/reason"] == "it is broken"
        assert rule["metadata"]["annotations"]["ktui/user"] == "ben"

    async def test_the_same_taint_again_is_done_already(self, tmp_path: Path) -> None:
        async with rig(tmp_path) as at:
            await at.carry_out(await plan_taint(at.api, await at.look(), DEVICE, XID))
            with pytest.raises(AlreadyDoneError, match=r"is tainted with example.com/xid=79:NoExecute already") as done:
                await plan_taint(at.api, await at.look(), DEVICE, XID)
            assert done.value.exit_code == 0
            assert len(at.server.real_writes) == 1

    @pytest.mark.parametrize(
        "parts",
        [{}, {"labels": {"app.kubernetes.io/managed-by": "ktui"}, "selector": {"driver": DRIVER}}],
        ids=["another's", "another device's"],
    )
    async def test_a06_a_foreign_rule_of_the_same_name_is_left_alone(
        self, parts: dict[str, Any], tmp_path: Path
    ) -> None:
        async with rig(tmp_path) as at:
            name = rule_name(DEVICE, XID.key)
            before = at.server.add_rule(name, **parts)
            with pytest.raises(NotPossibleError, match=f"{name} exists and is not ktui's"):
                await plan_taint(at.api, await at.look(), DEVICE, XID)
            assert at.server.rule() == before
            assert at.server.writes == []

    async def test_a06_a_rule_made_meanwhile_is_a_conflict(self, tmp_path: Path) -> None:
        async with rig(tmp_path) as at:
            plan = await plan_taint(at.api, await at.look(), DEVICE, XID)
            rehearsal = await at.runner.rehearse(plan)
            before = at.server.add_rule(rule_name(DEVICE, XID.key), "other:None")
            outcome = await at.runner.apply(plan, rehearsal)
            assert outcome.status == "conflict"
            assert at.server.rule() == before

    @pytest.mark.parametrize("again", [True, False], ids=["changed", "made anew"])
    async def test_a08_a_rule_changed_meanwhile_is_a_conflict(self, again: bool, tmp_path: Path) -> None:
        async with rig(tmp_path) as at:
            await at.carry_out(await plan_taint(at.api, await at.look(), DEVICE, WATCH))
            name = rule_name(DEVICE, XID.key)
            plan = await plan_taint(at.api, await at.look(), DEVICE, XID)
            if again:
                at.server.change(
                    "DeviceTaintRule", ("", name), spec={"taint": {"key": "example.com/xid", "effect": "None"}}
                )
            else:
                at.server.delete_rule(name)
                at.server.add_rule(name, "example.com/xid=79:None", labels={"app.kubernetes.io/managed-by": "ktui"})
            assert (await at.runner.apply(plan, await at.runner.rehearse(plan))).status == "conflict"
            assert at.server.rule()["spec"]["taint"]["effect"] == "None"

    @pytest.mark.parametrize(
        ("serves", "version"), [(SERVES_1_37, "v1"), (SERVES_1_36, "v1beta2"), (SERVES_1_35, "v1alpha3")]
    )
    async def test_a24_speaks_the_version_that_is_served(self, serves: Any, version: str, tmp_path: Path) -> None:
        async with rig(tmp_path, serves=serves) as at:
            plan = await plan_taint(at.api, await at.look(), DEVICE, XID)
            assert isinstance(plan.request.body, dict)
            assert plan.request.body["apiVersion"] == f"resource.k8s.io/{version}"
            assert (await at.carry_out(plan)).status == "applied"
            change = await plan_taint(at.api, await at.look(), DEVICE, WATCH)
            assert (await at.carry_out(change)).status == "applied"
            assert at.server.rule()["spec"]["taint"]["effect"] == "None"

    async def test_a24_where_rules_are_not_served_the_gate_is_named(self, tmp_path: Path) -> None:
        async with rig(tmp_path, serves={**SERVES_1_37, "DeviceTaintRule": ()}) as at:
            with pytest.raises(NotPossibleError, match=r"does not serve devicetaintrules.*DRADeviceTaintRules=true"):
                await plan_taint(at.api, await at.look(), DEVICE, XID)
            assert at.server.writes == []
