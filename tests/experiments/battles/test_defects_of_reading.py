"""Earlier arenas' defects in reading verdicts, settings and files (ratings.md §1.10), against ours."""

import os

import pytest
from django.core.management import call_command

from experiments.battles.logs.formats import FORMATS
from experiments.models import Board, Provider
from experiments.workflows.battles.prompts import PROMPTS
from tests.cases import each_case
from tests.experiments.battles.logs_of_others import slim, write


def said(winner: str) -> str:
    return f'{{"winner": "{winner}", "rationale": "An answer as all are.", "confidence": 0.9}}'


@each_case("name", PROMPTS)
@each_case("form", [said, "I prefer {}.".format, "The better one is {}".format])
@each_case("words", ["Image B", "Answer B", "Candidate B", "Response B", "b"])
def test_the_first_letter_of_a_word_names_nobody(words, form, name):
    assert PROMPTS[name].read(form(words)).winner in {"second", None}


@each_case("name", PROMPTS)
@each_case("words", ["Image B", "Answer B", "Candidate B", "Response B", "B"])
def test_a_verdict_that_names_the_second_one_is_read_as_that(words, name):
    assert PROMPTS[name].read(said(words)).winner == "second"


@each_case("name", PROMPTS)
@each_case("words", ["Both are equal", "Neither", "All alike", "They are about the same"])
def test_what_names_neither_is_a_tie_or_unreadable(words, name):
    for text in (said(words), words):
        assert PROMPTS[name].read(text).winner in {"tie", None}


def test_a_plug_in_that_allows_no_tie_takes_none():
    strict = [prompt for prompt in PROMPTS.values() if not prompt.allows_tie]

    assert all(prompt.read(said("tie")).winner is None for prompt in strict)
    assert all(prompt.read(said("tie")).winner == "tie" for prompt in PROMPTS.values() if prompt.allows_tie)


@pytest.mark.django_db
def test_a_providers_key_is_read_from_the_variable_that_was_named(monkeypatch):
    call_command(
        "add_provider", "--name=lab", "--base-url=http://127.0.0.1:9/v1", "--allow-private", "--api-key-env=LAB_KEY"
    )
    provider = Provider.objects.get(name="lab")
    monkeypatch.delenv("LAB_KEY", raising=False)
    assert provider.lacks_key

    monkeypatch.setenv("LAB_KEY", "sk-1")

    assert os.environ[provider.api_key_env] == "sk-1"
    assert not provider.lacks_key


@pytest.mark.django_db
def test_a_log_that_could_not_be_written_to_its_end_replaces_none(tmp_path, take, monkeypatch):
    board, _report = take(write(tmp_path / "log.jsonl", [slim("flux", "sdxl", 0, "flux")]))
    path = tmp_path / "out.jsonl"
    call_command("export_battles", board.slug, "--output", str(path))
    before = path.read_bytes()

    def broken(_board, _subset):
        yield b'{"model_a": "fl'
        raise OSError("the disk is full")

    monkeypatch.setitem(FORMATS, "slim", FORMATS["slim"]._replace(chunks=broken))
    with pytest.raises(OSError, match="full"):
        call_command("export_battles", board.slug, "--output", str(path))

    assert path.read_bytes() == before
    assert Board.objects.count() == 1
