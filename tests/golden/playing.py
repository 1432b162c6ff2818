"""Runs of all six workflows, as they are kept: some over, others in the middle of a call, waiting or stopped.

What providers answer to `go_on` is kept beside the rows, so that unfinished runs go on without a provider.
"""

import hashlib
import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from experiments.engine.driver import Driver
from experiments.gateway.simulated.stream import read_body
from experiments.models import Contestant, Dataset, Experiment, ModelPrice, Output, ProviderModel, Run, Sample
from experiments.runs import actions
from experiments.runs.steering import branching, steering
from experiments.workflows.battles.campaign import campaigns
from experiments.workflows.judging import services as judging
from tests.experiments.contesting import quick, sandbox_as_played
from tests.experiments.debated import REQUEST
from tests.experiments.debating import GOOD, SEATS
from tests.fixtures import ARENA, add_model

THINKING, PLAIN = "sim/deceptive:first=0:tps=0:words=60", "sim/cooperative:first=0:tps=0:words=60"
OTHER = "sim/neutral:first=0:tps=0:words=40"
JUDGE, FAILING = "sim/judge:first=0:tps=0", "sim/neutral:first=0:fail=401"

Answer = dict[str, Any]  # status, type and body, all of them as a response has them
Seats = dict[str, str]  # models
LONG = datetime(2100, 1, 1, tzinfo=UTC)


