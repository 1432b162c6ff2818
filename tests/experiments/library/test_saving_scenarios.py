"""A scenario of one's own, on its page and over the API: written, saved from a run, revised, no version being lost."""

import pytest
from django.urls import reverse

from accounts.errors import Forbidden, Invalid
from experiments.library import presets, scenarios
from experiments.models import Run, Scenario
from tests.cases import each_case
from tests.experiments.library.conftest import CONFIG, PROMPT


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


def test_complaints_stand_at_their_fields_and_what_was_typed_is_kept(browser, read):
    path = reverse("scenario-new")
    sent = filled(read, browser.get(path), title="Dry", prompt=" ", max_turns="9")
    response = browser.post(path, sent)
    page = read(response)
    assert response.status_code == 422
    assert page.by_id("id_prompt-error").text.startswith("The prompt is empty")
    assert (page.by_id("id_title").get("value"), page.by_id("id_max_turns").get("value")) == ("Dry", "9")

    page = read(browser.post(path, {**sent, "title": "", "max_turns": "101", "limits-cost": "-1"}))
    assert {"id_title-error", "id_max_turns-error", "id_limits-cost-error"} <= {e.get("id") for e in page.root.iter()}
    assert not Scenario.objects.exists()


@each_case(
    "fields",
    [
        *({"config": wrong} for wrong in ({}, {"prompt": "  "}, {"prompt": "x", "seats": 3}, [], None)),
        {"title": ""},
        {"title": "x" * 121},
        {"title": "\ud800"},
        {"kind": "war"},
        {"description": "x" * 2001},
    ],
)
def test_what_could_not_be_played_or_does_not_fit_is_refused_by_name(alice, fields):
    with pytest.raises(Invalid) as refusal:
        scenarios.save_scenario(owner=alice, **{"title": "x", "config": CONFIG, **fields})

    assert {name.partition(".")[0] for name in refusal.value.errors} == set(fields)
    assert not Scenario.objects.exists()


def test_a_change_is_a_new_version_and_an_old_one_can_become_the_newest_again(browser, well, read):
    path = reverse("scenario-edit", args=[well.pk])
    browser.post(path, filled(read, browser.get(path), prompt="Another text.", max_turns="7"))
    old, new = Scenario.objects.order_by("version")
    assert (old.pk, old.config["prompt"], old.config["max_turns"]) == (well.pk, PROMPT, 4)
    assert (new.version, new.family) == (2, well.family)
    assert (new.config["prompt"], new.config["max_turns"]) == ("Another text.", 7)

    browser.post(path, filled(read, browser.get(path)))
    third = Scenario.objects.get(version=3)
    assert (third.family, third.title, third.config["prompt"]) == (well.family, "The well", PROMPT)


def test_planned_interventions_survive_an_edit(browser, alice, read):
    planned = [{"kind": "note", "side": "A", "turn": 1, "text": "Be firm."}]
    kept = scenarios.save_scenario(owner=alice, title="x", config={**CONFIG, "interventions": planned})
    path = reverse("scenario-edit", args=[kept.pk])

    browser.post(path, filled(read, browser.get(path), prompt="Changed."))

    assert Scenario.objects.get(version=2).config["interventions"] == planned


def test_a_script_is_shown_and_survives_an_edit(browser, alice, read):
    script = [{"text": "Agree now.", "when": "lacks", "pattern": "deal", "to": "B"}]
    kept = scenarios.save_scenario(owner=alice, title="x", config={**CONFIG, "script": script})
    path = reverse("scenario-edit", args=[kept.pk])

    browser.post(path, filled(read, browser.get(path), prompt="Changed."))

    second = Scenario.objects.get(version=2)
    assert second.config["script"] == script
    shown = read(browser.get(reverse("scenario", args=[second.pk]))).text
    assert ("Agree now." in shown, "deal" in shown) == (True, True)


