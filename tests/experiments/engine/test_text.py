"""Text that every database can hold."""

from hypothesis import given
from hypothesis import strategies as st

from experiments.engine.text import is_storable, storable, storable_data

any_text = st.text(st.characters() | st.just("\x00") | st.characters(categories=["Cs"]))


@given(any_text)
def test_whatever_a_model_wrote_can_be_stored_afterwards_each_bad_character_replaced_by_one(text):
    stored = storable(text)

    assert is_storable(stored)
    assert stored.encode().decode() == stored
    others = [c for c in text if c not in "\x00\ufffd" and not "\ud800" <= c <= "\udfff"]
    assert [c for c in stored if c != "\ufffd"] == others
    assert is_storable(text) == (stored == text)
    assert len(stored) == len(text)


plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | any_text
json_values = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4), max_leaves=12
)


@given(json_values)
def test_in_json_every_text_is_made_storable_and_all_else_left_alone(value):
    def expected(of):
        if isinstance(of, dict):
            return {storable(key): expected(item) for key, item in of.items()}
        if isinstance(of, list):
            return [expected(item) for item in of]
        return storable(of) if isinstance(of, str) else of

    assert storable_data(value) == expected(value)
