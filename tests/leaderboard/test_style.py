"""Ratings adjusted for style stand beside the plain ones on the page, in files and in the API, never in their place."""

import csv
import io

import numpy as np
import pytest
from django.urls import reverse

from experiments.models import Output
from leaderboard.boards import compute, style
from leaderboard.models import Style
from leaderboard.ratings.style import COVARIATES
from tests.leaderboard import boards
from tests.making import maker

LENGTHS = {"brief": 100, "middle": 200, "wordy": 400}


@maker
def leaning(alice, /, count=400, **fields):
    """Makes a board of three equal contestants whose judge leans to the longer text."""
    random, names = np.random.default_rng(7), list(LENGTHS)
    met = [tuple(random.permutation(names)[:2].tolist()) for _ in range(count)]
    lengths = [{name: int(LENGTHS[name] * random.lognormal(0, 0.4)) for name in pair} for pair in met]
    won = [
        random.random() < 1 / (1 + np.exp(-2 * np.log(at[a] / at[b]))) for (a, b), at in zip(met, lengths, strict=True)
    ]
    battles = [(a, b, "left" if first else "right") for (a, b), first in zip(met, won, strict=True)]
    board = boards.board_of(alice, battles, **{"visibility": "public", **fields})
    key = dict(board.dataset.contestants.values_list("name", "pk"))
    samples = board.dataset.samples.order_by("index").values_list("pk", flat=True)
    Output.objects.bulk_create(
        Output(sample_id=sample, contestant_id=key[name], text="a" * length)
        for sample, at in zip(samples, lengths, strict=True)
        for name, length in at.items()
    )
    return compute.ensure_ladder(board)


@pytest.mark.databases
def test_a_lean_to_length_is_found_and_held_equal_beside_plain_ratings(leaning):
    ladder = leaning()
    plain = compute.standings(ladder).rows
    found = compute.styled(ladder, COVARIATES)
    told = {one.name: one for one in found.covariates}

    assert all(not row.lower < 1000 < row.upper for row in plain if row.name != "middle"), "all are equally good"
    assert all(row.lower < 1000 < row.upper for row in found.rows)
    assert told["length"].lower > 0
    assert {told[name].reason for name in ("headings", "position", "language")} == {"constant"}
    assert (told["length"].moved in {"wordy", "brief"}, found.battles, found.of) == (True, 400, 400)
    assert compute.standings(ladder).rows == plain


def test_page_files_and_api_show_both_and_say_what_they_were_adjusted_for(client, leaning):
    ladder = leaning()
    asked = {"control": "style"}
    api = reverse("api-ladder", args=[ladder.slug])

    page = client.get(ladder.get_absolute_url(), asked).content.decode()
    plain, both = client.get(api).json(), client.get(api, asked).json()
    files = {kind: client.get(reverse("ladder-download", args=[ladder.slug, kind]), asked) for kind in ("csv", "md")}

    adjusted = {row["name"]: row for row in both["style"]["rows"]}
    assert plain["style"] is None
    assert plain["rows"] == both["rows"]
    assert "Adjusted for style" in page
    assert "What style explains" in page
    assert "What style explains" not in client.get(ladder.get_absolute_url()).content.decode()
    for row in csv.DictReader(io.StringIO(files["csv"].content.decode())):
        assert float(row["adjusted_rating"]) == adjusted[row["name"]]["rating"] != float(row["rating"])
    assert "Adjusted for length, headings" in files["md"].content.decode()
    assert "adjusted_rating" not in client.get(reverse("ladder-download", args=[ladder.slug, "csv"])).content.decode()


def test_rows_are_sorted_by_the_adjusted_rating(client, leaning):
    ladder, asked = leaning(), {"control": "length", "sort": "adjusted"}
    api = client.get(reverse("api-ladder", args=[ladder.slug]), asked).json()
    ratings = {row["name"]: row["rating"] for row in api["style"]["rows"]}

    falling, rising = (
        client.get(ladder.get_absolute_url(), asked | {"sort": word}).content.decode().split("<tbody>")[1]
        for word in ("adjusted", "-adjusted")
    )

    assert sorted(LENGTHS, key=falling.index) == sorted(LENGTHS, key=ratings.get, reverse=True)
    assert sorted(LENGTHS, key=rising.index) == sorted(LENGTHS, key=ratings.get)


def test_battles_without_two_texts_are_left_out_and_counted(leaning):
    ladder = leaning(200)
    Output.objects.filter(sample__index__lt=50).delete()

    found = style.adjusted(ladder, ("length",))

    assert (found.battles, found.of) == (150, 200)


def test_order_is_held_equal_where_it_was_recorded(leaning):
    ladder = leaning(300)
    rows = ladder.board.battles.all()
    for number, one in enumerate(rows.order_by("pk")):
        first = (one.winner == "left") == (number % 5 > 0)
        rows.filter(pk=one.pk).update(shown_left_first=None if number % 5 == 4 else first)

    [told] = style.adjusted(ladder, ("position",)).covariates

    assert told.lower > 0, "what was shown first won"


def test_a_feature_that_does_not_exist_is_refused_by_name(client, leaning):
    ladder = leaning(30)

    refused = client.get(reverse("api-ladder", args=[ladder.slug]), {"control": "length,charm"})

    assert refused.status_code == 400
    assert "charm" in refused.json()["errors"]["control"][0]
    assert client.get(ladder.get_absolute_url(), {"control": "charm"}).status_code == 400


def test_a_page_measures_few_new_outputs_and_leaves_many_to_a_worker(client, leaning, monkeypatch):
    ladder = leaning(30)
    monkeypatch.setattr(style, "MOST_MEASURED", 10)
    address = reverse("api-ladder", args=[ladder.slug])

    waiting = client.get(address, {"control": "length"})
    compute.refresh(ladder)

    assert (waiting.status_code, Style.objects.count()) == (503, 60)
    assert client.get(address, {"control": "length"}).json()["style"]["battles"] == 30
