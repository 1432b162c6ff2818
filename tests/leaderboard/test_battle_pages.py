"""The battle browser: who sees its pages and what they say; and it finds what a filter says, page by page."""

import itertools
import random
import re

import pytest
from django.http import QueryDict
from django.test import Client
from django.utils import timezone

from experiments.models import Battle, Output, Sample, Verdict
from experiments.workflows.battles.campaign import counting
from leaderboard.boards import compute
from leaderboard.pages import battle_search
from leaderboard.pages.battle_search import PageStart, read_filter
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
    people = compute.ensure_ladder(boards.judged_by(ladder.board.dataset, "people"))
    page = squeezed(html(f"/battles/{middle.pk}/?contestant=a"))
    assert f'rel="next" href="/battles/{oldest.pk}/?contestant=a"' in page
    assert f'href="{listed}?contestant=a"' in page
    assert f'href="/leaderboard/{people.slug}/battles/?contestant=a"' in html(f"{listed}?contestant=a")


CONTESTANTS = ["&".join(f"contestant={name}" for name in names) for names in ("", "c", "ab", "da", "abd")]
FURTHER = [
    *("", "result=won", "result=lost", "result=decisive", "result=tie", "result=both_bad"),
    *("consistent=yes", "consistent=no", "consistent=no&result=tie", "state=open", "state=void"),
    *("subset=hard", "category=law", "subset=easy&category=law&result=tie", "source=web", "images=2"),
    *("search=HARBOUR", "search=日本", "search=nothing like it", "search=harbour&result=decisive&consistent=yes"),
    "images=1&state=open",
]


@pytest.fixture
def board(alice):
    """A board on which everything occurs."""
    lots = random.Random(3)
    dataset = boards.dataset_of(alice, visibility="public")
    people = boards.contestants_of(dataset, "abcd")
    kinds = {"subset": ["easy", "hard"], "category": ["law", "art"], "source": ["web", "book"]}
    kinds |= {"instruction": ["Draw the Harbour", "Write", "Sing"], "metadata": [{"place": "日本"}, {"place": "Ghana"}]}
    kinds["images"] = [["0" * 64] * count for count in range(3)]
    samples = [
        Sample.objects.create(dataset=dataset, index=number, **{name: lots.choice(of) for name, of in kinds.items()})
        for number in range(12)
    ]
    board = boards.judged_by(dataset)
    rows = [(sample, *pair) for sample in samples for pair in itertools.combinations(people, 2)]
    lots.shuffle(rows)
    Battle.objects.bulk_create(_drawn(board, lots, *row) for row in rows)
    counting.recount(board)
    board.refresh_from_db()
    return board


def _drawn(board, lots, sample, left, right):
    winner = lots.choice(["left", "right", "tie", "both_bad", ""])
    is_void = lots.random() < 0.15
    return Battle(
        board=board,
        sample=sample,
        left=left,
        right=right,
        winner=winner,
        is_consistent=lots.choice([True, False, None]) if winner else None,
        void_reason="a bad picture" if is_void else "",
        voided=timezone.now() if is_void else None,
    )


def fits(battle, query):
    """What a filter means, said battle by battle."""
    asked, names = QueryDict(query), [battle.left.name, battle.right.name]
    wanted = asked.getlist("contestant")
    if len(wanted) == 1 and wanted[0] not in names:
        return False
    if len(wanted) > 1 and not set(names) <= set(wanted):
        return False
    winner = {"left": names[0], "right": names[1]}.get(battle.winner, battle.winner)
    result = asked.get("result", "")
    meant = {
        "won": len(wanted) not in {1, 2} or winner == (wanted or [""])[0],
        "lost": len(wanted) not in {1, 2} or (winner in names and winner != wanted[0]),
        "decisive": winner in names,
        "tie": winner == "tie",
        "both_bad": winner == "both_bad",
        "": True,
    }
    state = asked.get("state", "")
    is_shown = {
        "open": not battle.winner and not battle.void_reason,
        "void": bool(battle.void_reason),
        "": bool(battle.winner) and not battle.void_reason,
    }
    consistent = {"yes": battle.is_consistent is True, "no": battle.is_consistent is False}
    sample = battle.sample
    words = f"{sample.instruction} {sample.category} {sample.source} {sample.metadata}".lower()
    return (
        (state == "open" or meant[result])
        and is_shown[state]
        and consistent.get(asked.get("consistent", ""), True)
        and all(getattr(sample, name) == asked[name] for name in ("subset", "category", "source") if asked.get(name))
        and (not asked.get("images") or len(sample.images) == int(asked["images"]))
        and asked.get("search", "").lower() in words
    )


def paged(board, chosen):
    """All keys, page by page from the newest to the oldest."""
    page = battle_search.battle_page(board, chosen, PageStart())
    while page.battles:
        yield [battle.pk for battle in page.battles]
        if not page.has_older:
            break
        page = battle_search.battle_page(board, chosen, PageStart(page.oldest))


@pytest.mark.databases
@pytest.mark.parametrize(
    ("few", "contestants", "step"),
    [(40, CONTESTANTS, 3), (0, ["contestant=a"], 1), pytest.param(40, CONTESTANTS, 1, marks=pytest.mark.exhaustive)],
)
def test_every_combination_finds_exactly_what_it_says(board, monkeypatch, few, contestants, step):
    monkeypatch.setattr(battle_search, "FEW_SAMPLES", few)
    monkeypatch.setattr(battle_search, "PER_PAGE", 7)
    everything = list(Battle.objects.select_related("left", "right", "sample").order_by("-pk"))
    queries = ["&".join(filter(None, both)) for both in itertools.product(contestants, FURTHER)]
    for query in queries[::step]:
        wanted = [battle.pk for battle in everything if fits(battle, query)]
        chosen = read_filter(QueryDict(query), board)

        assert [key for page in paged(board, chosen) for key in page] == wanted, query

        first = battle_search.battle_page(board, chosen, PageStart())
        assert (first.total, first.is_exact) == (len(wanted), True), query
        last = battle_search.battle_page(board, chosen, PageStart(is_ascending=True))
        assert [battle.pk for battle in last.battles] == wanted[-7:], query
        if len(wanted) > 14:
            newer = battle_search.battle_page(board, chosen, PageStart(wanted[12], is_ascending=True))
            assert [battle.pk for battle in newer.battles] == wanted[5:12], query


def test_a_filter_is_written_into_the_address_it_was_read_from_and_neighbours_are_those_in_it(board):
    address = "contestant=a&contestant=b&result=won&consistent=yes&subset=hard&images=2&search=harbour+%26+sea"
    chosen = read_filter(QueryDict(address), board)
    assert chosen.address == address
    assert read_filter(QueryDict(chosen.address), board) == chosen

    for address in ("result=won", "consistent=perhaps", "images=x", "sample=٣", "state=gone", "search=%00"):
        assert read_filter(QueryDict(address), board).is_empty, address
    nobody = read_filter(QueryDict("contestant=nobody"), board)
    assert nobody.unknown == ("nobody",)
    assert battle_search.battle_page(board, nobody, PageStart()).battles == ()

    chosen = read_filter(QueryDict("contestant=a&result=won"), board)
    keys = battle_search.battle_keys(board, chosen, PageStart(), 100)
    middle = Battle.objects.get(pk=keys[3])

    assert battle_search.neighbours(board, chosen, middle) == (keys[2], keys[4])
    assert battle_search.neighbours(board, chosen, Battle.objects.get(pk=keys[0]))[0] is None
    assert battle_search.neighbours(board, chosen, Battle.objects.get(pk=keys[-1]))[1] is None
