"""G03, G04: what may stand in a recording."""

from __future__ import annotations

import base64
from urllib.parse import quote

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.model.event import Event
from ktui.model.pod import Pod
from ktui.recording.redaction import MASK, Redactor, recorded, redacted
from tests.unit.builders import make, meta


def redactor(*secrets: str) -> Redactor:
    made = Redactor(lambda: secrets)
    made.refresh()
    return made


@given(st.text(), st.lists(st.text(min_size=4), max_size=3), st.text())
def test_known_secrets_are_gone_and_never_overlooked(before: str, secrets: list[str], after: str) -> None:
    ours = redactor(*secrets)
    for secret in secrets:
        text = before + secret + after
        assert secret not in ours.text(text).replace(MASK, "\0")
        assert ours.suspects(msgspec.json.encode(text))


@given(st.binary(max_size=5), st.text(min_size=8, alphabet=st.characters(codec="ascii", categories=("L", "N"))))
def test_known_secrets_are_gone_in_base64(before: bytes, secret: str) -> None:
    ours = redactor(secret)
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        code = encode(before + secret.encode() + b"--").decode()
        assert MASK in ours.text(f"data: {code}")
        assert ours.suspects(msgspec.json.encode(code))


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer SECRET.part",
        "authorization: bearer SECRET",
        "authorization: Basic U0VDUkVUU0VDUkVU",
        "got eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJTRUNSRVQifQ.U0VDUkVU from it",
        "got eyJhbGciOiJSUzI1NiJTRUNSRVQU0VDUkVU",
        "-----BEGIN RSA PRIVATE KEY-----\nSECRET\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN CERTIFICATE-----\nSECRET cut",
        base64.b64encode(b"-----BEGIN PRIVATE KEY-----\nSECRET\n").decode(),
        base64.b64encode(b'{"alg":"none","x":"SECRET"}').decode(),
        base64.b64encode(b"eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJTRUNSRVQifQ").decode(),
        "cannot pull from https://user:SECRET@registry.example.com/x",
        "proxy http://SECRET@10.0.0.1:3128 refused",
        "login with password=SECRET1 failed",
        'cannot parse {"token": "SECRET12345"}',
        "https://x.example.com/?api_key=SECRET99&a=b",
    ],
)
def test_what_looks_like_a_credential(text: str) -> None:
    ours = redactor()
    result = ours.text(text)
    assert MASK in result
    assert "SECRET" not in result
    assert "U0VDUkVU" not in result
    assert ours.suspects(msgspec.json.encode(text))


@pytest.mark.parametrize(
    "text",
    [
        "0/4 nodes are available: 1 node(s) had untolerated taint, 3 cannot allocate all claims.",
        "basic scheduling policy",
        "keyjar-controller-7d9f",
        "token expired",
        "see https://kubernetes.io/docs/concepts/",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert redactor("another-secret").text(text) == text


def test_a_secret_that_is_new_is_masked_from_then_on_and_the_old_one_still() -> None:
    current = ["first-token"]
    ours = Redactor(lambda: current)
    ours.refresh()
    current[:] = ["second-token"]
    ours.refresh()
    assert ours.text("first-token second-token") == f"{MASK} {MASK}"
    assert ours.text(quote("x/second-token")) == f"x/{MASK}"


def test_a_secret_that_is_a_field_of_the_format_garbles_no_field() -> None:
    pod = make(Pod, {"metadata": meta("a"), "spec": {"nodeName": "metadata"}})
    masked = redacted(pod, redactor("metadata"))
    assert msgspec.json.decode(msgspec.json.encode(masked))["metadata"]["name"] == "a"
    assert isinstance(masked, Pod)
    assert masked.spec.node_name == MASK


def test_only_annotations_that_ktui_reads_are_kept() -> None:
    annotations = {
        "kubectl.kubernetes.io/last-applied-configuration": "{}",
        "ktui/reason": "xid",
        "resource.kubernetes.io/extended-resource-claim": "true",
    }
    kept = recorded(make(Pod, {"metadata": meta("a", annotations=annotations)})).metadata.annotations
    assert kept == {"ktui/reason": "xid", "resource.kubernetes.io/extended-resource-claim": "true"}
    none = recorded(make(Pod, {"metadata": meta("a", annotations={"x": "y"})}))
    assert none.metadata.annotations is None


def test_an_object_without_secrets_stays_the_same_object() -> None:
    event = make(Event, {"metadata": meta("a"), "message": "token expired"})
    assert redacted(event, redactor("another")) is event
