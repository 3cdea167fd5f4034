"""SSL contexts from a kubeconfig's material. Blocking: the async edge runs these in a thread.

Key material is read once, kept in memory, and handed to OpenSSL through pipes: the ssl module only loads keys from paths,
and a temporary file would be left behind by a crash.
"""

from __future__ import annotations

import os
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ktui.errors import KtuiError
from ktui.kube.files import Unreadable, read_regular
from ktui.kube.target import ClientCertificate, TlsSettings

MAX_PEM = 4 * 1024 * 1024


class TlsMaterialError(KtuiError):
    """A certificate or key that cannot be used. The message names the setting, not its content."""


class _EncryptedKeyError(Exception):
    """Raised by the passphrase callback, so that OpenSSL never asks on the terminal."""


@dataclass(frozen=True, slots=True)
class Material:
    """Everything a context is made of; contexts of equal material are interchangeable. `authority` b"": the system's."""

    authority: bytes = field(default=b"", repr=False)
    certificate: bytes = field(default=b"", repr=False)
    key: bytes = field(default=b"", repr=False)


def read_material(settings: TlsSettings, certificate: ClientCertificate | None) -> Material:
    """Read what is in files. Raises TlsMaterialError."""
    authority = settings.ca_data
    if settings.ca_file:
        try:
            authority = read_regular(settings.ca_file, MAX_PEM)
        except Unreadable as error:
            raise TlsMaterialError(f"certificate-authority {error}") from None
        if not authority.strip():
            raise TlsMaterialError(f"certificate-authority {settings.ca_file}: the file is empty")
    if certificate is None:
        return Material(authority)
    return Material(
        authority,
        _read_secret("client-certificate", certificate.cert_file, certificate.cert_data),
        _read_secret("client-key", certificate.key_file, certificate.key_data),
    )


def build_context(settings: TlsSettings, material: Material) -> ssl.SSLContext:
    """A client context that trusts as Go does: only the given authority, if one is given. Raises TlsMaterialError."""
    # Not create_default_context: from Python 3.13 on that is strict about key identifiers, which the authorities of old
    # clusters lack and Go does not miss; and it would log the session's keys to $SSLKEYLOGFILE.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.hostname_checks_common_name = False
    context.set_alpn_protocols(["http/1.1"])
    if settings.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif material.authority:
        _trust_only(context, material.authority)
    else:
        context.load_default_certs()
    if material.certificate:
        _present(context, material)
    return context


def _read_secret(name: str, path: Path | None, data: bytes) -> bytes:
    if path is None:
        return data
    try:
        return read_regular(path, MAX_PEM)
    except Unreadable as error:
        reason = error.reason
    # Raised out here, so that not even the context of the error holds the path: people paste keys where paths belong.
    raise TlsMaterialError(f"{name} of the user cannot be read: {reason}")


def _trust_only(context: ssl.SSLContext, authority: bytes) -> None:
    # As in Go, any certificate of the bundle is an anchor, also one that is not self-signed.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    try:
        context.load_verify_locations(cadata=authority.decode("ascii"))
    except (ssl.SSLError, UnicodeDecodeError, ValueError):
        raise TlsMaterialError("the certificate authority is not one or more PEM certificates") from None


def _present(context: ssl.SSLContext, material: Material) -> None:
    with _piped(material.certificate) as certificate, _piped(material.key) as key:
        try:
            context.load_cert_chain(certificate, key, password=_refuse)
        except _EncryptedKeyError:
            raise TlsMaterialError(
                "client-key is encrypted, and kubeconfig has no place for its passphrase: use a key without one"
            ) from None
        except (ssl.SSLError, OSError, ValueError):
            # On pipes OpenSSL's own reason is lost: Python reports the failed seek that came before it.
            raise TlsMaterialError(
                "client certificate and key cannot be used: one is not PEM, or they do not belong together"
            ) from None


def _refuse() -> str:
    raise _EncryptedKeyError


@contextmanager
def _piped(data: bytes) -> Iterator[str]:
    """A path that reads as `data`, once. A pipe holds less than a long chain of certificates, so a thread fills it."""
    reader, writer = os.pipe()
    feeder = threading.Thread(target=_feed, args=(writer, data), name="ktui-pem", daemon=True)
    feeder.start()
    try:
        yield f"/dev/fd/{reader}"
    finally:
        os.close(reader)  # a feeder that is still writing gets EPIPE
        feeder.join()


def _feed(writer: int, data: bytes) -> None:
    with os.fdopen(writer, "wb", buffering=0) as pipe:
        view = memoryview(data)
        try:
            while view:
                view = view[pipe.write(view) :]
        except BrokenPipeError:
            return
