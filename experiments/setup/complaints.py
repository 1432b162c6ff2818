"""What pydantic and the workflows say about a configuration, in the reader's language."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

BY_TYPE = {
    "missing": gettext_noop("Field required"),
    "extra_forbidden": gettext_noop("Extra inputs are not permitted"),
    "string_type": gettext_noop("Input should be a valid string"),
    "string_too_long": gettext_noop("String should have at most %(max_length)s characters"),
    "string_too_short": gettext_noop("String should have at least %(min_length)s character"),
    "bool_type": gettext_noop("Input should be a valid boolean"),
    "bool_parsing": gettext_noop("Input should be a valid boolean, unable to interpret input"),
    "int_type": gettext_noop("Input should be a valid integer"),
    "int_parsing": gettext_noop("Input should be a valid integer, unable to parse string as an integer"),
    "int_from_float": gettext_noop("Input should be a valid integer, got a number with a fractional part"),
    "float_type": gettext_noop("Input should be a valid number"),
    "float_parsing": gettext_noop("Input should be a valid number, unable to parse string as a number"),
    "finite_number": gettext_noop("Input should be a finite number"),
    "greater_than": gettext_noop("Input should be greater than %(gt)s"),
    "greater_than_equal": gettext_noop("Input should be greater than or equal to %(ge)s"),
    "less_than": gettext_noop("Input should be less than %(lt)s"),
    "less_than_equal": gettext_noop("Input should be less than or equal to %(le)s"),
    "literal_error": gettext_noop("Input should be %(expected)s"),
    "list_type": gettext_noop("Input should be a valid list"),
    "dict_type": gettext_noop("Input should be a valid dictionary"),
    "too_long": gettext_noop("List should have at most %(max_length)s items"),
    "too_short": gettext_noop("List should have at least %(min_length)s item"),
    "string_pattern_mismatch": gettext_noop("String should match pattern '%(pattern)s'"),
    "uuid_parsing": gettext_noop("Input should be a valid id"),
    "date_from_datetime_parsing": gettext_noop("Write the day as year-month-day, such as 2026-02-28."),
    "scale_values": gettext_noop("a scale has 2 to %(most)s values, in whole steps from its low end to its high one"),
    "anchor_nowhere": gettext_noop("an anchor stands at no value of the scale: %(value)s"),
    "choices_too_many": gettext_noop("a rubric has at most %(most)s choices, as many as there are letters for them"),
    "named_twice": gettext_noop("a name stands there twice: %(name)s"),
}

# Sentences of the workflows, which know no Django: named here so that they are translated.
OF_WORKFLOWS = [
    gettext_noop("The prompt is empty: write what the two models are to talk about."),
    gettext_noop("The instructions for Model A are empty."),
    gettext_noop("The instructions for Model B are empty."),
    gettext_noop("The instructions for Model A and Model B are empty."),
    gettext_noop("The text of the intervention is empty."),
    gettext_noop("Write the first message: the researcher opens the talk."),
    gettext_noop("Nothing has been said yet that could be judged."),
    gettext_noop("Write the question that the council is to answer."),
    gettext_noop("Say on how many samples each pair is compared."),
    gettext_noop("The fewest battles per pair are more than the most: lower the one or raise the other."),
    gettext_noop("The left contestant of a battle is the one with the smaller key."),
    gettext_noop("A subset or a contestant is named twice."),
    gettext_noop("Name at least two contestants, or none at all: then all of them take part."),
    gettext_noop("The version has to be a name and a date that exists, such as spring_20260401."),
    gettext_noop("There is no judge prompt of this name."),
]


OF_REVIEWS = [
    gettext_noop("holds characters that cannot be stored"),
    gettext_noop("a rubric has a scale or a label"),
    gettext_noop("there is no workflow of this name"),
    gettext_noop("the last day lies before the first one"),
]


def complaint(problem: Mapping[str, Any]) -> str:
    """The sentence of one of pydantic's problems; as pydantic says it where we have none."""
    own = problem["msg"].removeprefix("Value error, ")
    if known := BY_TYPE.get(problem["type"]):
        return str(_(known) % problem.get("ctx", {}))
    return _(own)
