"""The command line. Answers `--version` before anything is imported, and each command imports only what it needs.

Exit codes: 0 ok, 1 cluster or run-time error, 2 usage or settings error, 130 interrupted. Errors are one line on stderr.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from ktui import __version__

if TYPE_CHECKING:
    import argparse

INTERRUPTED = 130
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
RESOURCES = ("triage", "gangs", "pods", "devices", "claims", "taints", "autoscalers", "workloads", "timeline")


_EXPORT = """Make something of a recording that others can look at:
an asciicast v2 of the screens (cast), a picture of one moment (svg),
or the draft of a post-mortem (markdown). The same flags make the same file."""
_SCRIPT = """A script for --script has a line for each moment:

    # what is shown
    0      seek 25         # go to second 25 of the recording
    0      speed 4         # play four times as fast
    2      3 m             # press 3, and then m
    +1.5   slash "numa"    # 1.5 s after the line before: press /, and type the rest
    +1     enter
    20     end

Keys have Textual's names or are single characters; text to type stands in
double quotes; a # on its own begins a comment."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run ktui; returns the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] == ["--version"]:
        print(f"ktui {__version__}")
        return 0
    try:
        return _flushed(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader went away (`ktui get … | head`).
        _print_no_more()
        return 0
    except OSError as error:
        if error.errno not in _FULL or error.filename is not None:
            return _crashed(error)
        _print_no_more()
        return _fail(f"cannot write the output: {error.strerror}", 1)
    except Exception as error:  # noqa: BLE001 - a defect, and nobody else is left to tell of it
        return _crashed(error)


def _print_no_more() -> None:
    """Keep the interpreter from failing again when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _flushed(arguments: list[str]) -> int:
    """Output is flushed here, where a reader that went away is no error, and not when the interpreter ends."""
    code = _run(arguments)
    sys.stdout.flush()
    return code


def _run(arguments: list[str]) -> int:
    from ktui.errors import KtuiError

    try:
        args = parser().parse_args(arguments)
        from ktui.debuglog import writing

        with writing(getattr(args, "debug_log", None)):
            return _carry_out(args)
    except KtuiError as error:
        return _fail(str(error), error.exit_code)


def _carry_out(args: argparse.Namespace) -> int:
    command = getattr(args, "command", None)
    if command not in (None, "demo") and args.record:
        from ktui.errors import UsageError

        raise UsageError("--record goes with the screens; without them it is `ktui record FILE`")
    if command == "get":
        from ktui.commands import get

        return get.run(args)
    if command == "why":
        from ktui.commands import why

        return why.run(args)
    if command == "doctor":
        from ktui.commands import doctor

        return doctor.run(args)
    if command in ("taint", "untaint", "min-replicas"):
        from ktui.commands import act

        return act.run(args)
    if command == "record":
        from ktui.commands import record

        return record.run(args)
    if command == "export":
        from ktui.commands import export

        return export.run(args)
    from ktui.commands import tui

    return tui.run(args)


def _fail(message: str, code: int) -> int:
    from ktui.ui.safe import safe

    print(f"ktui: {safe(message, 2000)}", file=sys.stderr)
    return code


def _crashed(error: Exception) -> int:
    from ktui import crash
    from ktui.ui.safe import safe

    print(safe(crash.end(error), 2000), file=sys.stderr)
    return 1


def parser() -> argparse.ArgumentParser:
    """The whole command line; also what completion and the documentation are made from."""
    import argparse

    class OneLineParser(argparse.ArgumentParser):
        def error(self, message: str) -> NoReturn:
            from ktui.errors import UsageError

            raise UsageError(f"{message} (see {self.prog} --help)")

    cluster = OneLineParser(add_help=False, argument_default=argparse.SUPPRESS)
    group = cluster.add_argument_group("cluster")
    group.add_argument(
        "--kubeconfig", metavar="FILE", help="kubeconfig file to use instead of KUBECONFIG or ~/.kube/config"
    )
    group.add_argument("--context", metavar="NAME", help="kubeconfig context to use")
    group.add_argument(
        "-n",
        "--namespace",
        metavar="NAME",
        help="namespace; the default is the context's for commands, all for screens",
    )
    group.add_argument("-A", "--all-namespaces", action="store_true", help="show all namespaces")
    group.add_argument("--as", dest="as_user", metavar="USER", help="user to impersonate")
    group.add_argument(
        "--as-group", dest="as_groups", action="append", metavar="GROUP", help="group to impersonate; repeatable"
    )
    group.add_argument("--as-uid", dest="as_uid", metavar="UID", help="uid to impersonate")
    group.add_argument(
        "--request-timeout", metavar="DURATION", help='limit of a single request, e.g. "30s"; 0 means none'
    )
    group.add_argument("--readonly", action="store_true", help="nothing is ever written to the cluster")

    recorded = OneLineParser(add_help=False, argument_default=argparse.SUPPRESS)
    group = recorded.add_argument_group("recording")
    group.add_argument("--recording", metavar="FILE", help="read this recording instead of a cluster")
    group.add_argument("--at", metavar="SECONDS", type=_seconds, help="moment of the recording (default: its end)")

    screen = OneLineParser(add_help=False, argument_default=argparse.SUPPRESS)
    group = screen.add_argument_group("screen")
    group.add_argument("--ascii", action="store_true", help="plain ASCII borders and symbols")
    group.add_argument("--theme", metavar="NAME", help="dark, light, colorblind or ansi")

    top = OneLineParser(
        prog=_program(),
        parents=[cluster, screen],
        description="Which gangs are pending and why, which device each container got, which devices are tainted.",
        epilog="Without a command, the screens open on the current context.",
    )
    top.add_argument("--record", metavar="FILE", help="record what the screens show to a new .ktui.gz file")
    top.add_argument("--version", action="version", version=f"ktui {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND")

    get = commands.add_parser("get", parents=[cluster, recorded], help="print gangs, pods, devices, claims, taints, …")
    get.add_argument("resource", type=_resource, metavar="RESOURCE[/NAME]", help=", ".join(RESOURCES))
    get.add_argument("name", nargs="?", metavar="NAME", help="only this one")
    get.add_argument(
        "-l", "--selector", default="", metavar="SELECTOR", help="label selector, e.g. team=llm,tier!=test"
    )
    get.add_argument(
        "-o", "--output", default="table", choices=("table", "wide", "json", "name"), help="form of the output"
    )

    why = commands.add_parser(
        "why", parents=[cluster, recorded], help="say why a gang or a pod waits, and what would help"
    )
    why.add_argument("name", metavar="[NAMESPACE/]NAME", help="a gang, its Workload or Job, or a pod")
    why.add_argument(
        "--if",
        dest="conditions",
        action="append",
        default=[],
        metavar="CHANGE",
        help="say what would be if: untaint=DRIVER/POOL/DEVICE, without=[NAMESPACE/]GANG or nodes=COUNTxNODE; repeatable",
    )
    why.add_argument("-o", "--output", default="text", choices=("text", "json"), help="form of the output")

    doctor = commands.add_parser(
        "doctor", parents=[cluster, recorded], help="look at access, versions, drivers, rules; say what is wrong"
    )
    doctor.add_argument("--strict", action="store_true", help="exit with 1 for a warning too")
    doctor.add_argument("-o", "--output", default="text", choices=("text", "json"), help="form of the output")

    replay = commands.add_parser("replay", parents=[screen], help="show a recording")
    replay.add_argument("file", metavar="FILE", help="a .ktui, .ktui.gz or .ktui.zst file")
    replay.add_argument("--at", metavar="SECONDS", type=_seconds, default=0.0, help="where to start")

    _add_record(commands, cluster)
    _add_export(commands, screen)
    demo = commands.add_parser("demo", parents=[screen], help="practise on an embedded cluster; needs nothing else")
    demo.add_argument("--incident", default="xid79", metavar="NAME", help="xid79 (the default), forgotten or asleep")
    demo.add_argument(
        "--kubernetes", default="1.37", metavar="RELEASE", help="be a cluster of 1.37 (the default), 1.36 or 1.35"
    )
    demo.add_argument("--size", type=int, default=0, metavar="PODS", help="make a fleet of at least this many pods")
    demo.add_argument(
        "--record",
        default=argparse.SUPPRESS,
        metavar="FILE",
        help="record what the screens show to a new .ktui.gz file",
    )

    _add_actions(commands, cluster)
    for command in (top, *commands.choices.values()):
        command.add_argument(
            "--debug-log",
            metavar="FILE",
            default=argparse.SUPPRESS,
            help="write what ktui does to a new file, without secrets",
        )
    return top


def _add_record(commands: argparse._SubParsersAction[Any], cluster: argparse.ArgumentParser) -> None:
    record = commands.add_parser("record", parents=[cluster], help="record the cluster, without screens")
    record.add_argument("file", metavar="FILE", help="a new .ktui, .ktui.gz or .ktui.zst file")
    record.add_argument("--for", dest="duration", metavar="DURATION", help='how long, e.g. "10m"; at most four hours')
    record.add_argument("--title", default="", metavar="TEXT", help="what it shows")
    record.add_argument("--anonymise", action="store_true", help="other names for everything, joins kept")
    record.add_argument("--size", type=_count, metavar="MIB", help="size at which the file is complete (default: 200)")
    record.add_argument(
        "--files", type=_count, default=1, metavar="N", help="files to fill, one after the other (default: 1)"
    )


def _add_export(commands: argparse._SubParsersAction[Any], screen: argparse.ArgumentParser) -> None:
    import argparse

    export = commands.add_parser(
        "export",
        parents=[screen],
        argument_default=argparse.SUPPRESS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        help="make a cast, a picture or a report of a recording",
        description=_EXPORT,
        epilog=_SCRIPT,
    )
    export.add_argument("file", metavar="FILE", help="a .ktui, .ktui.gz or .ktui.zst file")
    export.add_argument(
        "-o",
        "--output",
        default="-",
        metavar="OUT",
        help="a new file; .cast, .svg and .md say the format (default: stdout)",
    )
    export.add_argument("--format", default="", choices=("cast", "svg", "markdown"), help="what to make")
    export.add_argument("--force", action="store_true", default=False, help="replace OUT if it is there")
    export.add_argument("--size", metavar="COLUMNSxROWS", type=_size, help="of the screen (default: 100x30)")
    export.add_argument("--script", metavar="FILE", help="cast: what is pressed when (default: it plays through once)")
    export.add_argument(
        "--at", metavar="SECONDS", type=_seconds, help="svg: moment of the recording (default: its end)"
    )
    export.add_argument("--keys", metavar="KEYS", help='svg: keys to press there, e.g. "3 m"')
    export.add_argument("--from", dest="since", metavar="SECONDS", type=_seconds, help="markdown: where to begin")
    export.add_argument("--to", dest="until", metavar="SECONDS", type=_seconds, help="markdown: where to end")


def _add_actions(commands: argparse._SubParsersAction[Any], cluster: argparse.ArgumentParser) -> None:
    import argparse

    acting = argparse.ArgumentParser(add_help=False)
    acting.add_argument(
        "--dry-run", action="store_true", help="show the plan and the server's answer to it, change nothing"
    )
    acting.add_argument("-y", "--yes", action="store_true", help="do not ask; for scripts")
    acting.add_argument("-o", "--output", default="table", choices=("table", "json"), help="form of the output")

    taint = commands.add_parser("taint", parents=[cluster, acting], help="taint one device")
    taint.add_argument("device", metavar="DRIVER/POOL/DEVICE")
    taint.add_argument("taint", metavar="KEY[=VALUE]:EFFECT", help="effect: None, NoSchedule or NoExecute")
    taint.add_argument("--reason", default="", metavar="TEXT", help="why; kept on the rule and in the audit log")
    taint.add_argument(
        "--count", action="store_true", help="place it with effect None first, to see whom the controller would evict"
    )

    untaint = commands.add_parser("untaint", parents=[cluster, acting], help="remove a taint from one device")
    untaint.add_argument("device", metavar="DRIVER/POOL/DEVICE")
    untaint.add_argument("taint", nargs="?", default="", metavar="KEY[=VALUE][:EFFECT]", help="which one, if several")
    untaint.add_argument("--any-owner", action="store_true", help="also remove a taint that ktui did not make")

    replicas = commands.add_parser("min-replicas", parents=[cluster, acting], help="change an autoscaler's minReplicas")
    replicas.add_argument("autoscaler", metavar="[NAMESPACE/]AUTOSCALER")
    replicas.add_argument("replicas", metavar="N")


def _program() -> str:
    """As a kubectl plug-in, help shows what the person typed."""
    name = os.path.basename(sys.argv[0]) if sys.argv else "ktui"  # noqa: PTH119 - pathlib costs a tenth of --help's time
    return "kubectl ktui" if name == "kubectl-ktui" else "ktui"


def _resource(text: str) -> tuple[str, str]:
    """(resource, name or ""). The singular and RESOURCE/NAME are accepted too, as by kubectl."""
    import argparse

    resource, slash, name = text.partition("/")
    if slash and not name:
        raise argparse.ArgumentTypeError(f"{text!r} ends without a name")
    plural = resource if resource in RESOURCES else f"{resource}s"
    if plural not in RESOURCES:
        raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(RESOURCES)}")
    return plural, name


def _count(text: str) -> int:
    import argparse

    if not (text.isascii() and text.isdigit() and 0 < int(text[:9]) <= 100_000):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 100000")
    return int(text)


def _size(text: str) -> tuple[int, int]:
    import argparse

    columns, _, rows = text.partition("x")
    if not all(part.isascii() and part.isdigit() and len(part) <= 3 for part in (columns, rows)):
        raise argparse.ArgumentTypeError(f"{text!r} is no size, as 100x30 is")
    if not (40 <= int(columns) <= 500 and 10 <= int(rows) <= 200):
        raise argparse.ArgumentTypeError(f"{text} is not between 40x10 and 500x200")
    return int(columns), int(rows)


def _seconds(text: str) -> float:
    import argparse

    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e9:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return value


if __name__ == "__main__":
    sys.exit(main())
