"""The platform as it is reached from outside: through nginx with the example configuration, over TLS."""

import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator

import httpx
import pytest
from websockets.sync.client import connect

from tests.arenasite.platforms import environment, free_port
from tests.deployment.outside import DEMO, ENDLESS, METRICS, MONITOR, PASSWORD, ROOT, Outside
from tests.fixtures import wait_until

pytestmark = pytest.mark.system


HSTS = "max-age=31536000; includeSubDomains"


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outside]:
    started = Outside(tmp_path_factory.mktemp("outside"))
    try:
        yield started.wait_until_ready()
    finally:
        started.end()


def hsts_of(answer):
    return answer.headers.get_list("strict-transport-security")


def test_pages_come_over_tls_with_hsts_said_once_and_static_files_from_nginx_which_serves_nothing_else(outside):
    assert "Not everything answers yet" not in outside.platform.output, "it is well though it is served over TLS alone"
    browser = outside.browser()
    page, static = browser.get("/leaderboard/"), browser.get("/static/site.css")
    plain = httpx.get(f"http://127.0.0.1:{outside.plain}/runs/?a=1", headers={"Host": "evil.example"})

    for answer in (page, static):
        assert (answer.status_code, hsts_of(answer)) == (200, [HSTS])
    assert page.headers["x-frame-options"] == "DENY"
    assert "nginx/" not in page.headers["server"]
    assert (plain.status_code, plain.headers["location"]) == (301, "https://localhost/runs/?a=1")
    assert static.headers["x-content-type-options"] == "nosniff"
    assert static.headers["cache-control"] == "no-cache"
    assert browser.get("/static/site.css", headers={"If-None-Match": static.headers["etag"]}).status_code == 304
    for path in ("/static/../secret_key", "/static/%2e%2e/secret_key", "/static../secret_key", "/static/"):
        assert browser.get(path).status_code in {301, 400, 403, 404}


def test_an_upload_over_nginx_limit_never_reaches_the_platform_which_refuses_one_over_its_own(outside):
    over, under = (
        outside.program().post("/api/datasets/", files={"file": ("long.jsonl", b"x" * size)})
        for size in (3 << 20, (2 << 20) - 4096)
    )

    assert (over.status_code, hsts_of(over)) == (413, [HSTS])
    assert "nginx" in over.text
    assert under.status_code in {400, 413}
    assert "nginx" not in under.text


def test_cookies_belong_to_this_host_alone_and_the_address_is_the_one_that_nginx_saw(outside):
    browser = outside.browser("127.0.0.2", **{"X-Forwarded-For": "6.6.6.6"})
    page = browser.get("/sign-in/")
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)[1]
    form = {"username": "root", "password": PASSWORD, "csrfmiddlewaretoken": token}
    answer = browser.post("/sign-in/", data=form, headers={"Origin": outside.url, "Referer": f"{outside.url}/sign-in/"})

    assert answer.status_code == 302
    cookies = page.headers.get_list("set-cookie") + answer.headers.get_list("set-cookie")
    session = next(cookie for cookie in cookies if cookie.startswith("__Host-arena_session="))
    assert {"Secure", "HttpOnly", "Path=/", "SameSite=Lax"} <= set(session.split("; "))
    assert any(cookie.startswith("__Host-arena_csrf=") and "Secure" in cookie for cookie in cookies)
    assert not any("domain=" in cookie.lower() for cookie in cookies)
    with sqlite3.connect(outside.folder / "data/arena.sqlite3") as database:
        question = "SELECT address FROM accounts_auditentry WHERE actor = 'root' ORDER BY id DESC LIMIT 1"
        assert database.execute(question).fetchone() == ("127.0.0.2",)


