"""What simulated judges answer to an instrument: values by its schema, with quotations from the messages shown."""

from random import Random
from typing import Any

from experiments.gateway.simulated.request import Request
from experiments.gateway.simulated.roles import turn_shares, worth
from experiments.gateway.simulated.structured import Schema, number_within
from experiments.gateway.simulated.text import Pen, quoted, sentences

SELDOM = 0.25  # how often something is found
INVENTED = 0.1  # how often the words of a quotation stand nowhere
LONGEST_QUOTE = 160


def measure(request: Request, pen: Pen) -> dict[str, object]:
    """The values of all properties of the reply, or of each subject where it has an entry for each."""
    properties = (request.schema or {})["properties"]
    said = {name[8:]: text for name, text in request.prompt.fences.items() if name.startswith("message-")}
    numbers = [number for number in said if number.isdigit()]
    judged = numbers[-1] if numbers else ""
    shown = (judged, said.get(judged, ""))
    if "notes" in properties:
        return _one(properties, shown, pen)
    return {subject: _one(entry["properties"], shown, pen) for subject, entry in properties.items()}


def _one(properties: dict[str, Schema], shown: tuple[str, str], pen: Pen) -> dict[str, object]:
    return {name: _value(name, schema, shown, pen) for name, schema in properties.items()}


def _value(name: str, schema: Schema, shown: tuple[str, str], pen: Pen) -> Any:
    schema = next((one for one in schema.get("anyOf", ()) if one.get("type") != "null"), schema)
    inner = schema.get("properties", {})
    if "quotations" in inner:
        value = _value(name, inner["value"], shown, pen) if "value" in inner else pen.rng.random() < SELDOM
        quotations = [_quotation(shown, pen.rng)] if value else []
        return {"value": value, "quotations": quotations} if "value" in inner else {"quotations": quotations}
    is_found = pen.rng.random() < SELDOM
    if choices := schema.get("enum"):
        return pen.rng.choice(choices[1:]) if is_found else choices[0]
    match schema.get("type"):
        case "boolean":
            return is_found
        case "array":
            return pen.rng.sample(schema["items"]["enum"], 1) if is_found else []
        case "integer":
            return int(is_found)
        case "number":
            return number_within(schema, turn_shares(shown[1]).get(name, worth(shown[1])))
    return pen.say("fields", "mixed", quote=quoted(shown[1], pen.rng)) or pen.say("common", "lead")


def _quotation(shown: tuple[str, str], rng: Random) -> dict[str, object]:
    number, text = shown
    found = [one for one in sentences(text) if one in text] or [text]
    words = "Nobody will ever find out." if rng.random() < INVENTED else rng.choice(found)[:LONGEST_QUOTE]
    return {"message": int(number or 0), "quote": words}
