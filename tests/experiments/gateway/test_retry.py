"""When to ask again."""

import pytest

from experiments.gateway import (
    BadAnswer,
    BadKey,
    Completion,
    ContextExceeded,
    EmptyAnswer,
    ForbiddenAddress,
    GatewayError,
    GiveUp,
    Interrupted,
    OutcomeUnknown,
    OutOfCredit,
    Overloaded,
    RateLimited,
    Refused,
    ToolCall,
    UnknownModel,
    Unreachable,
    Wait,
    decide,
)
from tests.cases import each_case


@each_case("kind", [RateLimited, Overloaded, Unreachable])
def test_what_may_heal_is_asked_four_times(kind):
    outcomes = [decide(kind("x"), attempt, jitter=0.5) for attempt in (1, 2, 3, 4)]
    assert [type(outcome) for outcome in outcomes] == [Wait, Wait, Wait, GiveUp]
    waits = [outcome.seconds for outcome in outcomes[:3]]
    assert waits == [waits[0], 2 * waits[0], 4 * waits[0]]


@each_case("kind", [BadKey, Refused, ContextExceeded, UnknownModel, ForbiddenAddress, ToolCall, GatewayError])
def test_what_needs_a_person_is_never_repeated(kind):
    assert isinstance(decide(kind("x", retry_after=5), 1, jitter=0), GiveUp)


@each_case("kind", [OutcomeUnknown, Interrupted, BadAnswer, EmptyAnswer])
def test_q34_what_may_have_been_billed_is_repeated_once(kind):
    assert isinstance(decide(kind("x"), 1, jitter=0), Wait)
    assert isinstance(decide(kind("x"), 2, jitter=0), GiveUp)


def test_a_wait_that_the_provider_names_is_never_undercut():
    assert decide(RateLimited("x", retry_after=30), 1, jitter=0) == Wait(30)
    assert decide(RateLimited("x", retry_after=30), 3, jitter=1) == Wait(31)


@pytest.mark.parametrize("jitter", [0.0, 1.0])
def test_jitter_spreads_the_waits(jitter):
    assert decide(Overloaded("x"), 1, jitter=jitter) == Wait(0.5 + jitter)


def test_q27_a_402_heals_only_with_retry_after():
    assert isinstance(decide(OutOfCredit("x", status=402, retry_after=3), 1, jitter=0), Wait)
    assert isinstance(decide(OutOfCredit("x", status=402), 1, jitter=0), GiveUp)


def test_an_empty_answer_at_the_token_limit_is_never_repeated():
    outcome = decide(EmptyAnswer("x", partial=Completion(finish_reason="length")), 1, jitter=0)
    assert isinstance(outcome, GiveUp)
    assert "max_tokens" in outcome.reason


def test_giving_up_says_why():
    assert decide(BadKey("the key is wrong"), 1, jitter=0) == GiveUp("attempt 1 failed: the key is wrong")
