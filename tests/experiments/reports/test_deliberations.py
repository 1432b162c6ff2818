"""Reports of councils, debates and contests, and of runs that people steered: who said what, and what failed."""

from dataclasses import replace
from itertools import pairwise

import pytest
from inspect_ai.log import read_eval_log

from experiments.models import Cycle, Execution, Run
from experiments.runs.reports import shapes
from experiments.runs.reports.formats import render_html
from experiments.runs.reports.importing import import_document
from experiments.runs.reports.inspect_log import inspect_log, log_name
from experiments.runs.reports.markdown import render_markdown
from experiments.runs.reports.messages import with_names
from experiments.runs.reports.pdf import render_pdf
from experiments.runs.steering import branching, steering
from experiments.workflows.coding import config, rows
from experiments.workflows.coding.pages import ratings
from experiments.workflows.judging import services as judging
from tests.experiments import contest_rows
from tests.experiments.contest_rows import NO_SOLUTION, NO_VOTE, UNREADABLE
from tests.experiments.reports.deliberations import LABELS, council, counted, debate
from tests.experiments.reports.documents import assert_equal, assert_same_page, section, words
from tests.experiments.reports.test_html import read_pdf, text_of
from tests.fixtures import signed_in
from tests.making import maker


def log(record):
    return section(render_html(record.fetched(), "en"), "log")


def in_order(text, *parts):
    place = 0
    for part in parts:
        place = text.index(part, place) + len(part)
    return True


def test_a_missing_vote_a_tie_who_answered_instead_and_what_is_no_json_are_told_in_their_places(alice):
    told = log(council(alice))

    assert in_order(
        told,
        "Member 2 is thorough, see Response A in the code; Response Analysis is no label.",
        "Extracted ranking Member 1 = Member 3 (from the text)",
        *("Member 3 did not rank", "Extracted ranking no vote"),
        "Its ranking could not be read, nor could the second one.",
        *("The ranking 2 ballots", "Kemeny Member 1 = Member 3 > Member 2"),
        *("Chair: No answer arrived conclusion, attempt 1", "rate limited: Too many requests."),
        *("Chair: Chair 2 (chair-2 model) was asked instead", "chair model: rate limited: Too many requests."),
        *("Chair · conclusion chair-2 model", "Because of scattering."),
    )

    record = debate(alice)
    told = log(record)

    instead = "Model B: Model 1 of the pool (pool-1 model) was asked instead"
    assert in_order(told, instead, "shown as received: There is no JSON in it.", "I would rather say it in prose.")
    assert "Another summary was requested" not in told, "to go on to the first one is no intervention"
    record.offer("summary/next/2", 2, "concluded", "summarize", action="summarize", text="", by="alice")
    assert "Another summary was requested alice" in log(record)


def test_a_count_without_ballots_and_what_somebody_asked_for_afterwards_are_told(alice, exported):
    for skipped, said in (("one_answer", "Only one member answered"), ("no_ballots", "No ballot could be used")):
        record = council(alice)
        data = counted(ballots=[], best=[], skipped=skipped)
        record.run.steps.filter(purpose="ballots_counted").update(data=data)
        assert (said in log(record), "By method" in log(record)) == (True, False), "a count without ballots says why"

    record = council(alice, overrides={"limits": {"tokens": 5000}})
    record.offer("turn/1/next/2", 1, "your_turn", "retry_seat", action="retry_seat", text="member-2", by="alice")
    [deed] = exported(record.run)["interventions"]
    record.offer("turn/1/next/3", 1, "your_turn", "deliberate", action="deliberate", text="", by="alice")
    record.step("turn/1/count/2", purpose="ballots_counted", turn=1, data=counted(count=2))
    best = {"turn": 1, "seat": "member-3", "message": "turn/1/answer/member-3", "reason": "No chair."}
    record.step("turn/1/conclusion/by-rank", purpose="concluded_by_rank", turn=1, data=best)
    record.step("turn/2/answer/member-2", "ask", purpose="reply", seat="member-2", turn=2, state="failed",
                data={"outcome": {"ok": False, "error_kind": "limit"}})  # fmt: skip

    record.run.ballots.filter(reviewer="member-2").update(superseded=True)

    html = render_html(record.fetched(), "en")
    told = section(html, "log")

    assert told.count("replaced by a later ballot of this reviewer") == 1
    assert (deed["kind"], deed["seat"], deed["turn"], deed["by"]) == ("retry_seat", "member-2", 1, "alice")
    assert "Member 2 was asked again alice" in told
    assert "The answers were ranked again alice" in told
    assert told.count("superseded: the answers were ranked again") == 1
    assert "No chair could conclude. The best-ranked answer, by Member 3, is used instead" in told
    assert "Member 2 was not asked: the run reached a limit" in told
    assert "Changed during the run limits: none → 5,000 tokens" in section(html, "setup")


def test_names_take_the_place_of_whole_labels_alone():
    labels = {**LABELS["member-1"], "Response AA": "member-3"}
    named = with_names("**Response A**, Response AA, Response Analysis, `Response B`\n```\nResponse A\n```", labels)

    assert named == "**Member 2**, **Member 3**, Response Analysis, `Response B`\n```\nResponse A\n```"


