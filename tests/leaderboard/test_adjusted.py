"""Ratings beside the plain ones: adjusted for style and upstream, and people and judges combined."""

import csv
import io

import numpy as np
import pytest
from django.urls import reverse

from experiments.models import Battle, Call, Output, Run, Step
from experiments.models.ids import new_id
from experiments.runs.upstreams import mixed
from experiments.workflows.battles.campaign import boards as all_boards
from experiments.workflows.battles.campaign import counting
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


@maker
def served(arena, alice, /, count=240):
    """Makes a board of two equal contestants; where another upstream than the usual one served `b`, it lost."""
    random = np.random.default_rng(4)
    is_poor = random.random(count) < 0.3
    wins = np.where(is_poor, random.random(count) < 0.9, random.random(count) < 0.5)
    board = boards.board_of(alice, [("a", "b", "left" if won else "right") for won in wins], visibility="public")
    run = Run.objects.create(experiment=arena(), seed=1)
    model = run.experiment.participants.first().model
    key = dict(board.dataset.contestants.values_list("name", "pk"))
    samples = list(board.dataset.samples.order_by("index").values_list("pk", flat=True))
    outputs = []
    for sample, poor in zip(samples, is_poor, strict=True):
        for name, contestant in key.items():
            step = Step.objects.create(run=run, key=str(new_id()), kind="ask", purpose="output")
            upstream = "Cheap" if poor and name == "b" else "Good"
            fields = {"attempt": 1, "request": {}, "state": Call.State.COMPLETED, "served_provider": upstream}
            call = Call.objects.create(run=run, step=step, model=model, **fields)
            outputs.append(Output(sample_id=sample, contestant_id=contestant, text="An answer.", call=call))
    Output.objects.bulk_create(outputs)
    return compute.ensure_ladder(board), int(is_poor.sum())


@pytest.mark.databases
def test_several_upstreams_of_a_contestant_are_said_on_page_and_api_and_are_a_covariate(client, served):
    ladder, poor = served()
    address = reverse("api-ladder", args=[ladder.slug])

    told, page = client.get(address).json(), client.get(ladder.get_absolute_url()).content.decode()
    held = client.get(address, {"control": "upstream"}).json()["style"]

    assert told["upstreams"] == [
        {
            "name": "b",
            "label": "",
            "upstreams": [{"name": "Good", "answers": 240 - poor}, {"name": "Cheap", "answers": poor}],
        }
    ]
    assert f"b was served by several upstreams: Good ({240 - poor}), Cheap ({poor})." in " ".join(page.split())
    [effect] = held["covariates"]
    adjusted = {row["name"]: row for row in held["rows"]}
    plain = {row["name"]: row for row in told["rows"]}
    assert effect["upper"] < 0, "what another upstream answered loses"
    assert adjusted["b"]["lower"] < 1000 < adjusted["b"]["upper"]
    assert plain["b"]["rating"] < adjusted["b"]["rating"]


def test_upstreams_are_no_part_of_style_and_can_be_added_to_it(client, served):
    ladder, _poor = served(60)
    address = reverse("api-ladder", args=[ladder.slug])

    of_style, both = (
        [one["name"] for one in client.get(address, {"control": word}).json()["style"]["covariates"]]
        for word in ("style", "style,upstream")
    )

    assert "upstream" not in of_style
    assert both == [*of_style, "upstream"]


def test_answers_whose_upstream_is_not_known_are_nobodys(client, league):
    assert mixed([("a", "A", "", 5), ("a", "A", "X", 2), ("b", "B", "X", 1), ("b", "B", "Y", 1)]) == mixed(
        [("b", "B", "Y", 1), ("b", "B", "X", 1)]
    )
    assert client.get(reverse("api-ladder", args=[league().slug])).json()["upstreams"] == []


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
