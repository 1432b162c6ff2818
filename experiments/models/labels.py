"""Words for what the rows name: seats, purposes, failures, endings. Pages and reports say them the same way."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from django.utils.translation import gettext_lazy as _

from experiments.workflows import REGISTRY, surface_of
from experiments.workflows.base.limits import WORDS
from experiments.workflows.base.surface import Told

NUMBERED = re.compile(r"(member|chair|pool|judge|mirror|contestant|coder)-(\d+)")
VENDOR = re.compile(r"^(?:\S+/|[^:]{1,40}: )(?=\S)")


def seat_name(seat: str) -> Any:
    """How a seat is called in a sentence."""
    if found := NUMBERED.fullmatch(seat):
        return str(NUMBERED_SEATS[found[1]]) % {"number": int(found[2])}
    return SEAT_NAMES.get(seat) or _declared_seats().get(seat, seat)


def role_name(workflow: str, seat: str) -> Any:
    """What a seat is called at the set-up of its workflow."""
    setup = surface_of(workflow).setup
    labels = {one.seat: one.label for one in setup.seats if not NUMBERED.fullmatch(one.seat)} if setup else {}
    return labels.get(seat) or seat_name(seat)


@cache
def _declared_seats() -> dict[str, Any]:
    return {seat: name for slug in REGISTRY for seat, name in surface_of(slug).seats.items()}


def stage_name(stage: str) -> Any:
    """What is done in a stage of a turn, in a word; a debater's own letter is its stage."""
    return STAGES.get(stage, seat_name(stage))


def where_measured(told: Told, key: str, turn: object) -> str:
    """Part or turn of a step, in the words of its workflow; what is measured in none is the whole run."""
    if part := told.parts.get(key.partition("/")[0]):
        return str(part)
    return str(told.turn or _("Turn %(turn)s")) % {"turn": turn} if turn else str(_("Whole run"))


def short_name(label: str) -> str:
    """A model's label without its vendor: `openai/gpt-4o` and `OpenAI: GPT-4o` become `gpt-4o` and `GPT-4o`."""
    return VENDOR.sub("", label, count=1)


def prompt_words(said: str) -> Any:
    """The title or the description of a judge prompt; one that was added here speaks its own language."""
    return PROMPTS.get(said, said)


def judge_saw(saw: Mapping[str, str]) -> list[str]:
    """What a judge was shown, in words; none where that is not known."""
    parts = (SAW_MESSAGES.get(saw.get("messages", "")), SAW_REASONING.get(saw.get("reasoning", "")))
    return [str(part) for part in parts if part]


def workflow_name(workflow: str) -> Any:
    return surface_of(workflow).name


SAW_MESSAGES = {
    "filtered": _("messages as filtered"),
    "original": _("messages as written"),
    "both": _("messages as written and as filtered"),
}
SAW_REASONING = {
    "off": _("without reasoning"),
    "none": _("no reasoning was given"),
    "shown": _("with reasoning"),
}

PROMPTS = {
    "Which text is the better answer": _("Which text is the better answer"),
    "Which of two texts is the better answer, on the whole.": _(
        "Which of two texts is the better answer, on the whole."
    ),
    "Which text follows the instruction more strictly": _("Which text follows the instruction more strictly"),
    "Which of two texts does exactly what the instruction asks for.": _(
        "Which of two texts does exactly what the instruction asks for."
    ),
    "Which image carries out the edit better": _("Which image carries out the edit better"),
    "Which of two images carries out an edit of the given images better.": _(
        "Which of two images carries out an edit of the given images better."
    ),
    "Which image shows the description better": _("Which image shows the description better"),
    "Which of two images shows better what a description asks for.": _(
        "Which of two images shows better what a description asks for."
    ),
}
PARAMS = {
    "temperature": _("Temperature"),
    "max_tokens": _("Max tokens per reply"),
    "seed": _("Seed"),
    "reasoning_effort": _("Reasoning effort"),
    "served_by": _("Served by"),
}