def test_the_largest_contest_that_can_be_set_up_is_not_too_long_for_an_import():
    cycles, coders = config.MOST_CYCLES, config.MOST_CODERS
    solutions, judgments = cycles * coders, cycles * coders * (coders - 1)
    problems, played = 2 * 2 * cycles, 2 * cycles  # each asked for twice; a void one in turn set twice
    calls = problems + 2 * solutions + 2 * judgments + played * coders

    assert played <= rows.MOST_CYCLES
    assert problems + 2 * solutions <= shapes.MOST_MESSAGES
    assert judgments <= shapes.MOST_JUDGMENTS
    assert 8 * problems + solutions <= rows.MOST_EXECUTIONS
    assert calls <= shapes.MOST_CALLS
    assert calls + judgments + 8 * problems + 4 * solutions + 6 * played <= shapes.MOST_STEPS


@pytest.fixture
def run(alice):
    made = contest_rows.flawed(alice)
    Cycle.objects.filter(turn=1).update(voided="2026-01-01T00:00:00Z", void_reason="Two answers were right.")
    return made.run


def test_a_report_tells_what_was_found_why_something_is_missing_and_how_it_was_rated(run, with_totals):
    html = render_html(with_totals(run), "en")

    cycles, rated = section(html, "cycles"), section(html, "ratings")
    found = (
        *("Widest | gap", contest_rows.DESCRIPTION, "def spread ( values ):", "It handles the empty list."),
        *("It passed 3 of 10 tests.", "wrong result", "Clear, says coder-1.", "5 shown, 5 hidden"),
        *(f"Coder 2 gave no vote: {NO_VOTE}", NO_SOLUTION, UNREADABLE),
        *("There is no problem: It repeats an earlier problem.", "left out of ratings", "Two answers were right."),
    )
    for said in found:
        assert said in cycles, said
    ratings_found = ratings.of_run(run)
    assert ratings_found.cycles == 2
    for said in (*(f"{one.compatible:.0f}" for one in ratings_found.solvers), "Severity", "Calibration"):
        assert said in rated, said


def test_a_contest_that_has_not_begun_and_one_under_way_can_be_told(alice, with_totals):
    made = contest_rows.Contest(alice, state="running", ended=None)
    assert "No cycle started in this run." in render_html(with_totals(made.run), "en")
    Cycle.objects.create(run=made.run, turn=1, setter="coder-1", contestants=[["coder-1", "lab/coder-1"]])

    assert "There is no problem yet." in render_html(with_totals(made.run), "en")
    assert render_pdf(with_totals(made.run), "zh-hans", lambda _done: None).startswith(b"%PDF")


@pytest.mark.databases
def test_an_imported_contest_says_the_same_and_its_pages_show_it(run, alice, exported):
    before = exported(run)
    waiting = exported(run)
    waiting["executions"][0] |= {"state": "waiting", "results": None, "ended": None}
    again = import_document(waiting, by=alice)
    assert not Cycle.objects.counted().filter(run=again).exists()
    assert not Execution.objects.claimable().exists(), "what is imported is neither counted nor run"
    assert again.executions.get(step__key=waiting["executions"][0]["key"]).state == "cancelled"
    again = import_document(before, by=alice)
    after = exported(again)

    for side in (before, after):
        for cycle in side["cycles"]:
            cycle["voided_by"] = None  # whoever it was is nobody here
    assert_equal(before, after, "cycles", "executions", "judgments", "messages")
    found, keys = ratings.of_run(run), dict(again.cycles.values_list("turn", "pk"))
    history = tuple(replace(one, run=again.pk, pk=keys[one.turn]) for one in found.history)
    assert ratings.of_run(again) == replace(found, history=history)
    assert_same_page(again)
    browser = signed_in(alice)
    assert "Widest" in browser.get(f"/runs/{again.pk}/cycles/2/").content.decode()
    assert "Spread of readings 3" in browser.get(f"/runs/{again.pk}/").content.decode()


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
def told_alike(tmp_path, exported, alice, /, run, *lines):
    """Asserts that every report tells these lines in this order, that Inspect reads the run, and that it is equal once
    it is imported; returns the log of the HTML report.
    """
    run = fetched(run)
    log = section(render_html(run, "en"), "log")
    pdf = text_of(read_pdf(render_pdf(run, "en")))
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
def test_an_arena_run_tells_what_its_operator_did(arena, play, say, told_alike, exported):
    run = play(arena(mode="manual", filter=False))
    say(run, "send", "Answer with one word.")
    say(run, "note", "Be brief.")
    say(run, "alter", "I take everything.")
    for action in ("default", "next", "skip", "end"):
        say(run, action)

    log = told_alike(
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


def test_a_starchamber_talk_tells_answers_given_again_and_its_branch(starchamber, play, say, drive, told_alike, alice):
    run = play(starchamber(persona="Vega", context="Be kind.", judge_model="sim/judge:first=0"))
    say(run, "regenerate")
    say(run, "send", "And then?")
    answer = run.messages.filter(seat="model").last()
    child = branching.branch(answer, by=alice, text="I would rather not say.")
    drive()
    say(run, "end")

    log = told_alike(
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
