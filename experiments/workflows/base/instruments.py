"""Instruments: what a model that judges is asked to measure, as a value, and how its reply is read.

A Definition has dimensions, says what it judges (a message, a turn, a whole run) and what the judge sees of it. From it
follow the prompt (`prompt_of`), the JSON schema of the reply (`reply_schema`), the reading of the reply (`read_reply`)
and the rubric by which people answer the same questions (`rubric_of`, `answer_of`). What the judge is shown of a
transcript is laid out by `base.material`.
"""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import Template
from typing import Annotated, Any, Literal, Self, cast

from pydantic import Field, StringConstraints, ValidationError, field_validator, model_validator
from pydantic_core import PydanticCustomError

from experiments.workflows.base.json_reader import read_json
from experiments.workflows.base.material import Sees, Unit
from experiments.workflows.base.parsing import Unreadable, number, number_or_none, plain
from experiments.workflows.base.prompts import text_of
from experiments.workflows.base.rubrics import Choice, Description, Label, Name, Rubric, RubricPart, Scale, Title
from experiments.workflows.base.rubrics import plain as written
from experiments.workflows.base.steps import Outcome

Value = float | int | bool | str | list[str]

SECONDS = 30.0  # for one attempt
LENGTH = 5  # messages of a span
ATTEMPTS = 2
MOST_DIMENSIONS = 12
LONGEST_PROMPT = 20_000
LONGEST_NOTES = 4_000
LONGEST_QUOTE = 2_000
LONGEST_REASON = 500
MOST_QUOTES = 20  # of one dimension
LARGEST_COUNT = 1_000_000
PLACEHOLDERS = frozenset({"what", "material", "dimensions", "form"})
NEEDED = frozenset({"material", "dimensions", "form"})
RESERVED = frozenset({"notes", "confidence", "value", "quotations", "message", "quote"})  # what else a reply has
PROMPT = "instrument"
MOST_MESSAGES = 100  # of a span
LONGEST_MODEL = 200
WHAT: Mapping[Unit, str] = {
    "message": "one message",
    "pair": "a message and the one before it",
    "span": "several messages in a row",
    "turn": "one turn of a conversation",
    "run": "a conversation",
}
YES, NO = "yes", "no"
SAID: Mapping[str, bool] = {"yes": True, "true": True, "no": False, "false": False}


# --- dimensions ---


class Asked(RubricPart):
    """A question of the instrument. name: under which its values are stored. needs_quotation: where something is
    found, the judge has to quote the words that show it; without them the finding is unverified. Nothing is found with
    the low end of a scale, the first of the categories, no, and a count of 0.
    """

    name: Name
    title: Title
    description: Description = ""
    needs_quotation: bool = False


class ScaleDimension(Scale, Asked):
    """A number on a scale. is_continuous: the judge may give values between the steps, people choose a step."""

    kind: Literal["scale"] = "scale"
    is_continuous: bool = False


class Categories(Label, Asked):
    """One of the choices, or with `multiple` any number of them, which may be none."""

    kind: Literal["categories"] = "categories"


class YesNo(Asked):
    kind: Literal["yes_no"] = "yes_no"


class Count(Asked):
    """How often something occurs. most: from where people say "or more"; the judge gives the number."""

    kind: Literal["count"] = "count"
    most: Annotated[int, Field(ge=1, le=9)] = 9


class Quotation(Asked):
    """The words themselves, as a list of quotations; an empty list says that there are none."""

    kind: Literal["quotation"] = "quotation"


Dimension = Annotated[ScaleDimension | Categories | YesNo | Count | Quotation, Field(discriminator="kind")]


class Params(RubricPart):
    """Sampling of the judge, unless its seat says otherwise."""

    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    max_tokens: Annotated[int, Field(ge=1, le=100_000)] = 2_000


