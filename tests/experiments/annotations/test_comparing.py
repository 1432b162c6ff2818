"""Two to four runs side by side: their set-ups, what they came to, and what was said."""

import pytest
from django.urls import reverse

from experiments.library.annotations import comparison
from experiments.library.annotations.comparison import differing
from experiments.models import Experiment, Run
from tests.experiments.sharing.published import approved
from tests.fixtures import signed_in

COMPARE = reverse("compare-chosen")


def ids(*runs):
    return {"run": [str(run.pk) for run in runs]}


@pytest.fixture
def four(talk):
    return [
        talk("I offer seven.", "No."),
        talk("I offer nine.", "No."),
        talk("I offer seven."),
        talk("Never mind that."),
    ]


def test_four_runs_stand_side_by_side(browser, read, four):
    page = read(browser.get(COMPARE, ids(*four)))
    rows = [row.get("data-row") for row in page.find("article")]
    assert len(page.find("section", class_="compare-column")) == 4
    assert rows == ["1", "2"] * 4
    assert [new.text for new in page.find("ins")] == ["nine."]
    assert [gone.text for gone in page.find("del")] == ["seven."]
    assert "not in run 3, 4" in page.text

    page = read(browser.get(COMPARE, ids(*four[:2])))
    [left, right] = page.find("section", class_="compare-column")
    assert ([one.text for one in left.findall(".//del")], left.findall(".//ins")) == (["seven."], [])
    assert ([one.text for one in right.findall(".//ins")], right.findall(".//del")) == (["nine."], [])


def test_what_was_set_up_differently_is_shown_and_the_rest_counted(browser, read, talk):
    one, two = talk(), talk()
    config = {**two.experiment.config, "prompt": "Share nine solar panels.", "max_turns": 7, "filter": False}
    Experiment.objects.filter(pk=two.experiment_id).update(config=config)
    two.experiment.participants.filter(seat="A").update(params={"temperature": 0.5}, persona="Dr. Vega")
    beheld = comparison.of(comparison.chosen(one.experiment.owner, ids(one, two)["run"]))
    found = {setting.name: setting.words for setting in beheld.settings}

    assert found["prompt"] == ("Share seven solar panels.", "Share nine solar panels.")
    assert found["max_turns"] == ("5", "7")
    assert found["cast.A.temperature"] == ("–", "0.5")
    assert found["cast.A.persona"] == ("–", "Dr. Vega")
    assert found["filter"] == ("yes", "no")
    assert beheld.settings_alike > 5
    assert "Prompt for both" in read(browser.get(COMPARE, ids(one, two))).text

    Experiment.objects.filter(pk=two.experiment_id).update(workflow="debate")
    settings, _alike = differing([one, Run.objects.get(pk=two.pk)])
    assert {setting.name: setting.words for setting in settings}["workflow"] == ("arena", "debate")
    Experiment.objects.filter(pk=two.experiment_id).update(workflow="arena")
    long = "Two villages share one well and seven solar panels. " * 3
    for run, end in ((one, "Be kind."), (two, "Be firm.")):
        Experiment.objects.filter(pk=run.experiment_id).update(config={**run.experiment.config, "prompt": long + end})
    beheld = comparison.of(comparison.chosen(one.experiment.owner, ids(one, two)["run"]))
    [prompt] = [setting for setting in beheld.settings if setting.name == "prompt"]
    assert [piece.text for piece in prompt.pieces[1] if piece.change] == ["kind.", "firm."]


def test_long_transcripts_are_capped_and_it_is_said(browser, talk, monkeypatch):
    monkeypatch.setattr(comparison, "MOST_MESSAGES", 2)
    monkeypatch.setattr(comparison, "LONGEST_TEXT", 5)
    one = talk("a", "b", "c")
    beheld = comparison.of([*comparison.chosen(one.experiment.owner, ids(one, talk("long enough"))["run"])])

    assert (beheld.left_out, beheld.shortened) == (1, 1)
    assert [cell.said.text for cell in beheld.comparison.rows[0].cells] == ["a", "long "]
    assert "beyond the first 400" in browser.get(COMPARE, ids(one, talk())).content.decode()


def test_ticked_runs_lead_to_their_comparison_and_one_or_five_are_not_compared(browser, talk, four):
    chosen = reverse("runs-chosen")
    answer = browser.post(chosen, {**ids(*four[:2]), "do": "compare"})
    assert answer["Location"] == f"{COMPARE}?run={four[0].pk}&run={four[1].pk}"
    assert browser.post(chosen, {**ids(four[0]), "do": "compare"})["Location"] == reverse("runs")

    for runs in ([], four[:1], [*four, talk()]):
        assert browser.get(COMPARE, ids(*runs))["Location"] == reverse("runs")


def test_runs_are_compared_by_who_may_see_them_all(client, charlie, talk):
    one, two = talk(visibility="public"), talk(visibility="public")
    approved(one, two)
    assert client.get(COMPARE, ids(one, two)).status_code == 200
    assert signed_in(charlie).get(COMPARE, ids(one, talk(visibility="lab"))).status_code == 200

    Experiment.objects.filter(pk=two.experiment_id).update(visibility="private")
    assert "/sign-in/" in client.get(COMPARE, ids(one, two))["Location"]
    assert signed_in(charlie).get(COMPARE, ids(one, two)).status_code == 404


def test_programs_compare_runs(api, four):
    said_of = api.get("runs/compare/", **ids(*four[:3])).json()
    [first, second] = said_of["rows"]

    assert [run["id"] for run in said_of["runs"]] == ids(*four[:3])["run"]
    assert (first["kind"], second["kind"]) == ("close", "partial")
    assert [piece["change"] for piece in first["cells"][1]["pieces"]] == ["", "gone", "new"]
    assert second["cells"][2] is None
    assert {one["subject"] for one in said_of["numbers"]} == {"A", "B"}
    assert api.get("runs/compare/", **ids(four[0])).status_code == 400
    assert api.get("runs/compare/", run=["x", "y"]).status_code == 404


def test_as_many_queries_for_long_talks_as_for_short_ones(browser, talk, django_assert_max_num_queries):
    short, long = (talk("a"), talk("b")), (talk(*"abcdefgh"), talk(*"stuvwxyz"))
    with django_assert_max_num_queries(100) as first:
        browser.get(COMPARE, ids(*short))
    with django_assert_max_num_queries(100) as second:
        browser.get(COMPARE, ids(*long))

    assert len(first.captured_queries) == len(second.captured_queries)
    assert Run.objects.count() == 4
