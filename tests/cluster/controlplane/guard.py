"""Runs one command, passes on the signals it is asked for, and ends the command when whoever asked is gone.

    python guard.py STOP_SECONDS COMMAND [ARGUMENT...]

A test run can end without any clean-up (SIGKILL, a time limit that calls os._exit): then the pipe to standard input
closes, and the command gets SIGTERM, and SIGKILL after STOP_SECONDS. Being the command's parent, the guard can never
signal a process that merely got the same number later.

Standard input: one signal number a line. Standard output: the command's process id, then nothing.
Exit status: the command's; 128 + N when signal N ended it. Runs on its own, with the standard library only.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from io import FileIO


def main(stop_seconds: float, command: list[str]) -> int:
    # Ctrl-C is for the person's own program, which then ends its processes in the right order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sys.stderr, start_new_session=True)
    print(child.pid, flush=True)
    # Unbuffered: at exit, Python aborts where a thread still waits inside a buffered reader.
    orders = open(0, "rb", buffering=0)  # noqa: SIM115 - open for as long as the process lives
    threading.Thread(target=_obey, args=(orders, child, stop_seconds), daemon=True).start()
    status = child.wait()
    return 128 - status if status < 0 else status


def _obey(orders: FileIO, child: subprocess.Popen[bytes], stop_seconds: float) -> None:
    for line in orders:
        child.send_signal(int(line))
    child.terminate()
    try:
        child.wait(stop_seconds)
    except subprocess.TimeoutExpired:
        child.kill()


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), sys.argv[2:]))
