from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.kube.redact import MASK, names_a_secret, redact


@given(st.text(), st.lists(st.text(min_size=4), max_size=4))
def test_known_secrets_are_gone(text: str, secrets: list[str]) -> None:
    result = redact(text.join(["a", *secrets, "b"]), secrets)
    for secret in secrets:
        assert secret not in result.replace(MASK, "\0")


def test_a_secret_inside_another() -> None:
    assert redact("abcdefgh abcd", ["abcd", "abcdefgh"]) == f"{MASK} {MASK}"


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer SECRET.part",
        "authorization: Basic U0VDUkVUU0VDUkVU",
        "got eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJTRUNSRVQifQ.U0VDUkVU from it",
        "got eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJTRUNSRVQU0VDUkVU",
        "got eyJhbGciOiJSUzI1NiJU0VDUkVU",
        "-----BEGIN RSA PRIVATE KEY-----\nSECRET\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nSECRET cut",
    ],
)
def test_what_looks_like_a_credential(text: str) -> None:
    result = redact(text)
    assert MASK in result
    assert "SECRET" not in result
    assert "U0VDUkVU" not in result


def test_ordinary_text_is_left_alone() -> None:
    text = "pods is forbidden: User bob cannot list, the token has expired, e"
    assert redact(text, ["e", ""]) == text


def test_names() -> None:
    assert all(map(names_a_secret, ["AWS_SECRET_ACCESS_KEY", "--client-secret", "VAULT_TOKEN", "PGPASSWORD"]))
    assert not any(map(names_a_secret, ["AWS_PROFILE", "--region", "HOME", "AWS_REGION"]))
