"""From a request to the reply its model gives."""

from experiments.gateway.simulated.coding.parts import health_word, part_of
from experiments.gateway.simulated.reply import Reply, limit_tokens, place_reasoning, stop_at
from experiments.gateway.simulated.request import Request
from experiments.gateway.simulated.structured import answer_contest, answer_structured, find_schema
from experiments.gateway.simulated.tasks import spoken

_THINKERS = ("deceptive", "drifting")


def answer_to(request: Request) -> Reply:
    """Role by prompt: whoever is asked for a schema answers with it, everybody else speaks."""
    schema = find_schema(request.response_format, request.prompt)
    if word := health_word(request.prompt):
        reply = Reply(word)
    elif part := part_of(schema, request.prompt):
        reply = Reply(answer_contest(part, request.prompt, request.behaviour, request.seed))
    elif schema is not None:
        reply = Reply(answer_structured(schema, request.prompt, request.behaviour, request.seed))
    else:
        reply = place_reasoning(spoken(request.prompt, request.behaviour, request.seed), _thinking(request))
    return limit_tokens(stop_at(reply, request.stops), request.max_tokens)


def _thinking(request: Request) -> str:
    default = "native" if request.behaviour.personality in _THINKERS else "none"
    return request.behaviour.think or default
