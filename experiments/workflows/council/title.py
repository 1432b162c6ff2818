"""A title for the talk, found beside the first question and never in its way."""

from collections.abc import Generator
from typing import Any

from experiments.workflows.base.prompts import fenced, fill, version
from experiments.workflows.base.records import Record
from experiments.workflows.base.steps import Ask, Outcome, Prompt
from experiments.workflows.council.records import Titled
from experiments.workflows.council.talk import Talk

TITLE = "council/title"
LONGEST = 80
PATIENCE = 10.0
QUOTES = "\"'“”‘’«»「」『』《》`*#_ "


def find_title(talk: Talk) -> Generator[Any, Any, None]:
    """Whatever goes wrong, the talk keeps the title that it has."""
    outcome: Outcome = yield _ask(talk)
    if outcome.ok and (title := _cleaned(outcome.text)):
        yield Record("title/found", Titled(title=title), source="title")


def _ask(talk: Talk) -> Ask:
    token = talk.cast.fence("title")
    prompt = fill(TITLE, token=token, question=fenced("question", talk.config.question, token))
    return Ask(
        key="title",
        seat="title",
        played_by="" if "title" in talk.cast.seats else "chair",
        purpose="title",
        messages=(Prompt("user", prompt),),
        params={"temperature": 0.3, "max_tokens": 1000},  # more than a title: some reason before they answer
        prompt_version=version(TITLE),
        patience=PATIENCE,
    )


def _cleaned(text: str) -> str:
    """The first line that says something, on one line, without quotation marks; "" when there is none."""
    lines = (" ".join(line.split()).strip(QUOTES) for line in text.splitlines())
    title = next((line for line in lines if line), "")
    title = title.rstrip(".。").removeprefix("Title:").strip(QUOTES)
    return title if len(title) <= LONGEST else f"{title[: LONGEST - 1].rstrip()}…"
