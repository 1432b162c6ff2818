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
from channels.testing import WebsocketCommunicator
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from django.conf import settings as configured

from accounts import crypto
from arenasite.asgi import application
from experiments.gateway import ChatMessage, ChatRequest, Client, Unreachable
from experiments.gateway.addresses import guarded_transport
from tests.cases import each_case

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def told():
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
    return json.loads(done.stdout)


@pytest.mark.system
def test_over_tls_every_cookie_is_secure_and_of_this_host_alone(told):
    assert [name for name in told["names"] if not name.startswith("__Host-")] == []
    assert told["secure"] == [True, True]
    assert told["same"] == ["Lax", "Lax"]


@pytest.mark.system
def test_over_tls_a_browser_is_told_to_stay_there_for_a_year(told):
    assert (told["redirect"], told["hsts"], told["below"]) == (True, 31_536_000, True)


@pytest.mark.system
def test_debugging_is_off_unless_it_is_asked_for(told):
    assert told["debug"] is False


async def test_a_socket_that_is_not_encrypted_is_refused_where_tls_is_served(settings):
    settings.HTTPS = True
    headers = [(b"host", b"localhost:8000"), (b"x-forwarded-proto", b"http")]
    socket = WebsocketCommunicator(application, "/ws/runs/x/", headers=headers)

    assert (await socket.connect(timeout=60))[0] is False


@pytest.mark.django_db
def test_every_text_names_its_encoding(browser, visitor):
    for client, path in [(visitor, "/sign-in/"), (browser, "/arena/"), (browser, "/words.js"), (visitor, "/none/")]:
        assert "charset=utf-8" in client.get(path)["Content-Type"].lower().replace('"', ""), path
    assert browser.get("/api/runs/")["Content-Type"] == "application/json"  # UTF-8 by its definition


@pytest.mark.django_db
@each_case("path", ["/sign-in/", "/arena/", "/api/runs/", "/static/site.css"])
def test_nothing_answers_a_trace(visitor, path):
    assert visitor.trace(path).status_code == 405


@pytest.mark.django_db
@each_case(
    "path",
    ["/static/", "/.git/config", "/static/../.git/config", "/static/%2e%2e/manage.py", "/.env", "/var/", "/debug/"],
)
def test_no_folder_is_listed_and_no_file_of_the_program_is_served(visitor, path):
    answer = visitor.get(path)

    assert answer.status_code in {404, 302}
    assert b"[core]" not in answer.content


@pytest.mark.django_db
def test_what_stands_in_the_address_does_not_stand_in_for_what_was_sent(visitor):
    visitor.post("/language/?language=zh-hans&next=/runs/", {"language": "en"})

    assert visitor.cookies[configured.LANGUAGE_COOKIE_NAME].value == "en"


@pytest.mark.django_db
@each_case("name", ["token", "access_token", "api_key", "key", "Authorization"])
def test_no_address_takes_a_token(visitor, alice, name):
    from_address = visitor.get("/api/runs/", {name: "alab_" + "0" * 64})

    assert from_address.status_code == 401


def test_scripts_use_nothing_that_runs_text_or_hears_other_windows():
    forbidden = ("eval(", "new Function", "document.write", "__proto__", "postMessage", "JSONP", "setTimeout('")
    found = {
        (path.name, word) for path in (ROOT / "static").glob("*.js") for word in forbidden if word in path.read_text()
    }

    assert found == set()


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


def test_no_connection_out_uses_less_than_tls_1_2():
    assert ssl.create_default_context().minimum_version >= ssl.TLSVersion.TLSv1_2
