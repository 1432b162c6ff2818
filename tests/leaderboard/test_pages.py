"""The pages of the leaderboard, as visitors and people of the lab see them."""

import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from experiments.models import Battle, ProviderModel, Verdict
from leaderboard import compute, listing, milestones
from leaderboard.models import Ladder, RatingPoint
from tests.cases import each_case
from tests.leaderboard import boards

PAGES = ("ladder", "ladder-matrix", "ladder-history", "ladder-milestones")
BROWSER = ("ladder-battles", "ladder-samples", "ladder-agreement")


def told(response):
    assert response.status_code == 200
    return response.content.decode()


def test_a_visitor_sees_the_public_ladders_and_no_others(client, league, alice):
    public, private = league(name="Open tasks"), league(name="Secret tasks", visibility="private")

    page = told(client.get(reverse("leaderboard")))

    assert "Open tasks" in page
    assert reverse("ladder", args=[public.slug]) in page
    assert "Secret tasks" not in page
    assert private.slug not in page


@each_case("name", PAGES)
def test_a_public_ladder_is_shown_without_signing_in(client, league, name):
    ladder = league(subsets=("easy", "hard"), categories=("maths", "prose", "code"))
    compute.refresh(ladder)

    page = told(client.get(reverse(name, args=[ladder.slug])))

    assert "A league" in page
    assert "Sign in" in page
    assert "New arena run" not in page


@each_case("name", PAGES)
@each_case("visibility", ["private", "lab"])
def test_a_visitor_is_told_nothing_of_a_ladder_that_is_not_public(client, league, name, visibility):
    ladder = league(visibility=visibility)

    assert client.get(reverse(name, args=[ladder.slug])).status_code == 404
    assert client.get(reverse("ladder-download", args=[ladder.slug, "csv"])).status_code == 404


@pytest.mark.parametrize(("visibility", "status"), [("private", 404), ("lab", 200)])
def test_somebody_else_of_the_lab_sees_what_the_lab_may(client, league, charlie, visibility, status):
    client.force_login(charlie)

    assert client.get(reverse("ladder", args=[league(visibility=visibility).slug])).status_code == status


def test_the_header_of_a_visitor_leads_to_the_leaderboard_and_to_signing_in(client, db):
    page = told(client.get(reverse("leaderboard")))

    assert f'href="{reverse("leaderboard")}"' in page
    assert f'href="{reverse("login")}"' in page
    assert f'href="{reverse("runs")}"' not in page
    assert "No ladder is public yet" in page


def test_an_empty_leaderboard_says_to_people_how_ladders_come_about(client, alice):
    client.force_login(alice)

    assert "A ladder appears with the first battle" in told(client.get(reverse("leaderboard")))


def test_a_board_without_a_ladder_gets_one_when_the_index_is_asked_for(client, alice):
    board = boards.filled(alice, visibility="public")
    Ladder.objects.all().delete()

    assert board.slug in told(client.get(reverse("leaderboard")))


def test_the_table_is_sorted_by_the_column_asked_for(client, league):
    ladder = league(contestants=4)

    falling = told(client.get(reverse("ladder", args=[ladder.slug]), {"sort": "-name"}))

    assert falling.index("model-004") < falling.index("model-001")
    assert 'aria-sort="descending"' in falling


def test_the_search_leaves_those_whom_it_finds(client, league):
    ladder = league(contestants=12)
    address = reverse("ladder", args=[ladder.slug])

    found = told(client.get(address, {"search": "MODEL-01"}))

    assert "model-010" in found
    assert "model-009" not in found
    assert "No contestant fits" in told(client.get(address, {"search": "nobody"}))


def test_a_slice_is_computed_from_its_own_battles(client, league):
    ladder = league(subsets=("easy", "hard"), battles=600)

    page = told(client.get(reverse("ladder", args=[ladder.slug]), {"subset": "easy"}))

    assert "<dd>300</dd>" in page
    assert "No battle of this slice" in told(client.get(reverse("ladder", args=[ladder.slug]), {"subset": "unknown"}))


def test_bootstrap_intervals_are_shown_on_demand_with_their_seed(client, league):
    page = told(client.get(reverse("ladder", args=[league().slug]), {"intervals": "bootstrap"}))

    assert "1000 resamples" in page
    assert "seed 1" in page


def test_a_ladder_without_a_worker_shows_the_newest_battles(client, league, alice):
    ladder = league(contestants=3, battles=90)
    compute.refresh(ladder)
    boards.board_of(alice, [("model-001", "model-002", "left")] * 10, ladder.board)

    assert "<dd>100</dd>" in told(client.get(reverse("ladder", args=[ladder.slug])))


