"""A contest as a page, a page of a cycle and a zip in the layout of MatrixArena: all of it, and what went wrong."""

import io
import json
import re
import threading
import zipfile

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from accounts.tokens import create_token
from experiments.models import Call, Cycle, Execution, ProviderModel, Run
from experiments.runs import actions, timeline
from experiments.workflows.coding.pages import files, ratings, run_page, voiding
from tests.experiments import contest_rows
from tests.experiments.contest_rows import NO_SOLUTION, NO_VOTE, UNREADABLE, votes_of
from tests.experiments.contesting import as_expected, sandbox_as_played
from tests.experiments.contests import WRONG, coder, contest, judgment, problem, solution
from tests.experiments.pages import painted
from tests.experiments.pages.conftest import drive
from tests.fixtures import signed_in, wait_until
from tests.making import maker
from tests.parts import stepped_engine

NOISY = "def spread(values):\n    print('looking')\n    return max(values) - min(values)\n"
CONSTANT = "def spread(values):\n    return 1\n"
FOUND = {  # what a box finds of each test, where a program does not do as expected
    NOISY: {"verdict": "error", "value": None, "error": "ValueError: max() arg is empty", "stdout": "looking\n"},
    CONSTANT: {"verdict": "failed", "value": 1},
    WRONG: {"verdict": "failed", "value": -1},
}


@maker
def play(scripted, alice, /, *answers, health_check=False):
    """A contest of a cycle, played to its end by models that say this; the first sets the problem."""
    said = [*answers, *[{}] * (3 - len(answers))]
    models = [scripted.model(f"lab/coder-{number}", coder(**one)) for number, one in enumerate(said, 1)]
    asked = {"cycles": 1, "setters": "in_turn", "health_check": health_check}
    [run] = actions.start(contest(alice, models, **asked), by=alice, seed=1)

    def executed(execution):
        found = as_expected(execution)
        odd = next((odd for code, odd in FOUND.items() if execution.code.strip() == code.strip()), {})
        return {**found, "results": [one | odd for one in found["results"]]}

    with sandbox_as_played(executed):
        drive()
    return Run.objects.select_related("experiment").get(pk=run.pk)


def assert_same_page(run, *kinds):
    """The whole contest, and the page, which shows its latest cycle and what belongs to none."""
    painted.assert_same_page(run, *kinds)
    run = Run.objects.get(pk=run.pk)
    latest = max((cycle.turn for cycle in run.cycles.all()), default=0)
    of_no_cycle = ("pool", "plan", "ending")
    events = timeline.replayed(run.events.order_by("seq"))
    shown = [e for e in events if run_page.slot_of(e.type, e.data) in of_no_cycle or e.data.get("turn") == latest]
    assert painted.painted(run, run_page.entries(run)) == painted.painted(run, shown)


@pytest.fixture
def cycle_of(browser, read):
    return lambda run, turn=1: read(browser.get(reverse("coding-cycle", args=[run.pk, turn])))


