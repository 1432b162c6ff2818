"""Waits until an address answers 200: `python deploy/ready.py http://127.0.0.1:8000/readyz [SECONDS]`.

A server that answers otherwise after that time is there all the same, and says why: to end it would not bring back the
Redis or the database that it lacks. Fails when nobody answers.
"""

import http.client
import sys
import time
from urllib.parse import urlsplit

SECONDS, PAUSE = 60.0, 0.5


def said(address: str) -> tuple[bool, str]:
    """Whether somebody answers, and what; nothing when that is 200."""
    url = urlsplit(address)
    connection = http.client.HTTPConnection(url.netloc, timeout=5)
    try:
        connection.request("GET", url.path)
        answer = connection.getresponse()
        return True, "" if answer.status == 200 else answer.read(500).decode(errors="replace").strip()
    except (OSError, http.client.HTTPException) as error:
        return False, f"no answer: {error}"
    finally:
        connection.close()


def main(address: str, seconds: float = SECONDS) -> int:
    until = time.monotonic() + seconds
    while True:
        is_there, why = said(address)
        if not why:
            return 0
        if time.monotonic() > until:
            sys.stderr.write(f"{address} is not ready after {seconds:.0f} seconds. {why}\n")
            return 0 if is_there else 1
        time.sleep(PAUSE)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(float, sys.argv[2:])))
