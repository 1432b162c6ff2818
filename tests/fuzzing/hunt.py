"""One target hunted by atheris, in a process of its own: `python -m tests.fuzzing.hunt TARGET FOLDER SECONDS`.

libFuzzer changes the inputs that reached new code and keeps those that reach more. An input that breaks the property is
kept in FOLDER under the place where it broke, and the hunt goes on; so are the slowest inputs.
"""

import heapq
import json
import os
import sys
import time
import zlib
from pathlib import Path

import atheris

ROOMS = [  # whose code is counted
    *(f"experiments.{room}" for room in ("gateway", "workflows")),
    *(f"experiments.library.{room}" for room in ("imports", "search", "datasets.reader")),
    *(f"experiments.runs.{room}" for room in ("markdown", "reports.json_values", "reports.markdown")),
    "arena_lab",
]
SLOWEST = 20
LONGEST = 4096
LEAST_TIMED = 200  # bytes: of a shorter input the time says little about a long one


def main(name: str, folder: Path, seconds: int) -> None:
    os.environ |= {"ARENA_DATA": str(folder / "data"), "DJANGO_SETTINGS_MODULE": "arenasite.settings"}
    sys.path.insert(0, "client/src")
    with atheris.instrument_imports(include=ROOMS):
        import django  # noqa: PLC0415 - counted

        django.setup()
        from tests.fuzzing.target import signature  # noqa: PLC0415
        from tests.fuzzing.targets import ALL  # noqa: PLC0415
    target, told, slow = ALL[name], folder / "told.json", []
    seen: dict[str, str] = {}
    count, begun, written = 0, time.monotonic(), 0.0

    def once(data: bytes) -> None:
        nonlocal count, written
        count += 1
        before = time.process_time()
        try:
            target.check(data)
        except Exception as error:  # what is looked for
            where = signature(error)
            if where not in seen:
                kept = folder / f"broke-{zlib.crc32(where.encode()):08x}"
                kept.write_bytes(data)
                seen[where] = kept.name
        taken = time.process_time() - before
        if len(data) >= LEAST_TIMED:
            put = heapq.heappushpop if len(slow) >= SLOWEST else heapq.heappush
            put(slow, (taken / len(data), data))
        if time.monotonic() - written > 1:
            written = time.monotonic()
            slowest = [data.hex() for _rate, data in slow]
            told.write_text(
                json.dumps({"executions": count, "seconds": written - begun, "broke": seen, "slow": slowest})
            )

    options = [f"-max_total_time={seconds}", f"-max_len={LONGEST}", f"-dict={folder / 'words'}", "-print_final_stats=1"]
    atheris.Setup([sys.argv[0], *options, "-rss_limit_mb=0", str(folder / "corpus")], once)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
