"""Runs side by side, and set-ups that start from another one: what differs, and what people corrected."""

from django.urls import reverse

from accounts.tokens import create_token
from experiments.library.annotations import comparison
from experiments.library.annotations.comparison import differing
from experiments.models import Experiment, Judgment, ProviderModel, Run
from experiments.review import queues
from experiments.review.answers import Correction
from experiments.runs import actions
from experiments.runs.statistics.rows import repeats
from tests.cases import each_case
from tests.experiments.api.conftest import Api
from tests.experiments.reviews import reviewed
from tests.experiments.sharing.published import approved
from tests.fixtures import add_model, signed_in
from tests.making import maker

COMPARE = reverse("compare-chosen")


def ids(*runs):
    return {"run": [str(run.pk) for run in runs]}


def test_two_to_four_runs_stand_side_by_side_for_people_and_programs(browser, api, read, talk):
    said = ("I offer seven.", "No."), ("I offer nine.", "No."), ("I offer seven.",), ("Never mind that.",)
    four = [talk(*texts) for texts in said]
    page = read(browser.get(COMPARE, ids(*four)))
    rows = [row.get("data-row") for row in page.find("article")]
    assert len(page.find("section", class_="compare-column")) == 4
    assert rows == ["1", "2"] * 4
    assert [new.text for new in page.find("ins")] == ["nine."]
    assert [gone.text for gone in page.find("del")] == ["seven."]
    assert "not in run 3, 4" in page.text

    chosen = reverse("runs-chosen")
    answer = browser.post(chosen, {**ids(*four[:2]), "do": "compare"})
    assert answer["Location"] == f"{COMPARE}?run={four[0].pk}&run={four[1].pk}"
    page = read(browser.get(answer["Location"]))
    [left, right] = page.find("section", class_="compare-column")
    assert ([one.text for one in left.findall(".//del")], left.findall(".//ins")) == (["seven."], [])
    assert ([one.text for one in right.findall(".//ins")], right.findall(".//del")) == (["nine."], [])
    assert browser.post(chosen, {**ids(four[0]), "do": "compare"})["Location"] == reverse("runs")
    for runs in ([], four[:1], [*four, talk()]):
        assert browser.get(COMPARE, ids(*runs))["Location"] == reverse("runs")

    said_of = api.get("runs/compare/", **ids(*four[:3])).json()
    [first, second] = said_of["rows"]
    assert [run["id"] for run in said_of["runs"]] == ids(*four[:3])["run"]
    assert (first["kind"], second["kind"]) == ("close", "partial")
    assert [piece["change"] for piece in first["cells"][1]["pieces"]] == ["", "gone", "new"]
    assert second["cells"][2] is None
    assert {one["subject"] for one in said_of["numbers"]} == {"A", "B"}
    assert api.get("runs/compare/", **ids(four[0])).status_code == 400
    assert api.get("runs/compare/", run=["x", "y"]).status_code == 404


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


def test_runs_are_compared_by_who_may_see_them_all(client, charlie, talk):
    one, two = talk(visibility="public"), talk(visibility="public")
    approved(one, two)
    assert client.get(COMPARE, ids(one, two)).status_code == 200
    assert signed_in(charlie).get(COMPARE, ids(one, talk(visibility="lab"))).status_code == 200

    Experiment.objects.filter(pk=two.experiment_id).update(visibility="private")
    assert "/sign-in/" in client.get(COMPARE, ids(one, two))["Location"]
    assert signed_in(charlie).get(COMPARE, ids(one, two)).status_code == 404


def test_long_transcripts_take_as_many_queries_as_short_ones_and_are_capped(
    browser, talk, monkeypatch, django_assert_max_num_queries
):
    short, long = (talk("a"), talk("b")), (talk(*"abcdefgh"), talk(*"stuvwxyz"))
    with django_assert_max_num_queries(100) as first:
        browser.get(COMPARE, ids(*short))
    with django_assert_max_num_queries(100) as second:
        browser.get(COMPARE, ids(*long))
    assert len(first.captured_queries) == len(second.captured_queries)
    assert Run.objects.count() == 4

    monkeypatch.setattr(comparison, "MOST_MESSAGES", 2)
    monkeypatch.setattr(comparison, "LONGEST_TEXT", 5)
    one = talk("a", "b", "c")
    beheld = comparison.of([*comparison.chosen(one.experiment.owner, ids(one, talk("long enough"))["run"])])
    assert (beheld.left_out, beheld.shortened) == (1, 1)
    assert [cell.said.text for cell in beheld.comparison.rows[0].cells] == ["a", "long "]
    assert "beyond the first 400" in browser.get(COMPARE, ids(one, talk())).content.decode()


