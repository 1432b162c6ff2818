"""A study in the browser: set up by factors or a CSV of conditions, started, and its page with the results."""

import pytest
from django.urls import reverse

from experiments.models import Call, Run, Scenario, Study
from experiments.studies import design_form, services
from experiments.studies.design import Level
from experiments.templatetags.arena import p_value
from tests.experiments.studies import designs
from tests.fixtures import add_model


@pytest.fixture
def models(provider):
    return [add_model(f"sim/{name}:first=0").slug for name in ("refusing", "cooperative")]


def factor(number, varies, name, levels):
    return {f"factors-{number}-{part}": text for part, text in (("varies", varies), ("name", name), ("levels", levels))}


def design(models, **changed):
    return {
        "title": "Refusals",
        "first_message": "",
        "seat-model-model": models[0],
        "script-0-text": "Why, {who}?",
        "script-0-when": "always",
        "repeats": "3",
        **factor(0, "cast.model.model", "model", f"careful | {models[0]}\n{models[1]}"),
        **factor(1, "config.context", "", "none |\nlong | Be brief.\n  Be kind."),
        **factor(2, "prompt-words", "who", "Ines\nOtto"),
        **factor(3, "config.first_message", "first", "How would {who} end it?"),
        **changed,
    }


def test_a_design_a_plan_and_its_lock_are_made_in_the_browser(models, alice, browser, read):
    address = reverse("study-design-new", args=["starchamber"])
    assert read(browser.get(address)).find("select", name="factors-0-varies")
    estimated = read(browser.post(reverse("study-estimate", args=["starchamber"]), design(models)))
    assert ("8 conditions" in estimated.text, "24 runs" in estimated.text) == (True, True)
    made = browser.post(address, design(models))
    study = Study.objects.get()
    assert made["Location"] == reverse("study-plan", args=[study.pk])

    factors = study.design["factors"]
    assert [level["name"] for level in factors[0]["levels"]] == ["careful", models[1]]
    assert factors[1]["levels"][1]["value"] == "Be brief.\nBe kind."
    assert [one["is_prompt"] for one in factors] == [False, False, True, False]
    plan = reverse("study-plan", args=[study.pk])
    suggested = {name: browser.get(plan).context["form"][name].value() for name in ("outcomes", "contrasts")}
    rows = {
        f"{name}-{number}-{part}": value
        for name, several in suggested.items()
        for number, row in enumerate(several)
        for part, value in row.items()
    }
    wrong = browser.post(plan, {"alpha": "0.05", "looks": "0.5", **rows})
    assert (wrong.status_code, list(wrong.context["form"].errors)) == (422, ["__all__"]), "looks end at 1"
    judged = next(key for key, one in wrong.context["form"].measures.items() if one.source["of"] == "judgment")
    bare = {**rows, "outcomes-0-measure": judged, "outcomes-0-over": "first_turn"}
    wrong = browser.post(plan, {"alpha": "0.05", "looks": "1", **bare})
    assert (wrong.status_code, list(wrong.context["form"].errors)) == (422, ["outcomes"]), "above nothing"
    assert browser.post(plan, {"alpha": "0.05", "looks": "0.5, 1", **rows}).status_code == 302
    study.refresh_from_db()
    [outcome], contrasts = study.plan["outcomes"], study.plan["contrasts"]
    assert (outcome["kind"], outcome["source"]["flag"], len(contrasts)) == ("rate", "refusal", 2)
    sizes = read(browser.get(reverse("study-sizes", args=[study.pk]))).by_id("sizes").cssselect("tbody tr")
    assert [row.cssselect("td")[1].text for row in sizes][:2] == ["4", "12"], "runs a side"

    services.lock(study, by=alice)
    study.refresh_from_db()
    unsaid = browser.post(plan, {"alpha": "0.05", "looks": "1", **rows})
    assert (unsaid.status_code, "reason" in unsaid.context["form"].errors) == (422, True)
    assert browser.post(plan, {"alpha": "0.05", "looks": "1", "reason": "Once is enough.", **rows}).status_code == 302
    assert study.newest_plan.number == 2


