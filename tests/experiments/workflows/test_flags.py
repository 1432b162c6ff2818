"""What can be seen to be wrong with a reply without asking anybody."""

from experiments.workflows.flags import REPEATS_ITSELF, SPEAKS_FOR_OTHER, flags
from tests.cases import each_case


@each_case(
    "text",
    ["Model B: I agree.", "Fine.\n\n**Model B**: I agree.", "> Agent B: no", "  side b : yes", "# Model B:\nI agree."],
)
def test_lines_of_the_other_side_are_noticed(text):
    assert flags(text, "A") == [SPEAKS_FOR_OTHER]
    assert flags(text, "B") == []


@each_case("text", ["Model A: I agree.", "I told Model B: no.", "Model Bravo: hello", "B: 7, A: 3", ""])
def test_ones_own_name_and_words_about_the_other_side_are_none(text):
    assert flags(text, "A") == []


def test_the_third_time_the_same_words_are_said_is_noticed():
    said = ["I want four.", "No.", "i  WANT four."]

    assert flags("I want\nfour.", "A", said) == [REPEATS_ITSELF]
    assert flags("I want four.", "A", said[:1]) == []
    assert flags("I want five.", "A", said) == []


def test_silence_said_three_times_is_no_repetition():
    assert flags("  ", "A", ["", " ", "\n"]) == []
