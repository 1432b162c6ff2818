"""Text that every database can hold."""

from hypothesis import given
from hypothesis import strategies as st

from experiments.engine.text import is_storable, storable, storable_data

any_text = st.text(st.characters() | st.just("\x00") | st.characters(categories=["Cs"]))
clean_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))


def json_of(text):
    plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | text
    return st.recursive(
        plain, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4), max_leaves=12
    )


@given(any_text)
def test_whatever_a_model_wrote_can_be_stored_afterwards_each_bad_character_replaced_by_one(text):
    stored = storable(text)

    assert is_storable(stored)
    assert stored.encode().decode() == stored
    others = [c for c in text if c not in "\x00\ufffd" and not "\ud800" <= c <= "\udfff"]
    assert [c for c in stored if c != "\ufffd"] == others
    assert is_storable(text) == (stored == text)
    assert len(stored) == len(text)


@given(json_of(any_text))
def test_every_text_inside_json_can_be_stored_afterwards(value):
    def texts(of):
        if isinstance(of, str):
            return [of]
        if isinstance(of, dict):
            return [text for pair in of.items() for part in pair for text in texts(part)]
        return [text for item in of for text in texts(item)] if isinstance(of, list) else []

    assert all(map(is_storable, texts(storable_data(value))))


@given(json_of(clean_text))
def test_what_can_be_stored_is_left_alone(value):
    assert storable_data(value) == value
