"""One performance: the stage is set, the players play, things break, everything heals, and the books are compared."""

import json
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from benchmarks.faults import collecting, spoiling
from benchmarks.faults.api import Api
from benchmarks.faults.disk import Disk
from benchmarks.faults.facts import Facts
from benchmarks.faults.kinds import FAULTS, PROVIDER, Happening, Undo
from benchmarks.faults.pace import Pace
from benchmarks.faults.players import LIVE, OTHERS, WORKFLOWS, Play, begin
from benchmarks.faults.schedule import Planned, plan
from benchmarks.faults.stage import Stage
from benchmarks.parts import ROOT

logger = logging.getLogger(__name__)

CAMPAIGNS_PER_MINUTE = 4
AGAIN_SECONDS = 0.5  # until a fault is tried again whose target is away
LATE_SECONDS = 30.0  # after the players' last word: for what is still asked


Open = tuple[float, Happening, Undo]  # a fault that lasts: until when, in seconds since the beginning


@dataclass(frozen=True, slots=True)
class Options:
    """kinds: of faults that are injected; patience: by how much a slow machine may stretch every bound of time; every:
    seconds between two faults.
    """

    seed: int
    minutes: float
    database: str
    kinds: Sequence[str]
    pace: Pace
    patience: float = 1.0
    has_callers: bool = False
    every: float | None = None


