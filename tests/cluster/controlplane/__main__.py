"""`python -m tests.cluster.controlplane build|run`: build it, or run it until Ctrl-C with its kubeconfig's path printed."""

from __future__ import annotations

import signal
import sys
from typing import Final

from tests.cluster import infra
from tests.cluster.controlplane import build
from tests.cluster.controlplane.cluster import ControlPlane, ControlPlaneError

_ENDING: Final = {signal.SIGINT, signal.SIGTERM}


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
                # Only now: the processes of the control plane inherit what was blocked when they started.
                signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
                signal.sigwait(_ENDING)
    except KeyboardInterrupt:
        return 130
    except (build.BuildError, ControlPlaneError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
