"""Flags with their history, which runs count and are shown; and the desk at which curators decide."""

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.errors import Forbidden, Invalid
from accounts.models import AuditEntry
from accounts.tokens import create_token
from experiments.library.datasets import demonstration
from experiments.library.search import indexing
from experiments.models import Battle, Experiment, Message, Run, RunReview
from experiments.review import curation, desk, flagging, queues, slots
from experiments.workflows.base.flags import VERSION, flags
from experiments.workflows.battles.campaign.boards import model_board
from experiments.workflows.battles.campaign.voiding import WITH_RUN
from leaderboard.boards import council
from tests.experiments import contest_rows
from tests.experiments.api.conftest import Api
from tests.experiments.reports import deliberations
from tests.experiments.reviews import reviewed
from tests.fixtures import add_model, signed_in

SORRY = "I'm sorry, but I can't help with that."


def test_what_a_scanner_sees_in_a_reply():
    role_confusion = "As an AI language model, I have no stake in this."
    for text, finish, found in (
        (SORRY, "stop", ["refusal"]),
        ("很抱歉，我无法回答。", "stop", ["refusal"]),
        ("I can't agree to that price.", "stop", []),
        ("I'm sorry that you lost the panels. We offer two.", "stop", []),
        (role_confusion, "stop", ["role_confusion"]),
        ("We offer two panels and", "length", ["truncated"]),
        ("Model B: we accept.", "stop", ["speaks_for_other"]),
    ):
        assert flags(text, "A", (), finish) == found, text
    assert flags(role_confusion, "model") == [], "a single model may say what it is"


@pytest.fixture
def record(alice):
    made = reviewed.record(alice, 1)
    made.reply("A", 2, SORRY)
    return made


@pytest.fixture
def message(record):
    return Message.objects.get(run=record.run, turn=2)


def test_old_transcripts_are_scanned_once(record, message, capsys):
    call_command("scan")
    assert "1 flags are new" in capsys.readouterr().out
    call_command("scan", str(record.run.pk))
    assert "0 flags are new" in capsys.readouterr().out

    message.refresh_from_db()
    assert message.flags == ["refusal"]
    assert [deed.scanner for deed in message.flag_deeds.all()] == [VERSION]
    with pytest.raises(CommandError):
        call_command("scan", "nonsense")


def test_a_flag_is_dismissed_with_a_reason_by_those_who_may_and_stays_away_from_scanners(
    record, message, alice, bob, charlie
):
    flagging.scan([record.run.pk])
    for refused, error in (
        (lambda: flagging.dismiss(message, "refusal", by=alice, reason=" "), Invalid),
        (lambda: flagging.set_flag(message, "invented", by=alice), Invalid),
        (lambda: flagging.set_flag(message, "refusal", by=charlie), Forbidden),
    ):
        with pytest.raises(error):
            refused()
    assert flagging.dismiss(message, "refusal", by=alice, reason="It is a quotation.")
    flagging.scan([record.run.pk])

    message.refresh_from_db()
    assert message.flags == []
    told = [(deed.is_set, deed.by, deed.reason) for deed in flagging.history(message)]
    assert told == [(True, "", ""), (False, "alice", "It is a quotation.")]

    Message.objects.filter(pk=message.pk).update(flags=["truncated"])
    message.refresh_from_db()
    flagging.dismiss(message, "truncated", by=alice, reason="No.")
    told = [(deed.flag, deed.is_set, deed.at is None) for deed in flagging.history(message)]
    assert ("truncated", True, True) in told, "what the recording noticed has no moment"
    slots.next_item(reviewed.queue(alice, bob, played=False), by=bob)
    assert flagging.set_flag(message, "refusal", by=bob)


def test_pages_show_flags_and_decisions_to_everybody_with_their_reasons(record, message, alice, cora, read):
    flags, curated = (f"/runs/{record.run.pk}/{page}/" for page in ("flags", "curation"))
    browser = signed_in(alice)
    browser.post(flags, {"message": message.pk, "flag": "refusal", "reason": "Plainly."})
    browser.post(flags, {"message": message.pk, "flag": "refusal", "deed": "dismiss", "reason": "A quotation."})
    message.refresh_from_db()
    assert message.flags == []
    assert all(reason in read(browser.get(flags)).text for reason in ("Plainly.", "A quotation."))

    Experiment.objects.filter(pk=record.run.experiment_id).update(visibility="lab")
    assert browser.post(curated, {"deed": "approve"}).status_code == 403
    signed_in(cora).post(curated, {"deed": "exclude", "reason": "A test run."})
    assert "A test run." in read(browser.get(curated)).text
    assert RunReview.objects.get().excluded_by == cora