def test_everything_about_a_cycle_stands_on_its_page_and_what_went_wrong_where_it_did(
    play, page_of, cycle_of, browser, charlies
):
    run = play(
        {"problem": problem(test_cases=[]), "problem_repair": problem(), "judgment": judgment(8)},
        {"solution": "I would sort it.", "solution_repair": solution(WRONG), "judgment": judgment(4, overall_score=9)},
        {"solution": solution(NOISY, "Both **ends**."), "judgment": "I like it."},
        {"solution": 401},
        {"health": 401},
        health_check=True,
    )
    page = page_of(run)
    set_slot, solved, failed = (
        page.by_id(f"slot-{name}") for name in ("problem-1-coder-1", "solution-1-coder-2", "solution-1-coder-4")
    )
    missing = page.by_id("vote-1-coder-1-coder-3")
    for element, words in (
        *((page.by_id("pool"), words) for words in ("4 of 5 models take part.", "scripted failure")),
        *((page.by_id("latest"), "coder-5"), (page.by_id("slot-outcome-1"), "coder-4 is not rated in this cycle")),
        *((set_slot[-1], "Spread of readings"), (solved, "I would sort it."), (failed, "key refused")),
    ):
        assert words in element.text
    assert "defspread" in "".join(solved[-1].text.split())
    assert (missing.get("class"), "could not be read" in missing.get("title")) == ("vote missing", True)
    assert_same_page(run, "pool_checked", "message_parsed", "call_failed", "solution_executed", "solution_judged")
    painted.assert_every_fragment_finds_its_place(run, "slot-pool", "slot-plan", "slot-aside", "slot-ending")

    Execution.objects.filter(run=run, seat="coder-2").update(is_unsafe=True)
    page = cycle_of(run)
    first, second, third = (page.by_id(f"solver-coder-{number}") for number in (1, 2, 3))

    figures = page.find(class_="cycle-figures")[0].text
    assert "Cycle 1: Spread of readings" in page.find("h1")[0].text
    assert "reference, again: 10/10" in page.text
    assert ("1 of 3" in figures, "2 missing" in figures) == (True, True)
    assert ["run without isolation" in solver.text for solver in (first, second)] == [False, True]
    assert ("looking" in third.text, "ValueError" in third.text) == (True, True)
    assert [e.text for e in third.findall(".//strong")] == ["ends"]
    judged = ("named another overall than the mean", "no vote: Its judgment could not be read", "Right. Short. Clear.")
    assert [words for words in judged if words not in first.text] == []
    [radar] = [e for e in first.findall(".//svg") if e.get("class") == "radar"]
    assert "Correctness 5.50, Efficiency 5.50" in radar.get("aria-label")
    for link in page.find("a"):
        if (link.get("href") or "").startswith("/calls/"):
            assert browser.get(link.get("href")).status_code == 200
    assert charlies.get(reverse("coding-cycle", args=[run.pk, 1])).status_code == 404
    assert browser.get(reverse("coding-cycle", args=[run.pk, 2])).status_code == 404


def test_a_void_cycle_says_why_and_the_next_one_goes_on(play, page_of):
    run = play({"problem": problem(reference_solution=CONSTANT)})
    page = page_of(run)

    assert [cycle.state for cycle in run.cycles.all()] == [Cycle.State.VOID] * 2
    assert [e.get("id") for e in page.find(class_="cycle")] == ["turn-2"], "the page shows the latest"
    assert "does not pass test 1" in page.by_id("slot-outcome-2").text
    assert [e.get("data-state") for e in page.find(class_="phase")][:3] == ["void", "void", "waiting"]
    assert_same_page(run, "cycle_void", "experiment_stopped")


def test_a_cycle_under_way_and_one_that_was_cut_short_say_so(alice, scripted, start, cycle_of):
    run = start(contest(alice, [scripted.model(f"lab/m{n}", coder()) for n in range(3)]))
    run.cycles.create(turn=1, setter="coder-1", contestants=[[f"coder-{n}", f"lab/m{n - 1}"] for n in (1, 2, 3)])

    page = cycle_of(run)
    assert "This cycle is in progress" in page.text
    assert "The setter gave no problem." in page.text
    run.state = "stopped"
    run.save()
    assert "The run ended before this cycle was rated" in cycle_of(run).text


def test_solvers_stand_by_their_mean_and_cycles_that_do_not_count_say_why(alice, cycle_of):
    made = contest_rows.Contest(alice)
    made.cycle(votes_of(levels=(4.0, 3.0, 9.5, 7.0)), silent=(2,))
    Cycle.objects.update(voided=timezone.now(), voided_by=alice, void_reason="The tests were wrong.")
    made.void_cycle("It repeats “Spread”.\nIt is too weak.", setter=2)
    first, second = cycle_of(made.run), cycle_of(made.run, 2)

    order = [e.get("id") for e in first.find(class_="part solver")]
    assert order == ["solver-coder-3", "solver-coder-4", "solver-coder-1", "solver-coder-2"]
    assert NO_SOLUTION in first.by_id("solver-coder-2").text
    assert all(words in first.text for words in ("Left out of ratings by alice", "The tests were wrong."))
    assert "It is too weak." in second.text
    [before] = [e.get("href") for e in second.find("a") if e.get("rel") == "prev"]
    assert before == reverse("coding-cycle", args=[made.run.pk, 1])