def test_corrections_stand_beside_the_judges_own_scores_once_the_review_is_over(mia, alice, browser, api, read):
    def judgment(item):
        return item.judgment or Judgment.objects.get(run=item.run, turn=item.message.turn, subject=item.message.seat)

    def cooperation(statistics, subject):
        return statistics.summaries[subject].measures["cooperation"].mean

    queue = reviewed.queue(alice, mia, turns=1, is_blind=False)
    Run.objects.update(origin=Run.Origin.LIVE, state=Run.State.COMPLETED)
    item = next(item for item in queue.items.order_by("number") if judgment(item).subject == "A")
    for score in (0.2, -0.6):
        one = Correction(judgment(item).pk, "cooperation", score, "It gave in.")
        reviewed.answer(item, mia, corrections=(one,))
    experiment = Run.objects.get().experiment
    assert repeats(experiment, reader=alice).corrected is None
    queues.set_open(queue, by=alice, is_open=False)
    found = repeats(experiment, reader=alice)

    assert (cooperation(found.statistics, "A"), cooperation(found.corrected, "A")) == (0.4, -0.6), "the last counts"
    assert cooperation(found.corrected, "B") == cooperation(found.statistics, "B") == 0.4
    assert (found.corrections.count, found.corrections.people) == (1, 1)

    page = read(browser.get(reverse("experiment", args=[experiment.pk])))
    assert "As judged and as corrected" in page.text
    assert "1 judge's score was corrected in review." in page.text
    said = api.get(f"experiments/{experiment.pk}/statistics/").json()
    assert said["subjects"]["A"]["measures"]["cooperation"]["mean"] == 0.4
    assert said["corrected"]["subjects"]["A"]["measures"]["cooperation"]["mean"] == -0.6
    assert (said["corrected"]["scores"], said["corrected"]["people"]) == (1, 1)


CASTS = {
    "arena": ("A", "B"),
    "starchamber": ("model",),
    "council": ("member-1", "member-2", "chair"),
    "debate": ("refiner", "A", "B", "C", "summarizer"),
    "coding": ("coder-1", "coder-2", "coder-3"),
}
CONFIGS = {
    "arena": {"prompt": "Share a kite.", "max_turns": 4},
    "starchamber": {"first_message": "Share a kite?", "persona": "Dr. Vega", "context": "You are careful."},
    "council": {"question": "Share a kite?"},
    "debate": {"prompt": "Share a kite."},
    "coding": {"cycles": 3},
}
MODELS = [f"sim/cooperative:first=0:words={words}" for words in (3, 4, 5, 6, 7)]


@maker
def draft(provider, alice, /, workflow, **fields):
    for slug in MODELS:
        add_model(slug)
    cast = {seat: {"model": slug} for seat, slug in zip(CASTS[workflow], MODELS, strict=False)}
    made = actions.create(owner=alice, workflow=workflow, title="Kites", config=CONFIGS[workflow], cast=cast)
    Experiment.objects.filter(pk=made.pk).update(**fields)
    return Experiment.objects.get(pk=made.pk)


@each_case("workflow", list(CASTS))
def test_a_public_experiment_fills_another_researchers_form_and_a_private_one_none(
    draft, charlie, browser, read, workflow
):
    made, theirs = draft(workflow), signed_in(charlie)
    for wanted in (made.pk, "nonsense"):
        assert theirs.get(reverse(workflow), {"clone": wanted}).status_code == 404
    assert theirs.get(reverse("experiment-clone", args=[made.pk])).status_code == 404
    Experiment.objects.filter(pk=made.pk).update(visibility="public")
    answer = theirs.get(reverse("experiment-clone", args=[made.pk]))
    sent = read(theirs.get(answer["Location"])).form(id="setup")

    assert answer["Location"] == f"{reverse(workflow)}?clone={made.pk}"
    assert sent["title"] == "Kites"
    assert MODELS[0] in sent.values()
    if workflow != "coding":
        assert any("kite" in value for value in sent.values())
    assert "Dr. Vega" not in sent.values()
    if workflow == "starchamber":
        own = read(browser.get(f"{reverse(workflow)}?clone={made.pk}")).form(id="setup")
        assert "Dr. Vega" in own.values(), "its owner finds their own name again"


def test_the_page_of_a_public_run_offers_to_start_from_it_as_it_was_played(draft, charlie, read, client):
    made = draft("arena", visibility="public")
    run = Run.objects.create(experiment=made, seed=1, state="completed", overrides={"max_turns": 9})
    address, browser = f"/arena/?clone={run.pk}", signed_in(charlie)

    assert address in browser.get(run.get_absolute_url()).content.decode()
    assert read(browser.get(address)).form(id="setup")["max_turns"] == "9"
    assert address not in client.get(run.get_absolute_url()).content.decode()
    Experiment.objects.filter(pk=made.pk).update(visibility="private")
    assert [browser.get(reverse(name), {"clone": run.pk}).status_code for name in ("arena", "battles")] == [404, 404]


def test_programs_clone_an_experiment_as_a_draft_of_their_own(draft, charlie):
    made = draft("arena", visibility="lab")
    api, address = Api(create_token(charlie)), f"experiments/{made.pk}/clone/"
    asked = {"title": "Kites again", "config": {"max_turns": 2}, "cast": {"B": {"model": MODELS[3]}}}
    answer = api.post(address, asked)
    clone = Experiment.objects.get(pk=answer.json()["id"])

    assert answer.status_code == 201
    assert (clone.owner, clone.title, clone.visibility) == (charlie, "Kites again", "private")
    assert (clone.config["prompt"], clone.config["max_turns"]) == ("Share a kite.", 2)
    assert [clone.participants.get(seat=seat).model.slug for seat in "AB"] == [MODELS[0], MODELS[3]]
    assert not clone.runs.exists()

    ProviderModel.objects.filter(slug=MODELS[1]).update(is_active=False)
    refused = api.post(address)
    assert refused.status_code == 400
    assert "cast.B" in refused.content.decode()