@pytest.mark.databases
def test_a_run_is_published_by_curators_after_its_approval_and_that_of_its_siblings_as_it_is_now(record, alice, cora):
    read_before = Run.objects.get(pk=record.run.pk)
    Run.objects.filter(pk=record.run.pk).update(state="queued")

    with pytest.raises(Invalid):
        curation.approve(read_before, by=cora)
    assert not Run.objects.filter(pk=record.run.pk, review__approved__isnull=False).exists()
    Run.objects.filter(pk=record.run.pk).update(state="completed")

    run = record.run
    for deed in curation.ACTIONS:
        with pytest.raises(Forbidden):
            curation.act(deed, run, by=alice, reason="why")
    with pytest.raises(Invalid, match="Approve"):
        curation.publish(run, by=cora)
    assert curation.approve(run, by=cora)
    assert not curation.approve(run, by=cora)
    sibling = Run.objects.create(experiment=run.experiment, seed=8, state="completed")
    with pytest.raises(Invalid, match="not approved"):
        curation.publish(run, by=cora)
    curation.approve(sibling, by=cora)

    assert curation.publish(run, by=cora)
    assert Experiment.objects.get(pk=run.experiment_id).visibility == "public"
    assert curation.withdraw(run, by=cora)
    assert Experiment.objects.get(pk=run.experiment_id).visibility == "lab"


def test_ballots_and_cycles_of_an_excluded_run_count_no_more_and_those_void_before_stay_void(alice, cora):
    run = deliberations.council(alice).run
    Run.objects.filter(pk=run.pk).update(origin="live")
    before, state = len(list(council.pairings())), council.newest()
    curation.exclude(run, by=cora, reason="A test.")
    assert list(council.pairings()) == []
    assert council.newest() != state
    curation.include(run, by=cora)
    assert len(list(council.pairings())) == before > 0

    contest = contest_rows.contest(alice, 2)
    curation.cycle_voiding.void(contest.run.cycles.get(turn=1), by=cora, reason="Earlier.")
    curation.exclude(contest.run, by=cora, reason="Leaked.")
    reasons = contest.run.cycles.order_by("turn").values_list("void_reason", flat=True)
    assert list(reasons) == ["Earlier.", "Leaked."]
    curation.include(contest.run, by=cora)
    assert list(reasons.all()) == ["Earlier.", ""]


def test_battles_of_an_excluded_run_say_that_it_was_and_not_why(record, alice, cora, provider):
    dataset = demonstration.make_text(alice)
    board = model_board(dataset, add_model("sim/judge:first=0"), prompt="text_quality", prompt_version="1", params={})
    left, right = dataset.contestants.order_by("pk")[:2]
    pair = {"board": board, "sample": dataset.samples.first(), "left": left, "right": right}
    battle = Battle.objects.create(run=record.run, winner="left", **pair)

    said = {"by": cora, "reason": "It plays on a patient's record."}
    assert [curation.exclude(record.run, **said) for _ in range(2)] == [True, False]

    battle.refresh_from_db()
    assert battle.void_reason == WITH_RUN
    shown = signed_in(alice).get(reverse("battle", args=[battle.pk]), headers={"Accept-Language": "zh-hans"})
    assert "它所属的运行" in shown.content.decode()
    curation.include(record.run, by=cora)
    battle.refresh_from_db()
    assert battle.void_reason == ""


@pytest.fixture
def run(alice):
    """A private run of Alice's that has ended, with one flagged message."""
    record = reviewed.record(alice, 1)
    Message.objects.filter(run=record.run, seat="A").update(flags=["refusal"], reasoning="I plan to <b>hide</b> it.")
    indexing.everything(only_missing=False)
    return record.run


def address(run):
    return reverse("review-desk-run", args=[run.pk])


