"""Asks the web server how the platform is, without making the supervisor wait."""

import http.client
import threading
import time

PATH = "/api/health/"
TRY_SECONDS = 10.0
PAUSE_SECONDS, PAUSE_WHEN_SERVED = 0.05, 0.15
OK = 200


class Health:
    """`is_serving` turns true with the first answer, whatever it says; `is_well` when all parts answer."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = _reachable(host), port
        self._serving, self._well = threading.Event(), threading.Event()
        self._is_asking = True

    def start(self) -> None:
        threading.Thread(target=self._ask_until_well, name="health", daemon=True).start()

    def end(self) -> None:
        self._is_asking = False

    def is_serving(self) -> bool:
        return self._serving.is_set()

    def is_well(self) -> bool:
        return self._well.is_set()

    def _ask_until_well(self) -> None:
        while self._is_asking and not self._well.is_set():
            status = self._ask()
            if status is not None:
                self._serving.set()
            if status == OK:
                self._well.set()
            time.sleep(PAUSE_SECONDS if status is None else PAUSE_WHEN_SERVED)

    def _ask(self) -> int | None:
        connection = http.client.HTTPConnection(self._host, self._port, timeout=TRY_SECONDS)
        try:
            connection.request("GET", PATH, headers={"Host": f"localhost:{self._port}"})
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()


def _reachable(host: str) -> str:
    """The address under which this machine reaches a server that listens on `host`."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 — names of addresses, none is listened on here
