"""How long the public pages of a ladder take with a million battles in the database that `benchmarks.filled` makes.

The board changes before each request, so that nothing is answered from what is kept of the request before.
"""

import itertools
import os
import statistics
import time
from urllib.parse import quote

import django

CONTESTANTS = ("", "contestant=lab/model-003", "contestant=lab/model-003&contestant=lab/model-077")
FURTHER = (
    *("", "result=tie", "result=both_bad", "result=decisive", "result=won", "consistent=no", "consistent=yes"),
    *("consistent=yes&result=tie", "consistent=no&result=won", "state=open", "state=void", "subset=hard"),
    *("category=law", "subset=odd&category=maths", "source=source 3", "images=2", "search=amber"),
    *("search=sample 17", "search=m1999", "search=zzz", "search=kelp&consistent=no&result=tie"),
)
PLACES = ("", "before=600000", "last=1")
STANDING = (
    *("", "subset=hard", "category=law", "subset=odd&category=maths", "search=model-01", "sort=-win_rate"),
    *("intervals=bootstrap", "subset=hard&intervals=bootstrap"),
)
FURTHER_PAGES = ("matrix/", "matrix/?subset=long", "history/", "milestones/", "agreement/", "download/csv/")


def main(times: int = 3) -> None:
    only_cpu = "BENCH_CPU" in os.environ  # where others use the machine as well
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arenasite.settings")
    django.setup()
    from django.db.models import F  # noqa: PLC0415 - after the set-up
    from django.test import Client  # noqa: PLC0415

    from experiments.models import Battle, Board  # noqa: PLC0415

    browser = Client(headers={"host": "localhost"})
    taken: dict[str, list[float]] = {}
    board = Board.objects.get(slug__startswith="filled-judge")
    middle = Battle.objects.filter(board=board).order_by("pk")[500_000]
    base = f"/leaderboard/{board.slug}"
    filters = ["&".join(filter(None, both)) for both in itertools.product(CONTESTANTS, FURTHER)]
    paths = [f"{base}/battles/?{'&'.join(filter(None, both))}" for both in itertools.product(filters, PLACES)]
    paths += [f"/battles/{middle.pk}/?{query}" for query in filters]
    paths += [f"{base}/?{query}" for query in STANDING] + [base + "/" + page for page in FURTHER_PAGES]
    paths += [
        "/leaderboard/",
        f"{base}/samples/",
        f"{base}/samples/?search=kelp",
        f"{base}/samples/{middle.sample_id}/",
    ]
    browser.get(f"{base}/battles/")
    for path in paths:
        for _time in range(times):
            Board.objects.filter(pk=board.pk).update(changes=F("changes") + 1)  # counted anew
            began = time.process_time() if only_cpu else time.perf_counter()
            status = browser.get(quote(path, safe="/?&=")).status_code
            ended = time.process_time() if only_cpu else time.perf_counter()
            taken.setdefault(path, []).append((ended - began) * 1000)
            assert status == 200, (status, path)
    medians = sorted((statistics.median(spent), path) for path, spent in taken.items())
    values = [milliseconds for milliseconds, _path in medians]
    p95 = values[int(len(values) * 0.95)]
    print(f"{len(values)} pages over a million battles   median {statistics.median(values):.0f} ms   p95 {p95:.0f} ms")
    for milliseconds, path in medians[-20:]:
        print(f"{milliseconds:8.0f} ms   {path}")


if __name__ == "__main__":
    main()