def test_a_withdrawn_ladder_shows_why_and_no_ratings(client, league):
    ladder = league()
    Ladder.objects.filter(pk=ladder.pk).update(withdrawn_reason="The judge had seen the answers.")

    page = told(client.get(reverse("ladder", args=[ladder.slug])))

    assert "The judge had seen the answers." in page
    assert "model-001" not in page
    assert "The judge had seen the answers." in told(client.get(reverse("leaderboard")))
    assert client.get(reverse("ladder-matrix", args=[ladder.slug])).status_code == 404


def test_names_from_outside_are_text_on_every_page(client, alice):
    evil = '<script>alert("x")</script>'
    board = boards.board_of(alice, [(evil, "b", "left"), ("b", evil, "left")] * 5, name=evil, visibility="public")
    ladder = compute.ensure(board)
    compute.refresh(ladder)
    milestones.take(ladder, name="first_20260101", by=alice, note=evil)

    for address in (reverse("leaderboard"), *(reverse(name, args=[ladder.slug]) for name in PAGES)):
        assert "<script>alert" not in told(client.get(address)), address


def test_other_judges_of_the_dataset_stand_beside(client, league, alice):
    ladder = league()
    again = boards.judged_by(ladder.board.dataset, "people")
    boards.board_of(alice, [("model-001", "model-002", "left"), ("model-002", "model-001", "left")] * 4, again)
    compute.ensure(again)

    page = told(client.get(reverse("ladder", args=[ladder.slug])))

    assert "judged by others" in page
    assert "people&#x27;s votes" in page


def test_ladders_of_several_datasets_are_compared_and_sorted_by_any(client, league):
    first, second = league(name="First"), league(name="Second", contestants=4, battles=100)

    page = told(client.get(reverse("leaderboard"), {"by": second.slug}))

    assert "Over all datasets" in page
    assert f"?by={first.slug}" in page
    overview = page[page.index('id="overview"') :]
    assert overview.index("model-001") < overview.index("model-006")


def test_every_rating_over_all_datasets_has_its_interval_and_the_mean_one_that_holds(client, league, alice):
    ladders = [league(name="First"), league(name="Second", contestants=4, battles=100)]
    boards.board_of(alice, [("x", "y", "left"), ("x", "y", "right")] * 10, ladders[0].board)

    _columns, lines = listing.overview([listing.entry(one) for one in ladders])
    page = told(client.get(reverse("leaderboard")))

    shown = {line.name: line for line in lines}
    row, other = shown["model-001"].rows
    assert shown["model-001"].lower == pytest.approx((row.lower + other.lower) / 2)
    assert shown["model-001"].upper == pytest.approx((row.upper + other.upper) / 2)
    assert not {"x", "y"} & set(shown), "a group that no battle links has a scale of its own"
    overview = page[page.index('id="overview"') :]
    assert overview.count(" to ") >= 2 * 4 + 4 + 6


def test_a_page_that_has_not_changed_is_not_sent_again(client, league, alice):
    ladder = league(contestants=3, battles=30)
    address = reverse("ladder", args=[ladder.slug])
    client.get(address)
    etag = client.get(address)["ETag"]

    assert client.get(address, headers={"If-None-Match": etag}).status_code == 304
    boards.board_of(alice, [("model-001", "model-002", "left")], ladder.board)
    assert client.get(address, headers={"If-None-Match": etag}).status_code == 200


def test_a_page_kept_by_a_visitor_is_not_taken_for_that_of_a_person(client, league, alice):
    address = reverse("ladder", args=[league().slug])
    client.get(address)
    etag = client.get(address)["ETag"]
    client.force_login(alice)

    assert client.get(address, headers={"If-None-Match": etag}).status_code == 200


def test_a_page_whose_forms_are_of_an_earlier_sign_in_is_sent_again(client, league, alice, settings):
    address = reverse("ladder", args=[league().slug])
    client.force_login(alice)
    client.get(address)
    etag = client.get(address)["ETag"]
    assert client.get(address, headers={"If-None-Match": etag}).status_code == 304

    client.cookies[settings.CSRF_COOKIE_NAME] = "a" * 32

    assert client.get(address, headers={"If-None-Match": etag}).status_code == 200


