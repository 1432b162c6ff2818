"""The web server: a thread carries a request out and stays for the next one; what it rests on inside other packages."""

import asyncio
import inspect
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from autobahn.websocket.protocol import WebSocketProtocol as AutobahnProtocol
from daphne import server
from daphne.http_protocol import HTTPFactory, WebRequest
from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol
from django.core.handlers.asgi import ASGIHandler
from twisted.internet import abstract, tcp
from twisted.web import http

from accounts.addresses import address_in, address_of
from arenasite.server import handling, process, websockets
from arenasite.server import http as ours
from arenasite.server.handling import Handler, Seats
from arenasite.supervisor import places
from tests.arenasite.serving import is_answered, served, started
from tests.fixtures import wait_until

METHODS = {
    # Daphne
    server.Server: "listen_success create_application handle_reply application_checker kill_all_applications",
    WebRequest: "process handle_reply handle_exception basic_error send_disconnect finish check_timeouts",
    HTTPFactory: "buildProtocol",
    WebSocketProtocol: "onConnect check_timeouts serverSend handle_reply dataReceived",
    WebSocketFactory: "protocol",
    server: "HTTPFactory WebSocketFactory",  # replaced by ours
    # Twisted
    http.Request: "gotLength handleContentChunk registerProducer unregisterProducer",
    http.HTTPFactory: "log",
    http.HTTPChannel: "forceAbortClient loseConnection requestFactory",
    tcp.Connection: "writeSomeData getHandle TLS",
    tcp.Port: "stopListening",
    abstract.FileDescriptor: "dataBuffer offset",
    # Autobahn
    AutobahnProtocol: ("sendData sendClose sendCloseFrame onAutoPingTimeout STATE_OPEN STATE_CONNECTING"),
    # asyncio and Django
    asyncio.Queue: "_put _get",
    ASGIHandler: "load_middleware get_response_async get_response handle",
}
ATTRIBUTES = {  # that are set where the object is made, or later
    server.Server: "self.connections self.http_factory application_instance",
    WebRequest: "self.application_queue self._response_started",
    WebSocketProtocol: "self.application_queue self.muted self.state",
    http.Request: "self.channel self.content self.producer self.finished self.transport self._parsePOSTFormSubmission",
    http._GenericHTTPChannelProtocol: "self._channel _requestFactory",
    http.HTTPChannel: "self.requests",
    tcp.Port: "self.numberAccepts self.socket self.fileno",
    abstract.FileDescriptor: "self._tempDataLen self.dataBuffer self.offset",
    AutobahnProtocol: "self.autoPingTimeoutCall self.autoPingTimeout self.closeHandshakeTimeout",
    asyncio.Queue: "self._queue",
}
OVERRIDING = [
    (process.WebServer, server.Server),
    (process.OneByOne, tcp.Port),
    (ours.Request, WebRequest),
    (ours.Factory, HTTPFactory),
    (websockets.PatientSocket, WebSocketProtocol),
    (handling.Handler, ASGIHandler),
]
OWN = {"has_room", "held", "waiting", "write_frame", "numberAccepts", "pauseProducing", "resumeProducing"} | {
    "stopProducing"  # Twisted asks these three of a producer, and has none by itself
}


def test_what_is_called_overridden_read_or_set_is_there_under_that_name():
    def gone(of, has):
        return [f"{holder}: {name}" for holder, names in of.items() for name in names.split() if not has(holder, name)]

    assert gone(METHODS, hasattr) == []
    assert gone(ATTRIBUTES, lambda holder, name: name in inspect.getsource(holder)) == []
    for own, theirs in OVERRIDING:
        public = {name for name in vars(own) if not name.startswith("_")} - OWN
        assert {name for name in public if not hasattr(theirs, name)} == set(), own


