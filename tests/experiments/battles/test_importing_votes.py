"""Votes that people cast elsewhere become votes of people: whoever they are called, and whatever the columns are."""

from datetime import timedelta
from itertools import product

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError
from django.urls import reverse
from django.utils import timezone

from experiments.models import Battle, Board, Dataset, LogImport
from experiments.workflows.battles.campaign.boards import people_board
from experiments.workflows.battles.campaign.counting import differences
from experiments.workflows.battles.campaign.logs import importing, storing
from experiments.workflows.battles.campaign.logs.columns import Columns
from leaderboard.boards import compute
from leaderboard.votes import agreement, voter_report, voting
from leaderboard.votes.voters import person_voter
from tests.cases import each_case
from tests.experiments.battles.logs_of_others import run, slim, talk, vote, write
from tests.experiments.datasets.files import table

VOTERS = [f"Reader {number}, Ph.D." for number in range(30)]
COLUMNS = ("winner=preferred", "shown_first=on_the_left", "time=at", "language=lang", "question=item")


def ballots():
    """All readers on two questions. The first five prefer dalle, the others flux, which question 1 showed first."""
    return [
        {"model_a": "flux", "model_b": "dalle", "preferred": "dalle" if number < 5 else "flux"}
        | {"on_the_left": "flux" if item == 1 else "", "annotator": name, "item": item}
        | {"at": f"2026-02-{1 + number % 28:02}T10:00:00Z", "lang": ("German", "English")[item - 1]}
        for (number, name), item in product(enumerate(VOTERS), (1, 2))
    ]


def order(path, *more):
    named = [word for column in COLUMNS for word in ("--column", column)]
    return ("import_battles", path, "--dataset", "taken", "--owner", "alice", "--voter", "annotator", *named, *more)


