"""The pages of the leaderboard, as visitors and people of the lab see them."""

import io
import re
from datetime import timedelta
from xml.etree import ElementTree

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from PIL import Image

from experiments.library.annotations import favorites
from experiments.models import ProviderModel
from leaderboard.boards import compute, listing, ranking
from leaderboard.models import Ladder, RatingPoint
from tests.leaderboard import boards
from tests.markup import Page, squeezed


def told(response):
    assert response.status_code == 200
    return squeezed(response.content.decode())


def test_a_visitor_sees_the_public_ladders_and_finds_them_by_kind_and_words(client, league):
    public, private = league(name="Trees"), league(name="Hidden trees", visibility="private")
    Ladder.objects.filter(pk=public.pk).delete()  # it is made again when the index is asked for
    league(name="Rivers", judge="people")

    def found(**query):
        page = Page(told(client.get(reverse("leaderboard"), query)))
        return [one.text.split()[0] for one in page.root.findall(".//article/h2/a")]

    page = Page(told(client.get(reverse("leaderboard"))))
    for address in (public.get_absolute_url(), reverse("login")):
        assert page.find("a", href=address), address
    for address in (private.get_absolute_url(), reverse("runs")):
        assert not page.find("a", href=address), address
    assert "Hidden trees" not in page.text
    assert found() == ["Rivers", "Trees"]
    assert len(found(kind="people")) == len(found(q="trees")) == 1
    assert (len(found(q="MODEL-001")), found(kind="people", q="trees")) == (2, [])


def test_a_page_of_many_battles_asks_the_database_no_more_than_one_of_few(client, league):
    def queries(address):
        with CaptureQueriesContext(connection) as captured:
            told(client.get(address))
        return len(captured)

    ladders = [league(battles=count, name=f"{count}") for count in (30, 150, 1500)]
    for name in ("ladder", "ladder-matrix", "ladder-battles", "ladder-samples"):
        _first, few, many = (queries(reverse(name, args=[ladder.slug])) for ladder in ladders)
        assert many <= few, name
        assert len(client.get(reverse(name, args=[ladders[-1].slug])).content) < 400_000, name


def test_the_table_is_sorted_and_searched_and_the_matrix_shows_forty_unless_all_are_asked_for(client, league):
    slug = league(contestants=42, battles=900).slug
    address, matrix = reverse("ladder", args=[slug]), reverse("ladder-matrix", args=[slug])

    falling, found = (told(client.get(address, asked)) for asked in ({"sort": "-name"}, {"search": "MODEL-01"}))

    table = falling[falling.index("<tbody>") :]
    assert table.index("model-004") < table.index("model-001")
    assert 'aria-sort="descending"' in falling
    names = found[found.index("<tbody>") :]
    assert ("model-010" in names, "model-009" in names) == (True, False)
    assert "The 40 highest of 42" in told(client.get(matrix))
    assert "highest of" not in told(client.get(matrix, {"all": "1"}))


def test_favorites_are_first_on_the_leaderboard_and_on_a_board_of_those_who_have_signed_in(browser, league, alice):
    first, second = league(name="First tasks", battles=900), league(name="Second tasks")
    before = browser.get(second.get_absolute_url())
    favorites.mark("board", second.slug, by=alice)
    favorites.mark("contestant", "model-003", by=alice)

    index = told(browser.get(reverse("leaderboard")))
    titles = [card.find(".//h2").text_content() for card in Page(index).find("article", class_="box board-card")]
    assert [title.split(",")[0].strip() for title in titles] == ["Second tasks", "First tasks"]
    board = browser.get(second.get_absolute_url(), headers={"If-None-Match": before["ETag"]})
    [mine] = Page(told(board)).find("details", id="favorites")
    assert [item.find("b").text for item in mine.iter("li")] == ["model-003"]
    assert "model-003" not in [option.get("value") for option in mine.iter("option")]
    assert first.get_absolute_url() in index
    assert 'id="favorites"' not in told(Client().get(second.get_absolute_url())), "visitors have none"

    bare = compute.ensure_ladder(boards.board_of(alice, [("a", "b", "")]))
    addresses = bare.get_absolute_url(), reverse("ladder-history", args=[bare.slug])
    page, history = (Page(told(browser.get(address))).find("button", name="mark") for address in addresses)
    assert (page[0].get("aria-pressed"), history) == ("false", []), "before it has a chart, on its first page alone"


