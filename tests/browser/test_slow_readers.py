"""A program that opens a run and then reads nothing: its network buffers fill up, and nobody else waits for it."""

import json

import pytest
from websockets.sync.client import connect

from tests.browser.conftest import Lab

pytestmark = [pytest.mark.browser, pytest.mark.system]


def test_a_client_that_does_not_read_delays_neither_the_run_nor_the_others(lab: Lab) -> None:
    run = lab.start(judge=False, filter=False, max_turns=2)
    address = f"{lab.url.replace('http', 'ws')}/ws/runs/{run}/?after=0"
    key = {"Authorization": f"Bearer {lab.token}"}

    with connect(address, additional_headers=key, max_queue=1), connect(address, additional_headers=key) as reader:
        seqs = []
        while True:
            message = json.loads(reader.recv(timeout=240))
            if "seq" in message:
                seqs.append(message["seq"])
            if message["type"] == "experiment_stopped":
                break

    assert seqs == list(range(1, len(seqs) + 1))
    assert lab.ask("GET", f"runs/{run}/")["state"] == "completed"
