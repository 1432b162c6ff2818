"""The language of a text is told by its prose, or not at all."""

from experiments.workflows.flags import other_language
from experiments.workflows.language import language_of
from tests.cases import each_case
from tests.hanging import without_hanging

SKY = {
    "en": "Why is the sky blue, and why is it red in the evening?",
    "zh": "天空为什么是蓝色的？",
    "ja": "なぜ空は青いのですか。",
    "ko": "하늘은 왜 파란가요?",
    "de": "Warum ist der Himmel blau und am Abend rot?",
    "fr": "Pourquoi le ciel est-il bleu, et rouge le soir ?",
    "es": "¿Por qué el cielo es azul y por la tarde rojo?",
    "ru": "Почему небо днём голубое, а вечером становится красным?",
    "ar": "لماذا السماء زرقاء في النهار وحمراء في المساء؟",
}


@each_case("language", SKY)
def test_a_question_is_known_by_its_language(language):
    assert language_of(SKY[language]) == language


@each_case("text", ["", " \n", "ok", "42", "C > A > B", "x = 1", "🎈🎈🎈", "是", "1/λ^4 ≈ 5.1e-27"])
def test_what_is_too_short_has_no_language(text):
    assert language_of(text) is None


def test_code_and_addresses_are_no_prose():
    code = "```python\n# this loop is only here to show the difference between the two ways\n```"
    assert language_of(f"循环的两种写法：\n{code}") == "zh"
    assert language_of(code) is None
    assert language_of(code.removesuffix("```")) is None, "a fence that is cut short is code to its end"
    assert language_of("`the answer is in the function` https://example.org/why-is-the-sky-blue") is None


def test_foreign_names_leave_the_language_as_it_is():
    assert language_of("请解释 Kubernetes 的 pod 和 service 有什么区别，并给出一个例子。") == "zh"
    assert language_of("The word 天空 means sky in Chinese, and people write it with two signs.") == "en"


def test_a_decorative_kana_makes_no_japanese():
    assert language_of("这家小店卖各种好吃的零食，优の良品，欢迎大家来看看，选一选，买一买。") == "zh"


@each_case(("asked", "answered"), [("zh", "en"), ("en", "zh"), ("de", "fr"), ("en", "ja")])
def test_an_answer_in_another_language_is_flagged(asked, answered):
    assert other_language(asked, SKY[answered]) == ["other_language"]


def test_an_answer_in_the_same_language_is_not():
    assert other_language("en", "It scatters: short waves are spread in all directions.") == []
    assert other_language("zh", "因为短波长的光散射得更强。") == []


@each_case(("asked", "text"), [(None, SKY["en"]), ("en", "42"), ("en", "```\nprint(天空)\n```")])
def test_nothing_is_flagged_where_nothing_is_known(asked, text):
    assert other_language(asked, text) == []


def test_languages_too_alike_to_tell_are_no_difference():
    assert other_language("ms", "Langit berwarna biru karena cahaya matahari dihamburkan oleh udara.") == []


def test_a_text_of_any_length_does_not_hang_the_reader():
    language_of(SKY["en"])  # the model is read once
    with without_hanging():
        told = [language_of(text) for text in (SKY["en"] * 2000, "`" * 100_000, "```" * 33_000, "a@" * 50_000)]

    assert told[0] == "en"
