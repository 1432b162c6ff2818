"""People who play: each begins one kind of experiment after the other, and accompanies what it has begun to its end."""

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from benchmarks.faults.api import Api, Over, Refused
from benchmarks.faults.pace import Pace

logger = logging.getLogger(__name__)

LOOK_SECONDS = 0.4
LIVE = ("queued", "running", "waiting", "stopping")
QUESTION = "How should one telescope be shared by two groups that both need it at night?"


@dataclass(slots=True)
class Play:
    """What the players share. runs: by their ids, the kind of each. until: when no more is begun (monotonic seconds).
    doubled: double clicks that began something twice. said: words acknowledged by the platform, (run, pause, text).
    """

    scene: Mapping[str, Any]
    pace: Pace
    seed: int
    until: float
    runs: dict[str, str] = field(default_factory=dict)
    doubled: list[str] = field(default_factory=list)
    said: list[tuple[str, str, str]] = field(default_factory=list)
    votes: list[tuple[int, str]] = field(default_factory=list)
    campaigns: list[str] = field(default_factory=list)
    files: list[tuple[str, str]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    @property
    def goes_on(self) -> bool:
        return time.monotonic() < self.until


Player = Callable[[Api, Play, Random], None]


def begin(players: Mapping[str, Player], make: Callable[[], Api], play: Play) -> list[threading.Thread]:
    threads = []
    for name, player in players.items():
        thread = threading.Thread(target=_insist, args=(name, player, make(), play), name=name, daemon=True)
        thread.start()
        threads.append(thread)
    return threads


def _insist(name: str, player: Player, api: Api, play: Play) -> None:
    """One round after the other, at least one."""
    rng, is_first = Random(f"{play.seed}/{name}"), True
    while is_first or play.goes_on:
        is_first = False
        try:
            player(api, play, rng)
        except Refused as error:
            play.refused.append(f"{name}: {error}")
            logger.warning("%s was refused: %s", name, error)
            time.sleep(LOOK_SECONDS)
        except Over:
            return


def start(api: Api, play: Play, kind: str, workflow: str, config: Any, cast: Mapping[str, str]) -> str:
    """A run of a new experiment, begun by a double click. Its id."""
    seats = {seat: {"model": model} for seat, model in cast.items()}
    experiment = api.ask("POST", "experiments/", {"workflow": workflow, "config": config, "cast": seats})
    first, second = api.twice(f"experiments/{experiment['id']}/start/", {"seed": play.seed + len(play.runs)})
    begun = {run["id"] for run in (*first["runs"], *second["runs"])}
    if len(begun) != 1:
        play.doubled.append(f"{kind}: a repetition began {len(begun)} runs")
    for run in begun:
        play.runs[run] = kind
    return str(first["runs"][0]["id"])


def accompany(
    api: Api, play: Play, run: str, answer: Callable[[dict[str, Any]], tuple[str, str] | None] | None = None
) -> dict[str, Any]:
    """Wait for the run's end; at each pause, say what `answer` says: an action and a text; None lets it wait."""
    while True:
        shown: dict[str, Any] = api.ask("GET", f"runs/{run}/")
        if shown["state"] not in LIVE:
            return shown
        pause = shown.get("waiting_for")
        if shown["state"] == "waiting" and pause and answer and (said := answer(pause)):
            say(api, play, run, pause["key"], *said)
        time.sleep(LOOK_SECONDS)


def say(api: Api, play: Play, run: str, key: str, action: str, text: str) -> None:
    try:
        api.ask("POST", f"runs/{run}/say/", {"key": key, "action": action, "text": text})
    except Refused as error:
        if error.status == 409:  # it was heard, and the answer to us was lost
            return
        raise
    play.said.append((run, key, text))


# --- the six workflows ---


def arena(api: Api, play: Play, rng: Random) -> None:
    run = start(api, play, "arena automatic", "arena", _talk(play), _sides(play, rng))
    accompany(api, play, run)


def arena_by_hand(api: Api, play: Play, rng: Random) -> None:
    run = start(api, play, "arena manual", "arena", {**_talk(play), "mode": "manual"}, _sides(play, rng))

    def answer(pause: dict[str, Any]) -> tuple[str, str]:
        offered = pause["actions"]
        if "send" in offered and rng.random() < 0.5:
            return "send", f"Say it in other words, please ({rng.randrange(1000)})."
        return ("default", "") if "default" in offered else (offered[0], "Go on.")

    accompany(api, play, run, answer)


def arena_stopped(api: Api, play: Play, rng: Random) -> None:
    """Stopped by a person, somewhere in the middle."""
    run = start(api, play, "arena stopped", "arena", {**_talk(play), "max_turns": 50}, _sides(play, rng))
    until = time.monotonic() + rng.uniform(2, 6)
    while time.monotonic() < until:
        api.ask("GET", f"runs/{run}/")
        time.sleep(LOOK_SECONDS)
    api.ask("POST", f"runs/{run}/stop/")
    accompany(api, play, run)


def starchamber(api: Api, play: Play, rng: Random) -> None:
    cast = {"model": rng.choice(play.scene["speakers"]), "judge": play.scene["judge"]}
    run = start(api, play, "starchamber", "starchamber", {"first_message": QUESTION, "judge": True}, cast)
    left = play.pace.turns

    def answer(pause: dict[str, Any]) -> tuple[str, str]:
        nonlocal left
        left -= 1
        if left < 0:
            return "end", ""
        if "retry" in pause["actions"]:
            return "retry", ""
        return "send", f"And why is that? ({rng.randrange(1000)})"

    accompany(api, play, run, answer)


def council(api: Api, play: Play, rng: Random) -> None:
    speakers = play.scene["speakers"]
    cast = {f"member-{number}": model for number, model in enumerate(speakers[:3], 1)} | {"chair": speakers[3]}
    run = start(api, play, "council", "council", {"question": QUESTION, "title": False}, cast)
    shown = accompany(api, play, run)
    if shown["state"] == "completed" and play.goes_on:
        first, second = api.twice(f"runs/{run}/ask/", {"text": f"And in winter? ({rng.randrange(1000)})"})
        if first["id"] != second["id"]:
            play.doubled.append("council: a repeated question went to another run")
        accompany(api, play, run)


def debate(api: Api, play: Play, rng: Random) -> None:
    seats = ("refiner", "A", "B", "C", "summarizer")
    speakers: Sequence[str] = play.scene["speakers"]
    cast = {seat: speakers[place % len(speakers)] for place, seat in enumerate(seats)}
    config = {"prompt": QUESTION, "mode": "automatic", "rounds": rng.choice((1, 2))}
    accompany(api, play, start(api, play, "debate", "debate", config, cast))


def battles(api: Api, play: Play, rng: Random) -> None:
    """A campaign on a dataset that nobody has judged yet, as long as there is one."""
    unjudged = [slug for slug in play.scene["datasets"] if slug not in play.campaigns]
    if not unjudged:
        time.sleep(LOOK_SECONDS)
        return
    slug = unjudged[0]
    play.campaigns.append(slug)
    body = {"workflow": "battles", "config": {"dataset": slug, "prompt": "text_quality"}}
    body["cast"] = {"judge": {"model": play.scene["judge"]}}
    experiment = api.ask("POST", "experiments/", body)["id"]
    api.twice(f"experiments/{experiment}/start/", {})
    while True:
        shown = api.ask("GET", f"experiments/{experiment}/campaign/")
        for run in api.ask("GET", f"runs/?experiment={experiment}&page_size=200")["results"]:
            play.runs[run["id"]] = "battles"
        if shown["state"] != "running":
            return
        time.sleep(LOOK_SECONDS)


def coding(api: Api, play: Play, rng: Random) -> None:
    cast = {f"coder-{number}": model for number, model in enumerate(play.scene["coders"], 1)}
    config = {"cycles": 1, "health_check": False, "topic": f"Lists of numbers, number {rng.randrange(10**6)}."}
    accompany(api, play, start(api, play, "coding", "coding", config, cast))


def _talk(play: Play) -> dict[str, Any]:
    return {"prompt": QUESTION, "max_turns": play.pace.turns, "gap_seconds": 0}


def _sides(play: Play, rng: Random) -> dict[str, str]:
    a, b = rng.sample(play.scene["speakers"], 2)
    return {"A": a, "B": b, "judge": play.scene["judge"], "filter": play.scene["filter"]}


# --- others who use it meanwhile ---


def voter(api: Api, play: Play, rng: Random) -> None:
    """Votes, and remembers which votes were acknowledged."""
    slug = rng.choice(play.scene["datasets"])
    offer = api.ask("GET", f"datasets/{slug}/vote/")
    if not offer:
        time.sleep(LOOK_SECONDS)
        return
    choice = rng.choice(offer["choices"])
    cast = api.ask("POST", f"battles/{offer['battle']}/vote/", {"choice": choice})
    play.votes.append((cast["battle"], cast["choice"]))
    time.sleep(LOOK_SECONDS)


def clerk(api: Api, play: Play, rng: Random) -> None:
    """Takes files of runs with it, at once and by a worker; `checks.files` looks into them."""
    if not play.runs:
        time.sleep(LOOK_SECONDS)
        return
    run = rng.choice(sorted(play.runs))
    play.files.append(
        (f"export of {run}", api.fetch("GET", f"runs/{run}/export/?format=jsonl").decode("utf-8", "replace"))
    )
    asked = api.ask("POST", f"runs/{run}/files/", {"format": "jsonl"})
    until = time.monotonic() + 60
    while time.monotonic() < until:
        shown = api.ask("GET", f"files/{asked['id']}/")
        if shown["state"] == "done":
            content = api.fetch("GET", f"files/{asked['id']}/download/")
            if len(content) != shown["size"]:
                content += b"\n(cut)"
            play.files.append((f"file of {run}", content.decode("utf-8", "replace")))
            return
        if shown["state"] == "failed":
            return
        time.sleep(LOOK_SECONDS)


WORKFLOWS: dict[str, Player] = {
    "arena": arena,
    "arena by hand": arena_by_hand,
    "arena stopped": arena_stopped,
    "starchamber": starchamber,
    "council": council,
    "debate": debate,
    "battles": battles,
    "coding": coding,
}
OTHERS: dict[str, Player] = {"voter": voter, "clerk": clerk}
