"""Whatever writes words has them indexed in its own transaction; and all of them can be indexed anew."""

import pytest
from django.core.management import call_command

from experiments.models import Passage, Run
from experiments.reports.document import document
from experiments.reports.importing import import_document
from experiments.reviews import flagging
from experiments.search import indexing
from experiments.steering import branching
from tests.experiments.search.transcripts import found, talk
from tests.fixtures import add_model

pytestmark = pytest.mark.django_db


def missing():
    """How many rows have no passage."""
    Passage.objects.filter(kind="reasoning").delete()
    return indexing.everything(only_missing=True)


@pytest.mark.databases
def test_a_run_that_was_played_is_found_by_all_that_was_said(played, alice):
    run = played(max_turns=2, judge=False)

    assert missing() == 0
    for message in run.messages.all():
        assert message.text in found(alice, f'"{" ".join(message.text.split()[:6])}"')
    assert len(found(alice, "solar panels in:setup")) == 1


def test_what_the_filter_has_left_is_found(played, alice, quiet_doorbell):
    add_model("sim/filter:tps=0:first=0")
    run = played(max_turns=1, filter=True)
    filtered = run.messages.exclude(filter=None).first()

    assert filtered.text in found(alice, f'"{" ".join(filtered.text.split()[:4])}" seat:{filtered.seat}')


def test_a_branch_has_passages_of_its_own(played, alice, quiet_doorbell):
    run = played(max_turns=1, judge=False)
    child = branching.branch(run.messages.last(), by=alice, text="An aardvark instead.")

    assert found(alice, "aardvark") == ["An aardvark instead."]
    assert Passage.objects.filter(run=child, kind="message").count() == child.messages.count()


def test_what_is_imported_is_found_with_its_set_up(played, alice, quiet_doorbell):
    run = played(max_turns=1, judge=False)
    copy = import_document(document(Run.objects.with_totals().get(pk=run.pk)), by=alice)

    assert Passage.objects.filter(run=copy, kind="message").count() == copy.messages.count()
    assert Passage.objects.filter(source=copy.experiment_id, kind="setup").exists()


def test_a_flag_that_is_set_or_dismissed_is_a_filter_at_once(alice):
    message = talk(alice, "We share.", "We do not.").messages.first()
    flagging.set_flag(message, "refusal", by=alice)

    assert found(alice, "flag:refusal") == ["We share."]
    assert found(alice, "share flag:truncated") == []

    flagging.dismiss(message, "refusal", by=alice, reason="It does not refuse.")

    assert found(alice, "flag:refusal") == []


@pytest.mark.databases
def test_all_is_indexed_anew_while_what_is_there_stays_where_it_is(alice):
    run = talk(alice, "We share.", "We do not.")
    before = dict(Passage.objects.values_list("source", "pk"))
    run.messages.filter(seat="A").update(text="Behind the index.", raw_text="Behind the index.")
    Passage.objects.filter(source=run.messages.last().pk).delete()
    call_command("reindex", "--missing")

    assert found(alice, "not") == ["We do not."]
    assert found(alice, "index") == []

    call_command("reindex")

    assert found(alice, "index") == ["Behind the index."]
    assert found(alice, "share in:messages") == []
    after = dict(Passage.objects.values_list("source", "pk"))
    assert {key: place for key, place in after.items() if key in before and place == before[key]} == {
        key: place for key, place in before.items() if key != run.messages.last().pk
    }


def test_a_kind_of_its_own_is_indexed_anew_with_the_rest(alice, monkeypatch, capsys):
    run = talk(alice, "We share.")
    monkeypatch.setattr(indexing, "OTHERS", [lambda: indexing.put("note", run.pk, "An aardvark", run=run) or 1])
    call_command("reindex")

    assert found(alice, "aardvark") == [run.experiment.title]
    assert "3 texts are indexed." in capsys.readouterr().out


@pytest.mark.databases
def test_a_text_of_any_length_is_recorded_and_found_by_its_beginning(alice):
    long = "beginning " + " ".join(f"word{number}" for number in range(70_000)) + " ending"

    run = talk(alice, long, "x" * 100_000, "会" * 50_000)

    assert found(alice, "beginning word100") == [long]
    assert found(alice, "ending") == []
    assert len(found(alice, "x" * 64 + "*")) == 1
    assert len(found(alice, "会会会")) == 1
    assert run.messages.count() == 3
