"""The page and the API of a person in a seat: who opens it, what it shows, what it takes; and what others are told."""

import json
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.errors import Invalid
from accounts.models import AuditEntry
from arenasite.notifications import notices_of
from experiments.api.serializers import ExperimentSerializer
from experiments.library.annotations import cloning
from experiments.models import Message, Run, SeatedPerson
from experiments.review import flagging
from experiments.runs.reports.document import document
from experiments.runs.reports.importing import import_document
from experiments.runs.seats import turns
from experiments.runs.seats.answer_forms import AnswerForm
from experiments.setup.casting import checked_cast, checked_config
from experiments.setup.estimates import estimate
from experiments.workflows.debate.answers import Actions, Points
from tests.fixtures import signed_in
from tests.markup import Page

pytestmark = pytest.mark.django_db


@pytest.fixture
def played(debate, start, drive, bob):
    """A debate between Bob in seat A, somebody invited in seat B, and a model."""
    run = start(debate(A={"user": "bob"}, B={"name": "P07", "seconds": 900}, mode="automatic", refine=False))
    drive()
    return Run.objects.with_totals().get(pk=run.pk)


def seat_of(run, seat):
    return SeatedPerson.objects.select_related("experiment", "person").get(experiment=run.experiment, seat=seat)


def page_of(client, seated):
    answer = client.get(seated.get_absolute_url())
    assert answer.status_code == 200
    return answer.content.decode()


def sent(client, seated, **fields):
    [turn] = turns.open_turns(seated)
    return client.post(seated.get_absolute_url(), {"step": turn.step.pk, **fields})


def test_the_person_is_notified_sees_what_the_seat_may_see_and_answers_once(played, bob, alice, admin, drive):
    browser, seated = signed_in(bob), seat_of(played, "A")
    assert [notice.address for notice in notices_of(bob).notices] == [seated.get_absolute_url()]
    assert not notices_of(alice).notices
    assert browser.get(played.get_absolute_url()).status_code == 404, "nothing else of the run"
    assert browser.get(reverse("seat-now", args=[seated.pk]))["HX-Refresh"] == "true"
    for stranger in (Client(), signed_in(alice)):
        assert stranger.get(seated.get_absolute_url()).status_code == 404, "also to whose run it is"
    page_of(signed_in(admin), seated)
    assert AuditEntry.objects.filter(action="run_read", actor="ada").count() == 1
    page = page_of(browser, seated)
    assert "How should our lab share one telescope?" in page
    assert "sim/neutral" in page, "who is not blind is told the others"
    [timer] = Page(page).find("p", id="seat-time")
    assert 500 < int(timer.get("data-left")) <= 600
    empty = sent(browser, seated, new_perspectives=" ", counterpoints="")
    assert (empty.status_code, len(Page(empty.content.decode()).find("p", class_="field-error"))) == (422, 1)
    assert "waits for a person" in signed_in(alice).get(played.get_absolute_url()).content.decode()
    [turn] = turns.open_turns(seated)
    points = {"step": turn.step.pk, "new_perspectives": "By the night.\nBy need.", "counterpoints": ""}
    assert browser.post(seated.get_absolute_url(), points).status_code == 302
    assert browser.post(seated.get_absolute_url(), points, follow=True).status_code == 200

    [message] = played.messages.filter(seat="A")
    assert json.loads(message.raw_text)["new_perspectives"][1] == {"id": "p2", "contents": "By need."}
    drive()
    assert "By need." in page_of(browser, seated)
    assert "Nothing to answer now" in page_of(browser, seated)
    assert browser.get(reverse("seat-now", args=[seated.pk])).status_code == 204


def test_an_invitation_opens_its_seat_until_it_expires(played, bob, drive):
    sent(signed_in(bob), seat_of(played, "A"), new_perspectives="One.")
    drive()
    seated, guest = seat_of(played, "B"), Client()
    assert guest.get(seated.link, follow=True).status_code == 200
    assert guest.get(seated.link[:-2] + "x/").status_code == 404
    assert guest.get(seat_of(played, "A").get_absolute_url()).status_code == 404, "it opens no other seat"
    assert sent(guest, seated, new_perspectives="Two.").status_code == 302
    assert played.messages.get(seat="B").operator == {"kind": "seated", "by": "P07"}

    SeatedPerson.objects.filter(pk=seated.pk).update(expires=timezone.now() - timedelta(seconds=1))
    assert guest.get(seated.get_absolute_url()).status_code == 404
    assert Client().get(seated.link).status_code == 404


