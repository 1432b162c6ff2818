"""How long each reader takes for 100 kB of what a stranger may send: `python -m benchmarks.inputs [READER…]`.

Milliseconds of computing time, which a busy machine does not change much. An input that takes more than ten seconds is
ended there. Exit code 1 when a reader takes more than a second for 100 kB, or breaks.
"""

import os
import signal
import sys
import tempfile
import time
from typing import Any

import django

LIMIT_MS = 1000.0
PATIENCE = 10.0  # seconds of computing time for one input


class TooLong(BaseException):
    """No reader may take this for an error of its own."""


def main(names: list[str]) -> int:
    from tests.fuzzing.hostile import inputs  # noqa: PLC0415 - after the set-up
    from tests.fuzzing.targets import ALL  # noqa: PLC0415

    signal.signal(signal.SIGPROF, _stop)
    hostile, bad = inputs(), 0
    print(f"{len(hostile)} inputs of 100 kB for each reader; milliseconds of computing time per 100 kB\n")
    print(f"{'reader':20} {'median':>9} {'slowest':>9}  slowest input")
    for name in names or ALL:
        times = sorted((*measured(ALL[name].read, data), what) for what, data in hostile.items())
        slowest, problem, what = times[-1]
        bad += slowest > LIMIT_MS or any(said for _ms, said, _what in times)
        print(f"{name:20} {times[len(times) // 2][0]:9.1f} {slowest:9.1f}  {what} {problem}", flush=True)
        for ms, said, which in times[:-1]:
            if said or ms > LIMIT_MS:
                print(f"{'':20} {'':9} {ms:9.1f}  {which} {said}")
    return 1 if bad else 0


def measured(read: Any, data: bytes) -> tuple[float, str]:
    """Milliseconds per 100 kB, and what went wrong."""
    problem, begun = "", time.process_time()
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        read(data)
    except TooLong:
        problem = "ENDED"
    except Exception as error:  # whatever a reader raises is what is looked for
        problem = f"BROKE: {type(error).__name__}: {str(error)[:80]}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return (time.process_time() - begun) * 1000 * 100_000 / max(len(data), 1), problem


def _stop(_signal: int, _frame: Any) -> None:
    raise TooLong


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="arena-inputs-") as folder:
        os.environ |= {"ARENA_DATA": folder, "DJANGO_SETTINGS_MODULE": "arenasite.settings"}
        sys.path.insert(0, "client/src")
        django.setup()
        code = main(sys.argv[1:])
    sys.exit(code)
