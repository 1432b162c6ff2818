"""Reports of runs that people steered, as the engine really leaves them."""

from typing import Any

import pytest

from experiments.models import Run
from experiments.reports.html import render_html
from experiments.reports.pdf import render_pdf
from experiments.steering import branching, steering
from tests.experiments.reports.html_pages import section, words
from tests.experiments.reports.test_pdf import read, text_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def say(alice: Any, drive: Any) -> Any:
    def answer(run: Run, action: str, text: str = "") -> None:
        pause = Run.objects.get(pk=run.pk).open_pauses[-1]
        steering.say(run, by=alice, key=pause.key, action=action, text=text)
        drive()

    return answer


def fetched(run: Run) -> Run:
    found = Run.objects.with_totals().get(pk=run.pk)
    found.reader = found.experiment.owner
    return found


def test_a_manual_run_tells_what_its_operator_did(arena: Any, start: Any, drive: Any, say: Any) -> None:
    run = start(arena(mode="manual", filter=False))
    drive()
    say(run, "send", "Answer with one word.")
    say(run, "note", "Be brief.")
    say(run, "alter", "I take everything.")
    say(run, "default")
    say(run, "next")
    say(run, "skip")
    say(run, "end")

    log = section(render_html(fetched(run), "en"), "log")

    told = [
        "The prompt of Model A was rewritten alice",
        "Answer with one word.",
        "Model B got a private note alice",
        "What Model B reads was altered alice",
        "Model A was skipped alice",
        "The talk was ended alice",
        "The run was stopped: somebody stopped it",
    ]
    places = [log.index(line) for line in told]
    assert places == sorted(places)
    assert "The rest of the turn was skipped" not in log
    pdf = text_of(read(render_pdf(fetched(run), "en")))
    assert all(line.removesuffix(" alice") in pdf for line in told)


def test_a_starchamber_talk_tells_answers_given_again_and_its_branch(
    starchamber: Any, start: Any, drive: Any, say: Any, alice: Any
) -> None:
    run = start(starchamber(persona="Vega", context="Be kind."))
    drive()
    say(run, "regenerate")
    say(run, "send", "And then?")
    answer = run.messages.filter(seat="model").last()
    child = branching.branch(answer, by=alice, text="I would rather not say.")
    drive()

    html, branched = render_html(fetched(run), "en"), render_html(fetched(child), "en")

    log = section(html, "log")
    assert "superseded: another answer was asked for" in log
    assert "Another answer to the same question was asked for alice" in log
    assert "Researcher Vega" in log
    assert "Token confidence average confidence" in log
    assert "And then?" in log
    assert "rewritten" not in log
    assert str(child.pk) in section(html, "lineage")
    assert "edited by alice" in section(branched, "log")
    assert "I would rather not say." in section(branched, "log")
    assert f"Parent {run.pk}" in section(branched, "lineage")
    assert "had not ended" in words(branched)
