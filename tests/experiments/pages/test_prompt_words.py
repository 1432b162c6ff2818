"""Judge prompts come from a room without translations; the words for them stand beside the other labels."""

from django.utils.translation import override

from experiments.labels import prompt_words
from experiments.workflows.battles.prompts import PROMPTS
from tests.cases import each_case


@each_case("name", PROMPTS)
def test_the_prompts_that_come_along_are_named_in_both_languages(name):
    title, description = PROMPTS[name].title, " ".join(PROMPTS[name].module.__doc__.split())

    assert (str(prompt_words(title)), str(prompt_words(description))) == (title, description)
    with override("zh-hans"):
        assert str(prompt_words(title)) != title
        assert str(prompt_words(description)) != description


def test_a_prompt_of_ones_own_is_named_as_it_says():
    assert prompt_words("Which haiku is the sadder one") == "Which haiku is the sadder one"