def test_conditions_come_from_a_csv_and_a_draft_is_changed_as_it_was_typed(models, browser):
    sent = f'model,context | config.context\ncareful,""\ncareful,"Be\nbrief."\n{models[1]},""\n'
    others = tuple(f"factors-{number}" for number in (1, 2, 3))
    sent = {
        k: v for k, v in design(models, conditions=sent, first_message="Hello?").items() if not k.startswith(others)
    }
    assert browser.post(reverse("study-design-new", args=["starchamber"]), sent).status_code == 302
    study = Study.objects.get()
    assert study.design["conditions"] == [
        {"model": "careful", "context": "none"},
        {"model": "careful", "context": "Be brief."},
        {"model": models[1], "context": "none"},
    ]

    form = browser.get(reverse("study-design", args=[study.pk])).context["form"]
    again = {k: v for k, v in form.filled().data.items() if v is not None and not isinstance(v, list)}
    before = study.design
    assert browser.post(reverse("study-design", args=[study.pk]), again | {"title": "Better"}).status_code == 302
    study.refresh_from_db()
    assert [name for name, value in study.design.items() if value != before[name]] in ([], ["config"])
    assert study.design["config"]["script"] == before["config"]["script"]
    assert study.title == "Better"


def test_what_cannot_be_played_is_said_where_it_stands_and_nothing_is_lost(models, browser, read):
    for changed, row in (
        (factor(0, "cast.model.model", "model", "unknown/model"), 0),
        (factor(0, "", "model", "a"), 0),
        (factor(1, "words", "", "a"), 1),
        (factor(1, "saved", "context", "Nothing of this name"), 1),
        (factor(1, "config.max_turns", "turns", "many"), None),
        ({"conditions": "model,nothing\ncareful,1"}, None),
        ({"conditions": "model\nnobody"}, None),
    ):
        answer = browser.post(reverse("study-design-new", args=["starchamber"]), design(models, **changed))
        form = answer.context["form"]
        assert (answer.status_code, Study.objects.count(), bool(form.errors)) == (422, 0, True), changed
        assert row is None or form.fields["factors"].errors.keys() >= {row} or "seat-model-model" in form.errors
        assert read(answer).find("input", name="title")[0].get("value") == "Refusals"


def test_a_scenario_in_each_of_its_versions_can_be_a_level(models, alice, browser):
    config = {"prompting": "shared", "prompt": "Divide $100."}
    first = Scenario.objects.create(owner=alice, title="Budget", config=config)
    Scenario.objects.create(
        owner=alice, title="Budget", family=first.family, version=2, config=config | {"prompt": "$9."}
    )
    sent = {"title": "Budgets", "prompt": "", "judge": "", "filter": "", "max_turns": "2", "seat-A-model": models[0]}
    sent |= {"seat-B-model": models[1], **factor(0, "saved", "scenario", "Budget v1\nBudget")}
    assert browser.post(reverse("study-design-new", args=["arena"]), sent).status_code == 302

    levels = Study.objects.get().design["factors"][0]["levels"]
    assert [level["config"]["prompt"] for level in levels] == ["Divide $100.", "$9."]


def test_levels_are_read_as_they_are_written():
    text = "short | Be brief.\nBe kind,\n  and patient.\n= 5\n"
    parsed = list(design_form.parsed_levels(text))

    assert parsed == [("short", "Be brief."), ("Be kind, and patient.", "Be kind,\nand patient."), ("5", "= 5")]
    written = "\n".join(design_form.written_level(Level(name=name, value=value)) for name, value in parsed)
    assert list(design_form.parsed_levels(written)) == parsed


