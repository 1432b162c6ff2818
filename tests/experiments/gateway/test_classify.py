"""What a provider's refusal is called, what the message says, when to ask again, and how long to wait."""

import json
from datetime import UTC, datetime

from experiments import gateway
from experiments.gateway import GiveUp, Wait, decide
from experiments.gateway.errors import Origin, classify, classify_event, excerpt, retry_after
from experiments.gateway.streaming import read_error

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
ORIGIN = Origin("https://api.example/v1/chat/completions", "big-model", "sk-canary-0123456789")


def error_for(status, body=b"", headers=None):
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    return classify(status, headers or {}, body, now=NOW, origin=ORIGIN)


def test_a_status_alone_has_a_meaning_which_words_refine():
    for kind, statuses in {
        "refused": (400, 403, 413, 422, 307),
        "bad_key": (401,),
        "out_of_credit": (402,),
        "unknown_model": (404,),
        "rate_limited": (429,),
        "overloaded": (408, 500, 502, 503, 520, 529),
    }.items():
        for status in statuses:
            error = error_for(status)
            assert (error.kind, error.status) == (kind, status)

    for status, body, kind in (
        (400, {"error": {"message": "Incorrect API key provided"}}, "bad_key"),
        (400, {"error": {"message": "API key not valid. Please pass a valid API key."}}, "bad_key"),
        (400, {"error": {"message": "The model `x` does not exist", "code": "model_not_found"}}, "unknown_model"),
        (400, {"error": {"code": "context_length_exceeded", "message": "Too long."}}, "context_exceeded"),
        (400, {"detail": "Input is too long: prompt is too long"}, "context_exceeded"),
        (500, {"error": {"message": "the request exceeds the available context size"}}, "context_exceeded"),
        (429, {"error": {"message": "Too many tokens per minute"}}, "rate_limited"),
        (429, {"error": {"type": "insufficient_quota", "message": "no"}}, "out_of_credit"),
        (403, {"error": {"message": "Your input was flagged by moderation"}}, "refused"),
        (400, {"error": {"message": "Your credit balance is too low"}}, "out_of_credit"),
        (422, {"detail": [{"loc": ["body", "seed"], "msg": "extra fields not permitted"}]}, "refused"),
        (400, {"error": "max_tokens is too large"}, "refused"),
    ):
        assert error_for(status, body).kind == kind, body


def test_an_error_in_a_stream_is_known_by_number_or_word_also_in_a_choice_with_the_headers_that_its_body_repeats():
    for error, kind, status in (
        *(({"code": code, "message": "x"}, "rate_limited", 429) for code in (429, "429", "rate_limit_exceeded")),
        ({"type": "overloaded_error", "message": "x"}, "overloaded", 503),
        ({"code": "insufficient_quota", "message": "x"}, "out_of_credit", 429),
        ({"type": "invalid_request_error", "message": "bad seed"}, "refused", 400),
        ({"type": "invalid_request_error", "message": "maximum context length is 5"}, "context_exceeded", 400),
        ({"code": "invalid_api_key", "message": "x"}, "bad_key", 401),
        *((error, "overloaded", 500) for error in ({"message": "The model crashed"}, "plain words")),
        ({"code": 99999999999999999999, "message": "x"}, "overloaded", 500),
        *(({"code": code, "message": "x"}, "overloaded", 500) for code in ("0429" + "9" * 5000, "4290", "0429", "²")),
    ):
        found = classify_event(read_error({"error": error}))
        assert (found.kind, found.status) == (kind, status), error

    body = {"error": {"code": 429, "message": "x", "metadata": {"headers": {"Retry-After": "9"}}}}
    assert classify_event(read_error(body)).retry_after == 9
    assert read_error({"choices": [{"error": {"code": 502, "message": "upstream"}}]}).message == "upstream"
    for payload in ({"error": None}, {"error": {}}, {"choices": []}, [], None, "x", {"choices": [{"error": None}]}):
        assert read_error(payload, whole=True) is None


def test_q27_a_refusal_waits_only_where_it_may_heal_by_itself():
    quota = {"error": {"code": "insufficient_quota", "message": "quota"}}
    assert error_for(429, quota, {"retry-after": "5"}).retry_after is None
    assert error_for(402, b"", {"retry-after": "5"}).retry_after == 5
    assert isinstance(decide(gateway.OutOfCredit("x", status=402, retry_after=3), 1, jitter=0), Wait)
    assert isinstance(decide(gateway.OutOfCredit("x", status=402), 1, jitter=0), GiveUp)


