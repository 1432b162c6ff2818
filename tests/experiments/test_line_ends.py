"""Text that a browser has had in its hands means what its reader saw."""

from experiments.setup.form_fields import as_typed, is_same, restored
from tests.cases import each_case

SHOWN = "One.\r\nTwo.\n\nThree.\rFour.\n"


def test_text_that_comes_back_with_other_line_ends_is_the_same():
    assert is_same(SHOWN.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\r\n"), SHOWN)
    assert restored(as_typed(SHOWN), SHOWN) == SHOWN


@each_case(
    ("typed", "meant"),
    [
        ("One.\nTwo!\n\nThree.\nFour.\n", "One.\r\nTwo!\n\nThree.\rFour.\n"),
        ("Zero.\nOne.\nTwo.\n\nThree.\nFour.\n", "Zero.\n" + SHOWN),
        ("One.\nTwo.\n\nThree.\nFour.\nFive.", SHOWN + "Five."),
        ("", ""),
        ("Something else.\r\nEntirely.", "Something else.\nEntirely."),
    ],
)
def test_what_was_not_changed_keeps_its_line_ends(typed, meant):
    assert restored(typed, SHOWN) == meant
    assert restored(typed.replace("\n", "\r\n").replace("\r\r", "\r"), SHOWN) == meant


def test_lines_that_repeat_are_counted_once():
    assert restored("a\na\n", "a\r\na\r\na\r\n") == "a\r\na\r\n"
