"""The WebSocket as the platform's own web server serves it, for programs: those that read, and those that do not."""

import json

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.browser.conftest import Lab

pytestmark = [pytest.mark.browser, pytest.mark.system]


def address(lab: Lab, run: str) -> str:
    return f"{lab.url.replace('http', 'ws')}/ws/runs/{run}/?after=0"


def test_a_program_follows_a_run_to_its_end_while_another_one_reads_nothing(lab: Lab) -> None:
    run = lab.start("sim/cooperative", judge=False, filter=False, max_turns=2)
    key = {"Authorization": f"Bearer {lab.token}"}

    seqs, text = [], {}
    with (
        connect(address(lab, run), additional_headers=key, max_queue=1),  # its network buffers fill up
        connect(address(lab, run), additional_headers=key) as socket,
    ):
        for message in map(json.loads, socket):
            if message["type"] == "message_stream":
                data = message["data"]
                text[data["call"]] = text.get(data["call"], "")[: data["offset"]] + data["text"]
                continue
            seqs.append(message["seq"])
            if message["type"] == "message_completed":
                assert message["data"]["raw_text"] == text[message["data"]["call"]]
            if message["type"] == "experiment_stopped":
                break

    assert seqs == list(range(1, len(seqs) + 1))
    assert lab.ask("GET", f"runs/{run}/")["state"] == "completed"


def test_a_foreign_page_gets_no_socket_and_a_message_over_64_kib_closes_one(lab: Lab) -> None:
    run = lab.start(judge=False, filter=False)
    with pytest.raises(InvalidStatus) as refused:
        connect(address(lab, run), origin="https://evil.example")
    assert refused.value.response.status_code == 403

    with connect(address(lab, run), additional_headers={"Authorization": f"Bearer {lab.token}"}) as socket:
        socket.send("x" * 70_000)
        with pytest.raises(ConnectionClosed):
            read_until_closed(socket)


def read_until_closed(socket: ClientConnection) -> None:
    while True:
        socket.recv(timeout=60)
