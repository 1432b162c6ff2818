"""Another address of a server that is there already, for as long as it is open."""

import shutil
import socket
import socketserver
import threading
from typing import Any


class Door(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True

    def __init__(self, port: int, behind: int) -> None:
        self.behind = behind
        super().__init__(("127.0.0.1", port), _Passage)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.shutdown()
        self.server_close()


class _Passage(socketserver.StreamRequestHandler):
    server: Door

    def handle(self) -> None:
        with socket.create_connection(("127.0.0.1", self.server.behind)) as inner, inner.makefile("rb", 0) as answers:
            threading.Thread(target=_pass_on, args=(self.rfile, inner), daemon=True).start()
            shutil.copyfileobj(answers, self.wfile, 4096)


def _pass_on(questions: Any, inner: socket.socket) -> None:
    """Whatever has come, at once: a buffered reader would wait for more."""
    try:
        while piece := questions.read1(4096):
            inner.sendall(piece)
        inner.shutdown(socket.SHUT_WR)
    except OSError:
        return  # one of the two has gone