class Performance:
    def __init__(self, options: Options, folder: Path, disk: Disk) -> None:
        self._options, self._folder = options, folder
        self._stage = Stage(folder, disk, options.pace, database=options.database, has_callers=options.has_callers)
        self._audience: list[subprocess.Popen[bytes]] = []
        self.happened: list[Happening] = []
        self.play: Play | None = None

    def go(self) -> Facts:
        """Raises NotThere when a part does not come up."""
        stage, options = self._stage, self._options
        try:
            spoilings = ",".join(spoiling.KINDS) if PROVIDER in options.kinds else ""
            stage.begin(seed=options.seed, pace=options.pace, spoilings=spoilings)
            play = self.play = self._play()
            stage.serve()
            threads = self._begin(play)
            self._break_things(play)
            self._settle(play, threads)
            return self._books(play)
        finally:
            for viewer in self._audience:
                viewer.kill()
            stage.end()

    # --- its acts ---

    def _play(self) -> Play:
        pace, minutes = self._options.pace, self._options.minutes
        campaigns = max(1, round(minutes * CAMPAIGNS_PER_MINUTE))
        arguments = (self._stage.proxy, str(pace.words), str(pace.tps), str(campaigns))
        scene = json.loads(self._stage.run("-m", "benchmarks.faults.scene", *arguments).splitlines()[-1])
        return Play(scene, pace, self._options.seed, float("inf"))

    def _begin(self, play: Play) -> list[threading.Thread]:
        base = f"http://127.0.0.1:{self._stage.port}"
        play.until = time.monotonic() + self._options.minutes * 60
        over = play.until + self._options.pace.quiet * self._options.patience
        self._apis: list[Api] = []

        def make(token: str) -> Api:
            self._apis.append(Api(base, play.scene[token], over))
            return self._apis[-1]

        threads = begin(WORKFLOWS, lambda: make("token"), play)
        threads += begin({"voter": OTHERS["voter"]}, lambda: make("voter"), play)
        threads += begin({"clerk": OTHERS["clerk"]}, lambda: make("token"), play)
        (self._folder / "runs.json").write_text("[]")
        arguments = [base.replace("http", "ws"), play.scene["token"], str(self._options.seed), str(self._folder)]
        self._attend("screens", *arguments)
        self._attend("leases", str(self._folder))
        return threads

    def _attend(self, module: str, *arguments: str) -> None:
        command = [sys.executable, "-m", f"benchmarks.faults.{module}", *arguments]
        with (self._folder / "logs" / f"{module}.log").open("w") as log:
            self._audience.append(
                subprocess.Popen(command, cwd=ROOT, env=self._stage.environment, stdout=log, stderr=log)
            )

    def _break_things(self, play: Play) -> None:
        options, stage = self._options, self._stage
        kinds = [kind for kind in options.kinds if kind != PROVIDER]
        planned = plan(options.seed, kinds, options.minutes * 60, options.pace, options.every)
        rng, began = Random(f"{options.seed}/faults"), time.monotonic()
        undone: list[Open] = []
        while time.monotonic() < play.until or undone or planned:
            now = time.monotonic() - began
            for one in [one for one in undone if one[0] <= now]:
                undone.remove(one)
                self._undo(one)
            while planned and planned[0].at <= now:
                one = planned.pop(0)
                if _is_hit(one, undone):  # it is away, or stands still: nothing can be done to it
                    planned.append(replace(one, at=now + AGAIN_SECONDS))
                    planned.sort(key=lambda one: one.at)
                else:
                    self._inject(one, rng, undone, now)
            self._tell_runs(play)
            stage.wait(0.1)

    def _inject(self, one: Planned, rng: Random, undone: list[Open], now: float) -> None:
        happening = Happening(one.kind, time.time())
        self.happened.append(happening)
        logger.info("%6.1f s  %s for %.1f s", now, one.kind, one.seconds)
        if undo := FAULTS[one.kind](self._stage, rng, happening):
            undone.append((now + one.seconds, happening, undo))
        else:
            happening.end = time.time()

    def _undo(self, one: Open) -> None:
        _at, happening, undo = one
        undo()
        logger.info("          %s is over (%s)", happening.kind, happening.note)
        happening.end = time.time()

    def _settle(self, play: Play, threads: Sequence[threading.Thread]) -> None:
        """Nothing breaks any more; whoever plays comes to an end."""
        until = time.monotonic() + self._options.pace.quiet * self._options.patience
        while any(thread.is_alive() for thread in threads) and time.monotonic() < until:
            self._tell_runs(play)
            self._stage.wait(0.2)
        api = Api(self._apis[0].base, play.scene["token"], until + 2 * LATE_SECONDS)
        while time.monotonic() < until + LATE_SECONDS:
            live = [run for state in LIVE for run in api.ask("GET", f"runs/?state={state}")["results"]]
            if not [run for run in live if run["state"] != "waiting"]:
                return
            self._stage.wait(0.5)

    def _tell_runs(self, play: Play) -> None:
        draft = self._folder / "runs.draft"
        draft.write_text(json.dumps(sorted(play.runs)))
        draft.replace(self._folder / "runs.json")

    def _books(self, play: Play) -> Facts:
        record = json.loads(self._stage.run("-m", "benchmarks.faults.record").splitlines()[-1])
        self._record = record
        lasts = {run["id"]: run["last_seq"] for run in record["runs"]}
        draft = self._folder / "finish.draft"
        draft.write_text(json.dumps(lasts))
        draft.replace(self._folder / "finish.json")
        self._stage.require(lambda: all(viewer.poll() is not None for viewer in self._audience), "the viewers' screens")
        (self._folder / "record.json").write_text(json.dumps(record))
        patience = self._options.patience
        return collecting.facts(
            record,
            proxy=self._stage.proxy,
            folder=self._folder,
            play=play,
            happened=self.happened,
            durable_seconds=1.0 * patience,
            undriven_seconds=60.0 * patience,
            drain_seconds=30.0 * patience,
            drains=self._stage.drains,
            troubles=self.troubles(),
            has_callers=bool(self._stage.callers),
        )

    def troubles(self) -> dict[str, int]:
        """What the players got instead of answers."""
        found: dict[str, int] = {}
        for api in self._apis:
            for name, count in api.troubles.items():
                found[name] = found.get(name, 0) + count
        return found

    @property
    def restarts(self) -> dict[str, int]:
        return {name: count - 1 for name, count in self._stage.starts.items() if count > 1}


def _is_hit(one: Planned, undone: Sequence[Open]) -> bool:
    target = one.kind.partition("-")[0]
    return any(happening.kind.partition("-")[0] == target for _at, happening, _undo in undone)
