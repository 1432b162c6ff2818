"""What is sent and how: encrypted, of a known type, in one reading, and nowhere by the way."""

import asyncio
import datetime
import json
import os
import ssl
import subprocess
import sys
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from accounts import crypto
from experiments.gateway import ChatMessage, ChatRequest, Client, Unreachable
from experiments.gateway.addresses import guarded_transport

ROOT = Path(__file__).parents[3]


@pytest.mark.system
def test_over_tls_cookies_are_secure_and_of_this_host_and_browsers_stay_for_a_year():
    """The settings of a process that is told to serve over TLS."""
    program = (
        "import json, django; django.setup(); from django.conf import settings as s;"
        "from accounts.notices import HostCookieStorage as n;"
        "print(json.dumps({'names': [s.SESSION_COOKIE_NAME, s.CSRF_COOKIE_NAME, s.LANGUAGE_COOKIE_NAME,"
        " s.THEME_COOKIE_NAME, s.BROWSER_COOKIE_NAME, n.cookie_name],"
        " 'secure': [s.SESSION_COOKIE_SECURE, s.CSRF_COOKIE_SECURE],"
        " 'same': [s.SESSION_COOKIE_SAMESITE, s.CSRF_COOKIE_SAMESITE], 'hsts': s.SECURE_HSTS_SECONDS,"
        " 'below': s.SECURE_HSTS_INCLUDE_SUBDOMAINS, 'redirect': s.SECURE_SSL_REDIRECT, 'debug': s.DEBUG}))"
    )
    environment = os.environ | {"ARENA_HTTPS": "1", "DJANGO_SETTINGS_MODULE": "arenasite.settings"}
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, check=True)
    told = json.loads(done.stdout)

    assert [name for name in told["names"] if not name.startswith("__Host-")] == []
    assert (told["secure"], told["same"]) == ([True, True], ["Lax", "Lax"])
    assert (told["redirect"], told["hsts"], told["below"]) == (True, 31_536_000, True)
    assert told["debug"] is False


def test_what_is_encrypted_is_authenticated_and_never_the_same_twice(settings):
    settings.KEY_SECRETS = ["a secret of forty characters, more or less"]
    first, second = crypto.encrypt("the same"), crypto.encrypt("the same")

    assert first != second
    assert crypto.decrypt(first) == crypto.decrypt(second) == "the same"
    for place in range(2, len(first)):
        changed = first[:place] + ("A" if first[place] != "A" else "B") + first[place + 1 :]
        with pytest.raises(crypto.Undecipherable):
            crypto.decrypt(changed)


def test_what_was_encrypted_in_former_days_is_read_and_encrypted_anew(settings):
    settings.KEY_SECRETS = ["a secret of forty characters, more or less"]
    former = crypto._fernet(*settings.KEY_SECRETS).encrypt(b"an old key").decode()

    assert crypto.decrypt(former) == "an old key"
    assert not crypto.is_newest(former)
    assert crypto.is_newest(crypto.rotate(former))


@pytest.fixture
def certificate(tmp_path):
    """Of this machine, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path / "server.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


@pytest.mark.system
async def test_a_provider_with_a_certificate_of_its_own_making_gets_no_key(certificate):
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    heard = []

    async def serve(reader, writer):
        heard.append(await reader.read(100))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    address = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    transport = guarded_transport(allow_private=True)
    try:
        with pytest.raises(Unreachable):
            await Client(address, "sk-canary", transport).complete(ChatRequest("m", (ChatMessage("user", "x"),)))
    finally:
        await transport.aclose()
        server.close()
    assert heard == []
