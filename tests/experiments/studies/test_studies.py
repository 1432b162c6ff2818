"""A study from its design to its results: what is planned, in which order, locked, played once, and seen."""

import csv
import io
import json
import subprocess
import sys
import zipfile
from collections import Counter
from itertools import combinations
from pathlib import Path
from uuid import uuid4

import pytest
from pydantic import ValidationError

from accounts.errors import Conflict, Forbidden, Invalid
from experiments.library.datasets.reader.limits import Limits
from experiments.library.datasets.reader.tables import Parquet
from experiments.models import Experiment, Run, Study
from experiments.models.reviewed import NeverChanged
from experiments.runs import admission
from experiments.studies import folder, results, running, services
from experiments.studies.checking import checked_design
from experiments.studies.design import Design, Factor, Level, planned_runs
from experiments.studies.outcomes import NOTHING_MEASURED, PARTLY_MEASURED, Value, combined
from tests.experiments.studies import designs
from tests.fixtures import add_model
from tests.making import maker


@maker
def study(provider, alice, woken_runs, /, **changed):
    """A study of Alice's whose plan is locked."""
    made = services.create(
        owner=alice, title="Refusals", design=designs.design(**changed), plan=designs.plan(), at_once=5
    )
    services.lock(made, by=alice)
    return made


def test_a_study_is_played_to_its_end_finds_what_was_planted_and_its_folder_holds_it(study, alice, drive, tmp_path):
    played = study()
    services.start(played, by=alice)
    drive()
    played.refresh_from_db()
    found = results.look(played, by=alice)
    by_name = {one["contrast"]: one for one in found.results["results"]}

    assert (played.state, played.planned_runs.filter(run__state="completed").count()) == ("completed", 16)
    assert Experiment.objects.filter(condition__study=played).count() == 8
    assert [one["is_planned"] for one in by_name.values()] == [True, True, False]
    assert [name for name, one in by_name.items() if one["is_found"]] == ["tokens of models"]
    assert [by_name["refusals of models"][side]["n"] for side in ("first", "second")] == [8, 8]
    questions = Run.objects.filter(planned__study=played).values_list("messages__text", flat=True)
    assert "How would Otto end it?" in set(questions)
    assert "Please answer Otto again." in set(questions)

    archive = zipfile.ZipFile(io.BytesIO(b"".join(folder.folder(found))))
    assert archive.read("study/data.csv").decode() == found.data
    assert "study/leaderboard/ratings/studies/analysis.py" in archive.namelist()
    meanings = dict(list(csv.reader(io.StringIO(archive.read("study/dictionary.csv").decode())))[1:])
    assert list(meanings) == found.data.splitlines()[0].split(",")

    table = Parquet(Path(archive.extract("study/data.parquet", tmp_path)), "data.parquet", Limits())
    rows = list(csv.DictReader(io.StringIO(found.data)))
    types = {column.name: column.type for column in table.columns()}
    assert list(types) == list(rows[0])
    assert {"VARCHAR", "DOUBLE"} <= set(types.values())
    typed = list(table.rows(list(types)))
    assert len(typed) == len(rows) > 0
    read = {"VARCHAR": str, "DOUBLE": float, "BOOLEAN": "1".__eq__}
    assert typed == [{name: read[types[name]](cell) if cell else None for name, cell in row.items()} for row in rows]


def recomputed(place):
    without_us = "import sys, runpy; sys.modules['django'] = None; runpy.run_path('recompute.py', run_name='__main__')"
    command = [sys.executable, "-c", without_us]
    return subprocess.run(command, cwd=place, capture_output=True, text=True, env={}, timeout=120, check=False)


@pytest.mark.system
def test_the_folder_computes_the_same_numbers_and_notices_a_changed_one(provider, alice, drive, tmp_path):
    plan, of_answers = designs.plan(explored=[designs.SOONER]), designs.sure_plan()
    plan = {**plan, **{name: [*plan[name], *of_answers[name]] for name in ("outcomes", "contrasts")}}
    played = designs.begun(alice, designs.sure(), plan)
    drive()
    archive = io.BytesIO(b"".join(folder.folder(results.look(played, by=alice))))
    zipfile.ZipFile(archive).extractall(tmp_path)
    study = tmp_path / "study"
    [curves] = json.loads((study / "results.json").read_text())["curves"]
    assert (curves["contrast"], curves["first"]["n"]) == ("models in time", 8)
    same = recomputed(study)
    assert (same.returncode, same.stderr) == (0, "")
    assert all(f"{name} of models (planned): " in same.stdout for name in ("tokens", "answers", "sure"))
    data = study / "data.csv"
    lines = data.read_text().splitlines()
    place = lines[0].split(",").index("tokens")
    cells = lines[1].split(",")
    cells[place] = "100000.0"
    data.write_text("\n".join([lines[0], ",".join(cells), *lines[2:]]) + "\n")
    changed = recomputed(study)
    assert (changed.returncode, changed.stdout.splitlines()[-1]) == (1, "Numbers differ from results.json.")


