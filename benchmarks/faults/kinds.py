"""The kinds of faults: each begins on a stage, and may be over after a while."""

import contextlib
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from redis import Redis
from redis.exceptions import RedisError

from benchmarks.faults.pace import Pace
from benchmarks.faults.stage import ENGINE, WEB, WORKERS, Stage

Undo = Callable[[], None]
HOUR = 3600


@dataclass(slots=True)
class Happening:
    """A fault that was injected. end: unix seconds, None for one that is over at once. note: what was hit, and how."""

    kind: str
    begin: float
    note: str = ""
    end: float | None = None


Fault = Callable[[Stage, Random, Happening], Undo | None]


def worker_killed(stage: Stage, rng: Random, happening: Happening) -> Undo | None:
    return _kill(stage, rng.choice(ENGINE), happening)


def workers_killed(stage: Stage, rng: Random, happening: Happening) -> Undo | None:
    """Both at the same moment: nobody is left to take the runs over."""
    for name in ENGINE:
        _kill(stage, name, happening)
    return None


def worker_frozen(stage: Stage, rng: Random, happening: Happening) -> Undo | None:
    """For longer than its lease: when it wakes up, its runs are somebody else's."""
    name = rng.choice(ENGINE)
    happening.note = name
    stage.send(name, signal.SIGSTOP, to_all=True)
    return lambda: stage.send(name, signal.SIGCONT, to_all=True)


def caller_killed(stage: Stage, rng: Random, happening: Happening) -> Undo | None:
    return _kill(stage, rng.choice(stage.callers), happening)


def horse_killed(stage: Stage, rng: Random, happening: Happening) -> Undo | None:
    """The worker of files, datasets, ratings and webhooks."""
    return _kill(stage, "reports", happening)


def sandbox_killed(stage: Stage, rng: Random, happening: Happening) -> Undo | None:
    """A child of the sandbox where one is at work; else the worker itself."""
    children = stage.family("sandbox")[1:]
    if not children:
        return _kill(stage, "sandbox", happening)
    happening.note = "a box"
    with contextlib.suppress(ProcessLookupError):
        os.kill(rng.choice(children), signal.SIGKILL)
    return None


def web_killed(stage: Stage, rng: Random, happening: Happening) -> Undo | None:
    """One, which leaves all visitors to the other, or both at the same moment."""
    for name in rng.choice((WEB[:1], WEB[1:], WEB)):
        _kill(stage, name, happening)
    return None


def deployed(stage: Stage, rng: Random, happening: Happening) -> Undo | None:
    """Everything that is ours is asked to end, and is started anew once it has; of the callers, one is."""
    leaving = [rng.choice(stage.callers)] if stage.callers else []
    happening.note = " ".join(leaving)
    for name in (*leaving, *WORKERS, *WEB):
        stage.ask_to_end(name)
    return None


def redis_killed(stage: Stage, rng: Random, happening: Happening) -> Undo | None:
    return _kill(stage, "redis", happening)


def redis_flushed(stage: Stage, rng: Random, happening: Happening) -> Undo | None:
    with contextlib.suppress(RedisError):
        Redis.from_url(stage.environment["REDIS_URL"], socket_timeout=1).flushall()
    return None


def redis_away(stage: Stage, rng: Random, happening: Happening) -> Undo | None:
    return _away(stage, "redis", happening)


def redis_frozen(stage: Stage, rng: Random, happening: Happening) -> Undo | None:
    return _freeze(stage, "redis", happening)


def postgres_killed(stage: Stage, rng: Random, happening: Happening) -> Undo | None:
    """Immediate mode: nothing is finished, and its log is played again at the next start."""
    stage.send("postgres", signal.SIGQUIT)
    return None


def postgres_away(stage: Stage, rng: Random, happening: Happening) -> Undo | None:
    stage.away.add("postgres")
    stage.send("postgres", signal.SIGQUIT)
    return lambda: stage.away.discard("postgres")


def postgres_frozen(stage: Stage, rng: Random, happening: Happening) -> Undo | None:
    return _freeze(stage, "postgres", happening)


def disk_full(stage: Stage, rng: Random, happening: Happening) -> Undo | None:
    def limited() -> list[int]:
        return [pid for name in (*WORKERS, *stage.callers, *WEB, "redis") for pid in stage.family(name)]

    happening.note = stage.disk.fill(limited())
    return lambda: stage.disk.empty(limited())


def clock_jumped(stage: Stage, rng: Random, happening: Happening) -> Undo | None:
    """By an hour, for one process beside a PostgreSQL of its own: SQLite has no clock but the machine's."""
    name, hours = rng.choice(sorted(stage.clocks)), rng.choice((-1, 1))
    happening.note = f"{name} {hours:+d} h"
    stage.clocks[name].set(hours * HOUR)
    return lambda: stage.clocks[name].set(0)


FAULTS: dict[str, Fault] = {
    "worker": worker_killed,
    "workers": workers_killed,
    "freeze": worker_frozen,
    "caller": caller_killed,
    "horse": horse_killed,
    "sandbox": sandbox_killed,
    "web": web_killed,
    "deploy": deployed,
    "redis": redis_killed,
    "redis-flush": redis_flushed,
    "redis-away": redis_away,
    "redis-freeze": redis_frozen,
    "postgres": postgres_killed,
    "postgres-away": postgres_away,
    "postgres-freeze": postgres_frozen,
    "disk": disk_full,
    "clock": clock_jumped,
}
OF_POSTGRES = ("postgres", "clock")  # beginnings of what needs a database with a clock of its own
PROVIDER = "provider"  # the name under which answers are spoiled


def named(only: str, *, database: str, has_callers: bool = False) -> list[str]:
    """The kinds that are wanted: `worker,redis` has every kind whose name begins with one of the words. Raises
    ValueError for a word that fits none, or none that this run can have.
    """
    absent = (*(() if database == "postgresql" else OF_POSTGRES), *(() if has_callers else ("caller",)))
    possible = [kind for kind in (*FAULTS, PROVIDER) if not kind.startswith(absent)]
    words = [word for word in only.split(",") if word]
    if strange := [word for word in words if not any(kind.startswith(word) for kind in possible)]:
        others = "More need --callers or --database postgresql."
        raise ValueError(f"No fault is called {', '.join(strange)} here. There are {', '.join(possible)}. {others}")
    return [kind for kind in possible if not words or any(kind.startswith(word) for word in words)]


def seconds_of(kind: str, pace: Pace, rng: Random) -> float:
    """For how long it lasts; 0 for what is over at once."""
    if kind == "freeze":
        return pace.lease * rng.uniform(1.3, 2)
    if kind in ("redis-away", "redis-freeze", "postgres-away", "postgres-freeze", "disk", "clock"):
        return pace.away * rng.uniform(0.3, 1)
    return 0.0


def _kill(stage: Stage, name: str, happening: Happening) -> Undo | None:
    happening.note = f"{happening.note} {name}".strip()
    stage.send(name, signal.SIGKILL)
    return None


def _away(stage: Stage, name: str, happening: Happening) -> Undo:
    stage.away.add(name)
    _kill(stage, name, happening)
    return lambda: stage.away.discard(name)


def _freeze(stage: Stage, name: str, happening: Happening) -> Undo:
    stage.send(name, signal.SIGSTOP, to_all=True)
    return lambda: stage.send(name, signal.SIGCONT, to_all=True)
