"""Secrets and encryption: nothing leaks, what is sent is encrypted, and an operator is told what is not set yet."""

import asyncio
import json
import os
import re
import ssl
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import dj_database_url
import pytest
from django.core.management import call_command

from accounts import crypto
from accounts.checks import findings
from accounts.tokens import create_token
from arena_lab.credentials import Credentials
from arena_lab.following import socket_arguments
from arenasite.environment import Mail, SignInServer
from arenasite.supervisor.children import Child
from experiments.gateway import ChatMessage, ChatRequest, Client, Unreachable, guarded_transport
from experiments.gateway.transport import tls_context
from experiments.lab.webhooks import sending
from tests.deployment.outside import certificate

ROOT = Path(__file__).parents[3]
OURS = {"token": r"alab_[0-9a-f]{64}", "webhook": r"whsec_[A-Za-z0-9+/]{43}="}
LEAKS = re.compile(
    "|".join(
        [
            *OURS.values(),
            r"gAAAAA[A-Za-z0-9_-]{80,}",  # Fernet
            r"sk-(?:or-v1-|proj-|ant-)?[A-Za-z0-9]{20,}",
            r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----\s+[A-Za-z0-9+/]{40}",
            r"(?:AKIA|ASIA)[0-9A-Z]{16}",
            r"gh[pousr]_[A-Za-z0-9]{30,}|glpat-[\w-]{20}|xox[abprs]-[\w-]{10,}|hf_[A-Za-z]{30,}|AIza[\w-]{35}",
            r"eyJ[A-Za-z0-9_-]{15,}\.eyJ[A-Za-z0-9_-]{15,}\.[A-Za-z0-9_-]{20,}",  # a signed JWT
            r"pbkdf2_sha256\$\d+\$\w+\$",
        ]
    )
)
INVENTED = {"sk-or-v1-abcdef0123456789abcdef"}  # in tests of what is taken out of a provider's words
SKIPPED = {".git", ".venv", ".venv-bench", ".venv-supply", "var", "node_modules", "__pycache__"}


def test_nothing_in_the_repository_looks_like_a_secret():
    found = {}
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in SKIPPED and not name.endswith("_cache")]
        for path in (Path(folder) / name for name in names):
            if path.is_file() and path.stat().st_size < 5 << 20 and path.suffix not in {".lock", ".mo", ".png"}:
                text = path.read_bytes().decode("utf-8", errors="replace")
                if leaks := {*LEAKS.findall(text)} - INVENTED:
                    found[str(path.relative_to(ROOT))] = [leak[:12] for leak in leaks]

    assert found == {}


@pytest.mark.django_db
def test_a_secret_would_be_found_and_ours_have_the_form_that_scanners_are_told(alice):
    for leak in ("alab_" + "0123456789abcdef" * 4, "sk-or-v1-" + "0a1b2c3d" * 8, "AKIA" + "ABCDEFGHIJ234567"):
        assert LEAKS.search(f'key = "{leak}"')
    assert re.fullmatch(OURS["token"], create_token(alice, name="x"))
    assert re.fullmatch(OURS["webhook"], sending.new_secret())


@pytest.mark.system
def test_a_part_that_crashes_leaves_no_image_of_its_memory(tmp_path):
    log = tmp_path / "child.log"
    program = "import resource; print(resource.getrlimit(resource.RLIMIT_CORE), flush=True)"
    child = Child("child", [sys.executable, "-c", program], log, {"PATH": os.environ["PATH"]})

    child.start()
    child.process.wait(60)

    assert log.read_text() == "(0, 0)\n"


