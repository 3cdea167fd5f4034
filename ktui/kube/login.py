"""The state in which only a person can go on: which words tell it, and which command they can run."""

from __future__ import annotations

import shlex
from itertools import pairwise
from pathlib import Path

from ktui.errors import KtuiError
from ktui.kube.printable import quoted
from ktui.kube.target import ExecSettings, Target


class NeedsLogin(KtuiError):
    """Credentials ran out or were refused. Streams park; trying again by themselves would only repeat it.

    `command` is for a shell, "" if no command helps. `output` is what a plug-in wrote to stderr, redacted, several lines.
    """

    def __init__(self, user: str, reason: str, command: str = "", output: str = "") -> None:
        hint = f"; run: {command}" if command else ""
        super().__init__(f"sign-in needed for user {quoted(user)}: {reason}{hint}")
        self.reason = reason
        self.command = command
        self.output = output


def sign_in_command(target: Target) -> str:
    """What to run for the plug-in's session; kubectl itself, which lets the plug-in use the terminal, if unknown."""
    plugin = target.auth.exec
    name = Path(plugin.command).name if plugin else ""
    if plugin and name == "aws":
        return shlex.join(["aws", "sso", "login", *_aws_profile(plugin)])
    if name in {"gke-gcloud-auth-plugin", "gcloud"}:
        return "gcloud auth login"
    if name == "tsh":
        return "tsh login"
    return target.login_command


def _aws_profile(plugin: ExecSettings) -> list[str]:
    args = plugin.args
    profile = next((value for option, value in pairwise(args) if option == "--profile"), "")
    profile = profile or dict(plugin.env).get("AWS_PROFILE", "")
    return ["--profile", profile] if profile else []
