"""What is measured of runs beside scores and flags: win rates, how answers differ, token probabilities; and labels."""

import csv
import io
import math
import zipfile
from statistics import fmean, median

import numpy as np
import pytest
from django.urls import reverse

from experiments.models import Annotation, Ballot, Call, Cycle, Message, ReviewQueue, Run, StudyCondition
from experiments.studies import charts, comparison, folder, outcomes, plan_form, results, services
from experiments.studies.design import Design
from experiments.studies.plan import SOURCES, Plan
from experiments.workflows.council import counting
from leaderboard.ratings.studies import labeled, table
from leaderboard.ratings.studies.analysis import Plan as Analyzed
from leaderboard.ratings.studies.diversity import fingerprints
from tests.experiments.reviews import scanned
from tests.experiments.studies import designs
from tests.fixtures import add_model


def test_answers_and_token_probabilities_are_analyzed_not_pooled_of_two_providers_and_missing_with_their_reasons(
    provider, alice, drive, browser, read
):
    played = designs.begun(alice, designs.sure(), designs.sure_plan(), at_once=100)
    drive()
    look = results.look(played, by=alice)
    answers, sure = look.results["results"]
    rows = list(csv.DictReader(io.StringIO(look.data)))

    assert answers["diversity"] == {"strata": 2, "left_out": 0}
    assert (answers["first"]["n"], answers["test"], answers["first"]["missing"]) == (8, "t", 0)
    assert 0 <= answers["first"]["low"] <= answers["first"]["value"] <= answers["first"]["high"] <= 1
    said = Message.objects.filter(run=rows[0]["run"], seat="model").order_by("seq").values_list("text", flat=True)
    assert rows[0]["answers.answer"] == fingerprints("\n".join(said))
    assert float(rows[0]["answers"]) == len(rows[0]["answers.answer"]) / 8

    tokens = [token for call in Call.objects.filter(run=rows[0]["run"]) for token in call.logprobs]
    chances = [math.exp(token["logprob"]) for token in tokens]
    assert float(rows[0]["sure"]) == pytest.approx(fmean(chances), abs=1e-9)
    together = [min(1, sum(math.exp(one["logprob"]) for one in token["alternatives"])) for token in tokens]
    assert float(rows[0]["sure.covered"]) == pytest.approx(fmean(together), abs=1e-9)
    provider = played.planned_runs.first().run.calls.first().model.provider.name
    assert (sure["confidence"]["providers"][0].split(" / ")[0], rows[0]["sure.missing"]) == (provider, "")
    assert sure["first"]["value"] == pytest.approx(
        fmean(float(row["sure"]) for row in rows if row["factor.model"] == "long"), abs=1e-9
    )
    plan = Analyzed.read(look.analyzed)
    read_again = table.read(plan, look.data)
    assert table.written(plan, read_again) == look.data

    page = read(browser.get(reverse("study", args=[played.pk])))
    shown = [
        row.cssselect("[data-part=rests-on]")[0].text for row in page.by_id("main").cssselect(".measures tbody tr")
    ]
    assert shown[0].strip() == "Strata compared: 2"
    assert shown[1].strip().startswith("Probability covered by the recorded alternatives: ")
    assert provider in shown[1]

    run = Run.objects.with_totals().get(pk=rows[0]["run"])
    tenth, low = np.quantile(chances, 0.1), fmean(chance < 0.5 for chance in chances)
    figures = {"mean": fmean(chances), "median": median(chances), "tenth": tenth, "low": low}
    for figure, computed in figures.items():
        source = SOURCES.validate_python({"of": "confidence", "seat": "model", "figure": figure})
        found = outcomes.reader_of(source, [run], alice)(run)
        assert found.value == pytest.approx(computed, abs=1e-9), figure

    again = services.create(owner=alice, title="Again", design=designs.sure(), plan=designs.sure_plan())
    services.lock(again, by=alice)
    StudyCondition.objects.update(study=again)
    played.planned_runs.update(study=again)
    Call.objects.update(served_provider="Another")
    results.look(again, by=alice)
    studies = comparison.chosen(alice, [str(played.pk), str(again.pk)])
    pooled = {name: comparison.of(studies, alice, name).contrasts[0].not_pooled for name in ("answers", "sure")}
    assert pooled == {"answers": "", "sure": "provider"}

    first, second, third = Run.objects.filter(planned__study=again, planned__condition__levels__model="long")[:3]
    first.calls.update(logprobs=None)
    part = second.calls.order_by("id").first()
    Call.objects.filter(pk=part.pk).update(logprobs=None)
    Call.objects.filter(pk=third.calls.first().pk).update(served_provider="Elsewhere")
    Message.objects.filter(run=third).update(text=" … ")
    look = results.look(again, by=alice)
    rows = {row["run"]: row for row in csv.DictReader(io.StringIO(look.data))}
    answers, sure = look.results["results"]

    reasons = [rows[str(run.pk)]["sure.missing"] for run in (first, second, third)]
    assert reasons == ["no_logprobs", "partly_measured", "several_providers"]
    assert rows[str(third.pk)]["answers.missing"] == "nothing_measured"
    assert (sure["first"]["missing"], answers["first"]["missing"]) == (3, 1)
    assert answers["diversity"] == {"strata": 1, "left_out": 1}
    assert answers["bounds"]["high"] > answers["bounds"]["low"]
    assert sure["bounds"]["high"] - sure["bounds"]["low"] == pytest.approx(3 / 8, abs=1e-9)


