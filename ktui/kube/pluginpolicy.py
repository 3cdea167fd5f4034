"""Which credential plug-ins may run, as the person's kuberc says it for kubectl.

Source: kubectl.config.k8s.io/v1beta1 Preference, fields credentialPluginPolicy and credentialPluginAllowlist; matching as
in client-go plugin/pkg/client/auth/exec. The file is $KUBERC ("off" for none) or ~/.kube/kuberc.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args

from ktui.errors import UsageError
from ktui.kube.fields import Fields
from ktui.kube.files import Missing, read_regular
from ktui.kube.printable import quoted
from ktui.kube.yamlfile import parse

PolicyType = Literal["AllowAll", "DenyAll", "Allowlist"]
_TYPES: Final[tuple[PolicyType, ...]] = get_args(PolicyType)
_MAX_SIZE: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class PluginPolicy:
    """`allowlist`: commands as names or absolute paths, looked at only by the policy of that name."""

    type: PolicyType = "AllowAll"
    allowlist: tuple[str, ...] = ()
    origin: Path = Path()

    def check(self, command: str, path: str, environ: Mapping[str, str]) -> None:
        """Raise UsageError unless `command`, found at `path`, may run."""
        if self.type == "AllowAll" or (self.type == "Allowlist" and self._lists(command, path, environ)):
            return
        raise UsageError(f"exec plug-in {quoted(path)} is not allowed: {self.origin} says {self.type}")

    def _lists(self, command: str, path: str, environ: Mapping[str, str]) -> bool:
        search = environ.get("PATH", "")
        return any(
            allowed in {command, path} or shutil.which(allowed, path=search) == path for allowed in self.allowlist
        )


ALLOW_ALL: Final = PluginPolicy()


def load_policy(environ: Mapping[str, str], home: Path) -> PluginPolicy:
    """Blocks. Raises UsageError for a file that cannot be read, or says half of something: this is a lock, not a taste."""
    chosen = environ.get("KUBERC", "")
    if chosen == "off":
        return ALLOW_ALL
    path = Path(chosen).absolute() if chosen else home / ".kube" / "kuberc"
    try:
        data = read_regular(path, _MAX_SIZE)
    except Missing:
        if chosen:
            raise
        return ALLOW_ALL
    return _policy(Fields(parse(data, path), str(path)), path)


def _policy(preference: Fields, path: Path) -> PluginPolicy:
    wanted = preference.text("credentialPluginPolicy") or "AllowAll"
    policy_type = next((known for known in _TYPES if known == wanted), None)
    if policy_type is None:
        raise preference.error(f"credentialPluginPolicy must be one of {', '.join(_TYPES)}")
    allowlist = tuple(_command(item) for item in preference.mappings("credentialPluginAllowlist"))
    if bool(allowlist) != (policy_type == "Allowlist"):
        raise preference.error("credentialPluginAllowlist must have entries with the policy Allowlist, and only then")
    return PluginPolicy(policy_type, allowlist, path)


def _command(item: Fields) -> str:
    command = item.text("command") or item.text("name")
    if not command:
        raise item.error("has no command")
    return command
