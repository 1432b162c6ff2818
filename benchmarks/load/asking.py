"""API requests of all kinds at a steady rate, as a process of its own.

Reads {"port", "token", "rate", "seconds"} as JSON from standard input; prints {"asked", "p50", "p95", "p99",
"statuses"}, in milliseconds from the moment at which a request was due, so that a server that is late is not asked
less.
"""

import http.client
import itertools
import json
import sys
import threading
import time
from collections import Counter

AT_ONCE = 16
TIMEOUT = 30.0
OPENING = "runs/?page_size=20"


class Asker:
    """What all threads share: whose turn it is, and what came of it."""

    def __init__(self, order: dict) -> None:
        self.order = order
        self.took: list[float] = []
        self.statuses: Counter[str] = Counter()
        self._turns = itertools.count()
        self._begun = time.monotonic()
        self.paths = [OPENING]

    def ask_forever(self) -> None:
        line = http.client.HTTPConnection("127.0.0.1", self.order["port"], timeout=TIMEOUT)
        while True:
            turn = next(self._turns)
            due = self._begun + turn / self.order["rate"]
            if due > self._begun + self.order["seconds"]:
                return
            time.sleep(max(0.0, due - time.monotonic()))
            status = self._ask(line, *self.turn(turn))
            self.took.append(time.monotonic() - due)
            self.statuses[status] += 1

    def turn(self, number: int) -> tuple[str, str]:
        """Nine reads, one of each kind after the other, and a draft that is written."""
        if number % 10 == 9:
            return "POST", "experiments/"
        return "GET", self.paths[number % len(self.paths)]

    def learn(self) -> None:
        """What there is to be asked for."""
        line = http.client.HTTPConnection("127.0.0.1", self.order["port"], timeout=TIMEOUT)
        line.request("GET", f"/api/{OPENING}", headers=self._headers())
        runs = [run["id"] for run in json.load(line.getresponse())["results"]][:9]
        for run in runs:
            self.paths += [f"runs/{run}/", f"runs/{run}/events/?after=0", f"runs/{run}/calls/?page_size=5"]
        self.paths += ["models/", "experiments/?page_size=20", "runs/?state=running&page_size=20"]

    def _ask(self, line: http.client.HTTPConnection, method: str, path: str) -> str:
        body = json.dumps(DRAFT) if method == "POST" else None
        try:
            line.request(method, f"/api/{path}", body, self._headers())
            answer = line.getresponse()
            answer.read()
            return str(answer.status)
        except (OSError, http.client.HTTPException) as error:
            line.close()
            return type(error).__name__

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.order['token']}", "Content-Type": "application/json"}


DRAFT = {
    "workflow": "arena",
    "config": {"prompt": "A draft.", "filter": False, "judge": False, "max_turns": 1},
    "cast": {"A": {"model": "stamp-a"}, "B": {"model": "stamp-b"}},
}


def main(order: dict) -> dict:
    asker = Asker(order)
    asker.learn()
    threads = [threading.Thread(target=asker.ask_forever) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = sorted(1000 * seconds for seconds in asker.took)
    shares = {f"p{share}": round(took[len(took) * share // 100], 1) for share in (50, 95, 99)}
    return {"asked": len(took), **shares, "statuses": asker.statuses}


if __name__ == "__main__":
    print(json.dumps(main(json.load(sys.stdin))))