def test_every_rating_over_all_datasets_has_its_interval_and_the_mean_one_that_holds(client, league, alice):
    ladders = [league(name="First"), league(name="Second", contestants=4, battles=100)]
    boards.board_of(alice, [("x", "y", "left"), ("x", "y", "right")] * 10, ladders[0].board)

    _columns, lines = listing.overview([listing.entry(one) for one in ladders])
    page = told(client.get(reverse("leaderboard"), {"by": ladders[1].slug}))

    shown = {line.name: line for line in lines}
    row, other = shown["model-001"].rows
    assert shown["model-001"].lower == pytest.approx((row.lower + other.lower) / 2)
    assert shown["model-001"].upper == pytest.approx((row.upper + other.upper) / 2)
    assert not {"x", "y"} & set(shown), "a group that no battle links has a scale of its own"
    overview = page[page.index('id="overview"') :]
    assert overview.count(" to ") >= 2 * 4 + 4 + 6
    assert overview.index("model-001") < overview.index("model-006")


def test_a_page_that_has_not_changed_is_not_sent_again(client, league, alice, settings):
    ladder = league(contestants=3, battles=30)
    address = ladder.get_absolute_url()
    client.get(address)
    etag = client.get(address)["ETag"]

    def status(etag):
        return client.get(address, headers={"If-None-Match": etag}).status_code

    assert status(etag) == 304
    boards.board_of(alice, [("model-001", "model-002", "left")], ladder.board)
    assert "<dd>31</dd>" in told(client.get(address, headers={"If-None-Match": etag})), "computed though no worker runs"
    etag = client.get(address)["ETag"]
    client.force_login(alice)
    assert status(etag) == 200, "a page kept by a visitor is not that of a person"
    etag = client.get(address)["ETag"]
    assert status(etag) == 304
    client.cookies[settings.CSRF_COOKIE_NAME] = "a" * 32
    assert status(etag) == 200, "its forms are of an earlier sign-in"
    ladder.board.dataset.__class__.objects.update(name="Renamed")
    assert status(client.get(address)["ETag"]) == 304
    assert "Renamed" in told(client.get(address))


def test_simulated_judges_and_contestants_are_named_as_such(client, alice, provider):
    model = ProviderModel.objects.get(slug="sim/judge:tps=0:first=0")
    dataset = boards.dataset_of(alice, visibility="public")
    battles = [("a", "b", "left"), ("b", "a", "left")] * 4
    judged = compute.ensure_ladder(boards.board_of(alice, battles, boards.judged_here(dataset, model)))
    voted = compute.ensure_ladder(boards.board_of(alice, battles, boards.judged_by(dataset, "people")))
    dataset.contestants.filter(name="a").update(model=model)
    battle = judged.board.battles.first()
    names = ("", "-matrix", "-history", "-milestones", "-battles", "-samples", "-agreement")
    pages = [(one, reverse(f"ladder{name}", args=[one.slug])) for one in (judged, voted) for name in names]

    for ladder, address in (
        *pages,
        (judged, reverse("ladder-sample", args=[judged.slug, battle.sample_id])),
        (judged, reverse("battle", args=[battle.pk])),
    ):
        said = "simulated judge</span>" if ladder == judged else "simulated contestants</span>"
        assert said in told(client.get(address)), address


