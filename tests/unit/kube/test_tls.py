"""SSL contexts: rows 27 to 30, 36, 40, 41 of the kubeconfig cases, K06, K16."""

from __future__ import annotations

import datetime
import ipaddress
import os
import pty
import ssl
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from ktui.kube.target import ClientCertificate, TlsSettings
from ktui.kube.tls import Material, TlsMaterialError, build_context, read_material
from tests.unit.kube.tlsserver import connect, tls_server

CA = trustme.CA()
SERVER = CA.issue_cert("127.0.0.1", "kubernetes")
CLIENT = CA.issue_cert("oncall@example.com")
CA_PEM = CA.cert_pem.bytes()
CLIENT_PEM = b"".join(part.bytes() for part in CLIENT.cert_chain_pems)
CLIENT_KEY = CLIENT.private_key_pem.bytes()


def _encrypted(style: serialization.PrivateFormat) -> bytes:
    key = serialization.load_pem_private_key(CLIENT_KEY, None)
    return key.private_bytes(serialization.Encoding.PEM, style, serialization.BestAvailableEncryption(b"pass"))


async def test_the_given_authority_is_trusted_and_no_other() -> None:
    async with tls_server(SERVER) as server:
        assert await connect(server.port, build_context(TlsSettings(), Material(CA_PEM))) == b"hello\n"
        for material in (Material(trustme.CA().cert_pem.bytes()), Material()):
            with pytest.raises(ssl.SSLCertVerificationError):
                await connect(server.port, build_context(TlsSettings(), material))


async def test_29_skip_verify_takes_any_server() -> None:
    async with tls_server(SERVER) as server:
        assert await connect(server.port, build_context(TlsSettings(insecure=True), Material()), "other") == b"hello\n"


async def test_30_the_server_name_is_sent_and_verified() -> None:
    context = build_context(TlsSettings(), Material(CA_PEM))
    async with tls_server(SERVER) as server:
        assert await connect(server.port, context, "kubernetes") == b"hello\n"
        with pytest.raises(ssl.SSLCertVerificationError, match="other"):
            await connect(server.port, context, "other")
        assert server.names == ["kubernetes", "other"]


async def test_36_an_old_authority_without_key_identifiers(tmp_path: Path) -> None:
    """Python 3.13 refuses such certificates by default, kubeadm of old made them, Go takes them."""
    key, name = (
        ec.generate_private_key(ec.SECP256R1()),
        x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "old")]),
    )
    start = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1)
    builder = x509.CertificateBuilder().issuer_name(name).not_valid_before(start)
    builder = builder.not_valid_after(start + datetime.timedelta(days=9)).serial_number(x509.random_serial_number())
    authority = (
        builder.subject_name(name)
        .public_key(key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=False)
        .sign(key, hashes.SHA256())
    )
    leaf_key = ec.generate_private_key(ec.SECP256R1())
    leaf = (
        builder.subject_name(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "leaf")]))
        .public_key(leaf_key.public_key())
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = leaf_key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    certificate = trustme.LeafCert(private, leaf.public_bytes(pem), [])
    context = build_context(TlsSettings(), Material(authority.public_bytes(pem)))
    assert not context.verify_flags & ssl.VERIFY_X509_STRICT
    async with tls_server(certificate) as server:
        assert await connect(server.port, context) == b"hello\n"


async def test_an_intermediate_is_an_anchor_as_in_go() -> None:
    intermediate = CA.create_child_ca()
    leaf = intermediate.issue_cert("127.0.0.1")
    async with tls_server(leaf) as server:
        context = build_context(TlsSettings(), Material(intermediate.cert_pem.bytes()))
        assert await connect(server.port, context) == b"hello\n"


@pytest.mark.parametrize("padding", [b"", b"# a chain longer than a pipe holds\n" * 10_000])
async def test_40_client_certificate_from_memory(padding: bytes) -> None:
    context = build_context(TlsSettings(), Material(CA_PEM, CLIENT_PEM + padding, CLIENT_KEY + padding))
    async with tls_server(SERVER, CA) as server:
        assert await connect(server.port, context) == b"hello\n"
        assert server.clients == ["oncall@example.com"]


def test_40_client_certificate_and_key_from_files(tmp_path: Path) -> None:
    certificate, key, authority = tmp_path / "c", tmp_path / "k", tmp_path / "ca"
    certificate.write_bytes(CLIENT_PEM)
    key.write_bytes(CLIENT_KEY)
    authority.write_bytes(CA_PEM)
    material = read_material(TlsSettings(ca_file=authority), ClientCertificate(cert_file=certificate, key_file=key))
    assert material == Material(CA_PEM, CLIENT_PEM, CLIENT_KEY)
    assert "BEGIN" not in repr(material)


