"""A credential plug-in for tests: a script that does what its command line says and notes each run in a file."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ktui.kube.target import ExecSettings

V1 = "client.authentication.k8s.io/v1"

_SCRIPT = """#!{python} -S
import json, os, sys, time
behaviour = json.load(open({behaviour!r}))
try:
    tty = os.open("/dev/tty", os.O_RDWR)
except OSError:
    tty = None
with open({runs!r}, "a") as runs:
    note = {{"pid": os.getpid(), "args": sys.argv[1:], "stdin": sys.stdin.read(10) if behaviour.get("reads") else None,
            "info": json.loads(os.environ["KUBERNETES_EXEC_INFO"]), "env": dict(os.environ), "tty": tty is not None}}
    runs.write(json.dumps(note) + "\\n")
sys.stderr.write(behaviour.get("stderr", "") * behaviour.get("times", 1))
sys.stderr.flush()
if behaviour.get("grandchild"):
    if os.fork() == 0:
        time.sleep(behaviour["grandchild"])
        os._exit(0)
time.sleep(behaviour.get("sleep", 0))
sys.stdout.write(behaviour.get("stdout", "") * behaviour.get("repeat", 1))
sys.stdout.flush()
sys.exit(behaviour.get("exit", 0))
"""


def reply(token: str | None = None, version: str = V1, **status: Any) -> str:
    body = status if token is None else status | {"token": token}
    return json.dumps({"kind": "ExecCredential", "apiVersion": version, "status": body})


@dataclass(frozen=True)
class FakePlugin:
    directory: Path
    name: str = "fake-plugin"

    @property
    def path(self) -> Path:
        return self.directory / self.name

    def install(self, stdout: str = "", **behaviour: Any) -> FakePlugin:
        """Set what it does from now on: stderr, times, stdout, repeat, sleep, exit, grandchild, reads."""
        self.directory.mkdir(parents=True, exist_ok=True)
        replies, runs = self.directory / "behaviour.json", self.directory / "runs.jsonl"
        replies.write_text(json.dumps(behaviour | {"stdout": stdout}))
        self.path.write_text(_SCRIPT.format(python=sys.executable, behaviour=str(replies), runs=str(runs)))
        self.path.chmod(0o700)
        return self

    def runs(self) -> list[dict[str, Any]]:
        file = self.directory / "runs.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def settings(self, **more: Any) -> ExecSettings:
        return ExecSettings(command=str(self.path), **more)

    def section(self, **more: Any) -> dict[str, Any]:
        """The exec section of a kubeconfig."""
        return {"apiVersion": V1, "command": str(self.path), "interactiveMode": "Never"} | more
