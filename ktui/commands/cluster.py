"""From parsed arguments to what the cluster's side understands."""

from __future__ import annotations

import argparse
import os
from typing import cast

from ktui.kube.kubeconfig import LoadOptions
from ktui.kube.opening import Wanted, parse_duration


def wanted(args: argparse.Namespace) -> Wanted:
    """Flags absent on the command line are absent here; the environment is the process's own."""

    def given(name: str) -> str | None:
        return cast("str | None", getattr(args, name, None))

    options = LoadOptions(
        kubeconfig=given("kubeconfig"),
        context=given("context"),
        as_user=given("as_user"),
        as_groups=tuple(getattr(args, "as_groups", None) or ()),
        as_uid=given("as_uid"),
        namespace=given("namespace"),
        environ=dict(os.environ),
    )
    timeout = given("request_timeout")
    return Wanted(options, getattr(args, "readonly", False), None if timeout is None else parse_duration(timeout))
