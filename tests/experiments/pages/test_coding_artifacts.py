"""A contest as a zip in the layout of MatrixArena's data folder."""

import io
import json
import zipfile

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.tokens import create_token
from experiments.models import Call, Cycle, ProviderModel
from experiments.workflows.coding.pages import files, ratings, voiding
from tests.experiments import contest_rows
from tests.experiments.contest_rows import NO_VOTE, UNREADABLE, votes_of
from tests.fixtures import signed_in

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


def test_a_zip_of_more_answers_takes_no_more_queries(alice):
    counts = []
    for seats in (3, 4):
        made = contest_rows.Contest(alice)
        made.cycle(seats=seats, votes=votes_of(levels=contest_rows.LEVELS, seats=seats))
        with CaptureQueriesContext(connection) as asked:
            list(files.zipped(made.run))
        counts.append(len(asked))

    assert counts[0] == counts[1]
