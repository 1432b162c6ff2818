"""Words of calls under way are kept as they come, whoever else holds the database."""

import logging

import pytest
from django.db import OperationalError

from experiments.engine import partial_text
from experiments.engine.partial_text import Partial, PartialTextWriter
from experiments.models import Call, Step
from tests.fixtures import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases]


class Talk:
    """A source of words. said: so far; heard: how much of it was kept."""

    def __init__(self, call):
        self.call, self.said, self.heard = call, "One panel", 0

    def partials(self):
        size = len(self.said)
        return [Partial(self.call.pk, self.said, "", (size, 0))] if size > self.heard else []

    def saved(self, partials):
        self.heard = partials[-1].size[0]

    @property
    def is_kept(self):
        return Call.objects.get(pk=self.call.pk).text == self.said


@pytest.fixture
def talk(arena, start):
    run = start(arena())
    step = Step.objects.create(run=run, key="turn/1/A", kind="ask", purpose="reply")
    participant = run.experiment.participants.first()
    return Talk(Call.objects.create(run=run, step=step, model=participant.model, attempt=1, request={}))


@pytest.fixture
def writer(talk):
    writer = PartialTextWriter(talk)
    writer.start()
    yield writer
    writer.close()


def test_words_that_could_not_be_kept_are_kept_later_whatever_went_wrong(talk, request, monkeypatch, caplog):
    save, errors = partial_text.save, [ValueError("a bug"), OperationalError("database is locked")]

    def write(words):
        if errors:
            raise errors.pop()
        save(words)

    monkeypatch.setattr(partial_text, "save", write)
    with caplog.at_level(logging.WARNING):
        request.getfixturevalue("writer")
        assert wait_until(lambda: talk.is_kept, "the words")
    assert "not saved yet" in caplog.text
    talk.said += " for each village."
    assert wait_until(lambda: talk.is_kept, "the rest of them")


@pytest.mark.system
def test_what_has_ended_meanwhile_stays_as_it_is(talk, writer):
    Call.objects.filter(pk=talk.call.pk).update(state=Call.State.COMPLETED, text="One panel for each village.")
    talk.said += " for"
    wait_until(lambda: talk.heard == len(talk.said), "the late words")

    assert Call.objects.get(pk=talk.call.pk).text == "One panel for each village."
