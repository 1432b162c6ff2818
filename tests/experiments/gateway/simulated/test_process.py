"""The provider as a process of its own."""

import signal
import subprocess
import sys

import httpx
import pytest

pytestmark = pytest.mark.system


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_says_where_it_listens_and_ends_cleanly(tmp_path, number, body):
    port_file = tmp_path / "port"
    command = [sys.executable, "-m", "experiments.gateway.simulated", "--port-file", str(port_file), "--tps", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        url = process.stdout.readline().removeprefix("listening on ").strip()
        assert url == f"http://127.0.0.1:{port_file.read_text().strip()}/v1"
        answer = httpx.post(f"{url}/chat/completions", json=body(), timeout=60)
        assert answer.status_code == 200
    finally:
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")


def test_it_ends_within_seconds_although_streams_are_open(body):
    command = [sys.executable, "-m", "experiments.gateway.simulated"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    url = process.stdout.readline().removeprefix("listening on ").strip()
    request = body("sim/cooperative:tps=1:words=500:first=0", stream=True)
    with httpx.Client(timeout=60) as client, client.stream("POST", f"{url}/chat/completions", json=request):
        process.terminate()
        assert process.wait(timeout=60) == 0, "the stream would go on for 500 s"
    process.stdout.close()


def test_a_port_that_is_taken_is_an_error():
    command = [sys.executable, "-m", "experiments.gateway.simulated", "--port", "1", "--host", "203.0.113.1"]
    process = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert process.returncode != 0
