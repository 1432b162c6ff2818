"""The read routes of GenArena's viewer, over our own ladders."""

import pytest

from experiments.models import Battle, Dataset
from leaderboard.compute import ensure, refresh
from tests.leaderboard import boards

LEAGUE = 4 * [
    *[("org_vs_a", "b", "left")] * 3,
    *[("b", "c", "left")] * 2,
    *[("b", "c", "tie"), ("org_vs_a", "c", "right")],
]


@pytest.fixture
def board(alice):
    board = boards.board_of(alice, LEAGUE)
    Dataset.objects.filter(pk=board.dataset_id).update(visibility="public")
    refresh(ensure(board))
    return board


@pytest.fixture
def read(client, board):
    def get(path, status=200, **query):
        answer = client.get(f"/api/{path.replace('SUBSET', f'subsets/{board.slug}')}", query)
        assert answer.status_code == status, answer.content
        return answer.json()

    return get


def test_pairs_are_counted_alike_everywhere(read):
    """A tie is half a win for both, in the matrix as in the duel and in a contestant's own numbers."""
    matrix = read("SUBSET/matrix")
    b, c = (matrix["models"].index(name) for name in "bc")
    duel = read("SUBSET/experiments/__all__/h2h", model_a="b", model_b="c")
    [against] = [one for one in read("SUBSET/models/b/stats")["vs_stats"] if one["opponent"] == "c"]

    assert (duel["wins_a"], duel["wins_b"], duel["ties"]) == (8, 0, 4)
    assert matrix["matrix"][b][c] == duel["win_rate_a"] == against["win_rate"] == pytest.approx(10 / 12)
    assert matrix["matrix"][b][b] is None


@pytest.mark.databases
def test_battles_are_paged_filtered_and_opened(read):
    page = read("SUBSET/experiments/__all__/battles", page_size="10")
    last = read("SUBSET/experiments/__all__/battles", page_size="10", page="3")
    of_a = read("SUBSET/experiments/__all__/battles", models="org_vs_a", result="wins")

    assert (page["total"], page["total_pages"], len(page["battles"]), len(last["battles"])) == (28, 3, 10, 8)
    assert of_a["total"] == 12
    shown = of_a["battles"][0]
    one = read(f"SUBSET/experiments/__all__/battles/org_vs_a_vs_b:{shown['sample_index']}")
    assert (one["final_winner"], one["id"]) == ("org_vs_a", shown["id"])
    assert read("SUBSET/experiments/__all__/battles/nobody:1", status=404)["status"] == 404
    assert read("SUBSET/experiments/__all__/battles", status=400, page="9999")["status"] == 400


def test_votes_to_be_cast_and_private_boards_are_not_shown(read, board):
    Battle.objects.filter(board=board).update(shown_left_first=True, judged=None, winner="")

    assert read("SUBSET/experiments/__all__/battles")["battles"] == []
    Dataset.objects.filter(pk=board.dataset_id).update(visibility="private")
    assert read("subsets") == {"subsets": []}


def test_samples_are_listed_searched_and_opened(read):
    first = read("SUBSET/experiments/__all__/prompts", page_size="1")["prompts"][0]
    index = first["sample_index"]

    found = read("SUBSET/experiments/__all__/search/prompts", q=first["instruction"])

    assert index in [one["sample_index"] for one in found["prompts"]]
    assert read(f"SUBSET/experiments/__all__/samples/{index}/all_models")["sample_index"] == index
    assert read(f"SUBSET/samples/{index}/input_count") == {"count": 0}
    mine = read(f"SUBSET/experiments/__all__/samples/{index}/models/b/battles")
    assert {one["result"] for one in mine["battles"]} <= {"win", "loss", "tie"}
    assert read("SUBSET/experiments/__all__/search", q="Task")["query"] == "Task"


def test_several_ladders_side_by_side(read, board):
    assert read("overview/leaderboards")["subset_info"][board.slug]["total_battles"] == 28
    assert read("cross-subset/info", subsets=board.slug)["common_models"] == ["b", "c", "org_vs_a"]
    together = read("cross-subset/elo", subsets=board.slug)
    alone = {one["model"]: one["elo"] for one in read("SUBSET/leaderboard")["leaderboard"]}
    assert {one["model"]: one["elo"] for one in together["leaderboard"]} == alone
    assert None not in alone.values()
    assert read("cross-subset/elo", status=400)["status"] == 400
    own = {one["model"]: one for one in read("SUBSET/leaderboard")["leaderboard"]}
    for field in ("elo", "ci_lower", "ci_upper"):
        assert together[f"per_subset_{field}"][board.slug] == {name: one[field] for name, one in own.items()}
    against = read("SUBSET/models/b/stats")["vs_stats"]
    assert {(one["opponent_ci_lower"], one["opponent_ci_upper"]) for one in against} == {
        (own[one["opponent"]]["ci_lower"], own[one["opponent"]]["ci_upper"]) for one in against
    }


def test_history_and_sources_have_their_shapes(read):
    history = read("SUBSET/elo-history")

    assert all(len(values) == len(history["timestamps"]) for values in history["models"].values())
    for side in ("ci_lower", "ci_upper"):
        assert {name: len(ends) for name, ends in history[side].items()} == {
            name: len(values) for name, values in history["models"].items()
        }
    assert set(read("SUBSET/leaderboard/by-source")) == {"sources", "leaderboards", "battle_counts"}


def test_the_ladders_are_the_subsets_and_the_leaderboard_is_ours(read, board):
    [first, *others] = read("SUBSET/leaderboard")["leaderboard"]

    assert read("subsets") == {"subsets": [board.slug]}
    assert read("SUBSET/info")["total_battles"] == 28
    assert read("SUBSET/stats")["tie_battles"] == 4
    assert first["rank"] == 1
    assert first["ci_lower"] < first["elo"] < first["ci_upper"]
    assert {one["model"] for one in others} < {"org_vs_a", "b", "c"}
    assert [one["model"] for one in read("SUBSET/leaderboard", models="b")["leaderboard"]] == ["b"]
