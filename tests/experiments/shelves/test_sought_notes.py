"""Notes are found by their words, by whoever may read them and by nobody else."""

import pytest
from django.core.management import call_command

from experiments.models import Passage
from experiments.search.asked import read
from experiments.search.finding import find
from experiments.shelves import noting

pytestmark = pytest.mark.databases


def found(person, words="heliotrope"):
    return [
        "".join(part.text for part in hit.parts) for hit in find(read(words), person).hits if hit.passage.kind == "note"
    ]


def test_a_note_is_found_by_its_author_until_they_share_it(alice, mia, shared):
    note = noting.write(shared, "Compare with heliotrope.", by=alice)
    assert (found(alice), found(mia)) == (["Compare with heliotrope."], [])

    noting.revise(note, by=alice, text="Heliotrope it is.", shared=True)
    assert (found(mia), found(mia, "compare")) == (["Heliotrope it is."], [])


def test_a_shared_note_is_not_found_by_who_may_not_see_the_run(alice, charlie, shared):
    noting.write(shared, "Heliotrope.", by=alice, shared=True)

    assert found(charlie) == []


def test_a_note_that_is_gone_is_found_no_more(alice, shared):
    noting.remove(noting.write(shared, "Heliotrope.", by=alice), by=alice)

    assert found(alice) == []


def test_the_index_is_made_anew_with_its_notes(alice, mia, shared):
    noting.write(shared, "Heliotrope.", by=alice)
    Passage.objects.filter(kind="note").delete()
    assert found(alice) == []

    call_command("reindex")
    assert (found(alice), found(mia)) == (["Heliotrope."], [])