def test_an_archived_one_leaves_the_list_and_comes_back(browser, well, read):
    browser.post(reverse("scenario-archive", args=[well.pk]), {"archived": "1"})

    assert "The well" not in read(browser.get(reverse("scenarios"))).text
    assert "The well" in read(browser.get(reverse("scenarios"), {"archived": "1"})).text

    browser.post(reverse("scenario-archive", args=[well.pk]), {"archived": "0"})

    assert "The well" in read(browser.get(reverse("scenarios"))).text


def test_there_is_a_most_and_reviewers_keep_nothing(alice, reader, readers, well, shy, read, monkeypatch):
    monkeypatch.setattr(scenarios, "MOST_SCENARIOS", 1)
    monkeypatch.setattr(presets, "MOST_PRESETS", 1)
    for person in (alice, reader):
        with pytest.raises(Forbidden):
            scenarios.save_scenario(owner=person, title="y", config=CONFIG)
        with pytest.raises(Forbidden):
            presets.save_preset(owner=person, name="x", context="y")

    path = reverse("scenario-new")
    assert readers.post(path, filled(read, readers.get(path), title="x", prompt="y")).status_code == 403
    assert readers.post(reverse("presets"), {"name": "x", "context": "y"}).status_code == 403
    readers.post(reverse("scenario-demonstration", args=["bidding-war"]))
    assert not Run.objects.exists()


def test_the_page_keeps_what_was_typed_and_offers_to_save_after_the_rival(browser, alice, well, read):
    path = reverse("scenario-edit", args=[well.pk])
    sent = filled(read, browser.get(path), prompt="Mine.")
    scenarios.revise_scenario(well, by=alice, title="Theirs", config=CONFIG)

    response = browser.post(path, sent)
    page = read(response)

    assert response.status_code == 409
    assert "Version 2 of this scenario was saved in the meantime" in page.text
    assert page.by_id("id_prompt").text == "Mine."

    browser.post(path, page.form(id="scenario-form"))

    assert Scenario.objects.get(version=3).config["prompt"] == "Mine."


@each_case("base", ["99", "-1", "x"])
def test_a_forged_base_saves_nothing(browser, well, read, base):
    path = reverse("scenario-edit", args=[well.pk])

    response = browser.post(path, filled(read, browser.get(path), base=base))

    assert response.status_code in {404, 422}
    assert Scenario.objects.count() == 1


def test_over_the_api_one_is_saved_shared_revised_archived_and_copied(api):
    wrong = {**CONFIG, "max_turns": 0, "limits": {"cost": -1}}
    refused = api.post("scenarios/", {"title": "x", "config": wrong})
    assert (refused.status_code, set(refused.json()["errors"])) == (400, {"config.max_turns", "config.limits.cost"})

    saved = api.post("scenarios/", {"title": "The well", "config": CONFIG})
    assert saved.status_code == 201
    id_ = saved.json()["id"]
    assert saved.json()["kind"] == "mixed"

    assert api.post(f"scenarios/{id_}/share/").json()["shared"] is True
    newer = api.post(f"scenarios/{id_}/versions/", {"title": "Two wells", "config": CONFIG}).json()
    assert (newer["version"], newer["shared"]) == (2, True)
    assert [v["version"] for v in newer["versions"]] == [2, 1]
    assert api.post(f"scenarios/{id_}/versions/", {"title": "x", "config": CONFIG}).status_code == 409, "not the newest"
    assert api.post(f"scenarios/{newer['id']}/archive/").json()["archived"] is True
    assert api.post(f"scenarios/{id_}/copy/").status_code == 201
    assert Scenario.objects.filter(archived=True).count() == 2


def test_the_api_gives_a_built_in_one_by_its_slug_and_changes_none(api):
    answer = api.get("scenarios/bidding-war/").json()

    assert (answer["id"], answer["builtin"], answer["owner"], answer["version"]) == ("bidding-war", True, None, 1)
    assert answer["versions"] == [{"id": "bidding-war", "version": 1, "title": "Bidding war"}]
    assert api.post("scenarios/bidding-war/share/").status_code == 403
    assert api.post("scenarios/bidding-war/versions/", {"title": "x", "config": CONFIG}).status_code == 403