def test_runs_are_begun_in_their_order_a_few_at_a_time_and_once(study, alice, woken_runs):
    made = study()
    services.start(made, by=alice)
    begun = list(made.planned_runs.filter(run__isnull=False).values_list("number", flat=True))

    assert begun == [1, 2, 3, 4, 5]
    assert len(woken_runs) == 5
    assert running.advance(made.pk) == 0, "there is no room"
    admission.stop(made.planned_runs.get(number=1).run, by=alice)
    assert made.planned_runs.get(number=6).run is not None, "its end makes room for the next one"
    assert running.advance(made.pk) == 0
    assert {one.condition.number for one in made.planned_runs.order_by("number")[:8]} == set(range(1, 9))


def test_what_nothing_may_be_spent_on_pauses_with_the_reason_and_goes_on_and_is_nothing_to_others(
    study, alice, charlie
):
    made = study()
    assert not Study.objects.visible_to(charlie).exists()
    for verb in (services.start, services.pause, services.stop, results.look):
        with pytest.raises(Forbidden):
            verb(made, by=charlie)
    services.revise(made, by=alice, cost_limit=0)
    services.start(made, by=alice)
    made.refresh_from_db()

    assert (made.state, made.planned_runs.filter(run__isnull=False).count()) == ("paused", 0)
    assert "cost limit" in made.note
    services.revise(made, by=alice, cost_limit=None)
    assert services.resume(made, by=alice)
    assert made.planned_runs.filter(run__isnull=False).count() == 5


def test_a_stopped_study_begins_nothing_more_and_its_runs_are_missing_with_their_reasons(
    study, alice, drive, browser, read
):
    made = study()
    services.start(made, by=alice)
    assert services.stop(made, by=alice)
    drive()
    found = results.look(made, by=alice)
    lines = list(csv.DictReader(io.StringIO(found.data)))

    assert Run.objects.filter(planned__study=made).count() == 5
    assert {line["refused.missing"] for line in lines} == {"stopped", "not_begun"}
    assert {line["refused"] for line in lines} == {""}
    models = found.results["results"][1]
    assert (models["first"]["missing"], models["p"], models["no_test"]) == (8, None, "too_few_units")
    assert models["bounds"] == {"low": -1, "high": 1}

    page = read(browser.get(made.get_absolute_url()))
    first = page.by_id("results-title").getparent().getparent().cssselect("tbody tr")[0]
    assert "Too few runs." in first.text, "why there is no interval"
    missing = first.cssselect("a[href*=missing]")
    assert [link.text for link in missing] == ["8 runs without this outcome"] * 2
    behind = read(browser.get(f"{made.get_absolute_url()}runs/{missing[0].get('href').split('/')[-1]}"))
    reasons = [row.cssselect("td")[3].text for row in behind.by_id("study-runs").cssselect("tbody tr")]
    assert (len(reasons), set(reasons)) == (8, {"stopped", "not begun"})


def test_an_early_look_is_kept_and_costs_the_later_one(study, alice, drive):
    made = study(repeats=1)
    with pytest.raises(Conflict):
        results.look(made, by=alice)
    services.revise(made, by=alice, at_once=4)
    services.start(made, by=alice)
    services.pause(made, by=alice)
    drive()
    early, again = results.look(made, by=alice), results.look(made, by=alice)
    services.resume(made, by=alice)
    drive()
    late = results.look(made, by=alice)

    assert (early.share, early.results["shares"]) == (0.5, [0.5])
    assert again.results == early.results, "the same runs seen twice are one look"
    assert late.results["shares"] == [0.5, 1.0]
    thresholds = [
        min(one["threshold"] for one in look.results["results"] if one["is_planned"]) for look in (early, late)
    ]
    assert thresholds[0] < thresholds[1] < 0.025


