"""From where a visitor comes is read rightly at every kind of socket that a web process is handed."""

import os
import subprocess
import sys

import httpx
import pytest
from django.conf import settings

from accounts.addresses import address_in, address_of
from arenasite.supervisor import ports
from tests.arenasite.serving import is_answered
from tests.cases import each_case
from tests.fixtures import environment, wait_until

TELLING = """
async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": scope["client"][0].encode()})
"""


@pytest.mark.system
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_at_a_socket_that_is_handed_on(tmp_path, host):
    (tmp_path / "telling.py").write_text(TELLING)
    path = os.pathsep.join([str(settings.BASE_DIR), str(tmp_path)])
    told = environment() | {"DJANGO_SETTINGS_MODULE": "arenasite.settings", "PYTHONPATH": path}
    with ports.listen(host, 0) as listener:
        handed = str(listener.fileno())
        command = [sys.executable, "-m", "arenasite.bounded_daphne", "--fd", handed, "-v", "0", "telling:app"]
        process = subprocess.Popen(command, env=told, cwd=settings.BASE_DIR, pass_fds=[listener.fileno()])
        address = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}/"
        try:
            wait_until(lambda: is_answered(address), "the server")
            assert httpx.get(address, timeout=60).text == host
        finally:
            process.kill()
            process.wait()


@each_case(
    ("proxies", "forwarded", "address"),
    [
        (0, "198.51.100.9", "192.0.2.1"),
        (1, "198.51.100.9, 203.0.113.4", "203.0.113.4"),
        (2, "198.51.100.9, 203.0.113.4", "198.51.100.9"),
        (2, "203.0.113.4", "192.0.2.1"),
        (1, "<nonsense>", None),
    ],
)
def test_as_our_own_proxies_saw_it(rf, settings, proxies, forwarded, address):
    settings.TRUSTED_PROXIES = proxies
    scope = {"client": ("192.0.2.1", 5), "headers": [(b"host", b"x"), (b"x-forwarded-for", forwarded.encode())]}

    assert address_of(rf.get("/", REMOTE_ADDR="192.0.2.1", HTTP_X_FORWARDED_FOR=forwarded)) == address
    assert address_in(scope) == address
