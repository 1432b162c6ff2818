"""What is sent to a model, and what is said about what was not."""

import json

import pytest

from experiments.gateway import Capabilities, ChatMessage, ImagePart, Params, Routing
from experiments.gateway.request import prepare

SYSTEM = ChatMessage("system", "Be brief.")
USER = ChatMessage("user", "Hi")
SCHEMA = {"type": "object", "properties": {"größe": {"type": "integer"}}}


@pytest.fixture
def prepared(asker_request):
    return lambda stream=True, **changes: prepare(asker_request(**changes), stream=stream)


def test_an_ordinary_request_says_no_more_than_it_must_and_routing_is_sent_when_it_is_asked_for(prepared):
    result = prepared(messages=(SYSTEM, USER))
    assert result.body == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert result.warnings == ()

    strict = {"allow_fallbacks": False, "require_parameters": True}
    assert prepared(routing=Routing()).body["provider"] == strict
    routing = Routing(order=("a", "b"), data_collection="deny")
    assert prepared(routing=routing).body["provider"] == {**strict, "order": ["a", "b"], "data_collection": "deny"}


def test_every_parameter_goes_under_its_name_and_logprobs_without_alternatives_are_asked_for_alone(prepared):
    params = Params(0.0, 0.9, max_tokens=5, seed=0, stop=("END",), top_logprobs=3, reasoning_effort="low")
    body = prepared(params=params, capabilities=Capabilities(reasoning_effort=True)).body
    wanted = {"temperature": 0.0, "top_p": 0.9, "max_tokens": 5, "seed": 0, "stop": ["END"], "reasoning_effort": "low"}
    assert wanted.items() <= body.items()
    assert (body["logprobs"], body["top_logprobs"]) == (True, 3)

    result = prepared(stream=False, params=Params(top_logprobs=0))
    assert (result.body["logprobs"], result.body["stream"]) == (True, False)
    assert not {"top_logprobs", "stream_options"} & result.body.keys(), "nothing is streamed"
    assert (result.headers["Accept"], result.headers["Accept-Encoding"]) == ("application/json", "identity")
    assert "X-Client-Request-Id" not in result.headers


def test_q21_q22_what_a_model_would_ignore_is_left_out_and_named_and_max_tokens_has_its_own_name(prepared):
    capabilities = Capabilities(temperature=False, seed=False, logprobs=False)
    params = Params(temperature=1.5, top_p=0.5, seed=7, top_logprobs=2, reasoning_effort="high")
    result = prepared(params=params, capabilities=capabilities)
    refused = {"temperature", "top_p", "seed", "logprobs", "reasoning_effort"}
    assert not (refused | {"top_logprobs"}) & result.body.keys()
    assert {warning.split()[0] for warning in result.warnings} == refused

    capabilities = Capabilities(max_tokens_field="max_completion_tokens", max_output_tokens=100)
    result = prepared(params=Params(max_tokens=500), capabilities=capabilities)
    assert result.body["max_completion_tokens"] == 100
    assert "max_tokens" not in result.body
    assert "lowered from 500 to 100" in result.warnings[0]


def test_q22_without_a_system_role_the_text_is_folded_into_the_first_user_message(prepared):
    without = Capabilities(system_role=False)
    messages = (SYSTEM, ChatMessage("assistant", "Hm?"), USER, ChatMessage("system", "In French."))
    result = prepared(messages=messages, capabilities=without)
    assert result.body["messages"] == [
        {"role": "assistant", "content": "Hm?"},
        {"role": "user", "content": "Be brief.\n\nIn French.\n\nHi"},
    ]
    assert "no system role" in result.warnings[0]
    alone = prepared(messages=(SYSTEM,), capabilities=without)
    assert alone.body["messages"] == [{"role": "user", "content": "Be brief."}]


def test_q20_a_model_with_schemas_gets_the_schema_and_others_get_it_in_the_prompt(prepared):
    result = prepared(schema=SCHEMA, schema_name="verdict")
    wanted = {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": SCHEMA}}
    assert result.body["response_format"] == wanted
    assert result.body["messages"] == [{"role": "user", "content": "Hi"}]

    for level, wanted in (("json_object", {"type": "json_object"}), ("none", None)):
        result = prepared(messages=(SYSTEM, USER), schema=SCHEMA, capabilities=Capabilities(schema=level))
        assert result.body.get("response_format") == wanted
        system, user = result.body["messages"]
        assert system["content"].startswith("Be brief.\n\n")
        assert system["content"].endswith('{"größe": {"type": "integer"}}}')
        assert user["content"] == "Hi"
        assert "schema" in result.warnings[0]

        result = prepared(schema=SCHEMA, capabilities=Capabilities(schema=level, system_role=False))
        (message,) = result.body["messages"]
        assert message["role"] == "user"
        assert json.dumps(SCHEMA, ensure_ascii=False) in message["content"]
        assert message["content"].endswith("\n\nHi")


def test_q31_images_go_as_parts_to_a_model_that_sees_and_are_left_out_and_named_for_others(prepared):
    message = ChatMessage("user", "What is it?", (ImagePart("data:image/png;base64,AA=="),))
    result = prepared(messages=(message,), capabilities=Capabilities(images=True))
    assert result.body["messages"][0]["content"] == [
        {"type": "text", "text": "What is it?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
    ]
    result = prepared(messages=(message,))
    assert result.body["messages"][0]["content"] == "What is it?"
    assert "images" in result.warnings[0]
