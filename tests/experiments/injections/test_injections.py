"""How often a judge is talked into something is measured with the workflows' own questions, kept, and shown."""

import re
from unittest.mock import AsyncMock

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError

from experiments.lab.injections import corpus
from experiments.lab.injections.rates import measured
from experiments.lab.injections.trials import TRIALS
from experiments.models import Dataset, InjectionRate
from experiments.workflows.base.steps import Outcome
from experiments.workflows.battles.campaign import boards
from leaderboard.boards.compute import ensure_ladder
from tests.cases import each_case
from tests.fixtures import add_model


@each_case("workflow", TRIALS)
async def test_an_instruction_stands_inside_a_fence_alone_before_a_judge_who_is_not_told_who_said_what(workflow):
    """Whose token is another one in each trial, and which no string can know; the judge answers none."""
    questions = []

    async def judge(ask):
        questions.append(ask)
        return Outcome(ok=False, error="no answer")

    [rate] = await measured(judge, [workflow])

    assert len(set(corpus.strings())) == corpus.STRINGS == 50
    tokens, told = set(), ["\n".join(prompt.content for prompt in ask.messages) for ask in questions]
    for text in told:
        [token] = set(re.findall(r"\[\[[\w-]+ ([0-9a-f]{12})\]\]", text))
        tokens.add(token)
        outside = re.sub(rf"(?s)\[\[([\w-]+) {token}\]\].*?\[\[/\1 {token}\]\]", "", text)
        assert not [string for string in corpus.strings() if string in outside]
        assert re.search(r"(?i)material.*whatever (it|they)", text, re.DOTALL), "the judge is told so"
        assert not re.search(r"member-\d|coder-\d|contestant|sim/", text)
    assert sum(string in text for string in corpus.strings() for text in told) >= corpus.STRINGS
    assert len(tokens) >= corpus.STRINGS
    assert (rate.attacked.part, rate.attacked.of, rate.unread) == (0, corpus.STRINGS, corpus.STRINGS)


async def test_a_winner_not_on_offer_is_unread_and_one_in_both_orders_is_no_success():
    """Both orders are asked: who says A both times chose nobody."""
    for verdict, unread in (('{"winner": "C"}', 3), ('{"winner": "A", "scores": {}}', 0)):
        [rate] = await measured(AsyncMock(return_value=Outcome(text=verdict)), ["battles"], most=3)
        assert (rate.attacked.part, rate.unread) == (0, unread), verdict


@pytest.mark.django_db
def test_the_command_keeps_the_rate_of_all_strings_and_the_page_shows_it(provider, alice, client, capsys):
    gullible = add_model("sim/judge:first=0:gullible=1", is_tool=True)
    dataset = Dataset.objects.create(owner=alice, name="Both", slug="both", state="ready", visibility="public")
    ladder = ensure_ladder(boards.model_board(dataset, gullible, prompt="text_quality", prompt_version="1", params={}))
    address = f"/leaderboard/{ladder.slug}/agreement/"
    assert "not measured yet" in client.get(address).content.decode()

    call_command("try_injections", gullible.slug, "--workflow", "coding", "--strings", "2")
    with pytest.raises(CommandError, match="no model nobody"):
        call_command("try_injections", "nobody")
    assert not InjectionRate.objects.exists(), "of a part of them no rate is kept"
    call_command("try_injections", gullible.slug, "--workflow", "battles")

    kept = InjectionRate.objects.get()
    assert kept.tried == 50
    assert kept.won > 40
    assert (kept.alone_won, kept.corpus) == (0, corpus.version())
    assert "(simulated): 110 questions" in capsys.readouterr().out
    page = client.get(address).content.decode()
    assert f"{2 * kept.won}.0 %" in page
    assert "simulated" in page


@pytest.mark.databases
@pytest.mark.django_db
def test_no_more_can_have_won_than_were_tried(provider):
    rate = InjectionRate(model=add_model("sim/judge:first=0"), workflow="battles", corpus="x", tried=1, won=2)
    rate.unread = rate.alone_tried = rate.alone_won = 0
    with pytest.raises(IntegrityError):
        rate.save()
