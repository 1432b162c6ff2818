"""A small web server on this machine, for tests of what goes over real connections."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any


@contextmanager
def answering(answer: Callable[[SimpleNamespace], Any]) -> Iterator[str]:
    """Gives the address. answer: makes of a request (path, headers, body) a value, which is sent as JSON, or a tuple of
    status, headers and body, and the reason beside the status where it is an odd one.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            made = answer(SimpleNamespace(path=self.path, headers=self.headers, body=asked))
            if not isinstance(made, tuple):
                made = 200, {"Content-Type": "application/json"}, json.dumps(made).encode()
            status, headers, body, *reason = made
            self.send_response(status, *reason)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