@pytest.mark.databases
def test_a_table_of_votes_goes_onto_one_board_of_people_with_voter_order_time_and_language(alice, tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text(table(ballots()))
    write(tmp_path / "judge.jsonl", [slim("dalle", "flux", number, "flux") for number in (1, 2)])

    said = run(*order(path))
    again = run(*order(path))
    run("import_battles", tmp_path / "judge.jsonl", "--dataset", "taken", "--judge", "a model")

    assert "Votes of people: 60 by 30 voters; known: order of 30, time of 60, language of 60." in said
    assert "0 battles stored, 0 completed, 60 known before" in again
    board = Board.objects.get(kind="people")
    assert board != people_board(board.dataset)
    battles = board.battles.select_related("left", "sample")
    assert {(one.shown_left_first is None, one.sample.language) for one in battles} == {
        (False, "German"),
        (True, "English"),
    }
    assert not any(name[:8] in ballot for name in VOTERS for ballot in battles.values_list("ballot", flat=True))
    report = agreement.report(board.dataset)
    [of_people] = [one for one in report.people if one.board == board]
    assert (of_people.judgments, of_people.voters, of_people.unnamed) == (60, 30, 0)
    assert of_people.among.exact.of == 30 * 29
    assert of_people.among.exact.part == 2 * (25 * 24 + 5 * 4) / 2
    assert (of_people.order.first.part, of_people.order.first.of) == (25, 30)
    [pair] = [one for one in report.pairs if one.first == board and one.second.kind == "imported"]
    assert (pair.answers.exact.part, pair.answers.exact.of) == (50, 60)
    assert compute.standings(compute.ensure_ladder(board)).languages == ("English", "German")

    names = [field.attname for field in Battle._meta.concrete_fields if field.attname not in {"id", "created"}]
    stored = list(board.battles.order_by("pk").values(*names))
    begun = board.battles.earliest("created").created
    board.battles.all().delete()
    Battle.objects.bulk_create(Battle(**values) for values in stored)
    assert list(board.battles.order_by("pk").values(*names)) == stored, "in one statement as by the model"
    assert timezone.now() - begun < timedelta(minutes=10), "not shifted by a time zone"


def test_a_dry_run_stores_nothing_and_a_vote_without_a_voter_refuses_the_file_or_is_left_out(alice, tmp_path):
    path, rows = tmp_path / "votes.csv", ballots()
    path.write_text(table(rows))

    said = run(*order(path, "--dry-run"))

    assert "winner=preferred, voter=annotator, shown_first=on_the_left, time=at, language=lang, question=item" in said
    assert "60 lines read, 0 void, 0 refused. Nothing was stored.\n" in said
    assert "New: 2 contestants, 2 samples." in said
    rows[7]["annotator"] = "  "
    path.write_text(table(rows))
    with pytest.raises(CommandError, match="would refuse the whole file"):
        run(*order(path, "--dry-run"))
    with pytest.raises(CommandError, match="Line 9: The voter is missing") as refused:
        run(*order(path))
    assert (refused.value.returncode, Dataset.objects.count()) == (1, 0)
    assert "59 battles stored" in run(*order(path, "--keep-partial"))


@each_case("remembered", [0, 100])
def test_what_another_batch_or_import_has_stored_meanwhile_is_met_again(remembered, alice, take, tmp_path, monkeypatch):
    monkeypatch.setattr(importing, "BATCH", 2)
    monkeypatch.setattr(storing, "MOST_REMEMBERED", remembered)
    rows = [vote("a", "b", "model_a", number, judge=name) for number, name in enumerate(VOTERS[:6])]
    votes = Columns.of({"voter": "judge"})
    dataset = importing.make_dataset(owner=alice, name="Taken over")
    others = [write(tmp_path / "others.jsonl", rows[5:])]

    def heard(report):
        if report.stored and others:  # after the first batch, a second import brings what stands at the end
            importing.import_battles(others.pop(), dataset=dataset, by=alice, columns=votes)

    _board, report = take(write(tmp_path / "v.jsonl", [*rows, *rows[:3]]), dataset, columns=votes, heard=heard)

    assert (report.stored, report.duplicates, report.known, report.refused) == (5, 4, 0, 0)
    assert (Battle.objects.count(), differences(Board.objects.get())) == (6, 0)


def test_two_votes_of_a_person_on_one_pair_both_count_and_are_no_agreement_of_two_people(take, tmp_path):
    rows = [vote("a", "b", "model_a", judge="Reader", turn=turn) for turn in (1, 2, 2)]
    board, report = take(write(tmp_path / "v.jsonl", rows), columns=Columns.of({"voter": "judge"}))

    [found] = agreement.report(board.dataset).people

    assert (report.stored, report.duplicates) == (2, 1)
    assert (found.judgments, found.voters, found.among.compared) == (2, 1, 0)
    [line] = voter_report.report(board.dataset, by=board.dataset.owner).lines
    assert (line.found.votes, line.who.name[:16], line.who.is_visitor) == (2, "person elsewhere", False)
    assert voter_report.exclude_voter(board.dataset, line.who.word, by=board.dataset.owner, reason="A program.") == 2

    rows = [vote("b", "a", "model_a", number, judge=name, tstamp=None) for number, name in enumerate(VOTERS[:3])]
    path, voters = write(tmp_path / "timeless.jsonl", rows), Columns.of({"voter": "judge"})
    board, report = take(path, called="Timeless", columns=voters)
    Battle.objects.update(created="2020-01-01T00:00Z")
    assert voting.forget_old_offers() == 0, "votes without a time are no offers"
    assert (report.with_order, report.with_time, report.voters) == (3, 0, 3)
    assert Battle.objects.revealed().filter(board=board, shown_left_first=False, winner="right").count() == 3


def test_a_file_is_checked_by_page_and_api_and_then_stored_by_who_sent_it(client, alice, charlie, api, uploaded):
    dataset = uploaded(samples=3, visibility="public")
    file = table(ballots()).encode()
    asked = {"voter": "annotator", "columns": "\n".join(COLUMNS)}
    client.force_login(alice)
    sent = {"file": SimpleUploadedFile("votes.csv", file), **asked}

    page = client.post(reverse("battles-import", args=[dataset.slug]), {**sent, "is_dry_run": "on"})
    shown = client.get(page["Location"]).content.decode()

    assert Battle.objects.count() == 0
    assert all(word in shown for word in ("on_the_left", "annotator", "by 30 voters", "Nothing is stored yet"))
    row = LogImport.objects.get()
    for somebody, status in ((charlie, 404), (alice, 302)):
        client.force_login(somebody)
        address = reverse("log-import-store", args=[dataset.slug, row.pk])
        assert client.post(address).status_code == status
    assert (Battle.objects.count(), row.folder.exists()) == (60, False)

    sent = {"file": SimpleUploadedFile("votes.csv", file), **asked, "dry_run": True}
    checked = api.post(reverse("api-dataset-battles", args=[dataset.slug]), sent, format="multipart").json()
    address = reverse("api-log-import-store", args=[dataset.slug, checked["id"]])
    stored = [api.post(address).json() for _time in range(2)]
    assert (checked["state"], checked["report"]["columns"]["voter"]) == ("checked", "annotator")
    assert (stored[0]["state"], stored[0]["report"]["known"], stored[1]["status"]) == ("done", 60, 409)


def test_programs_read_samples_with_outputs_and_their_own_votes(api, charlie, take, tmp_path):
    texts = {"conversation_a": talk("Why?", "Because."), "conversation_b": talk("Why?", "Who knows.")}
    rows = [vote("a", "b", "model_a", number, **texts) for number in range(3)]
    board, _report = take(write(tmp_path / "v.jsonl", rows))
    Dataset.objects.update(takes_votes=True)
    offered = voting.offer(board.dataset, voter=person_voter(board.dataset.owner))
    voting.cast(offered, voter=person_voter(board.dataset.owner), choice="first")

    page = api.get(reverse("api-dataset-samples", args=[board.dataset.slug]), {"page_size": 2}).json()
    rest = api.get(page["next"]).json()["results"]
    [mine] = api.get(reverse("api-votes")).json()["results"]

    assert [one["index"] for one in (*page["results"], *rest)] == [0, 1, 2]
    assert {one["contestant"]: one["text"] for one in rest[0]["outputs"]} == {"a": "Because.", "b": "Who knows."}
    assert (mine["battle"], mine["choice"], {mine["first"], mine["second"]}) == (offered.pk, "first", {"a", "b"})
    api.force_authenticate(charlie)
    assert api.get(reverse("api-dataset-samples", args=[board.dataset.slug])).status_code == 404
    assert api.get(reverse("api-votes")).json()["results"] == []


def test_unknown_parts_and_missing_columns_are_named(take, tmp_path, client, alice, uploaded):
    _board, report = take(write(tmp_path / "v.jsonl", [vote("a", "b", "tie")]), columns=Columns.of({"voter": "who"}))
    assert report.refusals[0].reason == "The column “who” is missing."

    client.force_login(alice)
    sent = {"file": SimpleUploadedFile("v.csv", b"x"), "columns": "choice=preferred"}
    page = client.post(reverse("battles-import", args=[uploaded().slug]), sent)
    assert (page.status_code, bool(page.context["form"].errors["columns"])) == (422, True)
