"""Flags with their history, and which runs count and are shown."""

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from accounts.errors import Forbidden, Invalid
from accounts.models import AuditEntry
from experiments.library.datasets import demonstration
from experiments.models import Battle, Experiment, Message, Run, RunReview
from experiments.review import curation, flagging, slots
from experiments.workflows.base.flags import VERSION, flags
from experiments.workflows.battles.campaign.boards import model_board
from experiments.workflows.battles.campaign.voiding import WITH_RUN
from leaderboard.boards import council
from tests.cases import each_case
from tests.experiments import contest_rows
from tests.experiments.reports import deliberations
from tests.experiments.reviews import reviewed
from tests.fixtures import add_model, signed_in

SORRY = "I'm sorry, but I can't help with that."


@each_case(
    ("text", "finish", "found"),
    [
        (SORRY, "stop", ["refusal"]),
        ("很抱歉，我无法回答。", "stop", ["refusal"]),
        ("I can't agree to that price.", "stop", []),
        ("I'm sorry that you lost the panels. We offer two.", "stop", []),
        ("As an AI language model, I have no stake in this.", "stop", ["role_confusion"]),
        ("We offer two panels and", "length", ["truncated"]),
        ("Model B: we accept.", "stop", ["speaks_for_other"]),
    ],
)
def test_what_a_scanner_sees_in_a_reply(text, finish, found):
    assert flags(text, "A", (), finish) == found
    if found == ["role_confusion"]:
        assert flags(text, "model") == [], "a single model may say what it is"


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


def test_a_run_is_published_by_curators_after_its_approval_and_that_of_its_siblings(record, alice, cora):
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
    recorded = list(AuditEntry.objects.order_by("id").values_list("action", flat=True))
    assert recorded == ["approved", "approved", "published", "withdrawn"]


@pytest.mark.databases
def test_a_run_that_somebody_has_gone_on_with_since_the_page_was_made_is_not_approved(record, cora):
    read_before = Run.objects.get(pk=record.run.pk)
    Run.objects.filter(pk=record.run.pk).update(state="queued")

    with pytest.raises(Invalid):
        curation.approve(read_before, by=cora)
    assert not Run.objects.filter(pk=record.run.pk, review__approved__isnull=False).exists()


def test_the_cycles_of_an_excluded_run_count_no_more_and_those_void_before_stay_void(alice, cora):
    contest = contest_rows.contest(alice, 2)
    first, second = contest.run.cycles.order_by("turn")
    curation.cycle_voiding.void(first, by=cora, reason="Earlier.")

    curation.exclude(contest.run, by=cora, reason="Leaked.")
    second.refresh_from_db()
    assert second.void_reason == "Leaked."
    curation.include(contest.run, by=cora)

    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.void_reason, second.void_reason) == ("Earlier.", "")


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


def test_the_ballots_of_an_excluded_council_count_no_more(alice, cora):
    run = deliberations.council(alice).run
    Run.objects.filter(pk=run.pk).update(origin="live")
    before, state = len(list(council.pairings())), council.newest()

    curation.exclude(run, by=cora, reason="A test.")
    assert list(council.pairings()) == []
    assert council.newest() != state
    curation.include(run, by=cora)

    assert len(list(council.pairings())) == before > 0