def test_the_history_is_drawn_for_those_chosen_who_have_no_value_before_they_joined(client, league, alice):
    many = league(contestants=12, battles=900)
    compute.refresh(many)
    address = reverse("ladder-history", args=[many.slug])
    first, chosen = told(client.get(address)), told(client.get(address, {"name": ["model-012", "nobody"]}))
    assert [one.count('<th scope="col">model-') for one in (first, chosen)] == [8, 1]
    assert '<polygon class="area' in chosen

    ladder = league(contestants=3, battles=90)
    compute.refresh(ladder)
    RatingPoint.objects.update(at=timezone.now() - timedelta(hours=1))
    boards.board_of(alice, [("late", "model-001", "left"), ("model-001", "late", "left")] * 6, ladder.board)
    compute.refresh(ladder)
    page = told(client.get(reverse("ladder-history", args=[ladder.slug])))
    (_then, names, values), (_now, later_names, later_values) = re.findall(
        'aria-label="([^"]*): ([^"]*)" data-values="([^"]*)"', page
    )
    assert ("late" in names, "late" in later_names) == (False, True)
    assert not names.endswith(", ")
    assert len(values.split()) == len(later_values.split()) == 4
    assert (values.split().count("–"), later_values.count("–")) == (1, 0)


def test_battles_are_filtered_by_subset_and_by_source_or_the_filter_is_refused(client, league, monkeypatch):
    ladder = league(contestants=3, battles=60, subsets=("easy", "hard"))
    samples = ladder.board.dataset.samples.order_by("pk")
    samples.update(source="b")
    samples.filter(pk__in=list(samples.values_list("pk", flat=True)[:4])).update(source="a")
    page, api = reverse("ladder", args=[ladder.slug]), reverse("api-ladder", args=[ladder.slug])

    found = client.get(api, {"source": "a"}).json()

    assert (found["battles"], found["source"], found["sources"]) == (12, "a", ["a", "b"])
    assert "<dd>12</dd>" in told(client.get(page, {"source": "a"}))
    assert "<dd>30</dd>" in told(client.get(page, {"subset": "easy"}))
    assert "No battle of this slice" in told(client.get(page, {"subset": "unknown"}))
    assert client.get(api, {"source": "unknown"}).json()["battles"] == 0
    monkeypatch.setattr(ranking, "MOST_COUNTED", 20)
    compute.refresh(ladder)
    boards.board_of(ladder.board.dataset.owner, [("model-001", "model-002", "left")], ladder.board)
    refused = client.get(api, {"source": "a"})
    assert (refused.status_code, list(refused.json()["errors"])) == (400, ["source"])
    assert client.get(page, {"source": "a"}).status_code == 400


def test_a_published_board_may_be_framed_and_its_chart_is_a_picture_for_those_who_see_it(client, league, alice):
    public, private = league(), league(visibility="private", name="<Trees>")
    svg, png = (reverse("ladder-picture", args=[private.slug, kind]) for kind in ("svg", "png"))
    assert client.get(svg).status_code == 404
    client.force_login(alice)

    framed = client.get(reverse("ladder-embed", args=[public.slug]), {"theme": "dark"})
    page = client.get(public.get_absolute_url())
    drawn, painted = client.get(svg), client.get(png, {"theme": "dark"})

    assert 'data-theme="dark"' in told(framed)
    assert "frame-ancestors *" in framed["Content-Security-Policy"]
    assert "X-Frame-Options" not in framed
    assert "frame-ancestors 'none'" in page["Content-Security-Policy"]
    assert client.get(reverse("ladder-embed", args=[private.slug])).status_code == 404, "hers, but not published"
    assert (drawn["Content-Type"], painted["Content-Type"]) == ("image/svg+xml", "image/png")
    assert len(ElementTree.fromstring(drawn.content).findall(".//{*}circle")) == 6
    assert Image.open(io.BytesIO(painted.content)).size == (1600, 2 * (78 + 6 * 26 + 34))
    Ladder.objects.update(withdrawn_reason="Stale.")
    assert client.get(reverse("ladder-embed", args=[public.slug])).status_code == 404
