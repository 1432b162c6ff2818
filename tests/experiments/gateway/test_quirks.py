"""Every quirk of a provider that is a matter of bytes: always the same, whatever the pieces are in which it arrives.

A recording is two files of one name in `quirks/`. `.sse` is the body of a stream, `.http` a whole response. `.json`
says what comes of it: `completion` or `error`, with the fields that matter (`assert_has`); `request`,
where it is no usual one (`request_changes`); and `streamed` false for a call without a stream.

The number in a name is the kind of quirk; names of tests beside this one have it too:

* 01 signs of life, 02 a whole body for a stream, 03 errors with status 200, 04 and 05 forms of errors
* 06 line ends and frames, 07 characters, 08 no finish reason, 09 words for finish reasons, 10 choices, 11 contents
* 12 fields of reasoning, 13 thinking in tags, 14 empty answers
* 15 places of counts, 16 no counts, 17 sums of counts, 18 a prompt that was cut, 19 a wrong finish reason
* 20 schemas, 21 what a model ignores, 22 fields of requests, 23 logprobs
* 24 broken ends, 25 a prompt too long, 26 and 27 waits and refusals, 28 cancelling, 29 another model
* 30 what is no answer at all, 31 images, 32 tool calls, 33 answers without end, 34 asking again
* 35 a usual answer of each vendor, in the form that it documents
"""

import dataclasses
import json
import random
from pathlib import Path
from typing import Any

import pytest

from experiments.gateway import Capabilities, ChatMessage, Completion, GatewayError, Params
from tests.cases import each_case

FOLDER = Path(__file__).parent / "quirks"
RECORDINGS = sorted([*FOLDER.glob("*.sse"), *FOLDER.glob("*.http")])
WHOLE = 4096


READ = {  # by names in `request`: the field of a request, and how it is made
    "params": ("params", lambda given: Params(**given)),
    "capabilities": ("capabilities", lambda given: Capabilities(**given)),
    "prompt_repeated": ("messages", lambda times: (ChatMessage("user", "word " * times),)),
    "model": ("model", str),
}


def request_changes(expected: dict[str, Any]) -> dict[str, Any]:
    return {READ[name][0]: READ[name][1](given) for name, given in expected.get("request", {}).items()}


def plain(completion: Completion) -> dict[str, Any]:
    """The completion as a JSON file would have it."""
    values = {field.name: getattr(completion, field.name) for field in dataclasses.fields(completion)}
    usage = dataclasses.asdict(completion.usage) if completion.usage else None
    if usage and usage["provider_cost"] is not None:
        usage["provider_cost"] = str(usage["provider_cost"])
    logprobs = completion.logprobs and [
        [token.token, token.logprob, [[other.token, other.logprob] for other in token.alternatives]]
        for token in completion.logprobs
    ]
    return values | {"usage": usage, "logprobs": logprobs, "warnings": list(completion.warnings)}


def assert_has(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Everything that is wanted; within usage only what is named."""
    wanted = dict(wanted)
    usage = wanted.pop("usage", {})
    assert {name: found["usage"][name] for name in usage} == usage
    assert {name: found[name] for name in wanted} == wanted


@each_case("recording", RECORDINGS, ids=lambda path: path.stem)
async def test_a_recorded_answer_is_read_the_same_in_any_pieces(provider, asker, recording):
    """And the chunks joined are the completion. That all pieces come to the same is for the fuzzing."""
    expected = json.loads(recording.with_suffix(".json").read_text())
    is_streamed = expected.get("streamed", True)
    for size in (WHOLE, random.Random(recording.stem).randrange(1, 64)):
        replay = provider.answers if recording.suffix == ".http" else provider.streams
        replay(recording.read_bytes(), size=size)
        asked = request_changes(expected)
        answer = asker.stream(**asked) if is_streamed else asker.client.complete(asker.request(**asked))
        if "error" in expected:
            with pytest.raises(GatewayError) as caught:
                await answer
            error, wanted = caught.value, expected["error"]
            assert (error.kind, error.status) == (wanted["kind"], wanted["status"])
            assert wanted["says"] in str(error)
            assert (error.partial is None) == (wanted["partial"] is None)
            completion = error.partial or Completion()
            assert_has(plain(completion), wanted["partial"] or {})
        else:
            completion = await answer
            assert_has(plain(completion), expected["completion"])
        if is_streamed:
            assert (asker.text, asker.reasoning) == (completion.text, completion.reasoning)