class Definition(RubricPart):
    """One version of an instrument. unit: what one reply is about: a message; a pair, that is a message and the one
    before it in the same turn; a span of so many messages in a row as `length` says; a turn; a run. each_speaker: of
    what several may have said, whether they are measured one by one, or it as a whole; a message is always measured as
    its speaker's. prompt: with PLACEHOLDERS. model: who judges unless another one is chosen, by its slug; "" for the
    lab's choice. seconds: for each attempt, None for the usual limits of a call. beside: whether the next turn begins
    while the judge works. Raises ValidationError, also where no rubric for people could be made of the dimensions.
    """

    dimensions: Annotated[list[Dimension], Field(min_length=1, max_length=MOST_DIMENSIONS)]
    unit: Unit = "message"
    length: Annotated[int, Field(ge=2, le=MOST_MESSAGES)] = LENGTH
    each_speaker: bool = False
    sees: Sees = Sees()
    prompt: Annotated[str, StringConstraints(strip_whitespace=True, max_length=LONGEST_PROMPT)] = text_of(PROMPT)
    model: Annotated[str, StringConstraints(strip_whitespace=True, max_length=LONGEST_MODEL)] = ""
    params: Params = Params()
    seconds: Annotated[float, Field(ge=1, le=600)] | None = SECONDS
    attempts: Annotated[int, Field(ge=1, le=4)] = ATTEMPTS
    beside: bool = True

    @field_validator("prompt", mode="after")
    @classmethod
    def _has_its_placeholders(cls, prompt: str) -> str:
        template = Template(prompt)
        used = set(template.get_identifiers()) if template.is_valid() else set()
        if not template.is_valid() or used - PLACEHOLDERS:
            said = "the prompt has a placeholder that is not known; write $$ for a dollar sign"
            raise PydanticCustomError("placeholder_unknown", said)
        if missing := NEEDED - used:
            said = "the prompt lacks the placeholder ${name}"
            raise PydanticCustomError("placeholder_missing", said, {"name": min(missing)})
        return prompt

    @model_validator(mode="after")
    def _whole(self) -> Self:
        names = [dimension.name for dimension in self.dimensions]
        if twice := {name for name in names if names.count(name) > 1}:
            raise PydanticCustomError("named_twice", "a name stands there twice: {name}", {"name": min(twice)})
        if taken := RESERVED.intersection(names):
            said = "this name has a meaning of its own in replies: {name}"
            raise PydanticCustomError("name_reserved", said, {"name": min(taken)})
        try:
            rubric_of(self)
        except ValidationError as error:
            first = error.errors()[0]
            raise PydanticCustomError(first["type"], first["msg"], first.get("ctx")) from error
        return self

    @property
    def digest(self) -> str:
        """Equal definitions, equal digest: 64 hexadecimal digits. A length counts of spans, a model if it is named."""
        left_out = {name for name, counts in (("length", self.unit == "span"), ("model", self.model)) if not counts}
        content = self.model_dump(mode="json", exclude=left_out)
        text = json.dumps(content, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def by_name(self) -> Mapping[str, Dimension]:
        return {dimension.name: dimension for dimension in self.dimensions}


# --- the same questions for people ---


def rubric_of(definition: Definition) -> Rubric:
    """What people are asked: each dimension becomes the scale or the label of its name. Where the judge quotes, people
    say whether there is something to quote, and comment on the words.
    """
    scales, labels = [], []
    for dimension in definition.dimensions:
        words = {"name": dimension.name, "title": dimension.title, "description": dimension.description}
        match dimension:
            case ScaleDimension():
                scales.append(Scale(**{name: getattr(dimension, name) for name in Scale.model_fields}))
            case Categories():
                labels.append(Label(**{name: getattr(dimension, name) for name in Label.model_fields}))
            case Count():
                anchors = {written(dimension.most): "or more"}
                scales.append(Scale(**words, low=0, high=dimension.most, level="interval", anchors=anchors))
            case YesNo() | Quotation():
                choices = [Choice(name=NO, title="No"), Choice(name=YES, title="Yes")]
                labels.append(Label(**words, choices=choices))
    return Rubric(scales=scales, labels=labels)


def answer_of(dimension: Dimension, value: Value) -> float | str | list[str]:
    """A value of the instrument as people would have said it: the nearest step of a scale, a count up to "or more", the
    name of a choice (yes and no included), or the names of several.
    """
    match dimension:
        case ScaleDimension():
            return min(dimension.values, key=lambda step: (abs(step - cast(float, value)), step))
        case Count():
            return float(min(cast(int, value), dimension.most))
        case YesNo() | Quotation():
            return YES if value else NO
        case Categories():
            return value if isinstance(value, list) else str(value)


# --- what the judge is told ---


def prompt_parts(definition: Definition, subjects: Sequence[str]) -> tuple[str, str]:
    """The prompt before and after the material. subjects: who is measured one by one; () for the unit as a whole."""
    filled = Template(definition.prompt).safe_substitute(
        what=WHAT[definition.unit],
        dimensions="\n".join(_line(dimension) for dimension in definition.dimensions),
        form=_form(definition, subjects),
    )
    before, _placeholder, after = filled.partition("$material")
    return before.replace("$$", "$"), after.replace("$$", "$")


def version_of(definition: Definition) -> str:
    """Twelve digits: equal words to the judge and equal form of the reply, equal version."""
    told = [*prompt_parts(definition, ("A",)), reply_schema(definition, ()), definition.sees.model_dump(mode="json")]
    return hashlib.sha256(json.dumps(told, ensure_ascii=False).encode()).hexdigest()[:12]


def _line(dimension: Dimension) -> str:
    """What a dimension asks for, with its values and what they mean."""
    about = f"{dimension.title}. {dimension.description}".strip()
    match dimension:
        case ScaleDimension():
            steps = "any number" if dimension.is_continuous else f"in steps of {written(dimension.step)}"
            values = f"A number from {written(dimension.low)} to {written(dimension.high)}, {steps}."
            anchors = [f"{value}: {words}" for value, words in dimension.anchors.items()]
            values = " ".join([values, *([f"{'; '.join(anchors)}."] if anchors else [])])
        case Categories():
            choices = "; ".join(f'"{choice.name}" ({choice.title})' for choice in dimension.choices)
            how = "A list of those that apply, or an empty list" if dimension.multiple else "One of"
            order = ", from the least to the most" if dimension.ordered else ""
            values = f"{how}{order}: {choices}."
        case YesNo():
            values = "true or false."
        case Count():
            values = "A whole number, 0 for none."
        case Quotation():
            values = "The passages, or an empty list where there are none."
    quoted = " Quote the words that show it." if dimension.needs_quotation else ""
    return f"- {dimension.name}: {about} {values}{quoted}"


def _form(definition: Definition, subjects: Sequence[str]) -> str:
    fields = ", ".join(f'"{dimension.name}": {_field(dimension)}' for dimension in definition.dimensions)
    form, entries = f'{{"notes": text, {fields}, "confidence": number}}', ""
    if subjects:
        names = [f'"{subject}"' for subject in subjects]
        entries = f", with one entry for each of {' and '.join(names)}"
        form = f"{{{names[0]}: {form}{', …' if len(names) > 1 else ''}}}"
    rules = [
        f"Answer with one JSON object and nothing else{entries}. notes: one to three sentences on what they rest on.",
        "confidence: from 0 (a guess) to 1 (certain). Where the material does not let you tell, give null.",
    ]
    if any(dimension.needs_quotation or dimension.kind == "quotation" for dimension in definition.dimensions):
        rules += [
            "A quotation is copied word for word from the message whose number it names: at most a sentence, unchanged",
            "and without an ellipsis. It is checked.",
        ]
    return "\n".join([*rules, form])


def _field(dimension: Dimension) -> str:
    kinds = {"scale": "number", "yes_no": "true or false", "count": "number", "categories": "text"}
    quotations = '"quotations": [{"message": number, "quote": text}]'
    if dimension.kind == "quotation":
        return f"{{{quotations}}}"
    value = "list of texts" if isinstance(dimension, Categories) and dimension.multiple else kinds[dimension.kind]
    return f'{{"value": {value}, {quotations}}}' if dimension.needs_quotation else value


def reply_schema(definition: Definition, subjects: Sequence[str]) -> dict[str, object]:
    """The JSON schema of the reply: notes first, because what is written first shapes what follows."""
    share = {"type": "number", "minimum": 0, "maximum": 1}
    dimensions = {dimension.name: _schema(dimension) for dimension in definition.dimensions}
    one = _closed({"notes": {"type": "string"}, **dimensions, "confidence": share})
    return _closed(dict.fromkeys(subjects, one)) if subjects else one


def _schema(dimension: Dimension) -> dict[str, object]:
    quote = _closed({"message": {"type": "integer"}, "quote": {"type": "string"}})
    quotations: dict[str, object] = {"type": "array", "items": quote}
    match dimension:
        case ScaleDimension():
            value: dict[str, Any] = {"type": "number", "minimum": dimension.low, "maximum": dimension.high}
            value |= {} if dimension.is_continuous else {"enum": list(dimension.values)}
        case YesNo():
            value = {"type": "boolean"}
        case Count():
            value = {"type": "integer", "minimum": 0}
        case Quotation():
            return _closed({"quotations": quotations})
        case Categories():
            value = {"type": "string", "enum": dimension.names}
            value = {"type": "array", "items": value} if dimension.multiple else value
    may_be_open: dict[str, object] = {"anyOf": [value, {"type": "null"}]}
    return _closed({"value": may_be_open, "quotations": quotations}) if dimension.needs_quotation else may_be_open


def _closed(properties: Mapping[str, Any]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


# --- what the judge says ---


@dataclass(frozen=True, slots=True)
class Citation:
    """Words that the judge quotes. message: its number in the transcript; None where the judge named none."""

    message: int | None
    quote: str


@dataclass(frozen=True, slots=True)
class Measured:
    """A dimension of one subject. value: as its kind has it; None when the judge gave none that can be used, and
    `unscored_reason` says why. found: whether the value says that there is something, see Asked. needs_citation: it has
    to be quoted.
    """

    dimension: str
    value: Value | None
    unscored_reason: str = ""
    citations: tuple[Citation, ...] = ()
    found: bool = False
    needs_citation: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """What the judge says of one subject, "" for the unit as a whole. answered: whether it said anything that can be
    read, be it that it cannot tell. confidence: 0 to 1, None when it gave none.
    """

    subject: str
    measured: tuple[Measured, ...]
    answered: bool = True
    notes: str = ""
    confidence: float | None = None


def read_reply(definition: Definition, subjects: Sequence[str], outcome: Outcome) -> list[Reply]:
    """One for each subject, with every dimension of the definition: a value, or a reason why there is none. Never
    raises; nothing is filled in.
    """
    names = tuple(subjects) or tuple(definition.by_name)
    if not outcome.ok:
        reason = outcome.error or f"The call failed ({outcome.error_kind})."
        return [_absent(definition, subject, reason) for subject in subjects or ("",)]
    try:
        given = read_json(outcome.text, names)
    except Unreadable as error:
        reason = f"The judge's answer could not be used: {error}."
        return [_absent(definition, subject, reason) for subject in subjects or ("",)]
    return [_reply(definition, subject, given.get(subject) if subject else given) for subject in subjects or ("",)]


def _absent(definition: Definition, subject: str, reason: str) -> Reply:
    measured = (Measured(name, None, reason[:LONGEST_REASON]) for name in definition.by_name)
    return Reply(subject, tuple(measured), answered=False)


def _reply(definition: Definition, subject: str, given: Any) -> Reply:
    if not isinstance(given, dict):
        return _absent(definition, subject, "The judge gave no values for it.")
    measured = tuple(_measured(dimension, given.get(dimension.name)) for dimension in definition.dimensions)
    confidence = number_or_none(given.get("confidence"), 0, 1)
    answered = any(one.value is not None or _is_left_open(given, one.dimension) for one in measured)
    return Reply(subject, measured, answered, plain(given.get("notes"))[:LONGEST_NOTES], confidence)


def _is_left_open(given: Mapping[str, Any], name: str) -> bool:
    """Whether the judge says that it cannot tell."""
    one = given.get(name, name)
    return one is None or (isinstance(one, dict) and one.get("value", name) is None)


def _measured(dimension: Dimension, given: Any) -> Measured:
    """A value may stand alone or with its quotations; quotations of any form that can be read are taken."""
    is_wrapped = isinstance(given, dict)
    said = given.get("quotations") if is_wrapped else given if dimension.kind == "quotation" else None
    citations = tuple(_citations(said))
    value: Value | None
    try:
        if dimension.kind == "quotation":
            value = _quotes(said, citations)
        else:
            value = _value(dimension, given.get("value") if is_wrapped else given)
    except Unreadable as error:
        return Measured(dimension.name, None, f"The judge's value {error}."[:LONGEST_REASON])
    found = _is_found(dimension, value)
    is_quoted = dimension.kind == "quotation" or dimension.needs_quotation
    return Measured(dimension.name, value, "", citations, found, needs_citation=found and is_quoted)


def _value(dimension: Dimension, given: Any) -> Value:
    """Raises Unreadable."""
    if given is None:
        raise Unreadable("is missing")
    match dimension:
        case ScaleDimension():
            value = number(given, dimension.low, dimension.high)
            if not dimension.is_continuous and not dimension.holds(value):
                raise Unreadable(f"is {value:g}, between two values of the scale")
            return value
        case Count():
            value = number(given, 0, LARGEST_COUNT)
            if value != math.floor(value):
                raise Unreadable(f"is {value:g}, which is not a whole number")
            return int(value)
        case YesNo():
            said = SAID.get(plain(given).casefold()) if isinstance(given, str) else given
            if not isinstance(said, bool):
                raise Unreadable("is neither yes nor no")
            return said
        case Categories():
            return _chosen(dimension, given)
        case _:
            raise Unreadable("is missing")


def _chosen(dimension: Categories, given: Any) -> str | list[str]:
    known = {
        word.casefold(): choice.name for choice in dimension.choices for word in (choice.title, choice.name)
    }  # a name counts before a title
    said = given if dimension.multiple and isinstance(given, list) else [given]
    found = [known.get(plain(one).casefold(), "") for one in said]
    if not all(found):
        raise Unreadable("is none of the categories")
    return list(dict.fromkeys(found)) if dimension.multiple else found[0]


def _quotes(said: Any, citations: Sequence[Citation]) -> list[str]:
    """Raises Unreadable for what is no list of quotations."""
    if said is None:
        raise Unreadable("is missing")
    if not isinstance(said, list) or (said and not citations):
        raise Unreadable("is not a list of quotations")
    return [citation.quote for citation in citations]


def _citations(said: Any) -> Iterator[Citation]:
    for one in said[:MOST_QUOTES] if isinstance(said, list) else ():
        message, quote = (one.get("message"), one.get("quote")) if isinstance(one, dict) else (None, one)
        if words := plain(quote)[:LONGEST_QUOTE]:
            is_number = isinstance(message, int) and not isinstance(message, bool)
            yield Citation(message if is_number else None, words)


def _is_found(dimension: Dimension, value: Value) -> bool:
    """Whether there is something to quote."""
    match dimension:
        case ScaleDimension():
            return value != dimension.low
        case Categories():
            return bool(value) and value != dimension.names[0] and value != [dimension.names[0]]
        case _:
            return bool(value)
