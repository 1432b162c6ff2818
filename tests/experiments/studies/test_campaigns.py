"""Campaigns beside each other: a prompt counts once, ties half, and only what both have been judged on is compared."""

import httpx
import pytest

from accounts.tokens import create_token
from arena_lab import Arena
from experiments.models import Battle, Campaign, Experiment
from leaderboard.boards import compute
from tests.client.conftest import IN_PROCESS, answer
from tests.fixtures import signed_in
from tests.leaderboard import boards

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaigns(alice):
    """Two judges of the same battles of a and b on six prompts; the first judged a further prompt."""
    first = boards.board_of(alice, [("a", "b", winner) for winner in ("left",) * 4 + ("right", "tie", "left")])
    second = boards.judged_by(first.dataset, "another judge")
    others = [
        Battle(board=second, sample_id=sample, left_id=left, right_id=right, winner=winner, judged=judged)
        for (sample, left, right, judged), winner in zip(
            first.battles.order_by("sample__index").values_list("sample", "left", "right", "judged"),
            ("right", "right", "left", "left", "right", "right"),
            strict=False,
        )
    ]
    Battle.objects.bulk_create(others)
    made = []
    for board, title in ((first, "One judge"), (second, "Another")):
        experiment = Experiment.objects.create(owner=alice, workflow="battles", title=title, config={})
        Campaign.objects.create(experiment=experiment)
        board.battles.update(experiment=experiment)
        made.append(str(experiment.pk))
    return made


def test_win_rates_of_campaigns_are_compared_on_the_prompts_that_they_share(campaigns, alice, browser, monkeypatch):
    asked = {"campaign": campaigns, "contestant": "a"}
    first, second = browser.get("/api/studies/campaigns/", asked).json()

    assert [first[name] for name in ("title", "battles", "prompts", "against")] == ["One judge", 7, 7, None]
    assert first["rate"] == pytest.approx(5.5 / 7)
    assert second["rate"] == pytest.approx(2 / 6)
    assert 0 <= second["low"] < second["rate"] < second["high"] <= 1
    against = second["against"]
    assert (against["prompts"], against["missing"]) == (6, "")
    assert against["difference"]["value"] == pytest.approx(2 / 6 - 4.5 / 6)
    assert against["p"] == against["adjusted"] == 2 / 2**3, "three prompts differ, all in one direction"

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", answer)
    with Arena(IN_PROCESS, create_token(alice)) as arena:
        told = arena.studies.campaigns(*campaigns, contestant="b")
    assert [one.rate for one in told] == pytest.approx([1.5 / 7, 4 / 6])
    assert told[1].against.difference.value == pytest.approx(4.5 / 6 - 2 / 6)


def test_battles_in_which_both_are_bad_count_neither_here_nor_in_the_win_rates_of_boards(campaigns, alice, browser):
    board = boards.board_of(alice, [("a", "b", winner) for winner in ("left", "both_bad", "tie")])
    board.battles.update(experiment=campaigns[0])
    Battle.objects.filter(experiment=campaigns[0]).exclude(board=board).delete()
    first, _second = browser.get("/api/studies/campaigns/", {"campaign": campaigns, "contestant": "a"}).json()

    [row] = [one for one in compute.current(compute.ensure_ladder(board)).standings.rows if one.name == "a"]
    assert (first["battles"], first["rate"]) == (2, row.win_rate) == (2, 0.75)


def test_void_battles_do_not_count_and_nothing_is_said_of_too_few_prompts(campaigns, browser):
    shared = Battle.objects.filter(experiment=campaigns[1]).order_by("sample__index")
    shared.exclude(pk=shared.first().pk).update(void_reason="a wrong judge")
    _first, second = browser.get("/api/studies/campaigns/", {"campaign": campaigns, "contestant": "a"}).json()

    assert (second["battles"], second["rate"], second["low"]) == (1, 0, None)
    assert (second["against"]["difference"], second["against"]["missing"]) == (None, "too_few_units")


def test_what_cannot_be_compared_is_refused_and_nobody_sees_anothers(campaigns, browser, charlie):
    asked = {"campaign": campaigns, "contestant": "a"}
    assert signed_in(charlie).get("/api/studies/campaigns/", asked).status_code == 404
    unknown = browser.get("/api/studies/campaigns/", {**asked, "contestant": "z"})
    assert (unknown.status_code, list(unknown.json()["errors"])) == (400, ["contestant"])
    assert browser.get("/api/studies/campaigns/", {**asked, "contestant": "\0"}).status_code == 400
    single = browser.get("/api/studies/campaigns/", {**asked, "campaign": campaigns[:1]})
    assert (single.status_code, list(single.json()["errors"])) == (400, ["campaign"])
    assert browser.get("/api/studies/campaigns/", {**asked, "campaign": ["x", "y"]}).status_code == 404
