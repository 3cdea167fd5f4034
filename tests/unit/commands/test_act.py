"""`ktui taint`, `untaint`, `min-replicas`: what is printed, what is asked, what is sent, and how they end."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pexpect
import pytest

from ktui import cli
from ktui.demo.access import Attributes
from ktui.demo.apiserver import SERVES_1_37
from tests.faults import Answer, Delay, Drop, status_body
from tests.unit.actions.rig import DEVICE, HPAS, RULES, WHERE, Server, lost
from tests.unit.actions.test_count import counts
from tests.unit.builders import DRIVER
from tests.unit.kube.kubeconfigbuilder import document, write

CHECKOUT = Path(__file__).parents[3]
TAINT = ("taint", WHERE, "example.com/xid=79:NoExecute")
PATIENCE = 60


class Ended(NamedTuple):
    code: int
    out: str
    err: str


class Shell:
    """Runs commands as a person or a script does, against one server."""

    def __init__(self, server: Server, capsys: pytest.CaptureFixture[str], home: Path, environ: dict[str, str]) -> None:
        self.server = server
        self._capsys = capsys
        self._home = home
        self._environ = environ

    async def run(self, *arguments: str) -> Ended:
        """In this process, without a terminal."""
        self._capsys.readouterr()
        code = await asyncio.to_thread(cli.main, arguments)
        out, err = self._capsys.readouterr()
        assert "Traceback" not in err
        return Ended(code, out, err)

    @property
    def environ(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(CHECKOUT),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            **self._environ,
        }

    def terminal(self, *arguments: str, redirect: str = "") -> pexpect.spawn[str]:
        """In a process of its own, on a pseudo-terminal."""
        command = [sys.executable, "-m", "ktui", *arguments]
        if redirect:
            command = ["/bin/sh", "-c", f'exec "$@" > {redirect}', "sh", *command]
        return pexpect.spawn(
            command[0],
            command[1:],
            env=self.environ,
            timeout=PATIENCE,
            encoding="utf-8",
            codec_errors="replace",
            dimensions=(50, 200),
        )

    def audit(self) -> list[dict[str, Any]]:
        log = self._home / "state/ktui/audit.log"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    async def ended(self, child: pexpect.spawn[str]) -> int:
        """Its exit code, once it has ended by itself."""
        await asyncio.to_thread(child.expect, pexpect.EOF)
        await asyncio.to_thread(child.wait)
        assert child.exitstatus is not None, child.signalstatus
        return int(child.exitstatus)


@asynccontextmanager
async def shell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, **options: Any
) -> AsyncIterator[Shell]:
    server = Server(**options)
    async with server.api:
        config = document("prod-eu", {"server": server.api.url}, context={"namespace": "ml"})
        environ = {
            "KUBECONFIG": str(write(tmp_path / "kubeconfig", config)),
            "HOME": str(tmp_path),
            "XDG_STATE_HOME": str(tmp_path / "state"),
            "XDG_CONFIG_HOME": str(tmp_path / "config"),
        }
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        monkeypatch.delenv("KTUI_READONLY", raising=False)
        monkeypatch.setattr("sys.stdin", open(os.devnull))  # noqa: SIM115 - closed below
        try:
            yield Shell(server, capsys, tmp_path, environ)
        finally:
            sys.stdin.close()


@pytest.fixture
async def at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Shell]:
    async with shell(tmp_path, capsys, monkeypatch) as made:
        yield made


def populate(server: Server) -> None:
    """A gang of two on the node; its first pod has DEVICE."""
    api = server.api
    for n in range(2):
        claims = [{"name": "gpu", "resourceClaimName": f"c{n}"}]
        spec = {"nodeName": "node-1", "schedulingGroup": {"podGroupName": "train"}, "resourceClaims": claims}
        pod = api.create(
            "Pod",
            {"metadata": {"name": f"train-{n}", "namespace": "ml"}, "spec": spec, "status": {"phase": "Running"}},
        )
        result = {"driver": DRIVER, "pool": "node-1", "device": f"gpu-{n}", "request": "gpu"}
        holder = {"resource": "pods", "name": f"train-{n}", "uid": pod["metadata"]["uid"]}
        status = {"allocation": {"devices": {"results": [result]}}, "reservedFor": [holder]}
        api.create("ResourceClaim", {"metadata": {"name": f"c{n}", "namespace": "ml"}, "spec": {}, "status": status})
    policy = {"schedulingPolicy": {"gang": {"minCount": 2}}}
    api.create("PodGroup", {"metadata": {"name": "train", "namespace": "ml"}, "spec": policy})
    pool = {"name": "node-1", "generation": 1, "resourceSliceCount": 1}
    devices = [{"name": "gpu-0"}, {"name": "gpu-1"}]
    api.create(
        "ResourceSlice", {"metadata": {"name": "s"}, "spec": {"driver": DRIVER, "pool": pool, "devices": devices}}
    )


def wait_for_a_device(server: Server) -> None:
    """A gang of one pod that was refused, and a node with DEVICE alone."""
    api = server.api
    resources = {"cpu": "8", "pods": "10"}
    ready = {"allocatable": resources, "conditions": [{"type": "Ready", "status": "True"}]}
    api.create("Node", {"metadata": {"name": "node-1"}, "spec": {}, "status": ready})
    api.create("DeviceClass", {"metadata": {"name": "gpu"}, "spec": {}})
    pool = {"name": "node-1", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": DRIVER, "pool": pool, "nodeName": "node-1", "devices": [{"name": "gpu-0"}]}
    api.create("ResourceSlice", {"metadata": {"name": "s"}, "spec": spec})
    requests = [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]
    api.create(
        "ResourceClaim", {"metadata": {"name": "c", "namespace": "ml"}, "spec": {"devices": {"requests": requests}}}
    )
    policy = {"schedulingPolicy": {"gang": {"minCount": 1}}}
    api.create("PodGroup", {"metadata": {"name": "eval", "namespace": "ml"}, "spec": policy})
    refused = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/1 nodes are available",
    }
    claims = [{"name": "gpu", "resourceClaimName": "c"}]
    api.create(
        "Pod",
        {
            "metadata": {"name": "eval-0", "namespace": "ml"},
            "spec": {
                "schedulingGroup": {"podGroupName": "eval"},
                "resourceClaims": claims,
                "containers": [{"name": "m"}],
            },
            "status": {"phase": "Pending", "conditions": [refused]},
        },
    )


def one_line(ended: Ended) -> str:
    """The one line of an error."""
    assert ended.err.startswith("ktui: ")
    assert ended.err.endswith("\n")
    assert ended.err.count("\n") == 1, ended.err
    return ended.err


class TestTable:
    async def test_a_dry_run_shows_the_plan_and_changes_nothing(self, at: Shell) -> None:
        populate(at.server)
        ended = await at.run(*TAINT, "--dry-run")
        assert (ended.code, ended.err) == (0, "")
        lines = [line.strip() for line in ended.out.splitlines()]
        assert lines[0].startswith(f"Taint {WHERE}   (context prod-eu, 127.0.0.1:")
        assert lines[1:] == [
            "no taint -> example.com/xid=79:NoExecute",
            "1 pod is deleted, without regard to PodDisruptionBudgets",
            "ml/train-0 of gang train",
            "held by 1 claim: ml/c0",
            "warning: gang ml/train falls to 1 of 2: the whole job may stop",
            f"POST {RULES}",
            "server dry run: accepted",
        ]
        assert [sent.dry_run for sent in at.server.writes] == [True]
        assert at.server.rules() == {}
        assert at.audit() == []

    async def test_yes_goes_on_without_asking(self, at: Shell) -> None:
        populate(at.server)
        ended = await at.run(*TAINT, "--yes", "--reason", "fell off the bus")
        assert (ended.code, ended.err) == (0, "")
        assert ended.out.splitlines()[-1] == "done: example.com/xid=79:NoExecute"
        assert at.server.rule()["metadata"]["annotations"]["ktui/reason"] == "fell off the bus"
        assert [(line["action"], line["podsDeleted"]) for line in at.audit()] == [("taint", ["ml/train-0"])]

    async def test_untaint_and_min_replicas(self, at: Shell) -> None:
        await at.run(*TAINT, "-y")
        assert (await at.run("untaint", WHERE, "-y")).code == 0
        assert at.server.rules() == {}
        at.server.add_autoscaler()
        for name, number in (("chat", "2"), ("ml/chat", "3")):
            assert (await at.run("min-replicas", name, number, "-y")).code == 0
            assert at.server.autoscaler()["spec"]["minReplicas"] == int(number)

    async def test_what_is_so_already_is_no_error(self, at: Shell) -> None:
        at.server.add_autoscaler()
        ended = await at.run("min-replicas", "chat", "1", "-y")
        assert ended == Ended(0, "minReplicas of ml/chat is 1 already\n", "")

    async def test_warnings_of_the_server(self, at: Shell) -> None:
        async def warn(request: Any, response: Any) -> Any:
            response.headers["Warning"] = '299 - "policy: \\"ask first\\""'
            return response

        at.server.after = warn
        ended = await at.run(*TAINT, "-y")
        assert ended.out.splitlines()[-1] == 'warning: policy: "ask first"'

    async def test_hostile_text_is_shown_and_not_obeyed(self, at: Shell) -> None:
        hostile = "chat\x1b]52;c;AAAA\x07\n\u202e[/]"
        reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": hostile}
        at.server.add_autoscaler(metadata={"managedFields": [{"manager": f"argocd{hostile}"}]})
        at.server.api.registry.update(
            _hpa(), ("ml", "chat"), lambda old: {**old, "spec": {**old["spec"], "scaleTargetRef": reference}}
        )
        ended = await at.run("min-replicas", "chat", "2", "--dry-run")
        assert ended.code == 0
        assert all(line.isprintable() for line in ended.out.splitlines())
        assert "chat␛]52;c;AAAA␇␊‹U+202E›[/]" in ended.out


def _hpa() -> Any:
    from ktui.model.kinds import KINDS

    return KINDS["HorizontalPodAutoscaler"]


class TestJson:
    async def test_the_shape(self, at: Shell) -> None:
        populate(at.server)
        ended = await at.run(*TAINT, "-o", "json", "--yes")
        assert (ended.code, ended.err) == (0, "")
        document = json.loads(ended.out)
        body = document.pop("body")
        assert body["spec"]["deviceSelector"] == {"driver": DRIVER, "pool": "node-1", "device": "gpu-0"}
        assert document == {
            "version": 1,
            "action": "taint",
            "method": "POST",
            "path": RULES,
            "before": "no taint",
            "after": "example.com/xid=79:NoExecute",
            "podsDeleted": [
                {"namespace": "ml", "name": "train-0", "gang": "train", "gangSource": "podgroup", "afterSeconds": 0}
            ],
            "gangs": [{"namespace": "ml", "name": "train", "running": 2, "left": 1, "minCount": 2}],
            "claims": [{"namespace": "ml", "name": "c0"}],
            "pendingGangs": [],
            "pdbs": [],
            "placeableGangs": [],
            "controllerCount": None,
            "warnings": ["gang ml/train falls to 1 of 2: the whole job may stop"],
            "dryRun": {"status": "accepted", "message": "accepted"},
            "result": {
                "status": "applied",
                "message": "done: example.com/xid=79:NoExecute",
                "warnings": [],
                "auditID": "",
            },
        }

    async def test_a_dry_run_has_no_result(self, at: Shell) -> None:
        ended = await at.run(*TAINT, "-o", "json", "--dry-run")
        assert json.loads(ended.out)["result"] is None

    async def test_budgets_that_were_not_read_are_null(self, at: Shell) -> None:
        populate(at.server)
        at.server.faults.script("* /apis/policy/*", Answer(403, status_body(403, "Forbidden", "no")), repeat=True)
        assert json.loads((await at.run(*TAINT, "-o", "json", "--dry-run")).out)["pdbs"] is None

    async def test_gangs_that_wait_for_such_a_device(self, at: Shell) -> None:
        """One loses a candidate with the taint, and could be placed without it."""
        wait_for_a_device(at.server)
        waits = [{"namespace": "ml", "name": "eval"}]
        ended = await at.run("taint", WHERE, "hot:NoSchedule", "-o", "json", "--dry-run")
        document = json.loads(ended.out)
        assert (document["pendingGangs"], document["placeableGangs"]) == (waits, [])
        assert (await at.run("taint", WHERE, "hot:NoSchedule", "-y")).code == 0
        document = json.loads((await at.run("untaint", WHERE, "-o", "json", "--dry-run")).out)
        assert (document["pendingGangs"], document["placeableGangs"]) == ([], waits)
        ended = await at.run("untaint", WHERE, "--dry-run")
        assert "  1 pending gang could then be placed: ml/eval\n" in ended.out

    async def test_a_refusal_is_in_both(self, at: Shell) -> None:
        at.server.add_autoscaler(metric="Resource")
        ended = await at.run("min-replicas", "chat", "0", "-o", "json", "-y")
        assert ended.code == 1
        assert json.loads(ended.out)["dryRun"]["status"] == "refused"
        assert "the server refuses: spec.metrics: Forbidden: must specify at least one" in one_line(ended)


class TestCount:
    """A03: the eviction controller is asked first."""

    async def test_they_agree_and_it_goes_on(self, at: Shell) -> None:
        populate(at.server)
        counts(at.server, "1 pod")
        ended = await at.run(*TAINT, "--count", "--yes")
        assert (ended.code, ended.err) == (0, "")
        assert "  the controller counts 1 pod in 1 namespace; ktui 1\n" in ended.out
        assert at.server.rule()["spec"]["taint"]["effect"] == "NoExecute"
        assert [line["after"].rpartition(":")[2] for line in at.audit()] == ["None", "NoExecute"]

    async def test_the_count_in_json(self, at: Shell) -> None:
        populate(at.server)
        counts(at.server, "1 pod")
        count = json.loads((await at.run(*TAINT, "--count", "--yes", "-o", "json")).out)["controllerCount"]
        assert (count["pods"], count["namespaces"]) == (1, 1)
        assert "1 pod would be evicted" in count["message"]

    async def test_they_differ_and_nobody_was_asked(self, at: Shell) -> None:
        populate(at.server)
        counts(at.server, "2 pods")
        ended = await at.run(*TAINT, "--count", "--yes")
        assert ended.code == 1
        assert "the controller counts 2 pods in 1 namespace; ktui 1: the lists differ" in one_line(ended)
        assert "the taint with effect None was taken back" in one_line(ended)
        assert at.server.rules() == {}
        assert [line["action"] for line in at.audit()] == ["taint", "untaint"]

    async def test_a_person_sees_the_count_and_may_take_it_back(self, at: Shell) -> None:
        populate(at.server)
        counts(at.server, "2 pods")
        child = at.terminal(*TAINT, "--count")
        await asyncio.to_thread(child.expect, "Type yes to go on: ")
        child.sendline("yes")
        await asyncio.to_thread(child.expect, "the lists differ")
        await asyncio.to_thread(child.expect, "Type train to go on: ")
        assert at.server.rule()["spec"]["taint"]["effect"] == "None"
        child.sendline("no")
        assert await at.ended(child) == 1
        assert at.server.rules() == {}

    async def test_ctrl_c_takes_it_back(self, at: Shell) -> None:
        populate(at.server)
        child = at.terminal(*TAINT, "--count")
        await asyncio.to_thread(child.expect, "Type yes to go on: ")
        child.sendline("yes")
        await asyncio.to_thread(child.expect, "done: ")
        child.sendintr()
        assert await at.ended(child) == 130
        assert at.server.rules() == {}

    async def test_what_is_left_is_named(self, at: Shell) -> None:
        populate(at.server)
        counts(at.server, "2 pods")
        at.server.faults.script(f"DELETE {RULES}/*", Answer(403, status_body(403, "Forbidden", "no")), repeat=True)
        ended = await at.run(*TAINT, "--count", "--yes")
        (name,) = at.server.rules()
        assert f"the rule {name} with effect None is left on {WHERE}; untaint it" in one_line(ended)

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ((*TAINT, "--count", "--dry-run"), "does not go with --dry-run"),
            (("taint", WHERE, "a:NoSchedule", "--count"), "--count is for the effect NoExecute"),
        ],
    )
    async def test_where_there_is_nothing_to_count(self, arguments: tuple[str, ...], words: str, at: Shell) -> None:
        ended = await at.run(*arguments)
        assert ended.code == 2
        assert words in one_line(ended)
        assert at.server.writes == []


class TestErrors:
    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (("taint", "gpu-0", "a:None"), "does not name a device; write DRIVER/POOL/DEVICE"),
            (("taint", "d//gpu-0", "a:None"), "does not name a device"),
            (("taint", WHERE, "a"), "has no effect"),
            (("taint", WHERE, "a:Evict"), "none of None, NoSchedule, NoExecute"),
            (("taint", WHERE, "a\x1b[31m:None"), "not a label name"),
            (("taint", WHERE), "required"),
            (("untaint", ""), "does not name a device"),
            (("min-replicas", "chat", "--", "-1"), "whole number from 0 to 2147483647"),
            *((("min-replicas", "chat", text), "whole number") for text in ("1.5", "", "null", "0x1", "\u0661", "1e2")),
            (("min-replicas", "chat", '"1"'), "whole number"),
            (("min-replicas", "chat", "2147483648"), "whole number"),
            (("min-replicas", "chat", "1", "--request-timeout", "soon"), "not a duration"),
            (("min-replicas", "chat", "1", "--request-timeout", ""), "not a duration"),
        ],
    )
    async def test_a13_usage_is_checked_before_anything_is_sent(
        self, arguments: tuple[str, ...], words: str, at: Shell
    ) -> None:
        ended = await at.run(*arguments[:1], "--yes", *arguments[1:])
        assert (ended.code, ended.out) == (2, "")
        line = one_line(ended)
        assert words in line
        assert line.rstrip("\n").isprintable()
        assert at.server.faults.journal == []

    @pytest.mark.parametrize("name", ["ml/", "/", "a/b/c", "..", "ml/..", "A B"])
    async def test_a13_names_that_are_none(self, name: str, at: Shell) -> None:
        ended = await at.run("min-replicas", name, "1", "-y")
        assert ended.code == 2
        assert "does not name an autoscaler; write NAMESPACE/NAME" in one_line(ended)

    async def test_bytes_that_are_no_text(self, at: Shell) -> None:
        for arguments in (
            ("taint", f"{DRIVER}/p/\udcff", "a:None"),
            ("untaint", f"\udcff/{WHERE}"),
            ("min-replicas", "\udcff", "1"),
        ):
            assert (await at.run(*arguments, "-y")).code == 2
        assert (await at.run("taint", WHERE, "a:None", "-y", "--reason", "\udcff")).code == 0

    async def test_a13_more_than_the_maximum(self, at: Shell) -> None:
        at.server.add_autoscaler()
        ended = await at.run("min-replicas", "chat", "6", "-y")
        assert ended.code == 2
        assert "more than maxReplicas 5" in one_line(ended)

    async def test_without_a_terminal_nobody_agrees(self, at: Shell) -> None:
        ended = await at.run(*TAINT)
        assert ended.code == 2
        assert "there is no terminal to ask on; add --yes" in one_line(ended)
        assert at.server.real_writes == []

    async def test_without_a_standard_input_at_all(self, at: Shell) -> None:
        command = ["/bin/sh", "-c", 'exec "$@" <&-', "sh", sys.executable, "-m", "ktui", *TAINT]
        ended = await asyncio.to_thread(
            subprocess.run, command, env=at.environ, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert ended.returncode == 2, ended.stderr
        assert "no terminal to ask on" in ended.stderr
        assert "Traceback" not in ended.stderr

    async def test_a07_another_ones_rule_needs_any_owner_even_with_yes(self, at: Shell) -> None:
        at.server.add_rule("monitor")
        ended = await at.run("untaint", WHERE, "--yes")
        assert ended.code == 2
        assert "ktui did not make this rule; add --any-owner" in one_line(ended)
        assert set(at.server.rules()) == {"monitor"}
        assert (await at.run("untaint", WHERE, "--yes", "--any-owner")).code == 0
        assert at.server.rules() == {}

    async def test_two_rules_are_told_apart_by_name(self, at: Shell) -> None:
        at.server.add_rule("a")
        at.server.add_rule("b")
        ended = await at.run("untaint", WHERE, "-y", "--any-owner")
        assert ended.code == 2
        assert "(rule a)" in one_line(ended)
        assert (await at.run("untaint", WHERE, "b", "-y", "--any-owner")).code == 0
        assert set(at.server.rules()) == {"a"}

    @pytest.mark.parametrize("by", ["flag", "settings"])
    async def test_a19_read_only(self, by: str, at: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
        flags = ("--readonly",) if by == "flag" else ()
        if by == "settings":
            monkeypatch.setenv("KTUI_READONLY", "1")
        ended = await at.run(*TAINT, *flags, "--yes")
        assert ended.code == 2
        assert "taint writes to the cluster and is not done: --readonly, or readonly in the settings" in one_line(ended)
        assert at.server.faults.journal == []
        # The plan can be looked at all the same; only the server is not asked.
        ended = await at.run(*TAINT, *flags, "--dry-run")
        assert ended.code == 0
        assert "server dry run: the server was not asked: read-only mode sends nothing" in ended.out
        assert at.server.writes == []

    async def test_a14_a_change_in_between(self, at: Shell) -> None:
        at.server.add_autoscaler()
        conflict = Answer(409, status_body(409, "Conflict", "the object has been modified"))
        at.server.faults.script(f"PATCH {HPAS}/chat", Delay(0), conflict)
        ended = await at.run("min-replicas", "chat", "2", "-y")
        assert ended.code == 1
        assert "somebody changed it meanwhile; nothing was done, look again" in one_line(ended)

    async def test_a10_a_lost_answer(self, at: Shell) -> None:
        at.server.after = lost
        ended = await at.run(*TAINT, "-y")
        assert ended.code == 0
        assert "the answer was lost, but it was carried out" in ended.out
        at.server.delete_rule(at.server.rule()["metadata"]["name"])
        at.server.faults.script(f"GET {RULES}/*", Delay(0), Drop(), repeat=True)
        ended = await at.run(*TAINT, "-y")
        assert ended.code == 1
        assert "whether it was carried out is unknown" in one_line(ended)

    async def test_a21_without_an_audit_log_nothing_is_sent(self, at: Shell, tmp_path: Path) -> None:
        (tmp_path / "state").write_text("a file")
        ended = await at.run(*TAINT, "-y")
        assert ended.code == 1
        assert "without it no action is sent" in one_line(ended)
        assert at.server.real_writes == []

    async def test_nobody_there(self, at: Shell) -> None:
        await at.server.api.stop()
        ended = await at.run(*TAINT, "-y")
        assert ended.code == 1
        assert "cannot be reached" in one_line(ended)


async def test_a17_who_may_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def authorizer(asked: Attributes) -> bool:
        return asked.verb in ("get", "list", "watch")

    async with shell(tmp_path, capsys, monkeypatch, authorizer=authorizer) as at:
        ended = await at.run(*TAINT, "-y")
        assert ended.code == 1
        assert "may not create devicetaintrules.resource.k8s.io" in one_line(ended)
        assert at.server.writes == []


async def test_a24_not_served(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with shell(tmp_path, capsys, monkeypatch, serves={**SERVES_1_37, "DeviceTaintRule": ()}) as at:
        for arguments in (TAINT, ("untaint", WHERE)):
            ended = await at.run(*arguments, "-y")
            assert ended.code == 2
            assert "DRADeviceTaintRules=true" in one_line(ended)


class TestTerminal:
    """A person at a terminal: asked once, compared exactly, and free to leave."""

    async def asked(self, at: Shell, *arguments: str, word: str = "train", redirect: str = "") -> pexpect.spawn[str]:
        child = at.terminal(*arguments, redirect=redirect)
        await asyncio.to_thread(child.expect_exact, f"Type {word} to go on: ")
        return child

    async def test_the_right_word(self, at: Shell) -> None:
        populate(at.server)
        child = await self.asked(at, *TAINT)
        child.sendline("train")
        await asyncio.to_thread(child.expect_exact, "done: example.com/xid=79:NoExecute")
        assert await at.ended(child) == 0
        assert at.server.rule()

    @pytest.mark.parametrize("typed", ["yes", "Train", "train ", "", "\x04", "tr\u0430in"])
    async def test_a_wrong_word(self, typed: str, at: Shell) -> None:
        populate(at.server)
        child = await self.asked(at, *TAINT)
        child.send(typed if typed == "\x04" else f"{typed}\n")
        await asyncio.to_thread(child.expect_exact, "ktui: not confirmed; nothing was done")
        assert await at.ended(child) == 1
        assert at.server.real_writes == []

    async def test_bytes_that_are_no_text(self, at: Shell) -> None:
        child = await self.asked(at, "taint", WHERE, "a:None", word="yes")
        os.write(child.child_fd, b"y\xffes\n")
        await asyncio.to_thread(child.expect_exact, "ktui: not confirmed; nothing was done")
        assert await at.ended(child) == 1

    async def test_ctrl_c_at_the_question(self, at: Shell) -> None:
        child = await self.asked(at, "taint", WHERE, "a:None", word="yes")
        child.sendintr()
        assert await at.ended(child) == 130
        assert "Traceback" not in (child.before or "")
        assert at.server.real_writes == []

    async def test_ctrl_c_while_it_is_sent_is_audited(self, at: Shell) -> None:
        at.server.faults.script(f"POST {RULES}", Delay(0), Delay(30))
        child = at.terminal("taint", WHERE, "a:None", "--yes")
        async with asyncio.timeout(PATIENCE):
            while not at.server.real_writes:
                await asyncio.sleep(0.02)
        child.sendintr()
        assert await at.ended(child) == 130
        assert "Traceback" not in (child.before or "")
        assert [line["result"] for line in at.audit()] == ["unknown: given up before the answer came"]

    async def test_with_json_the_question_stays_out_of_the_document(self, at: Shell, tmp_path: Path) -> None:
        populate(at.server)
        out = tmp_path / "out.json"
        child = at.terminal(*TAINT, "-o", "json", redirect=str(out))
        await asyncio.to_thread(child.expect_exact, "1 pod is deleted")
        await asyncio.to_thread(child.expect_exact, "Type train to go on: ")
        child.sendline("train")
        assert await at.ended(child) == 0
        assert json.loads(out.read_text())["result"]["status"] == "applied"
        assert DEVICE[2] in at.server.rule()["spec"]["deviceSelector"].values()
