"""What refiner, debaters and summarizer are told. What models and people wrote stands between markers."""

from experiments.workflows.base.prompts import fenced, fill
from experiments.workflows.base.steps import Prompt
from experiments.workflows.debate.answers import Part
from experiments.workflows.debate.forms import ACTIONS, BRIEF, POINTS
from experiments.workflows.debate.talk import Speech, Talk
from experiments.workflows.debate.wording import language_name

Prompts = tuple[Prompt, Prompt]
LANGUAGE, ADDENDUM = "debate/language", "debate/addendum"
REFINE = ("debate/refiner", "debate/refine", LANGUAGE)
VIEWS = {"A": "debate/view_a", "B": "debate/view_b", "C": "debate/view_c"}
ROUND = ("debate/debater", *VIEWS.values(), "debate/counter", "debate/no_counter", "debate/round", ADDENDUM, LANGUAGE)
SUMMARY = ("debate/summarizer", "debate/summary", ADDENDUM, LANGUAGE)
REPAIR = "debate/repair"


def to_refine(talk: Talk, key: str) -> Prompts:
    token = talk.cast.fence(key)
    system = fill("debate/refiner", language=_language(talk), token=token, form=BRIEF)
    return Prompt("system", system), Prompt("user", fill("debate/refine", request=_fenced_request(talk, token)))


def to_speak(talk: Talk, part: Part, key: str, *, is_short: bool = False) -> Prompts:
    """is_short: with the points of the others cut down, for a model whose context they exceeded."""
    token = talk.cast.fence(key)
    counter = "debate/counter" if part.counterpoints else "debate/no_counter"
    system = fill(
        "debate/debater",
        seat=part.speaker,
        view=fill(VIEWS[part.speaker]),
        points=part.points,
        counter=fill(counter, **({"counterpoints": part.counterpoints} if part.counterpoints else {})),
        language=_language(talk),
        token=token,
        form=POINTS % part.speaker,
    )
    heard = [_points(speech, token, is_short) for speech in talk.heard_by(part.speaker, part.round)]
    user = fill(
        "debate/round",
        round=part.round,
        seat=part.speaker,
        task=fenced("task", talk.task, token),
        addendum=_addendum(talk, token),
        points="\n\n".join(heard) or "(nothing)",
    )
    return Prompt("system", system), Prompt("user", user)


def to_sum_up(talk: Talk, key: str, *, is_short: bool = False) -> Prompts:
    token = talk.cast.fence(key)
    system = fill("debate/summarizer", language=_language(talk), token=token, form=ACTIONS)
    rounds = sorted({speech.round for speech in talk.speeches})
    blocks = [_round(talk, number, token, is_short) for number in rounds]
    task, addendum = fenced("task", talk.task, token), _addendum(talk, token)
    user = fill("debate/summary", task=task, addendum=addendum, rounds="\n\n".join(blocks))
    return Prompt("system", system), Prompt("user", user)


def to_repair(prompts: tuple[Prompt, ...], answer: str, reason: str, token: str) -> tuple[Prompt, ...]:
    """The same question with the answer that could not be read."""
    *before, last = prompts
    repair = fill(REPAIR, reason=reason, token=token, answer=fenced("answer", answer, token))
    return (*before, Prompt("user", f"{last.content}\n\n{repair}"))


def _round(talk: Talk, number: int, token: str, is_short: bool) -> str:
    blocks = [_block(speech, token, is_short) for speech in talk.of_round(number)]
    return "\n\n".join([f"Round {number}", *blocks])


def _block(speech: Speech, token: str, is_short: bool) -> str:
    if speech.has_failed:
        return f"Debater {speech.seat} gave no answer in round {speech.round} ({speech.error_kind})."
    if speech.points is None:
        return f"{speech.name}, unparsed:\n{fenced(f'unparsed-{speech.name}', speech.raw, token)}"
    return _points(speech, token, is_short)


def _points(speech: Speech, token: str, is_short: bool) -> str:
    return fenced(f"points-{speech.name}", speech.lines(is_short=is_short), token)


def _addendum(talk: Talk, token: str) -> str:
    if not talk.addenda:
        return ""
    addendum = fenced("addendum", "\n\n".join(talk.addenda), token)
    return f"\n{fill(ADDENDUM, addendum=addendum)}\n"


def _fenced_request(talk: Talk, token: str) -> str:
    return fenced("request", talk.config.prompt, token)


def _language(talk: Talk) -> str:
    language = talk.language
    return fill(LANGUAGE, named=f", which is {language_name(language)}" if language else "")
