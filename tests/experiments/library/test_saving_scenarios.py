"""A scenario of one's own: written, saved from a run, revised without a version being lost."""

import pytest
from django.urls import reverse

from experiments.casting import InvalidExperiment
from experiments.library import keeping
from experiments.models import Scenario
from experiments.refusals import NotAllowed
from tests.cases import each_case
from tests.experiments.library.conftest import CONFIG, PROMPT

pytestmark = pytest.mark.django_db


def filled(read, page, **changes):
    """What a browser sends of the form, with these changes."""
    return {**read(page).form(id="scenario-form"), **changes}


def test_it_is_written_from_nothing(browser, alice, read):
    path = reverse("scenario-new")
    sent = filled(read, browser.get(path), title="The  well ", description="Dry.", kind="competition", prompt=PROMPT)

    response = browser.post(path, sent)
    saved = Scenario.objects.get()

    assert response["Location"] == reverse("scenario", args=[saved.pk])
    assert (saved.title, saved.description, saved.kind, saved.version) == ("The well", "Dry.", "competition", 1)
    assert (saved.owner, saved.shared, saved.config["prompt"]) == (alice, False, PROMPT)


@pytest.mark.parametrize("source", ["run", "experiment"])
def test_it_takes_over_what_a_run_was_set_up_with(browser, arena, start, read, source):
    experiment = arena(prompt=PROMPT, max_turns=9, limits={"cost": 1.5}, first="B")
    ids = {"run": start(experiment).pk, "experiment": experiment.pk}

    page = browser.get(reverse("scenario-new"), {source: ids[source]})
    sent = filled(read, page)
    browser.post(page.request["PATH_INFO"] + f"?{source}={ids[source]}", sent)

    assert sent["title"] == experiment.title
    assert Scenario.objects.get().config == experiment.config


@pytest.mark.parametrize("source", ["run", "experiment"])
def test_somebody_elses_run_is_no_source(bobs, arena, start, source):
    experiment = arena()
    id_ = {"run": start(experiment).pk, "experiment": experiment.pk}[source]

    assert bobs.get(reverse("scenario-new"), {source: id_}).status_code == 404
    assert bobs.get(reverse("scenario-new"), {source: "nonsense"}).status_code == 404


def test_complaints_stand_at_their_fields_and_what_was_typed_is_kept(browser, read):
    path = reverse("scenario-new")
    sent = filled(read, browser.get(path), title="Dry", prompt=" ", max_turns="9")

    response = browser.post(path, sent)
    page = read(response)

    assert response.status_code == 422
    assert not Scenario.objects.exists()
    assert page.by_id("id_prompt-error").text.startswith("The prompt is empty")
    assert (page.by_id("id_title").get("value"), page.by_id("id_max_turns").get("value")) == ("Dry", "9")


def test_every_complaint_of_the_settings_has_its_field(browser, read):
    path = reverse("scenario-new")
    sent = filled(read, browser.get(path), title="", prompt=PROMPT, max_turns="101")

    page = read(browser.post(path, {**sent, "limits-cost": "-1"}))

    assert {"id_title-error", "id_max_turns-error", "id_limits-cost-error"} <= {e.get("id") for e in page.root.iter()}


@each_case(
    "config",
    [{}, {"prompt": "  "}, {"prompt": "x", "seats": 3}, {"prompting": "individual"}, [], "x", None, {"prompt": "\x00"}],
)
def test_what_could_not_be_played_is_not_kept(alice, config):
    with pytest.raises(InvalidExperiment):
        keeping.save_scenario(owner=alice, title="x", config=config)
    assert not Scenario.objects.exists()


@each_case(
    "fields", [{"title": ""}, {"title": "x" * 121}, {"title": "\ud800"}, {"kind": "war"}, {"description": "x" * 2001}]
)
def test_words_that_do_not_fit_are_refused_by_name(alice, fields):
    with pytest.raises(InvalidExperiment) as refusal:
        keeping.save_scenario(owner=alice, **{"title": "x", "config": CONFIG, **fields})

    assert set(refusal.value.errors) == set(fields)


def test_a_change_is_a_new_version_and_the_old_one_stays(browser, well, read):
    path = reverse("scenario-edit", args=[well.pk])
    browser.post(path, filled(read, browser.get(path), prompt="Another text.", max_turns="7"))
    old, new = Scenario.objects.order_by("version")

    assert (old.pk, old.config["prompt"], old.config["max_turns"]) == (well.pk, PROMPT, 4)
    assert (new.version, new.family, new.config["prompt"], new.config["max_turns"]) == (
        2,
        well.family,
        "Another text.",
        7,
    )


def test_an_old_version_becomes_the_newest_again(browser, well, alice, read):
    second = keeping.revise_scenario(well, by=alice, title="Second", config={"prompt": "Other."})
    path = reverse("scenario-edit", args=[well.pk])

    browser.post(path, filled(read, browser.get(path)))
    third = Scenario.objects.get(version=3)

    assert (third.title, third.config["prompt"]) == ("The well", PROMPT)
    assert third.family == second.family


def test_planned_interventions_survive_an_edit(browser, alice, read):
    planned = [{"kind": "note", "side": "A", "turn": 1, "text": "Be firm."}]
    kept = keeping.save_scenario(owner=alice, title="x", config={**CONFIG, "interventions": planned})
    path = reverse("scenario-edit", args=[kept.pk])

    browser.post(path, filled(read, browser.get(path), prompt="Changed."))

    assert Scenario.objects.get(version=2).config["interventions"] == planned


def test_an_archived_one_leaves_the_list_and_comes_back(browser, well, read):
    browser.post(reverse("scenario-archive", args=[well.pk]), {"archived": "1"})

    assert "The well" not in read(browser.get(reverse("scenarios"))).text
    assert "The well" in read(browser.get(reverse("scenarios"), {"archived": "1"})).text

    browser.post(reverse("scenario-archive", args=[well.pk]), {"archived": "0"})

    assert "The well" in read(browser.get(reverse("scenarios"))).text


def test_a_reviewer_keeps_nothing(readers, reader, read):
    with pytest.raises(NotAllowed):
        keeping.save_scenario(owner=reader, title="x", config=CONFIG)
    path = reverse("scenario-new")

    assert readers.post(path, filled(read, readers.get(path), title="x", prompt="y")).status_code == 422
    assert not Scenario.objects.exists()


def test_there_is_a_most(alice, monkeypatch):
    monkeypatch.setattr(keeping, "MOST_SCENARIOS", 1)
    keeping.save_scenario(owner=alice, title="x", config=CONFIG)

    with pytest.raises(NotAllowed):
        keeping.save_scenario(owner=alice, title="y", config=CONFIG)