def test_what_is_for_machines_is_not_reached_from_outside_but_by_the_one_that_is_named_and_shows_the_token(outside):
    browser, shown = outside.browser(), {"authorization": f"Bearer {METRICS}"}

    assert [browser.get(path).status_code for path in ("/metrics", "/metrics/", "/readyz")] == [404, 404, 404]
    assert browser.get("/healthz").text == "ok\n"
    assert httpx.get(f"http://127.0.0.1:{outside.platform.port}/readyz").text == "ok\n"
    assert "arena_database_up" in outside.browser(MONITOR, **shown).get("/metrics").text
    assert outside.browser(MONITOR).get("/metrics").status_code == 404
    assert outside.browser(**shown).get("/metrics").status_code == 404


def started(outside, workflow, config, cast):
    """The id of a run whose models never come to an end."""
    program = outside.program()
    asked = {"workflow": workflow, "config": config, "cast": {seat: {"model": ENDLESS} for seat in cast}}
    experiment = program.post("/api/experiments/", json=asked).json()
    return program.post(f"/api/experiments/{experiment['id']}/start/", json={}).json()["runs"][0]["id"]


def test_words_come_through_a_websocket_and_as_server_sent_events_while_the_answer_is_not_finished(outside):
    config = {"prompt": "Share seven panels.", "max_turns": 1, "judge": False, "filter": False, "gap_seconds": 0}
    run, program = started(outside, "arena", config, "AB"), outside.program()
    address, bearer = f"wss://localhost:{outside.port}/ws/runs/{run}/?after=0", f"Bearer {outside.token}"
    options = {"additional_headers": {"Authorization": bearer}, "proxy": None, "open_timeout": 60}
    with connect(address, ssl=outside.tls, **options) as socket:
        pieces = 0
        while pieces < 3:
            pieces += json.loads(socket.recv(timeout=60))["type"] == "message_stream"
    assert program.get(f"/api/runs/{run}/").json()["state"] == "running"
    program.post(f"/api/runs/{run}/stop/", json={})

    run = started(outside, "council", {"question": "Why?", "title": False}, ["member-1", "member-2", "chair"])
    program.post(f"/api/runs/{run}/stop/", json={})
    talk = program.post("/api/conversations", json={}).json()["id"]  # it seats the council that was asked last
    with program.stream("POST", f"/api/conversations/{talk}/message/stream", json={"content": "Why?"}) as answer:
        first = next(answer.iter_lines())
        live = outside.program().get("/api/runs/?state=running&workflow=council").json()["results"]
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert first.startswith(("id:", "data:", "event:"))
        assert len(live) == 1
    program.post(f"/api/runs/{live[0]['id']}/stop/", json={})


def test_a_web_server_started_alone_lets_nobody_in_with_a_published_password_and_serves_on_while_it_ends(outside):
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, str(ROOT / "manage.py"), "serve", "--port", str(port)]
    server = subprocess.Popen(command, env=environment(**outside.data, ARENA_WEB_DRAIN_SECONDS="8"))
    try:
        wait_until(lambda: said(f"{address}/readyz") == (200, "ok\n"), "it to be ready")
        with sqlite3.connect(outside.folder / "data/arena.sqlite3") as database:
            question = "SELECT sum(is_active), count(*) FROM accounts_user WHERE email LIKE ?"
            assert database.execute(question, [f"%{DEMO}"]).fetchone() == (0, 3)
        server.terminate()
        wait_until(lambda: server.poll() is not None or said(f"{address}/readyz")[0] == 503, "it to be unready")
        assert said(f"{address}/healthz") == (200, "ok\n")
        assert server.wait(240) == 0
    finally:
        server.kill()
        server.wait()


def said(address):
    try:
        answer = httpx.get(address, timeout=10)
    except httpx.TransportError:
        return 0, ""
    return answer.status_code, answer.text


def test_nginx_keeps_no_secret_in_its_log(outside):
    outside.browser().get("/leaderboard/")
    for door in ("s", "invitations", "forgotten", "first-administrator"):
        path = f"/{door}/canary-of-a-link/?next=/runs/"
        outside.browser(referer=f"{outside.url}{path}").get(path)
    log = (outside.folder / "access.log").read_text()

    assert "/leaderboard/" in log
    assert '"GET /s/... HTTP/1.1" 404 ' in log
    assert "canary-of-a-link" not in log
    assert outside.token not in log