TOGETHER = 6
PROJECT = """
from arenasite.settings import *
ROOT_URLCONF = "seating"
MIDDLEWARE = ["seating.First", *MIDDLEWARE, "seating.Last"]
"""
SEATING = """
import threading
from django.db import connection
from django.http import HttpResponse, JsonResponse
from django.urls import path
from django.utils.translation import gettext_lazy as _
from arenasite.server import handling

handling.IDLE_SECONDS = 0.5
together = threading.Barrier(TOGETHER)
closing = []


class First:
    def __init__(self, answer):
        self.answer = answer

    def __call__(self, request):
        request.threads = [threading.get_ident()]
        return self.answer(request)


class Last(First):
    def __call__(self, request):
        request.threads.append(threading.get_ident())
        return self.answer(request)


def where(request):
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    request.threads.append(threading.get_ident())
    told = {"threads": request.threads, "connection": id(connection.connection), "closed": list(closing)}
    response = JsonResponse({**told, "all": sum(one.name.startswith("request") for one in threading.enumerate())})
    response._resource_closers.append(lambda: closing.append(threading.get_ident()))
    return response


def meeting(request):
    together.wait(30)
    return where(request)


def word(request):
    return HttpResponse(str(_("Sign in")))


urlpatterns = [path("where/", where), path("meeting/", meeting), path("word/", word)]
""".replace("TOGETHER", str(TOGETHER))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The platform's own web server and handler, with views that tell where they are."""
    folder = tmp_path_factory.mktemp("seats")
    (folder / "seated.py").write_text(PROJECT)
    (folder / "seating.py").write_text(SEATING)
    rows = f"sqlite:///{folder}/seats.sqlite3"
    with served(folder=folder, path="/where/", DJANGO_SETTINGS_MODULE="seated", DATABASE_URL=rows) as address:
        yield address


def ask(server: str, path: str = "/where/"):
    return httpx.get(server + path, timeout=60).json()


@pytest.mark.system
def test_a_request_has_one_thread_which_the_next_one_has_and_those_at_the_same_time_have_threads_of_their_own(server):
    wait_until(lambda: ask(server)["all"] <= 2, "threads of other requests to go")

    found = [ask(server) for _ in range(5)]
    [thread] = set(found[0]["threads"])

    assert len(found[0]["threads"]) == 3  # first and last on the way in, and the view
    wait_until(lambda: ask(server)["closed"][-1] == thread, "the end of the request before, in the same thread")
    assert {one["threads"][0] for one in found} == {thread}
    assert len({one["connection"] for one in found}) == 1
    words = [
        httpx.get(f"{server}/word/", headers={"Accept-Language": language}).text
        for language in ("zh-hans", "en", "zh-hans", "xx")
    ]
    assert words == ["登录", "Sign in", "登录", "Sign in"], "a language leaves no trace in the thread"

    with ThreadPoolExecutor(TOGETHER) as people:
        found = list(people.map(lambda _: ask(server, "/meeting/"), range(TOGETHER)))
    assert len({one["threads"][0] for one in found}) == TOGETHER
    assert len({one["connection"] for one in found}) == TOGETHER
    assert max(one["all"] for one in found) >= TOGETHER
    wait_until(lambda: ask(server)["all"] <= 2, "threads that nobody needs to go")


async def test_a_thread_in_which_something_goes_on_is_given_to_nobody_and_nothing_but_http_is_carried_out():
    """As when a request is broken off: whatever its thread was doing is not undone."""

    async def never(*_told):
        raise AssertionError("nothing is to be read or sent")

    with pytest.raises(ValueError, match="websocket is not HTTP"):
        Handler()({"type": "websocket"}, never, never).send(None)
    seats, released = Seats(), threading.Event()

    with seats.taken() as left:
        left.submit(released.wait, 60)
    with seats.taken() as next_one:
        assert next_one is not left

    released.set()
    async with asyncio.timeout(30):
        while next_one is not left:
            await asyncio.sleep(0.01)
            with seats.taken() as next_one:
                pass


TELLING = """
async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": scope["client"][0].encode()})
"""


@pytest.mark.system
def test_a_visitors_address_is_read_at_a_socket_that_is_handed_on(tmp_path):
    (tmp_path / "telling.py").write_text(TELLING)
    with places.listen("::1", 0) as listener:
        handed = listener.fileno()
        address = f"http://[::1]:{listener.getsockname()[1]}/"
        with started("--fd", str(handed), "telling:app", folder=tmp_path, fd=handed):
            wait_until(lambda: is_answered(address), "the server")
            assert httpx.get(address, timeout=60).text == "::1"


def test_a_visitors_address_is_as_our_own_proxies_saw_it(rf, settings):
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