def test_the_methodology_is_public_and_speaks_chinese_pages_too(client, db):
    assert "Bradley" in told(client.get(reverse("methodology")))
    assert client.get(reverse("methodology"), headers={"Accept-Language": "zh-hans"}).status_code == 200


def test_simulated_judges_are_named_as_such(client, alice, provider):
    model = ProviderModel.objects.get(slug="sim/judge:tps=0:first=0")
    dataset = boards.dataset_of(alice, visibility="public")
    boards.board_of(alice, [("a", "b", "left"), ("b", "a", "left")] * 4, boards.judged_here(dataset, model))

    assert "simulated" in told(client.get(reverse("leaderboard")))
    ladder, battle = Ladder.objects.get(), Battle.objects.first()
    pages = [reverse(name, args=[ladder.slug]) for name in (*PAGES, *BROWSER)]
    for address in (
        *pages,
        reverse("ladder-sample", args=[ladder.slug, battle.sample_id]),
        reverse("battle", args=[battle.pk]),
    ):
        assert "simulated judge</span>" in told(client.get(address)), address


def test_simulated_contestants_are_named_as_such_where_people_judge(client, alice, provider):
    dataset = boards.dataset_of(alice, visibility="public")
    board = boards.board_of(alice, [("a", "b", "left"), ("b", "a", "left")] * 4, boards.judged_by(dataset, "people"))
    dataset.contestants.filter(name="a").update(model=ProviderModel.objects.get(slug="sim/judge:tps=0:first=0"))
    ladder = compute.ensure(board)

    for name in (*PAGES, *BROWSER):
        assert "simulated contestants</span>" in told(client.get(reverse(name, args=[ladder.slug]))), name


def test_the_history_is_drawn_for_those_chosen_with_a_table_behind(client, league):
    ladder = league(contestants=12, battles=900)
    address = reverse("ladder-history", args=[ladder.slug])
    assert "Nothing has been noted yet" in told(client.get(address))
    compute.refresh(ladder)

    first, chosen = told(client.get(address)), told(client.get(address, {"name": ["model-012", "nobody"]}))

    assert first.count('<th scope="col">model-') == 8
    assert chosen.count('<th scope="col">model-') == 1
    assert '<polygon class="area' in chosen


def test_whoever_joins_later_has_no_value_in_the_history_before(client, league, alice):
    ladder = league(contestants=3, battles=90)
    compute.refresh(ladder)
    RatingPoint.objects.update(at=timezone.now() - timedelta(hours=1))
    boards.board_of(alice, [("late", "model-001", "left"), ("model-001", "late", "left")] * 6, ladder.board)
    compute.refresh(ladder)

    page = told(client.get(reverse("ladder-history", args=[ladder.slug])))

    rows = re.findall('aria-label="([^"]*): ([^"]*)" data-values="([^"]*)"', page)
    (_then, names, values), (_now, later_names, later_values) = rows
    assert ("late" in names, "late" in later_names) == (False, True)
    assert not names.endswith(", ")
    assert len(values.split()) == len(later_values.split()) == 4
    assert (values.split().count("–"), later_values.count("–")) == (1, 0)


def test_the_matrix_shows_forty_unless_all_are_asked_for(client, league):
    address = reverse("ladder-matrix", args=[league(contestants=42, battles=900).slug])

    assert "The 40 highest of 42" in told(client.get(address))
    assert "highest of" not in told(client.get(address, {"all": "1"}))


def test_what_a_judge_leans_to_is_told_from_its_single_verdicts(client, league):
    ladder = league(contestants=3, battles=300)
    verdicts = [
        Verdict(battle=battle, order=order, winner=winner)
        for battle in Battle.objects.all()
        for order, winner in (("original", "left"), ("swapped", "right" if battle.pk % 3 else "left"))
    ]
    Verdict.objects.bulk_create(verdicts)

    page = told(client.get(reverse("ladder", args=[ladder.slug])))

    assert "Being shown first is worth" in page
    assert "newest 600 verdicts" in page


def test_a_dataset_that_is_renamed_or_closed_is_so_at_once(client, league):
    ladder = league()
    address, dataset = reverse("ladder", args=[ladder.slug]), ladder.board.dataset
    client.get(address)
    etag = client.get(address)["ETag"]

    type(dataset).objects.update(name="Renamed")
    assert "Renamed" in told(client.get(address, headers={"If-None-Match": etag}))
    assert "Renamed" in told(client.get(reverse("leaderboard")))
    type(dataset).objects.update(visibility="private")
    assert client.get(address, headers={"If-None-Match": etag}).status_code == 404