def test_a_blind_person_is_told_no_models_and_nobody_is_told_who_they_are(debate, start, drive, bob, alice):
    run = start(debate(A={"user": "bob", "blind": True}, mode="automatic", refine=False))
    drive()
    seated, browser = seat_of(run, "A"), signed_in(bob)
    assert "sim/" not in page_of(browser, seated)
    sent(browser, seated, new_perspectives="One.")
    drive()

    run = Run.objects.with_totals().get(pk=run.pk)
    shown = json.dumps(document(run), default=str) + json.dumps(list(run.events.values_list("data", flat=True)))
    assert "bob" not in shown
    assert ExperimentSerializer(run.experiment).data["cast"][-1]["person"]["blind"] is True


def test_documents_events_reports_and_imports_say_who_was_human(played, bob, browser, charlie, drive):
    sent(signed_in(bob), seat_of(played, "A"), new_perspectives="One.")
    drive()
    [person] = [one for one in document(played)["experiment"]["cast"] if one["seat"] == "A"]
    assert person["person"] == {"user": "bob", "name": "", "seconds": 600, "blind": False}
    assert person["model"] == ""
    created = played.events.get(type="experiment_created").data
    assert next(one for one in created["cast"] if one["seat"] == "A")["person"]["user"] == "bob"
    page = browser.get(played.get_absolute_url()).content.decode()
    assert "a person: bob" in page
    assert seat_of(played, "B").link in page
    report = browser.get(reverse("run-report", args=[played.pk, "html"])).content.decode()
    assert "Person: bob" in report

    read = json.loads(json.dumps(document(Run.objects.with_totals().get(pk=played.pk)), default=str))
    copy = import_document(read, by=charlie)
    assert [(one.seat, one.called) for one in copy.experiment.people.all()] == [("A", "bob"), ("B", "P07")]
    assert copy.messages.get(seat="A").operator["kind"] == "seated"


def test_people_cost_nothing_in_estimates(alice, debate, provider):
    experiment = debate(A={"user": "alice"}, B={"name": "P07"}, mode="automatic", refine=False)
    config = checked_config("debate", experiment.config)
    cast = {one.seat: {"model": one.model.slug} for one in experiment.participants.all()}
    cast |= {seat: {"person": {}} for seat in "AB"}
    seated = checked_cast("debate", config, cast, owner=alice)

    assert estimate("debate", config, seated, by=alice, people=["A", "B"]).typical.calls == 2


def test_what_is_wrong_with_a_person_is_named_and_none_sits_in_the_pool(debate):
    persons = {"user": "nobody", "seconds": 1, "link_hours": 0, "password": "x"}
    wrong = {f"cast.A.person.{field}": {"A": {field: value}} for field, value in persons.items()}
    for field, cast in {**wrong, "cast.pool-1": {"pool": ({"user": "bob"},)}}.items():
        with pytest.raises(Invalid) as refused:
            debate(**cast)
        assert list(refused.value.errors) == [field]


def test_a_clone_has_the_same_people_and_a_link_of_its_own(played, alice, charlie):
    played.experiment.visibility = "lab"
    played.experiment.save()
    clone = cloning.clone(played.experiment, by=alice)

    assert [(one.seat, one.called) for one in clone.people.all()] == [("A", "bob"), ("B", "P07")]
    assert clone.people.get(seat="B").link != seat_of(played, "B").link
    SeatedPerson.objects.update(is_blind=True)
    asked = str(played.experiment_id), played.experiment.workflow
    mine, theirs = (cloning.source(reader, *asked).people for reader in (alice, charlie))
    assert (mine["A"]["user"], mine["B"]["name"]) == ("bob", "P07")
    assert {one[field] for one in theirs.values() for field in ("user", "name")} == {""}, "charlie is not told"


def test_the_set_up_page_seats_people(browser, bob, provider, arena):
    arena()
    form = {"prompt": "Talk.", "prompting": "shared", "mode": "automatic", "max_turns": "1", "first": "A"}
    form |= {"seat-A-model": "sim/cooperative:first=0", "seat-B-model": "sim/competitive:first=0", "gap_seconds": "0"}
    rows = {"people-0-seat": "B", "people-0-user": "bob", "people-0-minutes": "5", "people-0-blind": "on"}
    answer = browser.post(reverse("arena"), {**form, **rows})

    assert answer.status_code == 302, Page(answer.content.decode()).find("div", class_="error-summary")
    seated = SeatedPerson.objects.get()
    assert (seated.seat, seated.person, seated.seconds, seated.is_blind) == ("B", bob, 300, True)
    assert not seated.experiment.participants.filter(seat="B").exists()

    answer = browser.post(reverse("arena"), {**form, **rows, "people-0-minutes": "soon"})
    assert answer.status_code == 422
    assert "Enter a number of minutes." in answer.content.decode()