def test_a_curator_approves_and_publishes_in_at_most_five_interactions_from_home(run, alice, cora, read):
    signed_in(alice).post(f"/runs/{run.pk}/curation/", {"deed": "submit"})
    browser, interactions = signed_in(cora), 0
    page = read(browser.get("/", follow=True))
    for wanted in ("/review/", reverse("review-desk"), address(run)):
        found = next(one.get("href") for one in page.find("a") if one.get("href", "").split("?")[0] == wanted)
        page, interactions = read(browser.get(found)), interactions + 1
    [button] = [one for one in page.find("button") if one.get("value") == "approve_and_publish"]
    browser.post(address(run), {button.get("name"): button.get("value")})

    assert Experiment.objects.get(pk=run.experiment_id).visibility == "public"
    assert interactions + 1 <= 5


def test_a_private_run_is_read_by_administrators_and_while_its_owner_submits_it_by_curators_which_is_recorded(
    run, alice, cora, people, read
):
    browser = signed_in(people("root", "admin", is_staff=True, is_superuser=True))

    assert browser.get(address(run)).status_code == 200
    assert browser.post(address(run), {"deed": "approve_and_publish"}).status_code == 404
    browser.get(reverse("review-desk"), {"show": "all", "search": "panels"})
    assert set(AuditEntry.objects.values_list("action", flat=True)) == {"run_read", "runs_searched"}

    browser = signed_in(cora)
    assert browser.get(address(run)).status_code == 404
    assert signed_in(alice).get(address(run)).status_code == 404, "the desk is the curators'"
    curation.submit(run, by=alice)

    text = read(browser.get(address(run))).text
    assert "I plan to <b>hide</b> it." in text
    assert "refuses" in text
    assert browser.get(run.get_absolute_url()).status_code == 404, "at the desk alone"
    assert AuditEntry.objects.filter(action="run_read", actor="cora", target=f"run:{run.pk}").count() == 1
    curation.take_back(run, by=alice)
    assert browser.get(address(run)).status_code == 404


def test_a_run_is_returned_by_page_or_program_with_a_reason_and_submitted_again(run, alice, cora, read):
    curation.submit(run, by=alice)
    browser = signed_in(cora)
    browser.post(address(run), {"deed": "return", "reason": ""})
    assert Run.objects.undecided().filter(pk=run.pk).exists(), "a reason is missing"
    api = Api(create_token(cora))
    told = api.get(f"review/runs/{run.pk}/").json()
    assert (len(told["messages"]), len(told["judgments"])) == (2, 2)
    assert told["run"]["curation"]["submitted"]
    decided = api.post(f"review/runs/{run.pk}/", {"deed": "return", "reason": "Name the models."}).json()
    assert decided["curation"]["reason"] == "Name the models."

    assert desk.counts(cora).to_approve == 0
    assert "Name the models." in read(signed_in(alice).get(f"/runs/{run.pk}/curation/")).text
    assert curation.submit(run, by=alice)
    assert not curation.submit(run, by=alice)
    assert desk.counts(cora) == desk.Counts(to_approve=1, flagged=1)
    with CaptureQueriesContext(connection) as few:
        desk.counts(cora)
    for _ in range(3):
        curation.submit(reviewed.record(alice, 1).run, by=alice)
    with CaptureQueriesContext(connection) as many:
        assert desk.counts(cora) == desk.Counts(to_approve=4, flagged=1)
    assert len(many) == len(few) <= 2
    assert desk.fitting(cora, desk.FLAGGED, {}).get() == run, "the others have no flag"


def test_what_is_looked_for_at_the_desk(run, alice, bob, dora, cora):
    Experiment.objects.filter(pk=run.experiment_id).update(visibility="lab")
    queue = queues.make(by=alice, name="Two", rubric=reviewed.rubric(), overlap=2, members=["bob", "dora"])
    reviewed.answer(queue.items.first(), bob, 0.0)
    reviewed.answer(queue.items.first(), dora, 1.0)
    browser, api = signed_in(cora), Api(create_token(cora))

    for asked, finds in (
        *((one, True) for one in ({"search": "panels"}, {"owner": "alice"}, {"flag": "refusal"}, {"show": "flagged"})),
        ({"disagreement": "0.25"}, True),
        *((one, False) for one in ({"search": "nowhere"}, {"flag": "truncated"}, {"workflow": "council"})),
        *((one, False) for one in ({"disagreement": "0.75"}, {"show": "approved"})),
    ):
        page = browser.get(reverse("review-desk"), asked)
        listed = api.get("review/runs/", **asked).json()["results"]
        assert [one.pk for one in page.context["rows"]] == ([run.pk] if finds else []), asked
        assert [one["id"] for one in listed] == ([str(run.pk)] if finds else []), asked