@pytest.mark.system
def test_over_tls_cookies_are_secure_and_of_this_host_and_browsers_stay_for_a_year():
    """The settings of a process that is told to serve over TLS."""
    program = (
        "import json, django; django.setup(); from django.conf import settings as s;"
        "from accounts.refusing import HostCookieStorage as n;"
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


def test_what_is_encrypted_is_authenticated_never_the_same_twice_and_read_from_former_days(settings):
    settings.KEY_SECRETS = ["a secret of forty characters, more or less"]
    first, second = crypto.encrypt("the same"), crypto.encrypt("the same")

    assert first != second
    assert crypto.decrypt(first) == crypto.decrypt(second) == "the same"
    for place in range(2, len(first)):
        changed = first[:place] + ("A" if first[place] != "A" else "B") + first[place + 1 :]
        with pytest.raises(crypto.Undecipherable):
            crypto.decrypt(changed)

    former = crypto._fernet(*settings.KEY_SECRETS).encrypt(b"an old key").decode()
    assert crypto.decrypt(former) == "an old key"
    assert not crypto.is_newest(former)
    assert crypto.is_newest(crypto.rotate(former))


@pytest.mark.system
async def test_a_provider_with_a_certificate_of_its_own_making_gets_no_key(tmp_path):
    certificate(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tmp_path / "fullchain.pem", tmp_path / "privkey.pem")
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


def test_connections_use_tls_1_2_or_more_and_the_platforms_own_certificates(monkeypatch, tmp_path):
    to_providers = tls_context()
    from_the_client = socket_arguments(Credentials("https://lab.example", "a token"), "run", 0)[1]["ssl"]

    for context in (to_providers, from_the_client):
        assert context.minimum_version >= ssl.TLSVersion.TLSv1_2
        assert context.verify_mode == ssl.CERT_REQUIRED
        assert context.check_hostname
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "of-a-proxy.pem"))
    assert tls_context.__wrapped__().get_ca_certs()


SAFE = {
    "HTTPS": True,
    "ALLOWED_HOSTS": ["arena.example"],
    "DEMO_MODE": False,
    "REQUIRE_MFA": ["researcher", "reviewer", "curator", "admin"],
    "BREACHED_PASSWORDS": "/etc/arena/stolen.txt",
    "DATABASES": {"default": dj_database_url.parse("postgres://a:b@db.example/arena?sslmode=verify-full")},
    "REDIS_URL": "rediss://arena:secret@redis.example:6380/0",
    "MAIL": Mail("mail.example", 587, "a", "b", starttls=True, tls=False),
    "OIDC": SignInServer("Lab", "https://id.example", "arena", "secret"),
}


def found(**other):
    return [number for number, _text, hint in findings(SimpleNamespace(**SAFE | other)) if hint]


def test_what_is_missing_is_named_with_what_to_set_and_a_hardened_lab_is_told_nothing():
    here = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "x"}}
    assert found() == []
    assert found(DATABASES=here, REDIS_URL="unix:///run/redis.sock", MAIL=None, OIDC=None) == [], "on one machine"
    for name, value, expected in (
        *(("HTTPS", False, "W001"), ("ALLOWED_HOSTS", ["*"], "W002"), ("DEMO_MODE", True, "W003")),
        *(("REQUIRE_MFA", ["admin"], "W004"), ("BREACHED_PASSWORDS", "", "W005")),
        ("DATABASES", {"default": dj_database_url.parse("postgres://a:b@db.example/arena")}, "W006"),
        ("DATABASES", {"default": dj_database_url.parse("postgres://a:b@db.example/a?sslmode=prefer")}, "W006"),
        ("REDIS_URL", "redis://arena:secret@redis.example/0", "W007"),
        ("REDIS_URL", "rediss://redis.example/0", "W008"),
        ("MAIL", Mail("mail.example", 25, "", "", starttls=False, tls=False), "W009"),
        ("OIDC", SignInServer("Lab", "http://id.example", "arena", "secret"), "W010"),
    ):
        assert found(**{name: value}) == [expected], (name, value)


def test_the_command_says_it_and_prints_no_secret_as_operators_show_it_around(capsys, settings):
    canary = "canary7f3a9c55e1d24b08canary7f3a9c55e1d24b08"
    settings.SECRET_KEY, settings.KEY_SECRETS = canary, [canary]
    settings.REDIS_URL = f"redis://arena:{canary}@redis.example:6379/0"
    settings.DATABASES["default"] |= {"PASSWORD": canary}
    settings.MAIL = Mail("mail.example", 25, "arena", canary, starttls=False, tls=False)
    settings.OIDC = SignInServer("Lab", "http://id.example", "arena", canary)

    call_command("check", "--deploy", stdout=sys.stdout, stderr=sys.stderr)

    told = "".join(capsys.readouterr())
    assert "(arena.W001) Cookies, passwords and tokens travel unencrypted." in told
    assert "arena.W009" in told
    assert canary not in told