def test_an_answer_form_gives_what_a_model_would_give_and_a_ranking_names_each_choice_once():
    form = AnswerForm(Points.schema_to_follow(), "B", {"new_perspectives": "One.\n\nTwo.", "counterpoints": ""})
    assert form.is_valid()
    assert json.loads(form.answer()) == {
        "speaker": "B",
        "new_perspectives": [{"id": "p1", "contents": "One."}, {"id": "p2", "contents": "Two."}],
        "counterpoints": [],
    }
    assert "text" in AnswerForm(None, "A", {"text": " "}).errors
    form = AnswerForm(Actions.schema_to_follow(), "summarizer", {"recommended": "Do it. (A1.p1, B1.c2)"})
    assert form.is_valid()
    assert json.loads(form.answer())["recommended"] == [
        {"id": "action_1", "sources": ["A1.p1", "B1.c2"], "contents": "Do it."}
    ]

    labels = ["Response A", "Response B"]
    ranking = {"type": "array", "items": {"type": "string", "enum": labels}}
    schema = {"type": "object", "properties": {"review": {"type": "string"}, "ranking": ranking}}
    chosen = {"review": "Fine.", "ranking-1": "Response B", "ranking-2": "Response B"}
    assert "ranking-1" in AnswerForm(schema, "member-1", chosen).errors
    form = AnswerForm(schema, "member-1", chosen | {"ranking-2": "Response A"})
    assert form.is_valid()
    assert json.loads(form.answer()) == {"review": "Fine.", "ranking": ["Response B", "Response A"]}


def post(client, address, **said):
    return client.post(address, json.dumps(said), content_type="application/json")


def test_a_seat_is_read_and_answered_once_by_its_person(played, bob, charlie, drive):
    client, address = signed_in(bob), reverse("api-seat", args=[seat_of(played, "A").pk])
    [waiting] = client.get(reverse("api-seats")).json()
    [turn] = waiting["turns"]
    assert "new_perspectives" in turn["answer_schema"]["properties"]
    assert any("telescope" in one["text"] for one in turn["shown"])
    answer = {"speaker": "A", "new_perspectives": [{"id": "p1", "contents": "By need."}], "counterpoints": []}
    refused = post(client, address, step=turn["step"], answer=" ")
    assert (refused.status_code, refused.json()["errors"]["text"]) == (400, ["The answer is empty."])

    taken = post(client, address, step=turn["step"], answer=answer)
    again = post(client, address, step=turn["step"], answer=answer)

    assert (taken.status_code, taken.json()["turns"], again.status_code) == (200, [], 409)
    assert json.loads(played.messages.get(seat="A").raw_text) == answer
    assert signed_in(charlie).get(address).status_code == 404
    assert post(signed_in(charlie), address, step=turn["step"], answer="mine").status_code == 404
    assert signed_in(charlie).get(reverse("api-seats")).json() == []
    drive()
    assert client.get(reverse("api-seats")).json() == [], "the next is asked in the other seat"


def test_a_revoked_invitation_opens_nothing_any_more_also_where_it_was_opened(played, alice, bob):
    invited, guest = seat_of(played, "B"), Client()
    assert guest.get(invited.link).status_code == 302
    assert guest.get(invited.get_absolute_url()).status_code == 200
    assert "Revoke invitation" in signed_in(alice).get(played.get_absolute_url()).content.decode()
    page, api = (reverse(name, args=[invited.pk]) for name in ("seat-revoke", "api-seat-revoke"))
    assert signed_in(bob).post(page).status_code == 404
    refused = signed_in(alice).post(reverse("api-seat-revoke", args=[seat_of(played, "A").pk]))
    assert (refused.status_code, "no invitation" in refused.json()["detail"]) == (409, True), "of a user"

    assert [signed_in(alice).post(address).status_code for address in (page, api)] == [302, 204]

    assert guest.get(invited.get_absolute_url()).status_code == 404
    assert Client().get(invited.link).status_code == 404
    assert "Revoke invitation" not in signed_in(alice).get(played.get_absolute_url()).content.decode()
    assert AuditEntry.objects.filter(action="invitation_revoked", detail__seat="B").count() == 1


def test_what_a_person_says_gets_no_flag_of_models(arena, start, drive, bob):
    run = start(arena(a={"user": "bob"}, max_turns=1, judge=False, filter=False))
    drive()
    client, address = signed_in(bob), reverse("api-seat", args=[seat_of(run, "A").pk])
    [turn] = client.get(address).json()["turns"]
    said = "As an AI language model, I cannot help with that."
    assert post(client, address, step=turn["step"], answer=said).status_code == 200
    message = Message.objects.get(run=run, seat="A")

    assert (flagging.scan([run.pk]), message.flags) == (0, [])
    message.model = "some/model"
    message.save(update_fields=["model"])
    assert flagging.scan([run.pk]) > 0, "of a model it would be one"