def test_the_number_of_queries_of_pages_and_the_zip_does_not_depend_on_the_votes(alice, browser):
    counts = []
    for seats in (3, 4):
        made = contest_rows.Contest(alice)
        made.cycle(votes_of(seats=seats), seats=seats)
        for address in (reverse("coding-cycle", args=[made.run.pk, 1]), made.run.get_absolute_url()):
            browser.get(address)
            with CaptureQueriesContext(connection) as queries:
                html = browser.get(address).content.decode()
            counts.append(len(queries))
        assert len(re.findall(r'class="vote score-', html)) == seats * (seats - 1)
        with CaptureQueriesContext(connection) as queries:
            list(files.zipped(made.run))
        counts.append(len(queries))

    assert counts[:3] == counts[3:]


def test_the_ratings_of_a_contest_stand_on_a_page_of_their_own(alice, browser, read):
    run = contest_rows.contest(alice, 1).run
    address = reverse("coding-ratings", args=[run.pk])
    part = browser.get(f"{address}?part=1")

    assert read(browser.get(run.get_absolute_url())).by_id("ratings-figures").get("data-address") == f"{address}?part=1"
    assert "<html" not in part.content.decode()
    assert len(read(part).find("g", class_="line line-nth-0")) == 1
    assert read(browser.get(address)).find("h1")[0].text == "Ratings"
    Cycle.objects.filter(run=run).update(voided=timezone.now())
    assert "No cycle counts yet" in read(browser.get(address)).text


def test_of_a_contest_at_each_of_its_steps(alice, scripted, start, browser, read):
    """Queued; then with a problem that waits for the sandbox, whose page is built from what there is."""
    models = [scripted.model(f"lab/m{n}", coder(solution=solution(WRONG), judgment=judgment(5))) for n in range(3)]
    run = start(contest(alice, models, health_check=False))
    assert_same_page(run)

    with stepped_engine.driving(threading.Event()):
        wait_until(lambda: Execution.objects.filter(run=run).count() > 5, "the run to come so far")
    assert_same_page(run, "cycle_begun", "message_completed")
    page = read(browser.get(run.get_absolute_url()))
    states = [e.get("data-state") for e in page.find(class_="phase")]
    assert states == ["active", "waiting", "waiting", "waiting", "waiting", "waiting"]
    assert "It is being read and checked." in page.by_id("latest").text
    places = {t.get("id"): t.get("data-place") for t in page.find("template") if "data-place" in t.attrib}

    assert len(places) == 3
    for seat, purpose in (("coder-1", "solution"), ("coder-3", "solution"), (run.cycles.get().setter, "problem")):
        place = places[f"live-{seat}"].replace("PURPOSE", purpose).replace("TURN", "1")
        assert page.find(id=place), place
    actions.stop(run, by=alice)
    drive()
    assert_same_page(run, "experiment_stopped")


FILES = {"summary.json", "generator_problem.json"}


def unpacked(contest, person):
    return files_in(signed_in(person).get(f"/runs/{contest.run.pk}/artifacts.zip"))


def files_in(answer):
    assert answer.status_code == 200
    assert answer["Content-Type"] == "application/zip"
    archive = zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content)))
    assert archive.testzip() is None
    names = archive.namelist()
    assert len(names) == len({name.casefold() for name in names})
    return {name: archive.read(name).decode() for name in names}


def of_cycle(files, number):
    parts = [name.split("/", 3) for name in files if name.startswith("data/cycles/")]
    return {name: files["/".join((*at, folder, name))] for *at, folder, name in parts if folder.endswith(f"_c{number}")}


