"""A file taken from the web server: how soon it begins, and how large the server grows meanwhile."""

import hashlib
import http.client
import time
from dataclasses import dataclass

from benchmarks.exports.making import forget_peak, held, peak
from benchmarks.parts import Parts

CHUNK = 1 << 16
PAUSE_SECONDS = 3.0  # in which a reader takes nothing, and the server must not read ahead


@dataclass(frozen=True, slots=True)
class Download:
    """first: seconds to the first byte of the file. before, peak: of the web server, MiB. sha256: of what has come."""

    first: float
    before: float
    peak: float
    size: int
    sha256: str


def download(parts: Parts, export: str, *, pauses: bool) -> Download:
    """pauses: whether the reader takes a rest after the first bytes, as a slow one does all the time."""
    web = parts.processes["web"].pid
    forget_peak(web)
    before, told, size = held(web), hashlib.sha256(), 0
    connection = http.client.HTTPConnection("127.0.0.1", parts.port, timeout=120)
    began = time.monotonic()
    headers = {"Authorization": f"Bearer {parts.token}"}
    connection.request("GET", f"/api/exports/{export}/download/", headers=headers)
    answer = connection.getresponse()
    if answer.status != http.client.OK:
        raise RuntimeError(f"{answer.status}: {answer.read(500)!r}")
    piece = answer.read(1)
    first = time.monotonic() - began
    while piece:
        told.update(piece)
        size += len(piece)
        if pauses:
            time.sleep(PAUSE_SECONDS)
            pauses = False
        piece = answer.read(CHUNK)
    connection.close()
    return Download(first, before, peak(web), size, told.hexdigest())
