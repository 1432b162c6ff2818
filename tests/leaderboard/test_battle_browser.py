"""The battle browser finds what a filter says, on whichever way it finds it, and pages through all of it."""

import itertools
import random

import pytest
from django.http import QueryDict
from django.utils import timezone

from experiments.models import Battle, Contestant, Dataset, Sample
from experiments.workflows.battles.campaign import boards, counting
from leaderboard.pages import battle_search
from leaderboard.pages.battle_search import PageStart, read_filter

CONTESTANTS = [
    "",
    "contestant=c",
    "contestant=a&contestant=b",
    "contestant=d&contestant=a",
    "contestant=a&contestant=b&contestant=d",
]
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
    dataset = Dataset.objects.create(owner=alice, name="Much", slug="much", state="ready", visibility="public")
    people = [Contestant.objects.create(dataset=dataset, name=name) for name in "abcd"]
    samples = [
        Sample.objects.create(
            dataset=dataset,
            index=number,
            subset=lots.choice(["easy", "hard"]),
            category=lots.choice(["law", "art"]),
            source=lots.choice(["web", "book"]),
            instruction=lots.choice(["Draw the Harbour", "Write", "Sing"]),
            images=["0" * 64] * lots.randrange(3),
            metadata={"place": lots.choice(["日本", "Ghana"])},
        )
        for number in range(12)
    ]
    board = boards.imported_board(dataset, "judge")
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
@pytest.mark.django_db
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


@pytest.mark.django_db
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
