"""When to ask again."""

from experiments import gateway
from experiments.gateway import GiveUp, Wait, decide
from tests.cases import each_case


@each_case("kind", [gateway.RateLimited, gateway.Overloaded, gateway.Unreachable])
def test_what_may_heal_is_asked_four_times(kind):
    outcomes = [decide(kind("x"), attempt, jitter=0.5) for attempt in (1, 2, 3, 4)]
    assert [type(outcome) for outcome in outcomes] == [Wait, Wait, Wait, GiveUp]
    waits = [outcome.seconds for outcome in outcomes[:3]]
    assert waits == [waits[0], 2 * waits[0], 4 * waits[0]]


@each_case(
    "kind",
    [
        gateway.BadKey,
        gateway.Refused,
        gateway.ContextExceeded,
        gateway.UnknownModel,
        gateway.ForbiddenAddress,
        gateway.ToolCall,
        gateway.GatewayError,
    ],
)
def test_what_needs_a_person_is_never_repeated(kind):
    assert decide(kind("x", retry_after=5), 1, jitter=0) == GiveUp("attempt 1 failed: x")


@each_case("kind", [gateway.OutcomeUnknown, gateway.Interrupted, gateway.BadAnswer, gateway.EmptyAnswer])
def test_q34_what_may_have_been_billed_is_repeated_once(kind):
    assert isinstance(decide(kind("x"), 1, jitter=0), Wait)
    assert isinstance(decide(kind("x"), 2, jitter=0), GiveUp)


def test_a_wait_that_the_provider_names_is_never_undercut():
    assert decide(gateway.RateLimited("x", retry_after=30), 1, jitter=0) == Wait(30)
    assert decide(gateway.RateLimited("x", retry_after=30), 3, jitter=1) == Wait(31)
    assert [decide(gateway.Overloaded("x"), 1, jitter=jitter) for jitter in (0.0, 1.0)] == [Wait(0.5), Wait(1.5)]


def test_q27_a_402_heals_only_with_retry_after():
    assert isinstance(decide(gateway.OutOfCredit("x", status=402, retry_after=3), 1, jitter=0), Wait)
    assert isinstance(decide(gateway.OutOfCredit("x", status=402), 1, jitter=0), GiveUp)


def test_an_empty_answer_at_the_token_limit_is_never_repeated():
    outcome = decide(gateway.EmptyAnswer("x", partial=gateway.Completion(finish_reason="length")), 1, jitter=0)
    assert isinstance(outcome, GiveUp)
    assert "max_tokens" in outcome.reason