def test_it_has_the_layout_tells_all_that_was_found_or_why_it_is_missing_and_every_answer_asked_for_again(
    alice, django_user_model
):
    contest = contest_rows.flawed(alice)
    files = unpacked(contest, alice)
    token = {"Authorization": f"Bearer {create_token(alice, scopes=['read'])}"}
    assert files_in(Client().get(f"/api/runs/{contest.run.pk}/artifacts/", headers=token)) == files, "to a program, too"
    row = Cycle.objects.get(turn=1)

    assert f"data/cycles/{row.began:%Y%m%d_%H%M%S}_c1/summary.json" in files
    models = [f"lab_coder-{n}" for n in range(1, 5)]
    expected = FILES | {f"{kind}_{model}.json" for kind in ("solver", "execution", "judgments") for model in models}
    raw = {"raw/generator.txt", *(f"raw/solver_{model}.txt" for model in models)}
    raw |= {f"raw/judge_{judge}_for_{solver}.txt" for judge in models for solver in models if judge != solver}
    assert set(of_cycle(files, 1)) == expected | raw
    assert set(of_cycle(files, 4)) == FILES | {"raw/generator.txt"}

    battles = [json.loads(line) for line in files["data/battles.jsonl"].splitlines()]
    found = ratings.of_run(contest.run)
    assert [one["cycle_num"] for one in battles] == [1, 2, 3]
    assert battles[2]["average_scores"]["lab/coder-3"] is None
    assert battles[1]["elo_after"] == {name: round(value, 2) for name, value in found.history[1].compatible.items()}
    assert json.loads(files["data/leaderboard.json"]) == [
        {"rank": n, "model": one.name, "elo": round(one.compatible, 2)} for n, one in enumerate(found.solvers, 1)
    ]

    second, third, fourth = (of_cycle(files, number) for number in (2, 3, 4))
    problem, ran = json.loads(second["generator_problem.json"]), json.loads(second["execution_lab_coder-4.json"])
    assert problem["test_cases"][0] == {"name": "shown-1", "input": "[[3, 1, 2]]", "expected_output": "2"}
    assert (len(problem["test_cases"]), len(problem["hidden_test_cases"])) == (5, 5)
    assert "values[0]" in json.loads(second["solver_lab_coder-4.json"])["solution_code"]
    assert (ran["status"], ran["passed"], ran["failed"], ran["skipped"]) == ("success", 3, 7, 0)
    assert (ran["tests"][0]["status"], ran["tests"][9]["status"]) == ("pass", "fail")

    vote = json.loads(second["judgments_lab_coder-1.json"])["judgments"]["lab/coder-2"]
    silent = json.loads(third["solver_lab_coder-3.json"])

    assert (vote["scores"], vote["overall_score"], vote["error"]) == (None, None, NO_VOTE)
    assert second["raw/judge_lab_coder-2_for_lab_coder-1.txt"] == fourth["raw/generator.txt"] == UNREADABLE
    assert (silent["solution_code"], silent["error"]) == (None, "It gave no solution. The provider is overloaded.")
    assert json.loads(third["execution_lab_coder-3.json"])["passed"] is None
    assert "raw/solver_lab_coder-3.txt" not in third
    summary = json.loads(fourth["summary.json"])
    assert (summary["counts"], summary["reason"]) == (False, "It repeats an earlier problem.")
    assert (summary["overall_average"], summary["elo_after"]) == (None, None)
    assert json.loads(fourth["generator_problem.json"])["error"] == "It repeats an earlier problem."

    step = contest.step("cycle/1/problem/repair", "ask", purpose="problem", seat="coder-1", turn=1)
    contest.call(step, text="The second one.")
    curator = django_user_model.objects.create(username="curator", role="curator")
    voiding.void(Cycle.objects.get(turn=2), by=curator, reason="Two answers were right.")
    files = unpacked(contest, alice)

    assert [json.loads(line)["cycle_num"] for line in files["data/battles.jsonl"].splitlines()] == [1, 3]
    summary = json.loads(of_cycle(files, 2)["summary.json"])
    assert (summary["counts"], summary["void_reason"]) == (False, "Two answers were right.")
    assert summary["elo_after"] is None
    first = of_cycle(files, 1)
    assert first["raw/generator.txt"] == "The second one."
    assert first["raw/generator_attempt_1.txt"] == Call.objects.get(step__key="cycle/1/problem").text


def test_models_whose_names_come_out_alike_have_files_of_their_own(alice):
    made = contest_rows.Contest(alice)
    for seat, slug in zip(made.models, ("lab/a.b", "lab/a:b", "../../LAB/a b", "ж" * 90), strict=True):
        ProviderModel.objects.filter(pk=made.models[seat].pk).update(slug=slug)
        made.models[seat].refresh_from_db()
    made.cycle()
    files = of_cycle(unpacked(made, alice), 1)

    solvers = [name for name in files if name.startswith("solver_")]
    assert len(solvers) == 4
    assert {json.loads(files[name])["model"] for name in solvers} == {one.slug for one in made.models.values()}
    assert all(len(name) < 80 and "/" not in name and ".." not in name for name in solvers)
