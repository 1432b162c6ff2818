"""Starting from what somebody else has set up: the form is filled, and nothing of the other's comes along."""

from django.urls import reverse

from accounts.tokens import create_token
from experiments.models import Experiment, ProviderModel, Run
from experiments.runs import actions
from tests.cases import each_case
from tests.experiments.api.conftest import Api
from tests.experiments.reports.records import Record
from tests.fixtures import add_model, signed_in
from tests.making import maker

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
def test_a_public_experiment_fills_another_researchers_form(draft, charlie, browser, read, workflow):
    made = draft(workflow, visibility="public")
    answer = signed_in(charlie).get(reverse("experiment-clone", args=[made.pk]))
    sent = read(signed_in(charlie).get(answer["Location"])).form(id="setup")

    assert answer["Location"] == f"{reverse(workflow)}?clone={made.pk}"
    assert sent["title"] == "Kites"
    assert MODELS[0] in sent.values()
    if workflow != "coding":
        assert any("kite" in value for value in sent.values())
    assert "Dr. Vega" not in sent.values()
    if workflow == "starchamber":
        own = read(browser.get(f"{reverse(workflow)}?clone={made.pk}")).form(id="setup")
        assert "Dr. Vega" in own.values(), "its owner finds their own name again"


@each_case("workflow", [*CASTS, "battles"])
def test_what_one_may_not_see_fills_no_form(charlie, alice, workflow):
    kept = Record(alice, workflow if workflow in CASTS else "arena").run
    browser = signed_in(charlie)

    for wanted in (kept.pk, kept.experiment_id, "nonsense"):
        assert browser.get(reverse(workflow), {"clone": wanted}).status_code == 404
    assert browser.get(reverse("experiment-clone", args=[kept.experiment_id])).status_code == 404


def test_the_page_of_a_public_run_offers_to_start_from_it_as_it_was_played(draft, charlie, read, client):
    made = draft("arena", visibility="public")
    run = Run.objects.create(experiment=made, seed=1, state="completed", overrides={"max_turns": 9})
    address, browser = f"/arena/?clone={run.pk}", signed_in(charlie)

    assert address in browser.get(run.get_absolute_url()).content.decode()
    assert read(browser.get(address)).form(id="setup")["max_turns"] == "9"
    assert address not in client.get(run.get_absolute_url()).content.decode()


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