INTERVENTION_KINDS = (
    ("note", _("a private note")),
    ("friend", _("a question to a friend, in private")),
    ("alter", _("the other side's last message, altered")),
)

SCRIPT_CONDITIONS = {
    "always": _("always"),
    "contains": _("if the answer contains"),
    "lacks": _("if the answer does not contain"),
    "matches": _("if the answer has a passage like (* is any text)"),
    "refused": _("if the answer refuses"),
    "answered": _("if the answer does not refuse"),
}

FLAGS = {
    "speaks_for_other": _("writes lines for the other side"),
    "repeats_itself": _("repeats itself"),
    "refusal": _("refuses"),
    "role_confusion": _("takes itself for another speaker"),
    "truncated": _("breaks off"),
    "names_itself": _("names itself; the name was masked for the reviewers"),
    "addresses_reviewers": _("speaks to the reviewers"),
    "other_language": _("not in the language of the question"),
    "repaired": _("put into its form by a second call"),
    "unread": _("could not be read"),
    "too_few_points": _("fewer new points than requested"),
    "too_few_counterpoints": _("fewer counterpoints than requested"),
    "unexpected_counterpoints": _("counterpoints that were not requested were left out"),
    "wrong_speaker": _("named another speaker"),
    "renumbered": _("renumbered"),
    "unknown_sources": _("sources that do not exist were left out"),
    "out_of_order": _("spoke after the others"),
    "late": _("answered after the ranking"),
    "partial": _("did not rank every answer"),
    "duplicate": _("named an answer twice; the first place counts"),
    "unknown_label": _("named an answer that does not exist"),
    "ties": _("ranked answers as equal"),
    "overall_differs": _("named another overall than the mean of its scores; the mean counts"),
}

BAND_LABELS = (_("none"), _("slight"), _("some"), _("strong"), _("severe"))

ACTIONS = {
    "send": _("sent a prompt"),
    "default": _("sent the default prompt"),
    "skip": _("skipped a side"),
    "next": _("started the next turn"),
    "end": _("ended the run"),
    "friend": _("asked a friend"),
    "note": _("sent a private note"),
    "alter": _("altered what a side reads"),
    "round": _("started the second round"),
    "summarize": _("asked for the summary"),
    "retry": _("had it retried"),
    "retry_seat": _("had one participant asked again"),
    "retry_short": _("had one participant asked again with a shorter context"),
    "deliberate": _("had the answers ranked again"),
    "conclude": _("had the conclusion drawn again"),
    "regenerate": _("asked for another answer"),
}

SENTIMENT_LABELS = {
    "happiness": _("happiness"),
    "sadness": _("sadness"),
    "anger": _("anger"),
    "hopelessness": _("hopelessness"),
    "excitement": _("excitement"),
    "fear": _("fear"),
    "deception": _("deception"),
}

END_REASONS = {
    "max_turns": _("all turns were played"),
    "manual_stop": _("stopped by a person"),
    **{f"limit_{name}": _(words.reached) for name, words in WORDS.items()},
    "budget_person": _("the owner's budget is used up"),
    "budget_project": _("the project's budget is used up"),
    "budget_experiment": _("the experiment's budget is used up"),
    "internal_error": _("the engine failed"),
    "completed": _("everything is done"),
    "nothing_to_pass": _("a reply had no words for the other side"),
    "imported_live": _("imported before it ended"),
    "your_turn": _("the question was answered"),
    "concluded": _("the summary was given"),
    "nobody_answered": _("no member answered"),
    "no_conclusion": _("no chair could conclude, and no answer was ranked"),
    "refine_failed": _("the refiner gave no answer"),
    "round_failed": _("no debater gave an answer"),
    "summary_failed": _("no summary was given"),
    "judge_failed": _("a judge failed repeatedly"),
    "contestant_failed": _("a contestant failed repeatedly"),
    "prompt_changed": _("the judge prompt has changed since the set-up"),
    "pool_too_small": _("too few models were available"),
    "sandbox_unavailable": _("code cannot be run here"),
}

