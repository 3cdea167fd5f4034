"""Certificates and keys, made anew for each control plane: elliptic curve keys, valid for one day.

They satisfy the strict checks that Python's ssl module makes from 3.13 on (key usage, key identifiers).
"""

from __future__ import annotations

import datetime
import ipaddress
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

# Machines of a test lab drift; a certificate that is not valid yet is a puzzle nobody needs.
_CLOCK_SKEW: Final = datetime.timedelta(hours=1)
_LIFETIME: Final = datetime.timedelta(days=1)


class KeyPair(NamedTuple):
    """Paths of a PEM certificate (or public key) and of its PEM private key, which only its owner can read."""

    public: Path
    private: Path


class Authority:
    """A certificate authority; `certificate` is the path of its PEM certificate. Its key is never written to a file."""

    def __init__(self, directory: Path, name: str) -> None:
        self._directory = directory
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _subject(name)
        certificate = (
            _builder(self._name, self._name, self._key.public_key(), self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_key_usage(signs_certificates=True), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.certificate = directory / f"{name}.crt"
        self.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def serving(self, name: str, hosts: Iterable[str]) -> KeyPair:
        """A server's certificate for `hosts`: names and IP addresses."""
        return self._issue(name, _subject(name), ExtendedKeyUsageOID.SERVER_AUTH, [_san(host) for host in hosts])

    def client(self, user: str, groups: Iterable[str]) -> KeyPair:
        """A client certificate as Kubernetes reads it: the common name is the user, each organization a group."""
        return self._issue(user, _subject(user, *groups), ExtendedKeyUsageOID.CLIENT_AUTH, [])

    def _issue(
        self, name: str, subject: x509.Name, usage: x509.ObjectIdentifier, sans: list[x509.GeneralName]
    ) -> KeyPair:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = (
            _builder(subject, self._name, key.public_key(), self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        )
        if sans:
            builder = builder.add_extension(x509.SubjectAlternativeName(sans), critical=False)
        certificate = builder.sign(self._key, hashes.SHA256())
        pair = KeyPair(self._directory / f"{name}.crt", self._directory / f"{name}.key")
        pair.public.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        _write_private(pair.private, key)
        return pair


def signing_key(directory: Path, name: str) -> KeyPair:
    """A bare key pair, for the API server to sign service account tokens with."""
    key = ec.generate_private_key(ec.SECP256R1())
    pair = KeyPair(directory / f"{name}.pub", directory / f"{name}.key")
    pair.public.write_bytes(
        key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    _write_private(pair.private, key)
    return pair


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, issuer_key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCK_SKEW)
        .not_valid_after(now + _LIFETIME)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key), critical=False)
    )


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _subject(common_name: str, *organizations: str) -> x509.Name:
    return x509.Name(
        [
            *(x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization) for organization in organizations),
            x509.NameAttribute(NameOID.COMMON_NAME, common_name),
        ]
    )


def _san(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _write_private(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    path.touch(mode=0o600)
    path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
