"""G03, G14: a session full of planted secrets, recorded and logged; none of them is in a file, in any form."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path
from typing import Any

import pytest

from ktui.cli import parser
from ktui.commands.live import LiveFeed, LiveOpener
from ktui.debuglog import writing
from ktui.kube.credentials import Credentials
from ktui.model.event import Event
from ktui.recording.reader import Recording
from tests.canaries import encoded, files, traces, unpacked
from tests.unit.commands.test_live import KUBECONFIG
from tests.unit.kube.harness import PATIENCE, rig

OURS = "canary/token+0001=<ours>&"
ENVIRONMENT, ARGUMENT, ANNOTATION, APPLIED, OPAQUE, FIELDS = (
    f"canary-{place}-secret-0002" for place in ("env", "args", "note", "applied", "opaque", "fields")
)
BEARER, PASSWORD, NAMED, KEY, CLAIM = (
    f"Canary0003{place}Secret" for place in ("Bearer", "Userinfo", "Named", "Pem", "Jwt")
)
JWT = ".".join(
    base64.urlsafe_b64encode(part.encode()).decode().rstrip("=")
    for part in ('{"alg":"x"}', f'{{"s":"{CLAIM}"}}', "sig")
)
PEM = f"-----BEGIN PRIVATE KEY-----\n{KEY}\n-----END PRIVATE KEY-----"
ALL = (OURS, ENVIRONMENT, ARGUMENT, ANNOTATION, APPLIED, OPAQUE, FIELDS, BEARER, PASSWORD, NAMED, KEY, CLAIM, JWT)

MESSAGES = (
    f"Authorization: Bearer {BEARER}",
    f"cannot pull https://robot:{PASSWORD}@registry.example.com/x",
    f"login with password={NAMED} failed",
    f"token {JWT} is refused",
    f"key {PEM} of {base64.b64encode(PEM.encode()).decode()}",
    *(f"got {form} back" for form in encoded(OURS)),
)


def pod(number: int, message: str) -> dict[str, Any]:
    return {
        "metadata": {
            "name": f"p{number}",
            "namespace": "ml",
            "annotations": {
                "example.com/note": ANNOTATION,
                "kubectl.kubernetes.io/last-applied-configuration": f'{{"x": "{APPLIED}"}}',
                "ktui/reason": message,
            },
            "managedFields": [{"manager": FIELDS, "operation": "Update"}],
        },
        "spec": {
            "containers": [
                {
                    "name": "c",
                    "image": "x",
                    "args": [f"--token={ARGUMENT}"],
                    "env": [{"name": "A", "value": ENVIRONMENT}],
                }
            ]
        },
        "status": {"message": message, "conditions": [{"type": "Ready", "status": "False", "message": message}]},
    }


CONFIG = {"opaque": {"driver": "gpu.example.com", "parameters": {"password": OPAQUE}}}


@pytest.mark.parametrize("suffix", [".ktui", ".ktui.gz", ".ktui.zst"])
@pytest.mark.parametrize("anonymise", [False, True], ids=["masked", "anonymised"])
async def test_no_planted_secret_is_in_the_recording_or_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, anonymise: bool
) -> None:
    # The server speaks plain HTTP, over which a token of the kubeconfig would not even be looked at.
    monkeypatch.setattr(Credentials, "secrets", lambda _: frozenset({OURS}))
    made = tmp_path / "made"
    made.mkdir()
    config = tmp_path / "config"
    async with rig(0) as r:
        for number, message in enumerate(MESSAGES):
            r.server.create("Pod", pod(number, message))
            event = {"metadata": {"name": f"e{number}", "namespace": "ml"}, "message": message, "reason": "Failed"}
            r.server.create("Event", event)
        claim = {"metadata": {"name": "c", "namespace": "ml"}, "spec": {"devices": {"config": [CONFIG]}}}
        r.server.create("ResourceClaim", claim)
        config.write_text(KUBECONFIG.replace("https://127.0.0.1:1", r.server.url).replace("{token: t}", "{}"))
        args = parser().parse_args(["--kubeconfig", str(config)])
        with writing(str(made / "debug.log")):
            session = await LiveOpener(args, read_only=False).open()
            assert isinstance(session.feed, LiveFeed)
            tape = session.feed.tape
            tape.start(made / f"now{suffix}", anonymise=anonymise)
            running = asyncio.create_task(session.feed.run())
            async with asyncio.timeout(PATIENCE):
                while not session.cluster.synced("Pod", "Event", "ResourceClaim"):
                    await asyncio.sleep(0.01)
            tape.mark(f"I pasted {OURS}")
            r.server.create("Pod", pod(100, MESSAGES[0]))
            async with asyncio.timeout(PATIENCE):
                while ("ml", "p100") not in session.cluster.stores["Pod"].objects:
                    await asyncio.sleep(0.01)
            await asyncio.to_thread(tape.saver(made / f"before{suffix}", anonymise=anonymise))
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
    assert sorted(files(made)) == [f"before{suffix}", "debug.log", f"now{suffix}"]
    for name, content in files(made).items():
        assert traces(content, ALL) == [], name
    for name in (f"before{suffix}", f"now{suffix}"):
        assert unpacked((made / name).read_bytes()).count(b"[redacted]") > len(MESSAGES)
        objects = [o for f in Recording(made / name).frames() for o in getattr(f.frame, "items", ())]
        assert sum(isinstance(o, Event) for o in objects) == len(MESSAGES), "the messages themselves are there"


@pytest.mark.parametrize("secret", ALL)
def test_each_of_them_would_be_found(secret: str) -> None:
    for form in encoded(secret):
        assert traces(f'{{"message": "got {form} back"}}'.encode(), ALL), form
