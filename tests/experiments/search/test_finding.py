"""What is found: words, phrases, beginnings, Chinese, and what a filter leaves; and how words get into the index."""

import pytest
from django.core.management import call_command

from accounts.errors import Invalid
from accounts.models import User
from experiments.library.bulk import selecting
from experiments.library.search import backends, indexing, words
from experiments.library.search.backends import PostgreSQL, content
from experiments.library.search.indexing import marks_of_model
from experiments.library.search.query import Sought, mark, phrase
from experiments.models import Passage, Run
from experiments.review import flagging
from experiments.runs.reports.document import document
from experiments.runs.reports.importing import import_document
from experiments.runs.steering import branching
from tests.experiments.search.transcripts import found, talk
from tests.fixtures import add_model

pytestmark = pytest.mark.databases

PANELS, NIGHT = "We share seven solar panels.", "Then we share the night, don't we?"
CHINESE, MIXED = "我们讨论议会厅的安排。", "The GPT模型 agreed."


def test_words_are_found_as_they_are_asked_for_and_a_filter_leaves_what_fits_it(alice):
    talk(alice, PANELS, NIGHT, CHINESE, MIXED, title="Village power")
    wanted = {
        (): ['"seven share"', "pane", "议厅", "seven panels http://nowhere", '!!! "', "\u0300"],
        (PANELS,): ["SHARE panels", '"share seven"', 'share -"the night"', "pan* sol*"],
        (NIGHT,): ["share -solar", "don't", "-seat:a share", "model:lab/b share", "model:b share"],
        (CHINESE,): ["-share -gpt -power", "会厅的", "厅"],
        (MIXED,): ["模型 gpt", '"gpt模型 agreed"'],
        ("Village power",): ["village", "in:setup lab"],
        (CHINESE, PANELS): ["seat:a"],
        (NIGHT, PANELS): ["share \u0300 -\u0301", "seat:a seat:b share", "-state:failed share"],
    }
    wanted[NIGHT,].append('model:"b model" share')
    wanted[()] += ["workflow:council share", "by:nobody share", "state:live share", "-state:completed share"]
    wanted[()] += ["to:2020-01-01 share", "in:messages village"]
    wanted[NIGHT, PANELS].append("from:2020-01-01 to:2199-12-31 share")
    for expected, questions in wanted.items():
        for asked in questions:
            assert found(alice, asked) == list(expected), asked


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


@pytest.mark.databases
def test_a_run_its_branch_and_its_copy_are_found_by_all_that_was_said(played, alice):
    add_model("sim/filter:tps=0:first=0")
    run = played(max_turns=1, filter=True, judge=False)
    filtered = run.messages.exclude(filter=None).first()
    Passage.objects.filter(kind="reasoning").delete()
    assert indexing.everything(only_missing=True) == 0, "no row is without a passage"
    for message in run.messages.all():
        assert message.text in found(alice, f'"{" ".join(message.text.split()[:6])}"')
    assert filtered.text in found(alice, f'"{" ".join(filtered.text.split()[:4])}" seat:{filtered.seat}')
    assert len(found(alice, "solar panels in:setup")) == 1

    child = branching.branch(run.messages.last(), by=alice, text="An aardvark instead.")
    copy = import_document(document(Run.objects.with_totals().get(pk=run.pk)), by=alice)
    assert found(alice, "aardvark") == ["An aardvark instead."]
    for other in (child, copy):
        assert Passage.objects.filter(run=other, kind="message").count() == other.messages.count()
    assert Passage.objects.filter(source=copy.experiment_id, kind="setup").exists()


@pytest.mark.databases
def test_a_flag_is_a_filter_at_once_and_all_is_indexed_anew_while_what_is_there_stays_where_it_is(alice):
    run = talk(alice, "We share.", "We do not.")
    message = run.messages.first()
    flagging.set_flag(message, "refusal", by=alice)
    assert (found(alice, "flag:refusal"), found(alice, "share flag:truncated")) == (["We share."], [])
    flagging.dismiss(message, "refusal", by=alice, reason="It does not refuse.")
    assert found(alice, "flag:refusal") == []

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


@pytest.mark.databases
def test_a_text_of_any_length_is_recorded_and_found_by_its_beginning(alice):
    long = "beginning " + " ".join(f"word{number}" for number in range(70_000)) + " ending"

    run = talk(alice, long, "x" * 100_000, "会" * 50_000)

    assert found(alice, "beginning word100") == [long]
    assert found(alice, "ending") == []
    assert len(found(alice, "x" * 64 + "*")) == 1
    assert len(found(alice, "会会会")) == 1
    assert run.messages.count() == 3


def test_a_word_takes_room_once_and_the_space_between_two_texts_that_of_a_word(monkeypatch):
    with monkeypatch.context() as narrow:
        narrow.setattr(backends, "MOST_BYTES", 25)
        assert content([], ["one one one two one three four"]).words == ("one", "one", "one", "two", "one")
    monkeypatch.setattr(backends, "MOST_WORDS", 4)
    assert content([], ["one two", "three four"]).words == ("one", "two", "=", "three")


def test_words_are_the_same_however_they_are_looked_for(monkeypatch):
    text = f"It's THE_end, 3.5 of\t(them)\n\n{'x' * 70} -- a_b"
    for long_text in (0, 1_000):
        monkeypatch.setattr(words, "LONG_TEXT", long_text)
        assert words.folded_words(text, 9) == ["it", "s", "the", "end", "3", "5", "of", "them", "x" * 64]
        assert content([], [text, "Ärger"]).words[-4:] == ("a", "b", "=", "arger")


def test_postgresql_is_given_marks_and_places_and_asked_for_all_phrases_one_of_each_marks(monkeypatch):
    monkeypatch.setattr(backends, "MOST_PLACES", 2)
    stored = PostgreSQL().stored(content(["=seat:a"], ["we share", "we we"]))
    assert stored == "'=all' '=seat:a' 'we':1,4 'share':2 '=':3"

    asked = Sought((phrase("solar panel"),), (("=seat:a", "=seat:b"),), (phrase("nigh", is_open=True),), ("=flag:odd",))
    assert PostgreSQL().query(asked) == "('solar' <-> 'panel') & ('=seat:a' | '=seat:b') & !('nigh':*) & !'=flag:odd'"
    assert PostgreSQL().query(Sought()) == "'=all'"
    marks = [mark("model", name) for name in ("lab/gpt-4o", "gpt-4o", "GPT")]
    assert list(marks_of_model("lab/gpt-4o", "GPT")) == marks
    assert len(set(marks)) == 3
