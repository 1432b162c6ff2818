"""The WebSocket as the platform's own web server serves it, for programs."""

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from tests.browser.conftest import Lab

pytestmark = [pytest.mark.browser, pytest.mark.system]


def test_a_foreign_page_gets_no_socket_and_a_message_over_64_kib_closes_one(lab: Lab) -> None:
    address = f"{lab.url.replace('http', 'ws')}/ws/runs/{lab.start(judge=False, filter=False)}/?after=0"
    with pytest.raises(InvalidStatus) as refused:
        connect(address, origin="https://evil.example")
    assert refused.value.response.status_code == 403

    with connect(address, additional_headers={"Authorization": f"Bearer {lab.token}"}) as socket:
        socket.send("x" * 70_000)
        with pytest.raises(ConnectionClosed):
            list(socket)
