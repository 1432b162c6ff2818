"""From where a visitor comes is read rightly at every kind of socket that a web process is handed."""

import httpx
import pytest

from accounts.addresses import address_in, address_of
from arenasite.supervisor import places
from tests.arenasite.serving import is_answered, started
from tests.fixtures import wait_until

TELLING = """
async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": scope["client"][0].encode()})
"""


@pytest.mark.system
def test_at_a_socket_that_is_handed_on(tmp_path):
    (tmp_path / "telling.py").write_text(TELLING)
    with places.listen("::1", 0) as listener:
        handed = listener.fileno()
        address = f"http://[::1]:{listener.getsockname()[1]}/"
        with started("--fd", str(handed), "telling:app", folder=tmp_path, fd=handed):
            wait_until(lambda: is_answered(address), "the server")
            assert httpx.get(address, timeout=60).text == "::1"


def test_as_our_own_proxies_saw_it(rf, settings):
    for proxies, forwarded, address in (
        (0, "198.51.100.9", "192.0.2.1"),
        (1, "198.51.100.9, 203.0.113.4", "203.0.113.4"),
        (2, "198.51.100.9, 203.0.113.4", "198.51.100.9"),
        (2, "203.0.113.4", "192.0.2.1"),
        (1, "<nonsense>", None),
    ):
        settings.TRUSTED_PROXIES = proxies
        scope = {"client": ("192.0.2.1", 5), "headers": [(b"host", b"x"), (b"x-forwarded-for", forwarded.encode())]}
        request = rf.get("/", REMOTE_ADDR="192.0.2.1", HTTP_X_FORWARDED_FOR=forwarded)
        assert address_of(request) == address_in(scope) == address, forwarded
