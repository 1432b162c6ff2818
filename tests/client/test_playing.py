"""Runs on a real platform: played, read, steered and taken home."""

import inspect
import json
from decimal import Decimal

import pytest

from arena_lab import Arena, AsyncArena, Conflict, Delta, Invalid, NotFound, NothingOpen, SignInNeeded, questions
from arena_lab.records import Judgment
from tests.fixtures import wait_until

pytestmark = pytest.mark.system


def test_a_run_is_played_and_everything_in_it_can_be_read(arena, begin):
    run = arena.wait(begin(judge=True, filter=True))

    assert (run.state, run.stop_reason, run.turn) == ("completed", "max_turns", 1)
    assert run.cost > 0
    assert isinstance(run.cost, Decimal)
    assert run.metrics
    messages = arena.runs.messages(run).all()
    assert [(message.seat, message.turn) for message in messages] == [("A", 1), ("B", 1)]
    assert all(message.usage.output_tokens > 0 and message.created.tzinfo for message in messages)
    judgments = arena.runs.judgments(run).all()
    assert {judgment.subject for judgment in judgments} == {"A", "B"}
    assert all(isinstance(judgment, Judgment) and judgment.scores for judgment in judgments)
    assert sum(call.cost for call in arena.runs.calls(run)) == run.cost
    for rows in (arena.runs.ballots(run), arena.runs.battles(run), arena.runs.executions(run)):
        assert rows.all() == []


def test_pages_are_turned_by_themselves(arena, begin, monkeypatch):
    run = arena.wait(begin(max_turns=3))
    monkeypatch.setattr(questions, "ROWS", 2)

    assert [message.turn for message in arena.runs.messages(run)] == [1, 1, 2, 2, 3, 3]


def test_a_run_that_waits_is_answered_at_its_pause(arena, begin):
    run = begin(mode="manual", max_turns=2)
    wait_until(lambda: arena.runs.get(run).waiting_for, "the run to wait")
    while not (now := arena.runs.get(run)).is_over:
        if now.waiting_for:
            arena.runs.say(now, action="end" if "end" in now.waiting_for.actions else "default")

    assert now.state == "stopped"
    with pytest.raises(NothingOpen, match="waits for nobody"):
        arena.runs.say(run, "Hello?")
    with pytest.raises(Conflict):
        arena.runs.pause(run)


def test_a_run_is_stopped_and_stopping_it_again_changes_nothing(arena, begin):
    run = begin("sim/slow", max_turns=50)

    arena.runs.stop(run)
    assert arena.wait(run).state == "stopped"
    assert arena.runs.stop(run).state == "stopped"


def test_a_branch_says_something_else_and_goes_on(arena, begin):
    run = arena.wait(begin(max_turns=2))
    first = arena.runs.messages(run).first()

    branch = arena.wait(arena.runs.branch(first, "Let us share them by need."))

    assert (branch.parent, branch.branched_from) == (run.id, first.id)
    assert arena.runs.messages(branch).first().text == "Let us share them by need."


def test_repeats_have_seeds_of_their_own_and_are_found_by_their_experiment(arena, begin):
    experiment = arena.experiments.get(begin().experiment)
    runs = arena.experiments.start(experiment, repeats=2, seed=70)

    assert [run.seed for run in runs] == [70, 71]
    assert {run.id for run in arena.runs.list(experiment=experiment)} >= {run.id for run in runs}


def test_reports_and_exports_are_files(arena, begin, tmp_path):
    run = arena.wait(begin())

    assert "Share seven panels." in arena.runs.report(run, "md").text
    path = arena.runs.export(run, "jsonl").save(tmp_path)
    assert path.suffix == ".jsonl"
    assert all(json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    with pytest.raises(Invalid, match="not offered"):
        arena.runs.export(run, "papyrus")


def test_a_dataset_is_sent_and_read(arena, tmp_path):
    file = tmp_path / "trees.jsonl"
    file.write_text('{"instruction": "Describe an ash.", "one": "Tall.", "two": "Grey."}\n')
    columns = {"instruction": "instruction", "outputs": {"ada": "one", "bob": "two"}}

    sent = arena.datasets.upload(file, "Trees of ada", slug="adas-trees", takes_votes=False, columns=columns)
    wait_until(lambda: arena.datasets.get(sent.slug).state in ("ready", "refused"), "the file to be read")

    ready = arena.datasets.get(sent.slug)
    assert (ready.state, ready.samples, ready.takes_votes) == ("ready", 1, False)
    assert {one["name"] for one in ready.contestants} == {"ada", "bob"}
    assert "adas-trees" in {one.slug for one in arena.datasets.list()}


def test_models_usage_budgets_and_ladders_are_read(arena, begin):
    arena.wait(begin())

    assert {"sim/cooperative", "sim/slow"} <= {model.slug for model in arena.models(available=True)}
    usage = arena.usage()
    assert usage.total.calls == sum(spent.calls for spent in usage.role) > 0
    assert arena.budgets().all() == []
    for entry in arena.ladders.list():
        assert arena.ladders.get(entry.slug).slug == entry.slug


def test_a_stranger_is_told_to_sign_in_and_what_is_not_there_is_not_there(lab, arena):
    with pytest.raises(SignInNeeded, match="arena login"), Arena(lab.url, "alab_wrong") as stranger:
        stranger.runs.list().all()
    with pytest.raises(NotFound):
        arena.runs.get("01900000-0000-7000-8000-000000000000")


def test_what_is_wrong_is_said_by_its_field(arena):
    with pytest.raises(Invalid) as refused:
        arena.experiments.create("arena", {"A": "sim/cooperative"}, prompt="")

    assert refused.value.errors


async def test_awaiting_does_the_same(lab):
    async with AsyncArena(lab.url, lab.token) as arena:
        experiment = await arena.experiments.create(
            "arena", {"A": "sim/slow", "B": "sim/competitive"}, prompt="Share.", max_turns=1, filter=False, judge=False
        )
        [run] = await arena.experiments.start(experiment)
        heard = [item async for item in arena.watch(run, deltas=True)]
        ended = await arena.runs.get(run)
        said = [message.text async for message in arena.runs.messages(run)]

    seqs = [item.seq for item in heard if not isinstance(item, Delta)]
    assert seqs == list(range(1, ended.last_seq + 1))
    assert any(isinstance(item, Delta) for item in heard)
    assert len(said) == 2


@pytest.mark.parametrize("name", ["", "experiments", "runs", "ladders", "datasets"])
def test_both_faces_of_the_client_can_do_the_same(lab, name):
    def verbs(face):
        part = getattr(face, name) if name else face
        found = inspect.getmembers(type(part), inspect.isfunction)
        return {verb: list(inspect.signature(do).parameters) for verb, do in found if not verb.startswith("_")}

    assert verbs(Arena(lab.url, lab.token)) == verbs(AsyncArena(lab.url, lab.token))
