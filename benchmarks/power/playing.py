"""All workflows are played on a disk that is recorded, and whoever plays writes down what the platform said."""

import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.faults import disk as mounting
from benchmarks.faults.api import Api
from benchmarks.faults.pace import SHORT
from benchmarks.faults.players import OTHERS, WORKFLOWS, Play, begin
from benchmarks.faults.stage import Stage
from benchmarks.power.disk import Disk
from benchmarks.preloading import build

RECORDER = Path(__file__).with_name("recorder.c")


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """at: bytes of the record when the answer was there. kind: run (value: its last event), words (key: run and pause),
    vote, or file (value: its size).
    """

    at: int
    kind: str
    key: str
    value: str = ""


@dataclass(slots=True)
class Witness(Api):
    log: Path = Path()
    heard: list[Acknowledged] = field(default_factory=list)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        answer = Api.ask(self, method, path, body)
        match method, path.strip("/").split("/"):
            case "GET", ["runs", run] if "last_seq" in answer:
                self._hear("run", run, answer["last_seq"])
            case "POST", ["runs", run, "say"] if body["action"] == "send":
                self._hear("words", f"{run} {body['key']}", body["text"])
            case "POST", ["battles", battle, "vote"]:
                self._hear("vote", battle)
            case "GET", ["files", file] if answer["state"] == "done":
                self._hear("file", file, answer["size"])
        return answer

    def _hear(self, kind: str, key: str, value: Any = "") -> None:
        self.heard.append(Acknowledged(self.log.stat().st_size, kind, key, str(value)))


def played(folder: Path, log: Path, database: str, seconds: float, seed: int) -> tuple[Disk, list[Acknowledged], int]:
    """The disk as it was before anything was recorded, what was acknowledged, and the bytes of the record by then
    everything was set up. Raises NoCompiler, NoPostgres, NotThere.
    """
    mounted = mounting.Disk(folder / "disk", is_mounted=True)
    stage = Stage(folder, mounted, SHORT, database=database, waits_for_disk=True)
    before = Disk(mounted.folder)
    recorder = {"LD_PRELOAD": str(build(RECORDER, folder)), "POWER_DISK": str(mounted.folder), "POWER_LOG": str(log)}
    stage.clocks = {}
    stage.environment |= recorder
    heard: list[Acknowledged] = []
    try:
        stage.begin(seed=seed, pace=SHORT, spoilings="")
        arguments = (stage.proxy, str(SHORT.words), str(SHORT.tps), "8")
        scene = json.loads(stage.run("-m", "benchmarks.faults.scene", *arguments).splitlines()[-1])
        stage.serve()
        ready = log.stat().st_size
        secrets = [path for path in mounted.folder.glob("data/*secret*") if path.is_file()]
        heard += [Acknowledged(ready, "file", path.name, str(path.stat().st_size)) for path in secrets]
        play = Play(scene, SHORT, seed, time.monotonic() + seconds)

        def make(token: str) -> Witness:
            return Witness(
                f"http://127.0.0.1:{stage.port}", scene[token], play.until + SHORT.quiet, log=log, heard=heard
            )

        threads = begin(WORKFLOWS | {"clerk": OTHERS["clerk"]}, lambda: make("token"), play)
        threads += begin({"voter": OTHERS["voter"]}, lambda: make("voter"), play)
        while play.goes_on:
            stage.wait(0.2)
    finally:
        stage.end()
    return before, sorted(heard, key=lambda one: one.at), ready