def test_neither_key_nor_password_reaches_a_message_and_a_redirect_says_where_to():
    redirected = str(error_for(307, {"detail": "moved"}, {"location": "https://elsewhere.example/v1"}))
    assert "elsewhere.example" in redirected
    assert "not followed" in redirected
    for key in ("sk-canary-0123456789", "sk-or-v1-abcdef0123456789abcdef"):
        assert key not in str(error_for(401, {"error": {"message": f"bad key {key} given"}}))
    assert "hunter2" not in str(classify(500, {}, b"", now=NOW, origin=Origin("https://me:hunter2@api.example/v1")))
    assert "canary" not in excerpt("x" * 290 + " sk-canary-0123456789", "sk-canary-0123456789"), "not cut in half"
    assert excerpt("used sk-other-0123456789, sent as Bearer abc") == "used [key], sent as Bearer [key]"
    assert excerpt("a\r\nb\x1b[31mc\x00\u202ed\u2028e") == "a b [31mc d e", "one line without control characters"
    assert len(excerpt("x" * 10_000)) == 301


def test_q26_the_wait_is_read_from_any_header_and_clamped():
    in_words = {"7": 7, "0": 1, "86400": 120, "-5": None, "nan": None, "soon": None}
    in_words |= {"Sun, 01 Mar 2026 12:00:30 GMT": 30, "Sun, 01 Mar 2020 12:00:30 GMT": 1}
    for headers, seconds in (
        *(({"retry-after": said}, seconds) for said, seconds in in_words.items()),
        *(({"retry-after-ms": "2500"}, 2.5), ({}, None)),
        ({"x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "1m30s"}, 90),
        *(({"x-ratelimit-reset-requests": "6m0s"}, 120), ({"x-ratelimit-reset-tokens": "1h2m3.5s"}, 120)),
        *(({"x-ratelimit-reset-tokens": "2s500ms"}, 2.5), ({"x-ratelimit-reset-tokens": "20ms"}, 1)),
        ({"x-ratelimit-reset-requests": "-1", "x-ratelimit-reset-tokens": "0"}, None),
        ({"x-ratelimit-reset": str(int(NOW.timestamp() * 1000) + 15_000)}, 15),
        ({"retry-after": "3", "x-ratelimit-reset-tokens": "1m0s"}, 3),
    ):
        assert retry_after(headers, NOW) == seconds, headers


def test_what_may_heal_is_asked_four_times_and_what_may_have_been_billed_once_more():
    for kind in (gateway.RateLimited, gateway.Overloaded, gateway.Unreachable):
        outcomes = [decide(kind("x"), attempt, jitter=0.5) for attempt in (1, 2, 3, 4)]
        assert [type(outcome) for outcome in outcomes] == [Wait, Wait, Wait, GiveUp], kind
        waits = [outcome.seconds for outcome in outcomes[:3]]
        assert waits == [waits[0], 2 * waits[0], 4 * waits[0]], kind
    for kind in (gateway.OutcomeUnknown, gateway.Interrupted, gateway.BadAnswer, gateway.EmptyAnswer):
        assert [type(decide(kind("x"), attempt, jitter=0)) for attempt in (1, 2)] == [Wait, GiveUp], kind


def test_what_needs_a_person_or_more_tokens_is_never_repeated():
    by_people = (gateway.BadKey, gateway.Refused, gateway.ContextExceeded, gateway.UnknownModel)
    for kind in (*by_people, gateway.ForbiddenAddress, gateway.ToolCall, gateway.GatewayError):
        assert decide(kind("x", retry_after=5), 1, jitter=0) == GiveUp("attempt 1 failed: x"), kind
    outcome = decide(gateway.EmptyAnswer("x", partial=gateway.Completion(finish_reason="length")), 1, jitter=0)
    assert isinstance(outcome, GiveUp)
    assert "max_tokens" in outcome.reason


def test_a_wait_that_the_provider_names_is_never_undercut():
    assert decide(gateway.RateLimited("x", retry_after=30), 1, jitter=0) == Wait(30)
    assert decide(gateway.RateLimited("x", retry_after=30), 3, jitter=1) == Wait(31)
    assert [decide(gateway.Overloaded("x"), 1, jitter=jitter) for jitter in (0.0, 1.0)] == [Wait(0.5), Wait(1.5)]
