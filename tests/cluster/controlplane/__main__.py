"""`python -m tests.cluster.controlplane build|run`: build it, or run it until Ctrl-C with its kubeconfig's path printed."""

from __future__ import annotations

import signal
import sys

from tests.cluster import infra
from tests.cluster.controlplane import build
from tests.cluster.controlplane.cluster import ControlPlane, ControlPlaneError


def main(arguments: list[str]) -> int:
    if arguments not in (["build"], ["run"]):
        print(__doc__, file=sys.stderr)
        return 2
    where = build.directory()
    try:
        build.build(where)
        if arguments == ["run"]:
            with ControlPlane(where) as plane:
                infra.load(plane.api())
                print(f"export KUBECONFIG={plane.kubeconfig}", flush=True)
                signal.sigwait({signal.SIGINT, signal.SIGTERM})
    except KeyboardInterrupt:
        return 130
    except (build.BuildError, ControlPlaneError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
