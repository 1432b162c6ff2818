"""The report on a dataset's voters by the API, and all votes of one left out and taken in again."""

import pytest

from experiments.workflows.battles.campaign import boards
from leaderboard.votes import voter_report
from tests.experiments.battles.duels import BALLOT, voted_on

pytestmark = [pytest.mark.system, pytest.mark.django_db]


def test_the_api_tells_the_report_page_by_page_and_leaves_a_voter_out_and_takes_them_in_again(
    alice, api, charlies, settings, is_problem
):
    settings.PUBLIC_VOTES = True
    path, word = "datasets/duels/voters/", voter_report.pseudonym_of(boards.people_board(voted_on(alice)), BALLOT)
    body = api.get(path).json()

    assert (body["votes"], body["counted"], body["is_whole"], len(body["results"])) == (5, 5, True, 2)
    visitor = next(one for one in body["results"] if one["is_visitor"])
    assert (visitor["voter"], visitor["votes"], visitor["pace"], visitor["marks"]) == (word, 3, None, [])
    assert visitor["pace_reason"] != ""
    assert visitor["neither"]["part"] == 1
    assert 0 < visitor["neither"]["lower"] < visitor["neither"]["share"] < visitor["neither"]["upper"] < 1
    assert (visitor["agreement"]["share"] is None) == (visitor["agreement_reason"] != "")
    assert (body["widening"] is None) == (body["widening_reason"] != "")
    assert body["bounds"]["largest_share"] == 0.25
    first = api.get(path, page_size=1).json()
    second = api.client.get(first["next"], headers=api.headers).json()
    assert len({first["results"][0]["voter"], second["results"][0]["voter"]}) == 2
    assert second["next"] is None

    is_problem(charlies.post(path, {"deed": "restore", "voter": word}), 403, "curators")
    is_problem(api.post(path, {"deed": "leave_out", "voter": word}), 400, "reason")
    is_problem(api.post(path, {"deed": "leave_out", "voter": "nobody", "reason": "Spam."}), 400, "voter")
    for votes in (3, 0):
        assert api.post(path, {"deed": "leave_out", "voter": word, "reason": "Spam."}).json() == {"votes": votes}
    left = next(one for one in api.get(path).json()["results"] if one["voter"] == word)
    assert (left["left_out"], left["left_out_reason"], left["counted"]) == (3, "Spam.", 0)
    assert api.post(path, {"deed": "restore", "voter": word}).json() == {"votes": 3}
