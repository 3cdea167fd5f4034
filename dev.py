#!/usr/bin/env python3
"""One command to try ktui and one to test it, on a machine that has only Python (3.11 or newer) and git.

    python3 dev.py                     install ktui into .venv and practise on its demo cluster (ktui demo)
    python3 dev.py run ARGUMENT...     install it and run it: python3 dev.py run --context prod
    python3 dev.py test [ARGUMENT...]  install it with its development tools, check the code, run the tests;
                                       arguments go to pytest: python3 dev.py test tests/unit -k taint

Both install only when pyproject.toml has changed. `test` also builds a real Kubernetes control plane when a test needs
it (10 to 15 minutes, once); without a network those tests are skipped.
"""

import contextlib
import hashlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

# Everything above this line, and the syntax below it, must be readable to any Python 3 that may be the system's.
OLDEST = (3, 11)
if sys.version_info < OLDEST:
    for minor in range(19, OLDEST[1] - 1, -1):
        newer = shutil.which(f"python3.{minor}")
        if newer:
            os.execv(newer, [newer, *sys.argv])
    sys.exit(
        f"ktui needs Python 3.11 or newer; {sys.executable} is {sys.version.split()[0]}, and no newer one is on PATH"
    )

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
BIN = VENV / "bin"
PYTHON = BIN / "python"
STAMP = VENV / "ktui-installed"

NO_PIP = (
    "this Python can make no environment with pip: install the package that brings the venv module"
    " (Debian and Ubuntu: python3-venv) and run this again"
)


class Failure(Exception):
    """One line for the person; dev.py ends with status 1."""


def main(arguments: list[str]) -> int:
    command, *rest = arguments or ["start"]
    if command in ("start", "run") and (rest or command == "start"):
        install(development=False)
        return become_ktui(rest if command == "run" else ["demo"])
    if command == "test":
        install(development=True)
        return test(rest)
    wanted = command in ("-h", "--help", "help")
    print(__doc__, file=sys.stdout if wanted else sys.stderr)
    return 0 if wanted else 2


def become_ktui(arguments: list[str]) -> int:
    if os.environ.get("PYTHONDONTWRITEBYTECODE"):
        # Python would compile ktui anew at every start.
        run([PYTHON, "-m", "compileall", "-qq", ROOT / "ktui"])
    sys.stdout.flush()
    ktui = str(BIN / "ktui")
    os.execv(ktui, [ktui, *arguments])


def test(pytest_arguments: list[str]) -> int:
    """Runs every check even when one fails; pytest comes last, so that its closing line is the last one of a good run."""
    sources = ["ktui", "tests", "docs", "dev.py"]
    checks: dict[str, list[str | Path]] = {
        "ruff check": [BIN / "ruff", "check"],
        "ruff format --check": [BIN / "ruff", "format", "--check"],
        "mypy": [BIN / "mypy", *sources],
        "lint-imports": [BIN / "lint-imports"],
    }
    failed = []
    for name, command in checks.items():
        print(f"== {name}", flush=True)
        if run(command):
            failed.append(name)
    print("== pytest", flush=True)
    environment = {"KTUI_BUILD_CLUSTER": "1"} | os.environ
    status = run([PYTHON, "-m", "pytest", *pytest_arguments], environment)
    if failed:
        print(f"dev.py: failed: {', '.join(failed)}", file=sys.stderr)
    return status or int(bool(failed))


def install(*, development: bool) -> None:
    """Makes .venv and installs ktui into it, editable; does nothing when that is already so."""
    pyproject = (ROOT / "pyproject.toml").read_bytes()
    # An editable install is bound to its place: a moved checkout needs a new one.
    digest = hashlib.sha256(pyproject + bytes(ROOT)).hexdigest()
    installed = STAMP.read_text() if STAMP.exists() and PYTHON.exists() else ""
    if installed == f"{digest} development" or (installed == f"{digest} run" and not development):
        return
    print("dev.py: installing ktui into .venv", file=sys.stderr)
    STAMP.unlink(missing_ok=True)
    pip = environment_with_pip()
    tools = development_tools(pyproject.decode()) if development else []
    if run([*pip, "install", "--quiet", "--disable-pip-version-check", "--editable", ROOT, *tools]):
        raise Failure("pip could not install ktui; what it says is above")
    # pip may have been told not to; an environment without bytecode starts several times slower.
    run([PYTHON, "-m", "compileall", "-qq", ROOT / "ktui", VENV / "lib"])
    STAMP.write_text(f"{digest} {'development' if development else 'run'}")


def environment_with_pip() -> list[str | Path]:
    """Makes the virtual environment where there is none that works; returns the command that is pip for it."""
    inside: list[str | Path] = [PYTHON, "-m", "pip"]
    outside: list[str | Path] = [sys.executable, "-m", "pip", "--python", PYTHON]
    # Some systems split ensurepip off; a pip outside can serve an environment that has none.
    for options in ([], ["--without-pip"]):
        if not works([PYTHON, "-c", ""]):
            # Also one whose Python has been removed or upgraded away.
            works([sys.executable, "-m", "venv", "--clear", *options, VENV])
        for pip in (inside, outside):
            if works([*pip, "--version"]):
                return pip
    raise Failure(NO_PIP)


def development_tools(pyproject: str) -> list[str]:
    """The requirements of the group "dev": read here, because pip knows groups only from 25.1 on."""
    import tomllib

    tools: list[str] = tomllib.loads(pyproject)["dependency-groups"]["dev"]
    return tools


def works(command: list[str | Path]) -> bool:
    with contextlib.suppress(OSError):
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == 0
    return False


def run(command: list[str | Path], environment: dict[str, str] | None = None) -> int:
    """Runs a command in the checkout and returns its status; its input and output are this program's own.

    Ctrl-C reaches the command by itself, from the terminal, and it may have things to put away: wait for it.
    """
    with subprocess.Popen(command, cwd=ROOT, env=environment) as process:

        def pass_on(number: int, _frame: object) -> None:
            process.terminate()
            raise SystemExit(128 + number)

        signal.signal(signal.SIGTERM, pass_on)
        try:
            status = process.wait()
        except KeyboardInterrupt:
            process.wait()
            raise
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failure as failure:
        sys.exit(f"dev.py: {failure}")
    except KeyboardInterrupt:
        sys.exit(130)