PURPOSES = {
    "reply": _("reply"),
    "filter": _("filter"),
    "judge": _("judgment"),
    "friend": _("advice of a friend"),
    "review": _("review"),
    "conclusion": _("conclusion"),
    "title": _("title"),
    "repair": _("repair"),
    "refinement": _("refinement"),
    "summary": _("summary"),
    "verdict": _("verdict"),
    "output": _("output"),
    "health": _("health check"),
    "problem": _("problem"),
    "solution": _("solution"),
}

SEAT_NAMES = {
    "A": _("Model A"),
    "B": _("Model B"),
    "judge": _("The judge"),
    "filter": _("The filter"),
    "friend": _("The friend"),
    "model": _("The model"),
    "researcher": _("The researcher"),
    "person": _("The person"),
    "chair": _("The chair"),
    "title": _("The title"),
    "tool": _("The tool"),
    "refiner": _("The refiner"),
    "summarizer": _("The summarizer"),
    "C": _("Model C"),
}

ERRORS = {
    "try_later": _("temporary failure"),
    "rate_limited": _("rate limited"),
    "overloaded": _("provider overloaded"),
    "unreachable": _("provider unreachable"),
    "interrupted": _("stream interrupted"),
    "outcome_unknown": _("no answer in time"),
    "batch_expired": _("batch ended too early"),
    "bad_key": _("key refused"),
    "out_of_credit": _("out of credit"),
    "unknown_model": _("unknown model"),
    "needs_person": _("a setting has to be changed"),
    "refused": _("request refused"),
    "no_images": _("the model cannot see pictures"),
    "no_material": _("content is missing"),
    "context_exceeded": _("too long for the model"),
    "forbidden_address": _("address not allowed"),
    "bad_answer": _("unusable answer"),
    "empty_answer": _("empty answer"),
    "tool_call": _("tool call instead of an answer"),
    "error": _("failure"),
    "lost": _("lost"),
    "stopped": _("stopped"),
    "internal_error": _("the engine failed"),
    "limit": _("a limit was reached"),
    "sandbox_unavailable": _("no sandbox that can run code"),
    "sandbox_failed": _("the sandbox failed"),
}

NUMBERED_SEATS = {
    "member": _("Member %(number)s"),
    "chair": _("Chair %(number)s"),
    "pool": _("Model %(number)s of the pool"),
    "judge": _("Judge %(number)s"),
    "mirror": _("Further endpoint %(number)s"),
    "contestant": _("Contestant %(number)s"),
    "coder": _("Coder %(number)s"),
}

STAGES = {
    "answers": _("Answers"),
    "reviews": _("Reviews"),
    "conclusion": _("Conclusion"),
    "refine": _("Refinement"),
    "summary": _("Summary"),
}

RANKING_METHODS = {
    "mean_rank": _("mean rank"),
    "borda": "Borda",
    "copeland": "Copeland",
    "schulze": "Schulze",
    "kemeny": "Kemeny",
    "bradley_terry": "Bradley-Terry",
}

UNDEFINED = {
    "no_comparisons": _("no ballot compares two answers"),
    "too_many_candidates": _("exact orders are computed for up to 8 answers only"),
    "incomplete_ballots": _("the reviewers did not all rank the same answers"),
    "one_ballot": _("agreement needs at least two ballots"),
    "one_candidate": _("an order needs at least two answers"),
    "constant": _("every place is the same, so agreement cannot be distinguished from chance"),
    "nothing_paired": _("no answer was ranked by two reviewers"),
    "undefeated": _("always ranked first, so it has no finite rating"),
    "winless": _("always ranked last, so it has no finite rating"),
    "above": _("never ranked below the rated answers"),
    "below": _("never ranked above the rated answers"),
    "unlinked": _("the ballots do not link it to the rated answers"),
    "no_battles": _("no ballot compares it with another answer"),
    "own_not_shown": _("reviewers were not shown their own answers"),
    "nobody_ranked": _("no ballot compares it with another answer"),
}
