"""What is found: words, phrases, beginnings, Chinese, and what a filter leaves; the same on every database."""

import pytest

from accounts.errors import Invalid
from accounts.models import User
from experiments.library.bulk import selecting
from experiments.library.search import indexing
from tests.cases import each_case
from tests.experiments.search.transcripts import found, talk

pytestmark = pytest.mark.databases

PANELS, NIGHT = "We share seven solar panels.", "Then we share the night, don't we?"
CHINESE, MIXED = "我们讨论议会厅的安排。", "The GPT模型 agreed."


@pytest.fixture
def talked(alice):
    return talk(alice, PANELS, NIGHT, CHINESE, MIXED, title="Village power")


@each_case(
    ("asked", "expected"),
    [
        ("SHARE panels", [PANELS]),
        ('"share seven"', [PANELS]),
        ('"seven share"', []),
        ("share -solar", [NIGHT]),
        ('share -"the night"', [PANELS]),
        ("don't", [NIGHT]),
        ("pane", []),
        ("pan* sol*", [PANELS]),
        ("-share -gpt -power", [CHINESE]),
        ("会厅的", [CHINESE]),
        ("厅", [CHINESE]),
        ("议厅", []),
        ("模型 gpt", [MIXED]),
        ('"gpt模型 agreed"', [MIXED]),
        ("village", ["Village power"]),
        ("seven panels http://nowhere", []),
        ('!!! "', []),
        ("\u0300", []),  # an accent that belongs to no letter
        ("share \u0300 -\u0301", [NIGHT, PANELS]),
    ],
)
def test_words_are_found_as_they_are_asked_for(alice, talked, asked, expected):
    assert found(alice, asked) == expected


@each_case(
    ("asked", "expected"),
    [
        ("seat:a", [CHINESE, PANELS]),
        ("-seat:a share", [NIGHT]),
        ("seat:a seat:b share", [NIGHT, PANELS]),
        ("model:lab/b share", [NIGHT]),
        ("model:b share", [NIGHT]),
        ('model:"b model" share', [NIGHT]),
        ("workflow:council share", []),
        ("by:nobody share", []),
        ("state:live share", []),
        ("-state:failed share", [NIGHT, PANELS]),
        ("-state:completed share", []),
        ("from:2020-01-01 to:2199-12-31 share", [NIGHT, PANELS]),
        ("to:2020-01-01 share", []),
        ("in:setup lab", ["Village power"]),
        ("in:messages village", []),
    ],
)
def test_a_filter_leaves_what_fits_it(alice, talked, asked, expected):
    assert found(alice, asked) == expected


def test_what_was_said_before_a_change_and_reasoning_are_found_where_they_are_asked_for(alice):
    run = talk(alice, PANELS)
    words = {"text": "We share eight.", "reasoning": "A hidden aardvark"}
    run.messages.update(operator={"kind": "altered", "by": "alice", "original": "Nine, then."}, **words)
    indexing.of_run(run.pk)

    assert found(alice, "eight") == found(alice, "seven") == found(alice, "nine") == ["We share eight."]
    assert found(alice, "solar panels we share") == ["We share eight."]
    assert found(alice, '"share eight we"') == [], "no phrase reaches from one text into the next"
    assert found(alice, "aardvark") == []
    assert found(alice, "aardvark in:reasoning") == found(alice, "aardvark in:all") == ["We share eight."]
    assert found(alice, "share", seat="A", model="", workflow="arena") == ["We share eight."], "fields of the form"
    assert found(alice, "share", seat="B") == []
    for asked in ("state:foo", "from:yesterday", "to:0001-01-01", "in:nowhere"):
        with pytest.raises(Invalid, match=asked.partition(":")[2]):
            found(alice, asked)


def test_a_person_whose_name_is_nothing_to_the_index_finds_what_is_hers(alice, charlie):
    odd = User.objects.create_user('o\'b\\rien "x"')
    talk(odd, PANELS)

    assert found(odd, 'panels by:"o\'b\\rien"') == []
    assert found(odd, "pan'els\\ panels") == []
    assert found(odd, "seat:a'\\ panels") == []
    assert found(odd, "panels") == [PANELS]


def test_the_runs_of_all_results_are_a_selection_that_others_do_not_get(alice, bob):
    runs = [talk(alice, text) for text in ("solar panels", "wind", "more panels")]
    assert set(selecting.ids({"found": "q=panels&in=messages"}, by=alice)) == {str(runs[0].pk), str(runs[2].pk)}
    with pytest.raises(Invalid):
        selecting.ids({"found": "q=panels&in=messages"}, by=bob)