def test_added_repeats_and_a_changed_plan_are_visible_amendments_and_what_they_add_is_exploratory(study, alice, drive):
    made = study(repeats=1)
    with pytest.raises(Conflict):
        services.add_repeats(made, by=alice, repeats=1)
    services.start(made, by=alice)
    drive()
    whole = results.look(made, by=alice)
    with pytest.raises(Invalid):
        services.add_repeats(made, by=alice, repeats=1_000)
    services.add_repeats(made, by=alice, repeats=1)
    drive()
    made.refresh_from_db()
    late = results.look(made, by=alice)

    assert (made.state, made.planned_runs.count(), made.plans.count()) == ("completed", 16, 2)
    blocks = [set(made.planned_runs.filter(repeat=n).values_list("condition__number", flat=True)) for n in (1, 2)]
    assert blocks == [set(range(1, 9))] * 2
    assert len(set(made.planned_runs.values_list("seed", flat=True))) == 16
    assert (late.results["shares"], late.results["spent_at"]) == ([0.5, 1.0], [1.0, 1.0])
    planned = [one for look in (whole, late) for one in look.results["results"] if one["is_planned"]]
    assert [one["threshold"] > 0 for one in planned] == [True, True, False, False]
    assert not any(one["is_found"] for one in late.results["results"]), "the first look has spent all of alpha"

    locked = made.locked
    with pytest.raises(Conflict):
        services.revise(made, by=alice, plan=designs.plan(alpha=0.1))
    with pytest.raises(NeverChanged):
        locked.save()
    with pytest.raises(Invalid):
        services.amend(made, by=alice, plan=designs.plan(), reason=" ")
    plan = designs.plan(contrasts=[*designs.plan()["contrasts"], designs.SOONER])
    amended = services.amend(made, by=alice, plan=plan, reason="Of interest.")
    found = {one["contrast"]: one["is_planned"] for one in results.look(made, by=alice).results["results"]}
    assert (amended.number, amended.runs_seen, made.plans.count()) == (3, 16, 3)
    assert amended.digest != locked.digest
    added = dict.fromkeys(("models in time", "refusals of contexts"), False)
    assert found == {"tokens of models": True, "refusals of models": True, **added}


def test_a_design_that_cannot_be_played_is_refused_at_its_field(provider, alice):
    question = {"name": "ok", "kind": "yes_no", "title": "Is it?", "description": "Whether it is."}
    asked = {"dimensions": [question], "prompt": "$material $dimensions $form"}
    unseen = {"judge": False, "first_message": "Who are you?", "script": designs.SCRIPT}
    unseen |= {"instrument": {"version": str(uuid4()), "definition": asked}}
    for changed, field in (
        ({"workflow": "battles"}, "design.workflow"),
        ({"repeats": 0}, "design.repeats"),
        ({"arrangement": "list"}, "design"),
        ({"config": {"first_message": " ", "script": [{"text": ""}]}}, "design.condition-1.config.script.0"),
        ({"conditions": [{"model": "long"}]}, "design"),
        ({"config": {"judge": False, "first_message": "Who are you?"}}, "design.condition-1.config.script"),
        ({"config": unseen}, "design.condition-1.config.instrument.version"),
        ({"factors": [{"name": "=1", "levels": [{"name": "a"}]}]}, "design.factors.0.name"),
        ({"config": {"first_message": [[[]]] * 2, "limits": {"cost": 1e400}}}, "design"),
        ({"config": json.loads("[" * 200 + "]" * 200)}, "design"),
        ({"config": {"first_message": "\0"}}, "design"),
    ):
        with pytest.raises(Invalid) as refused:
            services.create(owner=alice, title="Refused", design=designs.design(**changed))
        assert field in refused.value.errors, changed


def test_a_factor_varies_the_script_of_any_workflow_that_listens(provider, alice):
    slug = add_model("sim/cooperative:first=0").slug
    lines = [{"text": "Be brief, {name}.", "when": "refused"}]
    levels = [{"name": "none", "value": []}, {"name": "brief", "value": lines}]
    factors = [
        {"name": "script", "varies": "config.script", "levels": levels},
        {"name": "prompt", "is_prompt": True, "levels": [{"name": "Ines", "texts": {"name": "Ines"}}]},
    ]
    for workflow, config, seats in (
        ("arena", {"prompt": "Talk.", "max_turns": 3, "judge": False, "filter": False}, ("A", "B")),
        ("council", {"question": "Why?", "title": False}, ("member-1", "member-2", "chair")),
        ("debate", {"prompt": "Why?", "mode": "automatic", "refine": False}, ("A", "B", "C", "summarizer")),
    ):
        cast = {seat: {"model": slug} for seat in seats}
        design = {"workflow": workflow, "config": config, "cast": cast, "factors": factors}
        conditions = checked_design(design, owner=alice).conditions
        scripts = [[line.text for line in config.script] for config, _seated in conditions]
        assert scripts == [[], ["Be brief, Ines."]], workflow


