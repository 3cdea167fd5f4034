"""G03, G14: what is taken out of texts, whatever form it has."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from urllib.parse import quote

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.redact import MASK, Redactor, names_a_secret

Encode = Callable[[str], str]


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


def test_a_secret_inside_another() -> None:
    assert redactor("abcd", "abcdefgh").text("abcdefgh abcd") == f"{MASK} {MASK}"


@given(st.binary(max_size=5), st.text(min_size=8, alphabet=st.characters(codec="ascii", categories=("L", "N"))))
def test_known_secrets_are_gone_in_base64(before: bytes, secret: str) -> None:
    ours = redactor(secret)
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        code = encode(before + secret.encode() + b"--").decode()
        assert MASK in ours.text(f"data: {code}")
        assert ours.suspects(msgspec.json.encode(code))


ESCAPED: dict[str, Encode] = {
    "hex": lambda text: text.encode().hex(),
    "hex in capitals": lambda text: text.encode().hex().upper(),
    "percent": lambda text: quote(text, safe=""),
    "percent for every byte": lambda text: "".join(f"%{byte:02X}" for byte in text.encode()),
    "percent for every byte, small": lambda text: "".join(f"%{byte:02x}" for byte in text.encode()),
    "JSON": lambda text: json.dumps(text, ensure_ascii=False),
    "JSON in ASCII": json.dumps,
    "JSON as Go writes it": lambda text: json.dumps(text).replace("<", r"\u003c").replace("&", r"\u0026"),
    "JSON in numbers": lambda text: "".join(f"\\u{ord(character):04X}" for character in text),
}


@pytest.mark.parametrize("encode", ESCAPED.values(), ids=list(ESCAPED))
def test_known_secrets_are_gone_however_they_are_escaped(encode: Encode) -> None:
    secret = 'pä"ss<w&o r/d+1'
    ours = redactor(secret)
    code = encode(secret)
    assert ours.text(f"before {code} after").replace('"', "") == f"before {MASK} after"
    assert ours.suspects(msgspec.json.encode(code))


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer SECRET.part",
        "authorization: bearer SECRET",
        "authorization: Basic U0VDUkVUU0VDUkVU",
        "got eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJTRUNSRVQifQ.U0VDUkVU from it",
        "got eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJTRUNSRVQU0VDUkVU",
        "got eyJhbGciOiJSUzI1NiJTRUNSRVQU0VDUkVU",
        "-----BEGIN RSA PRIVATE KEY-----\nSECRET\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nSECRET cut",
        "-----BEGIN CERTIFICATE-----\nSECRET cut",
        base64.b64encode(b"-----BEGIN PRIVATE KEY-----\nSECRET\n").decode(),
        base64.b64encode(b'{"alg":"none","x":"SECRET"}').decode(),
        base64.b64encode(b"eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJTRUNSRVQifQ").decode(),
        "cannot pull from https://user:SECRET@registry.example.com/x",
        "proxy http://SECRET@10.0.0.1:3128 refused",
        "login with password=SECRET1 failed",
        'cannot parse {"token": "SECRET12345"}',
        "https://x.example.com/?api_key=SECRET99&a=b",
        "https://x.example.com/?X-Amz-Signature=SECRET99&a=b",
        "env AWS_SECRET_ACCESS_KEY=SECRET99 PRIVATE_KEY: 'SECRET99'",
    ],
)
def test_what_looks_like_a_credential(text: str) -> None:
    ours = redactor()
    result = ours.text(text)
    assert MASK in result
    assert "SECRET" not in result.replace("AWS_SECRET_", "")
    assert "U0VDUkVU" not in result
    assert ours.suspects(msgspec.json.encode(text))


@pytest.mark.parametrize(
    "text",
    [
        "0/4 nodes are available: 1 node(s) had untolerated taint, 3 cannot allocate all claims.",
        "basic scheduling policy",
        "keyjar-controller-7d9f",
        "token expired",
        "invalid bearer token, token lookup failed",
        "pods is forbidden: User bob cannot list, the token has expired, e",
        "see https://kubernetes.io/docs/concepts/",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert redactor("another-secret", "e", "").text(text) == text


@pytest.mark.parametrize("text", ["A" * 1_000_000, "://" + ":" * 100_000, "bearer" + " " * 100_000, "://a:" * 20_000])
def test_a_long_text_takes_no_more_than_its_length(text: str) -> None:
    """Would take minutes if the time grew with the square."""
    assert redactor("canary+token/0001").text(text) in (text, text.replace("a:", f"{MASK}:"))


def test_a_secret_that_is_new_is_masked_from_then_on_and_the_old_one_still() -> None:
    current = ["first-token"]
    ours = Redactor(lambda: current)
    assert ours.redact("first-token second-token") == f"{MASK} second-token"
    current[:] = ["second-token"]
    assert ours.redact("first-token second-token") == f"{MASK} {MASK}"
    assert ours.text(quote("x/second-token")) == f"x/{MASK}"


def test_what_a_session_called_secret_stays_secret_after_many_others() -> None:
    ours = Redactor()
    for number in range(20):
        ours.add(lambda number=number: (f"token-{number:02}",))  # type: ignore[misc]
    assert ours.redact("token-00 token-19") == f"{MASK} {MASK}"


def test_names() -> None:
    assert all(map(names_a_secret, ["AWS_SECRET_ACCESS_KEY", "--client-secret", "VAULT_TOKEN", "PGPASSWORD"]))
    assert not any(map(names_a_secret, ["AWS_PROFILE", "--region", "HOME", "AWS_REGION"]))
