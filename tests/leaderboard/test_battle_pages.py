"""The pages of the battle browser: who sees them, what they say, and what they keep to themselves."""

import re

import pytest
from django.test import Client

from accounts.models import User
from experiments.battles import boards as found
from experiments.models import Battle, Output, PairCount, Verdict
from leaderboard import compute
from tests.cases import each_case
from tests.fixtures import signed_in
from tests.leaderboard import boards

pytestmark = pytest.mark.django_db


@pytest.fixture
def ladder(alice):
    """A public ladder of three battles between a and b, and one that is open."""
    rows = [("a", "b", "left"), ("a", "b", "tie"), ("a", "c", "right"), ("b", "c", "")]
    return compute.ensure(boards.board_of(alice, rows, visibility="public"))


@pytest.fixture
def battle(ladder):
    first = ladder.board.battles.select_related("sample", "left", "right").order_by("pk").first()
    for contestant, text in ((first.left, "**bold** <script>x</script>"), (first.right, "plain words")):
        Output.objects.create(sample=first.sample, contestant=contestant, text=text)
    said = {"battle": first, "winner": "left", "scores": {"clarity": 5}, "confidence": 0.75, "rationale": "Clearer."}
    Verdict.objects.create(order="original", raw="The first is clearer <b>by far</b>.", **said)
    Verdict.objects.create(order="swapped", raw="Hm", battle=first, winner="", unread_reason="no verdict in it")
    return first


def html(path, browser=None, status=200):
    answer = (browser or Client()).get(path)
    assert answer.status_code == status, path
    return answer.content.decode()


def test_a_visitor_reads_the_battles_of_a_public_ladder(ladder):
    page = html(f"/leaderboard/{ladder.slug}/battles/")

    assert "3 battles" in page
    assert page.count("<li data-item>") == 3
    assert "1 battle" in html(f"/leaderboard/{ladder.slug}/battles/?contestant=a&result=won")
    assert "no contestant called nobody" in html(f"/leaderboard/{ladder.slug}/battles/?contestant=nobody")
    assert page.count("<li data-item>") > html(f"/leaderboard/{ladder.slug}/battles/?state=open").count("data-item")


@each_case("path", ["battles/", "samples/", "agreement/"])
def test_of_a_private_dataset_nobody_else_learns_anything(alice, charlie, path):
    ladder = compute.ensure(boards.board_of(alice, [("a", "b", "left")], visibility="private"))
    sample, pk = ladder.board.dataset.samples.get(), ladder.board.battles.get().pk

    for stranger in (Client(), signed_in(charlie)):
        for address in (path, f"samples/{sample.pk}/"):
            html(f"/leaderboard/{ladder.slug}/{address}", stranger, 404)
        html(f"/battles/{pk}/", stranger, 404)
    html(f"/leaderboard/{ladder.slug}/{path}", signed_in(alice))
    html(f"/battles/{pk}/", signed_in(alice))


def test_a_battle_says_everything_that_is_known_of_it(battle):
    page = html(f"/battles/{battle.pk}/")

    for said in ("<strong>bold</strong>", "plain words", "For a", "Could not be read", "no verdict in it", "Clearer."):
        assert said in page, said
    assert "The first is clearer &lt;b&gt;by far&lt;/b&gt;." in page
    assert "confidence 0.75" in page
    assert "<script>x" not in page
    assert "judged elsewhere by a judge" in page


def test_scores_are_a_table_of_both_contestants_in_the_order_shown(battle):
    evil = "<b>A's clarity</b> is no number."
    given = {"left": {"clarity": 5.0, "text_rendering": 8.5}, "right": {"clarity": 7.0}, "absent": [evil]}
    Verdict.objects.filter(order="original").update(scores=given)
    Verdict.objects.filter(order="swapped").update(scores={**given, "absent": ["A's text_rendering is missing."]})

    page = html(f"/battles/{battle.pk}/")

    first, second = (part.split("</table>")[0] for part in page.split('<table class="rows figures scores"')[1:])
    assert first.index(">a</th>") < first.index(">b</th>")
    assert second.index(">b</th>") < second.index(">a</th>")
    assert re.search(r"Clarity</th><td>5</td><td><b>.*higher</span> 7</b>", first)
    assert re.search(r"Clarity</th><td><b>.*higher</span> 7</b></td><td>5</td>", second)
    assert re.search(r"Text rendering</th><td>8.5</td><td>.*not given", first)
    assert "&lt;b&gt;A&#x27;s clarity&lt;/b&gt; is no number." in page
    assert "b: text_rendering is missing." in page
    assert "{&#x27;" not in page