def test_win_rates_are_those_of_the_councils_ballots(provider, alice, drive):
    slugs = [add_model(f"sim/cooperative:first=0:words={words}").slug for words in (10, 40, 90)]
    seats = [f"member-{number}" for number in (1, 2, 3)]
    cast = {seat: {"model": slug} for seat, slug in zip((*seats, "chair"), (*slugs, slugs[0]), strict=True)}
    config = {"question": "Why is the sky blue?", "title": False}
    factors = [{"name": "order", "levels": [{"name": "one"}, {"name": "other"}]}]
    design = {"workflow": "council", "config": config, "cast": cast, "factors": factors, "repeats": 2}
    ranked = {"of": "ranking", "seat": "member-2"}
    plan = {
        "outcomes": [
            {"name": "wins", "kind": "score", "source": ranked, "least": 0, "most": 1},
            {"name": "wins mostly", "kind": "rate", "source": ranked | {"over": "any", "threshold": 0.5}},
        ],
        "contrasts": [{"name": "order", "outcome": "wins", "first": {"order": "one"}, "second": {"order": "other"}}],
    }
    made = designs.begun(alice, design, plan)
    drive()
    rows = outcomes.rows_of(made, Plan.model_validate(plan), reader=alice)

    assert len(rows) == 4
    for row in rows:
        cast = [
            counting.Ballot(one.reviewer, tuple(map(tuple, one.order)), tuple(one.labels.values()))
            for one in Ballot.objects.filter(run=row.run, superseded=False)
            if one.order
        ]
        borda = {one.seat: one.borda for one in counting.standings(seats, cast)}["member-2"]
        assert row.values["wins"] == pytest.approx(borda, abs=1e-9)
        assert row.values["wins mostly"] == float(borda > 0.5)

    Ballot.objects.filter(run=rows[0].run).update(order=None)
    [lost, *_kept] = outcomes.rows_of(made, Plan.model_validate(plan), reader=alice)
    assert (lost.values["wins"], lost.missing["wins"]) == (None, "nothing_measured")
    runs = Run.objects.filter(planned__study=made)
    chart = charts.chart(runs, measure="ranking:member-2", by="experiment", reader=alice)
    assert chart.measure.source == ranked
    assert sum(group.missing for group in chart.groups) == 1


def test_win_rates_of_contests_are_by_the_mean_votes_of_a_cycle(arena, start, alice):
    run = start(arena())
    votes = [{"coder-1": 4.0, "coder-2": 4.0, "coder-3": 9.0}, {"coder-1": 8.0, "coder-2": 1.0}, {"coder-2": 5.0}]
    for turn, means in enumerate(votes, 1):
        found = {"coders": ["coder-1", "coder-2", "coder-3"], "means": means}
        Cycle.objects.create(run=run, turn=turn, setter="coder-3", state=Cycle.State.RATED, found=found)
    Cycle.objects.create(run=run, turn=4, setter="coder-3", state=Cycle.State.VOID)

    def wins(over):
        source = SOURCES.validate_python({"of": "ranking", "seat": "coder-1", "over": over, "threshold": 0.5})
        return outcomes.reader_of(source, [run], alice)(run)

    assert wins("mean").value == pytest.approx((1 / 4 + 1) / 2, abs=1e-9)
    assert wins("first_turn")[:2] == (2.0, True)
    assert wins("last").missing == "partly_measured", "in the last cycle nothing compared it"


