"""What `arenasite/server` rests on inside other packages: a release that renames any of it fails here, by name."""

import asyncio
import inspect

from autobahn.websocket.protocol import WebSocketProtocol as AutobahnProtocol
from daphne import server
from daphne.http_protocol import HTTPFactory, WebRequest
from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol
from django.core.handlers.asgi import ASGIHandler
from twisted.internet import abstract, tcp
from twisted.web import http

from arenasite.server import handling, process, websockets
from arenasite.server import http as ours

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
