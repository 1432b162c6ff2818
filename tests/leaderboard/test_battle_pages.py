"""The pages of the battle browser: who sees them, what they say, and what they keep to themselves."""

import re

import pytest
from django.test import Client

from experiments.models import Battle, Output, Verdict
from experiments.workflows.battles.campaign import boards as found
from leaderboard.boards import compute
from tests.fixtures import signed_in
from tests.leaderboard import boards
from tests.markup import squeezed

pytestmark = pytest.mark.django_db


@pytest.fixture
def ladder(alice):
    """A public ladder of three battles between a and b, and one that is open."""
    rows = [("a", "b", "left"), ("a", "b", "tie"), ("a", "c", "right"), ("b", "c", "")]
    return compute.ensure_ladder(boards.board_of(alice, rows, visibility="public"))


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


def test_a_battle_says_all_that_is_known_of_it_also_why_curators_made_it_void(battle, curator):
    page = html(f"/battles/{battle.pk}/")

    for said in ("<strong>bold</strong>", "plain words", "no verdict in it", "Clearer.", "confidence 0.75"):
        assert said in page, said
    assert "The first is clearer &lt;b&gt;by far&lt;/b&gt;." in page
    assert "<script>x" not in page
    open_one = battle.board.battles.get(winner="")
    Battle.objects.filter(pk=open_one.pk).update(open_reason="The judge did not answer.")
    assert "The judge did not answer." in html(f"/battles/{open_one.pk}/")

    browser = signed_in(curator)

    browser.post(f"/battles/{battle.pk}/void/?contestant=a", {"reason": "The picture is broken."})

    assert "The picture is broken." in html(f"/battles/{battle.pk}/")
    assert html(f"/leaderboard/{battle.board.slug}/battles/").count("<li data-item>") == 2
    browser.post(f"/battles/{battle.pk}/void/", {"restore": "1"})
    assert "The picture is broken." not in html(f"/battles/{battle.pk}/")
    assert html(f"/leaderboard/{battle.board.slug}/battles/").count("<li data-item>") == 3


def test_scores_are_a_table_of_both_contestants_in_the_order_shown_and_of_another_shape_lines_of_text(battle):
    evil = "<b>A's clarity</b> is no number."
    given = {"left": {"clarity": 5.0, "text_rendering": 8.5}, "right": {"clarity": 7.0}, "absent": [evil]}
    original = Verdict.objects.filter(order="original")
    original.update(scores=given)
    Verdict.objects.filter(order="swapped").update(scores={**given, "absent": ["A's text_rendering is missing."]})

    page = squeezed(html(f"/battles/{battle.pk}/"))

    first, second = (part.split("</table>")[0] for part in page.split('<table class="rows figures scores"')[1:])
    assert first.index(">a</th>") < first.index(">b</th>")
    assert second.index(">b</th>") < second.index(">a</th>")
    assert re.search(r"Clarity</th><td>5</td><td><b>.*higher</span>7</b>", first)
    assert re.search(r"Clarity</th><td><b>.*higher</span>7</b></td><td>5</td>", second)
    assert re.search(r"Text rendering</th><td>8.5</td><td>.*not given", first)
    for said in ("&lt;b&gt;A&#x27;s clarity&lt;/b&gt; is no number.", "b: text_rendering is missing."):
        assert said in page, said
    assert "{&#x27;" not in page
    original.update(scores={"left": 3, "A": {"clarity": 5, "why": "<i>so</i>"}, "n": None})
    page = html(f"/battles/{battle.pk}/")
    for said in ("<dt>Left</dt><dd>3</dd>", "<dt>A</dt><dd>Clarity 5, Why &lt;i&gt;so&lt;/i&gt;</dd>"):
        assert said in page, said


def test_a_name_that_looks_like_an_address_is_found_by_its_link(alice):
    name = '"><script>alert(1)</script>&x=1#_vs_'
    ladder = compute.ensure_ladder(boards.board_of(alice, [(name, "b", "left")], visibility="public"))
    sample = ladder.board.dataset.samples.get()

    page = html(f"/leaderboard/{ladder.slug}/samples/{sample.pk}/")

    [address] = {part.split('"')[0] for part in page.split('href="')[1:] if "_vs_" in part and "contestant=" in part}
    assert html(address.replace("&amp;", "&")).count("<li data-item>") == 1


def test_samples_are_found_and_show_everybodys_output_best_first(battle, ladder):
    samples = f"/leaderboard/{ladder.slug}/samples/"
    assert html(f"{samples}?search=task%200").count("<li data-item>") == 1

    page = html(f"{samples}{battle.sample_id}/")

    assert page.index("100.0 %") < page.index("0.0 %", page.index("100.0 %") + 5)
    assert "1 won, 0 lost, 0 tied" in page
    assert f"?sample={battle.sample_id}&amp;contestant=a" in page
    assert "<strong>bold</strong>" in html(f"{samples}{battle.sample_id}/?contestant=a")
    html(f"{samples}{battle.sample_id + 10_000}/", status=404)


def test_a_visitor_reads_the_battles_of_a_public_ladder_and_stays_in_the_filter(ladder):
    listed = f"/leaderboard/{ladder.slug}/battles/"
    for query, count in (("", 3), ("contestant=a&result=won", 1), ("contestant=nobody", 0), ("state=open", 1)):
        assert html(f"{listed}?{query}").count("<li data-item>") == count, query

    oldest, middle, *_newest = ladder.board.battles.order_by("pk")
    people = compute.ensure_ladder(found.people_board(ladder.board.dataset))
    page = squeezed(html(f"/battles/{middle.pk}/?contestant=a"))
    assert f'rel="next" href="/battles/{oldest.pk}/?contestant=a"' in page
    assert f'href="{listed}?contestant=a"' in page
    assert f'href="/leaderboard/{people.slug}/battles/?contestant=a"' in html(f"{listed}?contestant=a")