def test_a_kind_that_is_not_of_its_source_is_refused():
    said, sure = designs.SAID["source"], designs.SURE["source"]
    of_run = {"of": "run", "figure": "cost"}
    for kind, source in (
        *(("score", said), ("score", sure), ("diversity", sure), ("diversity", of_run)),
        ("confidence", designs.REFUSED),
    ):
        with pytest.raises(ValueError, match="kind of outcomes"):
            Plan.model_validate({"outcomes": [{"name": "one", "kind": kind, "source": source}]})


def test_the_form_of_a_plan_offers_them_and_reads_them_back(provider, alice):
    design = Design.model_validate(designs.sure())
    offered = {one.name: one for one in plan_form.measures(design, reader=alice)}
    assert {"answers:model:last", "confidence:model:tenth"} <= offered.keys()
    rows = [
        {"measure": offered[key].key, "over": over, "name": name, "threshold": "", "category": ""}
        for key, over, name in (("answers:model:all", "mean", "answers"), ("confidence:model:mean", "any", "sure"))
    ]
    data = {f"outcomes-{n}-{name}": value for n, row in enumerate(rows) for name, value in row.items()}
    form = plan_form.PlanForm(
        {**data, "outcomes-count": 2, "alpha": 0.05, "looks": "1"}, design=design, reader=alice, is_locked=False
    )

    assert form.is_valid(), form.errors
    plan = Plan.model_validate(form.plan())
    assert [(one.kind, one.source) for one in plan.outcomes] == [
        (one["kind"], SOURCES.validate_python(one["source"])) for one in (designs.SAID, designs.SURE)
    ]
    assert [row["measure"] for row in plan_form.values_of(plan)["outcomes"]] == [row["measure"] for row in rows]


def test_labels_of_a_closed_queue_correct_the_contrast(provider, alice, bob, browser, drive, read):
    """A scan finds a refusal in every second answer of each run; Bob says of all of them that they are none."""
    version = scanned.version_of(alice, shared=True)
    source = {"of": "annotation", "version": str(version.pk), "dimension": "refuses", "seat": "model"}
    outcomes = [{"name": "refuses", "kind": "score", "source": source, "least": 0, "most": 1}]
    contrast = {"name": "models", "outcome": "refuses", "first": {"model": "long"}, "second": {"model": "short"}}
    plan = {"outcomes": outcomes, "contrasts": [contrast]}
    study = designs.begun(alice, designs.design(repeats=1), plan)
    drive()
    scan = scanned.Scan(alice, version)
    answers = Message.objects.filter(run__planned__study=study, seat="model").order_by("pk")
    units = len(answers)
    for message in answers:
        Annotation.objects.create(
            run=message.run, message=message, unit="message", place=message.seq, turn=message.turn, subject="model",
            version=version, dimension="refuses", judge="opus", made_in=scan.run, value=message.turn % 2 == 0,
        )  # fmt: skip

    def unlabeled():
        look = results.look(study, by=alice)
        files = zipfile.ZipFile(io.BytesIO(b"".join(folder.folder(look)))).namelist()
        return (look.results["corrected"], look.labels, "study/labels.csv" in files) == ([], "", False)

    assert unlabeled()
    queue = scan.sampled(bob, size=units)
    for item in queue.items.all():
        scanned.label(item, bob, refuses=False)
    assert unlabeled(), "reviewers could read there what others said"
    ReviewQueue.objects.filter(pk=queue.pk).update(state=ReviewQueue.State.CLOSED)
    look = results.look(study, by=alice)
    [found] = look.results["corrected"]

    assert look.results["results"][0]["first"]["value"] > 0.3
    assert (sum(found["labels"]), found["first"]["value"], found["difference"]["value"]) == (units, 0.0, 0.0)
    written = labeled.read(look.labels)
    assert {(one.outcome, one.label) for one in written} == {("refuses", 0.0)}
    assert {one.stratum for one in written} == {"yes", "no"}
    page = read(browser.get(reverse("study", args=[study.pk])))
    [shown] = page.find("span", **{"data-part": "corrected"})
    assert f"Corrected by {units} labels of people: 0" in " ".join(shown.text.split())
    files = zipfile.ZipFile(io.BytesIO(b"".join(folder.folder(look))))
    assert files.read("study/labels.csv").decode() == look.labels
    assert "labels.csv: share" in files.read("study/dictionary.csv").decode()
