"""Answers that have to follow a JSON schema, including the ways in which models get them wrong."""

import json
from random import Random
from typing import Any

from experiments.gateway.simulated.battle import is_battle, verdict
from experiments.gateway.simulated.coding.parts import garbage_of, values_of
from experiments.gateway.simulated.corrupt import corrupt
from experiments.gateway.simulated.names import Behaviour
from experiments.gateway.simulated.prompt import BadRequest, Prompt
from experiments.gateway.simulated.roles import Judge, filter_answer, is_filter_schema
from experiments.gateway.simulated.schema import Generator, Informant, Schema, fit_string
from experiments.gateway.simulated.tasks import known_values

_PLAIN: Schema = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}


def find_schema(response_format: dict[str, Any], prompt: Prompt) -> Schema | None:
    """The schema that the answer has to follow, from the request or from the prompt's own text. Raises BadRequest."""
    kind = response_format.get("type", "text")
    if kind == "json_schema":
        schema = (response_format.get("json_schema") or {}).get("schema")
        if not isinstance(schema, dict):
            raise BadRequest("'response_format.json_schema.schema' must be an object")
        return schema
    if kind not in ("text", "json_object"):
        raise BadRequest("'response_format.type' must be text, json_object or json_schema")
    return _embedded_schema(prompt.instructions) or (_PLAIN if kind == "json_object" else None)


def answer_structured(schema: Schema, prompt: Prompt, behaviour: Behaviour, seed: int) -> str:
    judge = Judge(prompt, behaviour, seed)
    known = (
        verdict(schema, prompt, behaviour)
        if is_battle(schema, prompt)
        else known_values(schema, prompt, behaviour, seed)
    )
    value = Generator(schema, Random(seed), _informant(known, judge)).generate()
    if is_filter_schema(schema) and isinstance(value, dict):
        value = {**value, **{name: item for name, item in filter_answer(prompt).items() if name in value}}
    return _written(value, behaviour, seed)


def answer_contest(part: str, prompt: Prompt, behaviour: Behaviour, seed: int) -> str:
    """A part of a contest of coding; its form is the same whether a schema asks for it or the prompt's words do."""
    if garbage := garbage_of(part, behaviour):
        return garbage
    return _written(values_of(part, prompt, behaviour, seed), behaviour, seed)


def _written(value: object, behaviour: Behaviour, seed: int) -> str:
    if behaviour.json is not None and Random(f"odds/{seed}").random() < behaviour.odds:
        return corrupt(behaviour.json, value)
    return json.dumps(value, ensure_ascii=False)


def _informant(known: dict[str, Any], judge: Judge) -> Informant:
    """Known properties first; a list no longer than its schema allows. The judge knows about the others."""

    def inform(path: tuple[str, ...], schema: Schema) -> object:
        if len(path) == 1 and path[0] in known:
            return _fitted(known[path[0]], schema)
        return judge(path, schema)

    return inform


def _fitted(value: object, schema: Schema) -> object:
    if isinstance(value, list):
        return value[: schema.get("maxItems")]
    return fit_string(schema, value) if isinstance(value, str) else value


def _embedded_schema(text: str) -> Schema | None:
    """The first JSON object in the text that looks like a schema: the fallback for models without `response_format`."""
    if '"properties"' not in text:
        return None
    decoder, position = json.JSONDecoder(), text.find("{")
    while position >= 0:
        try:
            value, end = decoder.raw_decode(text, position)
        except ValueError:
            end = position + 1
        else:
            if isinstance(value, dict) and isinstance(value.get("properties"), dict):
                return value
        position = text.find("{", end)
    return None