def test_scores_of_another_shape_are_lines_of_text(battle):
    Verdict.objects.filter(order="original").update(
        scores={"left": 3, "A": {"clarity": 5, "why": "<i>so</i>"}, "n": None}
    )

    page = html(f"/battles/{battle.pk}/")

    assert "<dt>Left</dt><dd>3</dd>" in page
    assert "<dt>A</dt><dd>Clarity 5, Why &lt;i&gt;so&lt;/i&gt;</dd>" in page


def test_an_open_battle_says_that_it_is_no_tie(ladder):
    open_one = ladder.board.battles.get(winner="")
    Battle.objects.filter(pk=open_one.pk).update(open_reason="The judge did not answer.")

    page = html(f"/battles/{open_one.pk}/")

    assert "it is no tie" in page
    assert "The judge did not answer." in page


def test_newer_and_older_stay_in_the_filter(ladder):
    oldest, middle, *_newest = ladder.board.battles.order_by("pk")

    page = html(f"/battles/{middle.pk}/?contestant=a")

    assert f'rel="next" href="/battles/{oldest.pk}/?contestant=a"' in page
    assert f'href="/leaderboard/{ladder.slug}/battles/?contestant=a"' in page


@pytest.mark.databases
@pytest.mark.parametrize("role", ["curator", "admin"])
def test_curators_make_a_battle_void_with_a_reason_and_take_that_back(battle, charlie, role):
    charlie.role = User.Role(role)
    charlie.save()
    browser = signed_in(charlie)
    assert "Make it void" in html(f"/battles/{battle.pk}/", browser)

    browser.post(f"/battles/{battle.pk}/void/?contestant=a", {"reason": "The picture is broken."})

    page = html(f"/battles/{battle.pk}/")
    assert "The picture is broken." in page
    assert sum(row.left_wins for row in PairCount.objects.all()) == 0
    assert "2 battles" in html(f"/leaderboard/{battle.board.slug}/battles/")
    browser.post(f"/battles/{battle.pk}/void/", {"restore": "1"})
    assert "The picture is broken." not in html(f"/battles/{battle.pk}/")
    assert sum(row.left_wins for row in PairCount.objects.all()) == 1


def test_nobody_else_makes_a_battle_void(battle, charlie):
    assert "Make it void" not in html(f"/battles/{battle.pk}/", signed_in(charlie))

    signed_in(charlie).post(f"/battles/{battle.pk}/void/", {"reason": "I lost."})
    Client().post(f"/battles/{battle.pk}/void/", {"reason": "I lost."})

    battle.refresh_from_db()
    assert battle.void_reason == ""


def test_samples_are_found_and_show_everybodys_output_best_first(battle, ladder):
    page = html(f"/leaderboard/{ladder.slug}/samples/?search=task%200")
    assert page.count("<li data-item>") == 1

    page = html(f"/leaderboard/{ladder.slug}/samples/{battle.sample_id}/")

    assert page.index("100.0 %") < page.index("0.0 %", page.index("100.0 %") + 5)
    assert "1 won, 0 lost, 0 tied" in page
    assert f"?sample={battle.sample_id}&amp;contestant=a" in page
    assert "<strong>bold</strong>" in html(f"/leaderboard/{ladder.slug}/samples/{battle.sample_id}/?contestant=a")
    html(f"/leaderboard/{ladder.slug}/samples/{battle.sample_id + 10_000}/", status=404)


def test_names_that_look_like_markup_or_addresses_stay_names(alice):
    name = '"><script>alert(1)</script>&x=1#_vs_'
    ladder = compute.ensure(boards.board_of(alice, [(name, "b", "left")], visibility="public"))
    sample = ladder.board.dataset.samples.get()

    for path in (f"/leaderboard/{ladder.slug}/battles/", f"/leaderboard/{ladder.slug}/samples/{sample.pk}/"):
        assert "<script>alert" not in html(path)
    page = html(f"/leaderboard/{ladder.slug}/samples/{sample.pk}/")
    [address] = {part.split('"')[0] for part in page.split('href="')[1:] if "_vs_" in part and "contestant=" in part}
    assert "1 battle" in html(address.replace("&amp;", "&"))


def test_boards_of_the_same_dataset_are_one_step_away_with_the_filter_kept(ladder):
    people = compute.ensure(found.people_board(ladder.board.dataset))

    page = html(f"/leaderboard/{ladder.slug}/battles/?contestant=a")

    assert f'href="/leaderboard/{people.slug}/battles/?contestant=a"' in page
    assert "No battle fits." in html(f"/leaderboard/{people.slug}/battles/?contestant=a")