@pytest.mark.parametrize("style", [serialization.PrivateFormat.PKCS8, serialization.PrivateFormat.TraditionalOpenSSL])
def test_41_k06_an_encrypted_key_is_an_error(style: serialization.PrivateFormat) -> None:
    with pytest.raises(TlsMaterialError, match="client-key is encrypted"):
        build_context(TlsSettings(), Material(CA_PEM, CLIENT_PEM, _encrypted(style)))


def test_41_k06_an_encrypted_key_never_prompts_on_the_terminal(tmp_path: Path) -> None:
    """With a controlling terminal of its own, OpenSSL would ask there and wait."""
    (tmp_path / "key").write_bytes(_encrypted(serialization.PrivateFormat.PKCS8))
    (tmp_path / "cert").write_bytes(CLIENT_PEM)
    program = (
        "import fcntl, sys, termios\n"
        "fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
        "open('/dev/tty').close()\n"
        "from pathlib import Path\n"
        "from ktui.kube.tls import Material, TlsMaterialError, build_context\n"
        "from ktui.kube.target import TlsSettings\n"
        "try: build_context(TlsSettings(), Material(b'', Path(sys.argv[1]).read_bytes(), Path(sys.argv[2]).read_bytes()))\n"
        "except TlsMaterialError as error: print(error)\n"
    )
    terminal, other = pty.openpty()
    command = [sys.executable, "-c", program, str(tmp_path / "cert"), str(tmp_path / "key")]
    process = subprocess.Popen(command, stdin=other, stdout=other, stderr=other, start_new_session=True)
    os.close(other)
    output = b""
    try:
        with suppress(OSError):  # how a terminal on Linux says that the other side has gone
            while chunk := os.read(terminal, 4096):
                output += chunk
    finally:
        os.close(terminal)
        process.kill()
        process.wait()
    assert output.startswith(b"client-key is encrypted")
    assert b"pass phrase" not in output


@pytest.mark.parametrize(
    ("material", "message"),
    [
        (Material(b"SECRET"), "certificate authority is not one or more PEM certificates"),
        (Material(b"\xff"), "certificate authority is not one or more PEM certificates"),
        (Material(CA_PEM, b"SECRET", CLIENT_KEY), "one is not PEM, or they do not belong together"),
        (Material(CA_PEM, CLIENT_PEM, b""), "one is not PEM, or they do not belong together"),
        (Material(CA_PEM, CLIENT_PEM, b"SECRET" * 100_000), "one is not PEM, or they do not belong together"),
        (Material(CA_PEM, CLIENT_PEM, SERVER.private_key_pem.bytes()), "do not belong together"),
    ],
)
def test_unusable_material(material: Material, message: str) -> None:
    with pytest.raises(TlsMaterialError, match=message) as caught:
        build_context(TlsSettings(), material)
    assert "SECRET" not in str(caught.value)


def test_28_missing_files(tmp_path: Path) -> None:
    absent, empty = tmp_path / "absent", tmp_path / "empty"
    empty.touch()
    with pytest.raises(TlsMaterialError, match=f"^certificate-authority {absent}: no such file$"):
        read_material(TlsSettings(ca_file=absent), None)
    with pytest.raises(TlsMaterialError, match="the file is empty"):
        read_material(TlsSettings(ca_file=empty), None)
    pasted = ClientCertificate(cert_data=b"c", key_file=tmp_path / "SECRET")
    with pytest.raises(TlsMaterialError, match=r"^client-key of the user cannot be read: no such file$"):
        read_material(TlsSettings(), pasted)


def test_k16_key_material_is_never_written_to_a_file(tmp_path: Path) -> None:
    """Every file that is opened for writing while a context is built shows up as an audit event."""
    (tmp_path / "pem").write_bytes(CLIENT_PEM + CLIENT_KEY)
    program = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from ktui.kube.tls import Material, build_context\n"
        "from ktui.kube.target import TlsSettings\n"
        "pem = Path(sys.argv[1]).read_bytes()\n"
        "def hook(event, args):\n"
        "    if event != 'open' or isinstance(args[0], int): return  # a descriptor: of a pipe\n"
        "    if (args[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT): print('wrote', args)\n"
        "sys.addaudithook(hook)\n"
        "build_context(TlsSettings(), Material(b'', pem, pem))\n"
        "print('built')\n"
    )
    home = tmp_path / "tmp"
    home.mkdir()
    environ = os.environ | {"TMPDIR": str(home), "XDG_RUNTIME_DIR": str(home)}
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "pem")], capture_output=True, text=True, env=environ
    )
    lines = [line for line in done.stdout.splitlines() if not line.startswith("wrote (") or ", 'wb', " not in line]
    assert lines == ["built"], done.stdout + done.stderr
    assert os.listdir(home) == []
