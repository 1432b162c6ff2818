"""What ballots come to: mean rank, votes, and Borda's count."""

from experiments.workflows.council.counting import Ballot, leaders, standings

ABC = ("a", "b", "c")


def ballot(order, offered=ABC, reviewer="x"):
    """order: "c>a=b" """
    return Ballot(reviewer, tuple(tuple(group.split("=")) for group in order.split(">")), tuple(offered))


def counted(*ballots):
    return {one.seat: (one.votes, one.mean_rank, one.borda) for one in standings(ABC, ballots)}


def test_one_ballot_gives_places():
    assert counted(ballot("c>a>b")) == {"c": (1, 1, 1), "a": (1, 2, 0.5), "b": (1, 3, 0)}


def test_equals_share_the_mean_of_their_places():
    assert ballot("a=b>c").positions() == {"a": 1.5, "b": 1.5, "c": 3}
    assert counted(ballot("a=b>c"))["a"] == (1, 1.5, 0.75)


def test_what_a_ballot_leaves_out_shares_the_places_that_are_left():
    assert ballot("c").positions() == {"c": 1, "a": 2.5, "b": 2.5}
    assert counted(ballot("c"))["a"] == (0, 2.5, 0.25), "no vote, but not unranked either"


def test_without_their_own_answers_ballots_of_two_count_like_ballots_of_three():
    found = counted(ballot("b>c", "bc"), ballot("c>a", "ca"), ballot("b>a", "ab"))

    assert found["b"] == (2, 1, 1)
    assert found["c"] == (2, 1.5, 0.5)
    assert found["a"] == (2, 2, 0)


def test_an_answer_that_nobody_was_shown_has_no_place():
    assert counted(ballot("a>b", "ab"))["c"] == (0, None, None)
    assert [one.seat for one in standings(ABC, [ballot("b>a", "ab")])] == ["b", "a", "c"]


def test_a_ballot_on_one_answer_compares_nothing():
    assert counted(ballot("a", "a"))["a"] == (1, None, None)


def test_rankings_in_a_circle_have_no_leader():
    found = standings(ABC, [ballot("a>b>c"), ballot("b>c>a"), ballot("c>a>b")])

    assert leaders(found) == ["a", "b", "c"]
    assert {one.borda for one in found} == {0.5}


def test_leaders_are_those_whom_nobody_beats():
    assert leaders(standings(ABC, [ballot("c>a>b"), ballot("a=c>b")])) == ["c"]
    assert leaders(standings(ABC, [ballot("a=c>b")])) == ["a", "c"]
    assert leaders(standings(ABC, [])) == []


def test_the_sequence_of_ballots_makes_no_difference():
    ballots = [ballot("a>b=c"), ballot("c>a"), ballot("b>c", "bc"), ballot("c>b>a")]
    assert counted(*ballots) == counted(*reversed(ballots))
