"""Runs that people steered and in which something failed, as the engine leaves them: in every report, and imported."""

from itertools import pairwise

import pytest
from inspect_ai.log import read_eval_log

from experiments.models import Run
from experiments.runs.reports.formats import render_html
from experiments.runs.reports.importing import import_document
from experiments.runs.reports.inspect_log import inspect_log, log_name
from experiments.runs.reports.markdown import render_markdown
from experiments.runs.reports.pdf import render_pdf
from experiments.runs.steering import branching, steering
from experiments.workflows.judging import services as judging
from tests.experiments.reports.documents import assert_equal, assert_same_page, section, words
from tests.experiments.reports.test_pdf import read, text_of
from tests.making import maker

COOPERATIVE, COMPETITIVE, GONE = "sim/cooperative:first=0", "sim/competitive:first=0", "sim/neutral:first=0:fail=404"


@maker
def play(start, drive, /, experiment):
    run = start(experiment)
    drive()
    return fetched(run)


@maker
def say(alice, drive, /, run, action, text=""):
    waiting = fetched(run)
    pause = (waiting.open_pauses or waiting.open_offers)[-1]
    steering.say(waiting, by=alice, key=pause.key, action=action, text=text)
    drive()


def fetched(run):
    found = Run.objects.with_totals().select_related("experiment").get(pk=run.pk)
    found.reader = found.experiment.owner
    return found


@maker
def told(tmp_path, exported, alice, /, run, *lines):
    """Asserts that every report tells these lines in this order, that Inspect reads the run, and that it is equal once
    it is imported; returns the log of the HTML report.
    """
    run = fetched(run)
    log = section(render_html(run, "en"), "log")
    pdf = text_of(read(render_pdf(run, "en")))
    for shown in (log, pdf):
        places = [shown.index(line.removesuffix(" alice") if shown is pdf else line) for line in lines]
        assert all(before < after for before, after in pairwise(places))
    assert "运行报告" in render_markdown(run, "zh-hans")

    path = tmp_path / log_name(run)
    path.write_bytes(inspect_log(run))
    [sample] = read_eval_log(str(path)).samples or []
    assert len(sample.messages) == run.messages.filter(superseded=False).count()

    before = exported(run)
    again = import_document(before, by=alice)
    assert_equal(before, exported(again))
    assert_same_page(again)
    return log


@pytest.mark.databases
def test_an_arena_run_tells_what_its_operator_did(arena, play, say, told, exported):
    run = play(arena(mode="manual", filter=False))
    say(run, "send", "Answer with one word.")
    say(run, "note", "Be brief.")
    say(run, "alter", "I take everything.")
    for action in ("default", "next", "skip", "end"):
        say(run, action)

    log = told(
        run,
        "The prompt of Model A was rewritten alice",
        "Answer with one word.",
        "Model B got a private note alice",
        "What Model B reads was altered alice",
        "Model A was skipped alice",
        "The run was ended alice",
        "The run was stopped: stopped by a person",
    )
    assert "The rest of the turn was skipped" not in log
    assert exported(run)["interventions"]


def test_a_starchamber_talk_tells_answers_given_again_and_its_branch(starchamber, play, say, drive, told, alice):
    run = play(starchamber(persona="Vega", context="Be kind.", judge_model="sim/judge:first=0"))
    say(run, "regenerate")
    say(run, "send", "And then?")
    answer = run.messages.filter(seat="model").last()
    child = branching.branch(answer, by=alice, text="I would rather not say.")
    drive()
    say(run, "end")

    log = told(
        run,
        "Researcher Vega",
        "superseded: another answer was asked for",
        "Another answer was requested alice",
        "And then?",
    )
    assert "Token confidence average confidence" in log
    assert "rewritten" not in log
    assert run.messages.filter(superseded=True).count() == 1
    assert str(child.pk) in section(render_html(fetched(run), "en"), "lineage")
    branched = render_html(fetched(child), "en")
    assert "edited by alice" in section(branched, "log")
    assert "I would rather not say." in section(branched, "log")
    assert f"Parent {run.pk}" in section(branched, "lineage")
    assert "had not ended" in words(branched)


def test_a_branch_and_a_judging_are_imported_equal(arena, play, drive, alice, exported):
    run = play(arena(max_turns=2))
    branch = branching.branch(run.messages.get(turn=1, seat="B"), by=alice, text="No.")
    again = judging.judge_again(Run.objects.get(pk=run.pk), by=alice)
    drive()

    for made in (branch, again):
        before = exported(made)
        imported = import_document(before, by=alice)
        after = exported(imported)
        for side in (before, after):
            for message in side["messages"]:  # what a branch was paid with is in the file of the parent
                del message["usage"], message["cost"], message["logprobs"]
        assert_equal(before, after, "messages", "judgments", "interventions", "calls", "steps")
        assert imported.parent is None
        assert_same_page(imported)
