"""What the index is given, and asked, in the words of a database."""

from experiments.library.search import backends, words
from experiments.library.search.backends import PostgreSQL, content
from experiments.library.search.indexing import marks_of_model
from experiments.library.search.query import Sought, mark, phrase
from tests.cases import each_case


def test_a_word_takes_room_once_and_the_space_between_two_texts_that_of_a_word(monkeypatch):
    with monkeypatch.context() as narrow:
        narrow.setattr(backends, "MOST_BYTES", 25)
        assert content([], ["one one one two one three four"]).words == ("one", "one", "one", "two", "one")
    monkeypatch.setattr(backends, "MOST_WORDS", 4)
    assert content([], ["one two", "three four"]).words == ("one", "two", "=", "three")


@each_case("long_text", [0, 1_000])
def test_words_are_the_same_however_they_are_looked_for(monkeypatch, long_text):
    monkeypatch.setattr(words, "LONG_TEXT", long_text)
    text = f"It's THE_end, 3.5 of\t(them)\n\n{'x' * 70} -- a_b"

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