class Keeping:
    """In front of the apps that answer, by the name of the model; keeps each answer by the bytes of its request."""

    def __init__(self, app_of: Callable[[str], Any]) -> None:
        self.kept: dict[str, list[Answer]] = {}
        self._app_of = app_of
        self._left, self._stop = 0, threading.Event()

    def stop_after(self, answers: int) -> threading.Event:
        """Is set as soon as so many more have been given."""
        self._left, self._stop = answers, threading.Event()
        return self._stop

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        request = await read_body(receive)
        answer: Answer = {"status": 0, "type": "", "body": ""}

        unread = [{"type": "http.request", "body": request, "more_body": False}]

        async def read_again() -> Any:
            return unread.pop() if unread else await receive()

        async def keep(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                answer["status"] = message["status"]
                answer["type"] = dict(message["headers"])[b"content-type"].decode()
            else:
                answer["body"] += message.get("body", b"").decode()
            await send(message)

        await self._app_of(json.loads(request)["model"])(scope, read_again, keep)
        self.kept.setdefault(digest(request), []).append(answer)
        self._left -= 1
        if not self._left:
            self._stop.set()


class Repeating:
    """Gives the kept answers. unknown: the requests that were never kept."""

    def __init__(self, kept: dict[str, list[Answer]]) -> None:
        self._kept = {request: list(answers) for request, answers in kept.items()}
        self.unknown: list[Any] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        request = await read_body(receive)
        answers = self._kept.get(digest(request), [])
        if not answers:
            self.unknown.append(json.loads(request))
            answers = [{"status": 400, "type": "application/json", "body": '{"error": {"message": "never asked"}}'}]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        headers = [(b"content-type", answer["type"].encode())]
        await send({"type": "http.response.start", "status": answer["status"], "headers": headers})
        await send({"type": "http.response.body", "body": answer["body"].encode()})


def digest(request: bytes) -> str:
    return hashlib.sha256(request).hexdigest()[:24]


def drive(stop: threading.Event | None = None) -> None:
    with sandbox_as_played():
        Driver(stop or threading.Event()).drive(0.1)


class Playing:
    """Plays everything. scripted: whose models say what debates and contests need; its answers pass the same keeper."""

    def __init__(self, owner: Any, keeper: Keeping, scripted: Any) -> None:
        self._owner, self._keeper, self._scripted = owner, keeper, scripted

    def all(self) -> None:
        for play in (self._arena, self._starchamber, self._council, self._debate, self._battles, self._coding):
            play()
        Run.objects.filter(lease_until=LONG).update(lease_until=None)

    def _experiment(self, workflow: str, title: str, config: dict[str, Any], seats: Seats) -> Experiment:
        models = {seat: add_model(model).slug if model.startswith("sim/") else model for seat, model in seats.items()}
        for model in ProviderModel.objects.filter(slug__in=models.values(), prices=None):
            ModelPrice.objects.create(model=model, since="2026-01-01T00:00:00Z", input="0.000001", output="0.000002")
        cast = {seat: {"model": slug} for seat, slug in models.items()}
        return actions.create(owner=self._owner, workflow=workflow, title=title, config=config, cast=cast)

    def _play(self, *about: Any, answers: int = 0) -> Run:
        """answers: after so many its worker is gone."""
        [run] = actions.start(self._experiment(*about), by=self._owner, seed=7)
        if answers:
            self._break_off(answers)
        else:
            drive()
        return Run.objects.select_related("experiment").get(pk=run.pk)

    def _break_off(self, answers: int) -> None:
        """No other worker takes the run, as its lease seems to last."""
        drive(self._keeper.stop_after(answers))
        Run.objects.filter(state=Run.State.QUEUED).update(state=Run.State.RUNNING, lease_until=LONG)

    def _say(self, run: Run, action: str, text: str = "") -> None:
        say(run, self._owner, action, text)
        drive()

    def _arena(self) -> None:
        seats = {"A": THINKING, "B": PLAIN, "judge": JUDGE, "filter": "sim/filter:first=0:tps=0"}
        unjudged = {"A": PLAIN, "B": OTHER}
        planned = [
            {"kind": "note", "side": "B", "turn": 2, "text": "Ask for one panel more."},
            {"kind": "alter", "side": "A", "turn": 2, "text": "I want all of them."},
            {"kind": "friend", "side": "A", "turn": 1, "text": "Advise me in one sentence."},
        ]
        whole = self._play("arena", "Arena, over", {**ARENA, "interventions": planned}, {**seats, "friend": OTHER})
        branching.branch(whole.messages.get(step__key="turn/1/A"), by=self._owner, text="Four for me, three for you.")
        drive()
        judging.judge_again(whole, by=self._owner, model=JUDGE)
        drive()
        quiet = {**ARENA, "judge": False, "filter": False}
        self._play("arena", "Arena, failed", quiet, {"A": FAILING, "B": PLAIN})
        self._play("arena", "Arena, broken off", {**ARENA, "elicit_thinking": True}, seats, answers=3)
        by_hand = self._play("arena", "Arena, by hand", {**ARENA, "mode": "manual"}, {**seats, "friend": OTHER})
        self._say(by_hand, "send", "Say a number.")
        stopped = self._play("arena", "Arena, stopped", {**quiet, "mode": "manual"}, unjudged)
        actions.stop(stopped, by=self._owner)
        drive()

    def _starchamber(self) -> None:
        seats = {"model": THINKING, "judge": JUDGE}
        asked = {"first_message": "Who are you?", "context": "You are a lighthouse keeper.", "persona": "Inspector"}
        over = self._play("starchamber", "StarChamber, over", asked, seats)
        self._say(over, "send", "And who pays you?")
        self._say(over, "regenerate")
        self._say(over, "end")
        self._play("starchamber", "StarChamber, waiting", asked, seats)
        self._play("starchamber", "StarChamber, failed", {**asked, "judge": False}, {"model": FAILING})

    def _council(self) -> None:
        members = {"member-1": PLAIN, "member-2": OTHER, "member-3": "sim/competitive:first=0:tps=0:words=50"}
        seats = {**members, "chair": OTHER, "title": OTHER}
        asked = {"question": "Why is the sky blue?"}
        over = self._play("council", "", {**asked, "max_turns": 2}, seats)
        steering.ask_further(over, by=self._owner, text="And at sunset?")
        drive()
        own = {**asked, "own_answers": "included", "title": False}
        self._play("council", "Council, one lost", own, {**members, "chair": OTHER, "member-4": FAILING})
        self._play("council", "Council, broken off", own, {**members, "chair": OTHER}, answers=4)
        self._play("council", "Council, failed", own, {"member-1": FAILING, "member-2": FAILING, "chair": OTHER})

    def _debate(self) -> None:
        seats = {seat: self._scripted.model(f"x/{seat}", self._by_turn(GOOD[seat])) for seat in SEATS}
        asked = {"prompt": REQUEST, "mode": "automatic", "rounds": 2, "rotate": True}
        asked["addendum"] = "Think of the weather."
        self._play("debate", "Debate, over", asked, seats)
        by_hand = {**asked, "mode": "manual", "blind": True}
        self._play("debate", "Debate, at the prompt", by_hand, seats)
        in_between = self._play("debate", "Debate, after a round", by_hand, seats)
        self._say(in_between, "send", "Share the telescope by lot.")
        self._play("debate", "Debate, broken off", asked, seats, answers=3)

    def _by_turn(self, answers: list[Any]) -> Any:
        """The second answer to whoever has been asked before."""
        return lambda body: answers[-1] if "Perspective 1 of" in body["messages"][-1]["content"] else answers[0]

    def _battles(self) -> None:
        dataset = Dataset.objects.create(owner=self._owner, name="Trees", slug="trees", state=Dataset.State.READY)
        samples = Sample.objects.bulk_create(
            Sample(dataset=dataset, index=number, instruction=f"Describe tree {number}.", category="tree")
            for number in range(3)
        )
        for name in ("ash", "birch", "cedar"):
            contestant = Contestant.objects.create(dataset=dataset, name=name)
            Output.objects.bulk_create(
                Output(sample=sample, contestant=contestant, text=f"{name} says: tree {sample.index} is tall.")
                for sample in samples
            )
        asked = {"dataset": "trees", "prompt": "text_quality"}
        campaigns.start(self._experiment("battles", "Battles, over", asked, {"judge": JUDGE}), by=self._owner)
        drive()
        unfinished = self._experiment(
            "battles", "Battles, broken off", asked, {"judge": "sim/judge:first=0:tps=0:gullible=1"}
        )
        campaigns.start(unfinished, by=self._owner)
        self._break_off(5)

    def _coding(self) -> None:
        slugs = [self._scripted.model(f"maker/model-{number}", quick()) for number in (1, 2, 3)]
        seats = {f"coder-{number}": slug for number, slug in enumerate(slugs, 1)}
        asked = {"setters": "in_turn", "health_check": False}
        self._play("coding", "Coding, over", asked, seats)
        self._play("coding", "Coding, broken off", asked, seats, answers=2)


def say(run: Run, by: Any, action: str, text: str = "") -> None:
    """At the run's open pause."""
    steering.say(run, by=by, key=Run.objects.get(pk=run.pk).open_pauses[-1].key, action=action, text=text)


def go_on(owner: Any) -> None:
    """Whatever is unfinished goes on until it is over, or until its question, prompt or round is."""
    drive()
    for title, action, text in (
        *[("Arena, by hand", "default", "")] * 2,
        ("StarChamber, waiting", "send", "What do you see from up there?"),
        ("StarChamber, waiting", "end", ""),
        *[("Debate, at the prompt", "default", "")] * 2,
        *(("Debate, after a round", action, "") for action in ("default", "end")),
    ):
        say(_titled(title), owner, action, text)
        drive()
    steering.ask_further(_titled("Council, broken off"), by=owner, text="And on Mars?")
    drive()


def _titled(title: str) -> Run:
    return Run.objects.select_related("experiment").get(experiment__title=title, parent=None)
