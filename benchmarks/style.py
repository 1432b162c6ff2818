"""Ratings adjusted for style: processor time of one fit with its intervals, 200 contestants, 2 million battles and 8
covariates, by prompts. `python -m benchmarks.style` prints the seconds of each.
"""

import time

import numpy as np

from benchmarks.rating_leagues import league
from leaderboard.ratings import Battles, Undefined, controlled

CONTESTANTS, BATTLES, COVARIATES, PROMPTS = 200, 2_000_000, 8, 20_000
TIMES = 1


def main() -> None:
    played, draw = league(CONTESTANTS, BATTLES), np.random.default_rng(2)
    battles = Battles(played.left, played.right, played.score, [f"c{number:03}" for number in range(CONTESTANTS)])
    covariates = draw.normal(size=(COVARIATES, BATTLES))
    for clusters, name in ((None, "independent battles"), (draw.integers(0, PROMPTS, BATTLES), f"{PROMPTS:,} prompts")):
        for _ in range(TIMES):
            began, cpu = time.perf_counter(), time.process_time()
            found = controlled(battles, covariates, clusters=clusters)
            seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
            assert not isinstance(found, Undefined)
            print(f"{name}: {seconds:.2f} s, {cpu:.2f} CPU-s")


if __name__ == "__main__":
    main()