def test_a_study_is_locked_started_and_analyzed_on_its_page(provider, alice, browser, drive, read):
    plan = designs.plan()
    plan["explored"] = [*plan["explored"], designs.SOONER]
    study = services.create(owner=alice, title="Refusals <b>", design=designs.design(repeats=1), plan=plan)
    address = reverse("study", args=[study.pk])
    [link] = read(browser.get(reverse("studies"))).find("a", href=address)
    assert link.text == "Refusals <b>"
    assert browser.get(reverse("study-design", args=[study.pk]))["Location"] == address, "made by no form"

    for verb in ("lock", "start"):
        assert read(browser.get(address)).find("form", action=f"{address}{verb}/")
        assert browser.post(f"{address}{verb}/").status_code == 302
    drive()
    live = read(browser.get(address, headers={"HX-Request": "true"})).by_id("study-live")
    assert (live.get("data-state"), live.get("hx-get")) == ("completed", None), "else a click anywhere loads the page"
    assert [link.text for link in live.cssselect("td a")] == ["1/1"] * 8
    browser.post(f"{address}look/")

    page = read(browser.get(address))
    results_part = page.by_id("results-title").getparent().getparent()
    found = results_part.cssselect(".measures tbody tr")
    names = ("tokens of models tokens", "refusals of models refused", "refusals of contexts refused")
    assert [row.cssselect("th")[0].text for row in found] == [*names, "models in time sooner"]
    assert [row.cssselect(".badge")[0].text for row in found][1:] == ["not found", "exploratory", "exploratory"]
    assert "mixed model" in found[2].text.casefold()
    assert all(row.cssselect("svg.strip") for row in found)
    [curves] = results_part.cssselect("figure.curves")
    links = [link.get("href").split("?")[1] for link in curves.cssselect(".curve-names a")]
    assert links == [f"contrast=models+in+time&side={side}" for side in ("first", "second")]
    assert [len(line.cssselect("polyline")) for line in curves.cssselect("g.line")] == [1, 1]
    turns = {
        row.cssselect("th")[0].text: [cell.text for cell in row.cssselect("td")] for row in curves.cssselect("tbody tr")
    }
    assert [turns["0"][at] for at in (1, 3)] == ["4", "4"], "all runs are at risk in the beginning"
    assert {band.get("aria-label").split(":")[0] for band in curves.cssselect(".band")} == {f"Turn {n}" for n in turns}
    behind = read(browser.get(f"{address}runs/{found[0].cssselect('td a')[0].get('href').split('/')[-1]}"))
    rows = behind.by_id("study-runs").cssselect("tbody tr")
    assert [(row.cssselect("td")[0].text.split(", ")[0], len(row.cssselect("th a"))) for row in rows] == [
        ("long", 1)
    ] * 4
    assert browser.get(f"{address}folder/")["Content-Type"] == "application/zip"
    assert browser.post(f"{address}erase/").status_code == 404
    assert [p_value(one) for one in (None, 0.0, 0.00009, 0.0312)] == ["–", "< 0.0001", "< 0.0001", "0.0312"]


def test_runs_that_wait_for_a_person_and_models_of_several_upstreams_are_told(provider, alice, browser, drive, read):
    study = designs.begun(alice, designs.small(), designs.small_plan())
    address, api = study.get_absolute_url(), reverse("api-study-detail", args=[study.pk])
    runs = Run.objects.filter(planned__study=study)
    runs.update(state=Run.State.WAITING)
    live = read(browser.get(address)).by_id("study-live")
    assert live.get("data-state") == "running"
    [waiting] = live.cssselect("[data-part=waiting]")
    assert "4 runs" in " ".join(waiting.text.split())

    runs.update(state=Run.State.QUEUED)
    drive()
    assert browser.get(api).json()["upstreams"] == []
    calls = Call.objects.filter(run__planned__study=study, state="completed").order_by("pk")
    changed = calls.first()
    calls.filter(pk=changed.pk).update(served_provider="Elsewhere")
    [told] = browser.get(api).json()["upstreams"]
    assert (told["name"], told["upstreams"][-1]) == (changed.model.slug, {"name": "Elsewhere", "answers": 1})
    page = " ".join(browser.get(address, headers={"HX-Request": "true"}).content.decode().split())
    assert "was served by several upstreams:" in page
    assert "Elsewhere (1)." in page
