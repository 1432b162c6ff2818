"""People and judges in one fit beside the plain ratings: on the page, in files and in the API, with their weights."""

import csv
import io

import numpy as np
import pytest
from django.urls import reverse

from experiments.models import Battle
from experiments.workflows.battles.campaign import boards as all_boards
from experiments.workflows.battles.campaign import counting
from leaderboard.boards import compute
from tests.leaderboard import boards
from tests.making import maker

NAMES = ("plain", "middle", "flashy")


@maker
def both(alice, /, votes=250, samples=150, **fields):
    """Makes a people's ladder and a judge's on the same samples: people find all alike, the judge likes the flashy."""
    random, liking = np.random.default_rng(2), {"plain": 0.0, "middle": 0.6, "flashy": 1.2}
    pairs = [("plain", "middle"), ("middle", "flashy"), ("flashy", "plain")]
    met = [(a, b) for _sample in range(samples) for a, b in pairs]
    wins = random.random(len(met)) < 1 / (1 + np.exp([liking[b] - liking[a] for a, b in met]))
    judge = boards.board_of(
        alice,
        [(a, b, "left" if won else "right") for (a, b), won in zip(met, wins, strict=True)],
        **{"visibility": "public", **fields},
    )
    verdicts = list(judge.battles.order_by("pk"))
    people = all_boards.people_board(judge.dataset)
    cast = (
        Battle(
            board=people, sample_id=one.sample_id, left_id=one.left_id, right_id=one.right_id, ballot=f"user:{number}",
            winner="left" if random.random() < 0.5 else "right",
        )
        for number, one in enumerate(np.array(verdicts)[random.permutation(len(verdicts))[:votes]])
    )  # fmt: skip
    Battle.objects.bulk_create(cast)
    counting.recount(people)
    people.refresh_from_db()
    return compute.ensure_ladder(people), compute.ensure_ladder(judge)


def asked(client, ladder, **query):
    return client.get(reverse("api-ladder", args=[ladder.slug]), query)


@pytest.mark.databases
def test_a_pool_says_what_it_is_made_of_and_is_the_same_from_both_boards(client, both):
    people, judge = both()

    plain, of_people, of_judge = (
        asked(client, people).json(),
        asked(client, people, combine="0.25").json(),
        asked(client, judge, combine="0.25").json(),
    )

    found = of_people["combined"]
    assert plain["combined"] is None
    assert plain["rows"] == of_people["rows"]
    assert found["rows"] == of_judge["combined"]["rows"]
    assert [(one["kind"], one["weight"], one["battles"]) for one in found["sources"]] == [
        ("people", 1.0, 250), ("imported", 0.25, 450),
    ]  # fmt: skip
    assert (found["method"], found["votes"], found["verdicts"], found["both"]) == ("pooled", 250, 450, 250)


def test_more_weight_moves_ratings_towards_the_judge_and_a_correction_does_not(client, both):
    people, _judge = both()

    def rating(combine):
        rows = asked(client, people, combine=combine).json()["combined"]["rows"]
        return next(row for row in rows if row["name"] == "flashy")

    corrected = rating("corrected")

    assert rating("0.1")["rating"] < rating("0.5")["rating"] < rating("1")["rating"]
    assert rating("1")["lower"] > 1020
    assert corrected["lower"] < 1000 < corrected["upper"]


def test_page_and_files_show_both_ratings_and_the_weight_of_each_board(client, both):
    people, judge = both()
    query = {"combine": "0.5", "sort": "combined"}

    page = client.get(people.get_absolute_url(), query).content.decode()
    corrected = client.get(people.get_absolute_url(), {"combine": "corrected"}).content.decode()
    plain = client.get(people.get_absolute_url()).content.decode()
    files = {kind: client.get(reverse("ladder-download", args=[people.slug, kind]), query) for kind in ("csv", "md")}

    assert "Combined rank" in page
    assert "counts as 0.5 votes. These ratings follow" in " ".join(page.split())
    assert reverse("ladder", args=[judge.slug]) in page
    assert "Ratings of people. Verdicts on all samples" in " ".join(corrected.split())
    assert "Combined rank" not in plain
    assert 'name="combine"' in plain
    rows = list(csv.DictReader(io.StringIO(files["csv"].content.decode())))
    api = {row["name"]: row for row in asked(client, people, **query).json()["combined"]["rows"]}
    assert {row["name"]: float(row["combined_rating"]) for row in rows} == {
        name: row["rating"] for name, row in api.items()
    }
    assert "250 votes and 450 verdicts" in files["md"].content.decode()
    assert "Each verdict counts as 0.5 votes." in files["md"].content.decode()


def test_rows_are_sorted_by_the_combined_rating(client, both):
    people, _judge = both()
    ratings = {row["name"]: row["rating"] for row in asked(client, people, combine="1").json()["combined"]["rows"]}

    page = client.get(people.get_absolute_url(), {"combine": "1", "sort": "combined"}).content.decode()
    body = page[page.index("<tbody>") :]

    assert sorted(NAMES, key=body.index) == sorted(NAMES, key=ratings.get, reverse=True)


def test_a_board_without_the_other_kind_offers_nothing_and_refuses(client, league):
    ladder = league()

    refused = asked(client, ladder, combine="0.5")

    assert 'name="combine"' not in client.get(ladder.get_absolute_url()).content.decode()
    assert refused.status_code == 400
    assert "no other board" in refused.json()["errors"]["combine"][0]


@pytest.mark.parametrize("word", ["-1", "0", "nan", "inf", "1000", "much"])
def test_a_weight_that_means_nothing_is_refused_by_name(client, both, word):
    people, _judge = both(votes=20, samples=10)

    refused = asked(client, people, combine=word)

    assert refused.status_code == 400
    assert word in refused.json()["errors"]["combine"][0]


def test_a_board_that_is_withdrawn_is_in_no_combination(client, both):
    people, judge = both(votes=20, samples=10)
    judge.withdrawn_reason = "Its judge read the names."
    judge.save()

    assert asked(client, people, combine="1").status_code == 400


def test_a_contestant_left_out_of_the_ratings_is_left_out_of_combined_ones(client, both):
    people, _judge = both()
    people.board.dataset.contestants.filter(name="plain").update(void_reason="It had seen the tasks.")

    rows = asked(client, people, combine="1").json()["combined"]["rows"]

    assert [row["name"] for row in rows] == ["flashy", "middle"]