def test_a_plan_names_what_the_design_has(provider, alice):
    unknown = {"name": "a", "outcome": "refused", "first": {"model": "none"}, "second": {"model": "long"}}
    of_nobody = {"of": "annotation", "version": str(uuid4()), "dimension": "refusal"}
    unheard = designs.plan(
        outcomes=[{"name": "refused", "kind": "score", "source": of_nobody}], contrasts=[], explored=[]
    )
    of_scores = [{**designs.plan()["contrasts"][0], "test": "mixed"}]
    further = [{**designs.plan()["contrasts"][1], "test": "mixed", "scope": "prompts"}]
    mixed = (designs.plan(contrasts=contrasts) for contrasts in (of_scores, further))
    bad = (designs.plan(contrasts=[unknown]), designs.plan(outcomes=[]), designs.plan(looks=[0.5]), unheard)
    for plan in (*bad, *mixed):
        with pytest.raises(Invalid):
            services.create(owner=alice, title="Refused", design=designs.design(), plan=plan)
    assert not Study.objects.exists()


def design(levels=4, **more):
    factors = [Factor(name=f, levels=[Level(name=f"{f}{n}") for n in range(levels)]) for f in "abc"]
    return Design(workflow="arena", **{"factors": factors, **more})


def test_in_a_latin_square_levels_meet_once_and_every_repeat_is_a_block_of_all_conditions_in_its_own_order():
    conditions = list(design(arrangement="latin", seed=5).combinations())
    pairs = Counter(pair for levels in conditions for pair in combinations(sorted(levels.values()), 2))

    assert len(conditions) == 16
    assert set(pairs.values()) == {1}
    assert conditions != list(design(arrangement="latin", seed=6).combinations())

    runs = planned_runs(design(2, repeats=3, seed=1), 8)
    blocks = [[run.condition for run in runs if run.repeat == repeat] for repeat in (1, 2, 3)]

    assert [run.number for run in runs] == list(range(1, 25))
    assert [sorted(block) for block in blocks] == [list(range(1, 9))] * 3
    assert len({tuple(block) for block in blocks}) == 3
    assert len({run.seed for run in runs}) == 24
    assert planned_runs(design(2, repeats=3, seed=1), 8) == runs


def test_levels_change_settings_participants_and_words():
    level = {"config": {"max_turns": 2}, "cast": {"A": {"params": {"temperature": 0}}}, "texts": {"who": "Ines"}}
    made = Design.model_validate({
        "workflow": "arena",
        "config": {"prompt": "Talk to {who} about {WHAT}.", "max_turns": 5, "interventions": [{"text": "{who}!"}]},
        "cast": {"A": {"model": "m"}, "B": {"model": "n"}},
        "factors": [{"name": "short", "levels": [{"name": "yes", **level}, {"name": "no"}]}],
    })  # fmt: skip
    config, cast = made.condition({"short": "yes"})

    assert config == {"prompt": "Talk to Ines about {WHAT}.", "max_turns": 2, "interventions": [{"text": "Ines!"}]}
    assert cast == {"A": {"model": "m", "params": {"temperature": 0}}, "B": {"model": "n"}}
    assert made.condition({"short": "no"}) == (made.config, made.cast)


def test_a_design_without_sense_or_end_is_refused():
    for changed in (
        {"arrangement": "list", "conditions": [{"a": "a0", "b": "b0"}]},
        {"arrangement": "list", "conditions": [{"a": "a0", "b": "b0", "c": "c9"}]},
        {"levels": 8},
        {"levels": 6, "repeats": 24},
        {"factors": [Factor(name="a", levels=[Level(name="x"), Level(name="x")])]},
        {"factors": [Factor(name=n, levels=[Level(name="x")], is_prompt=True) for n in "ab"]},
        {"factors": [Factor(name="a", levels=[Level(name="x")])], "arrangement": "latin"},
    ):
        with pytest.raises(ValidationError):
            design(**changed)


def test_of_turns_that_were_not_measured_nothing_is_assumed():
    for turns, over, value in (
        ({1: 10.0, 2: None, 3: 40.0}, "mean", (25.0, False, "")),
        ({1: 10.0, 2: 40.0, 3: None}, "last", (None, False, PARTLY_MEASURED)),
        ({1: 10.0, 2: 40.0}, "most", (40.0, False, "")),
        ({1: 10.0, 2: None}, "any", (None, False, PARTLY_MEASURED)),
        ({1: 10.0, 2: 20.0}, "any", (0.0, False, "")),
        ({1: None, 2: 21.0}, "any", (1.0, False, "")),
        ({1: 10.0, 2: 21.0, 3: 50.0}, "first_turn", (2.0, True, "")),
        ({1: 10.0, 2: 20.0, 3: None}, "first_turn", (2.0, False, "")),
        ({1: None}, "first_turn", (None, False, NOTHING_MEASURED)),
        ({}, "any", (None, False, NOTHING_MEASURED)),
    ):
        assert combined(turns, over, threshold=20.0) == Value(*value), (turns, over)
