"""Honest programs, right and wrong, for the problems in problems.py: a file is `problem__shape.py`."""

from dataclasses import dataclass, field
from pathlib import Path

from experiments.sandbox import Limits
from tests.experiments.sandbox.problems import BY_NAME, Problem

FOLDER = Path(__file__).parent
CALM, HURRIED = Limits(), Limits(seconds=0.6)


@dataclass(frozen=True)
class Solution:
    """`passes` are the tests that it passes; the others end with one of `verdicts`."""

    name: str
    folder: str
    passes: frozenset[str]
    verdicts: frozenset[str] = frozenset()
    limits: Limits = field(default_factory=Limits)

    @property
    def problem(self) -> Problem:
        return BY_NAME[self.name.split("__")[0]]

    @property
    def code(self) -> str:
        """As it stands in its file: line ends and a byte order mark belong to some shapes."""
        return (FOLDER / self.folder / f"{self.name}.py").read_bytes().decode()

    def __str__(self) -> str:
        return self.name


def right(path: Path) -> Solution:
    return Solution(path.stem, "correct", frozenset(BY_NAME[path.stem.split("__")[0]].cases))


def wrong(name: str, passes: str = "", verdicts: str = "failed", limits: Limits = CALM) -> Solution:
    return Solution(name, "wrong", frozenset(passes.split()), frozenset(verdicts.split()), limits)


CORRECT = tuple(map(right, sorted((FOLDER / "correct").glob("*.py"))))
WRONG = (
    wrong("average__fails_on_nothing", "whole one thirds zero large", "error"),
    wrong("average__never_awaited", "", "failed error"),
    wrong("average__not_a_number", "whole one thirds zero large"),
    wrong("average__rounded", "whole one nothing zero large"),
    wrong("average__whole_numbers", "whole one zero large", "failed error"),
    wrong("average__zero_of_nothing", "whole one thirds zero large"),
    wrong("caesar__bytes", "", "failed error"),
    wrong("caesar__quoted"),
    wrong("caesar__runs_over", "next empty"),
    wrong("caesar__small_letters_only", "next around empty back others twice_around"),
    wrong("count_words__lower_case", "two empty spaces unicode lines"),
    wrong("count_words__no_parameter", "", "error"),
    wrong("count_words__pairs"),
    wrong("count_words__set"),
    wrong("count_words__splits_at_spaces", "two case unicode"),
    wrong("evens__never_ends", "", "error timeout memory output_limit", HURRIED),
    wrong("evens__one_too_many", "-3 1 5"),
    wrong("is_balanced__numbers"),
    wrong("is_balanced__only_counts", "pair empty nested letters open closed"),
    wrong("is_balanced__swallows_its_error", "pair empty nested letters crossed open"),
    wrong("is_balanced__truthy"),
    wrong("merge_intervals__flat", "empty"),
    wrong("merge_intervals__sorted_argument", "unsorted one empty"),
    wrong("merge_intervals__takes_the_last_end", "overlapping touching unsorted one empty"),
    wrong("merge_intervals__touching_stay_apart", "overlapping unsorted inside one empty"),
    wrong("merge_intervals__unsorted", "overlapping touching inside one empty"),
    wrong("negate__always_below_zero", "zero float_zero above large small"),
    wrong("negate__nothing"),
    wrong("negate__whole_numbers", "zero float_zero above large"),
    wrong("primes__asks_twice", "", "error"),
    wrong("primes__downwards", "0 2 3"),
    wrong("primes__generator_of_texts", "0 2"),
    wrong("primes__says_more", "", "error"),
    wrong("primes__text_of_the_list", "", "failed error"),
    wrong("primes__with_one", "0"),
    wrong("primes__with_squares", "0 2 3"),
    wrong("primes__with_the_limit", "0 10 26 30 100"),
    wrong("squares__other_way_round", "empty zero"),
    wrong("squares__true_for_one", "empty zero below_zero repeated large"),
    wrong("stairs__cut_to_64_bits", "0 1 2 5 90"),
    wrong("stairs__floats", "0 1 2 5"),
    wrong("stairs__slow", "0 1 2 5", "timeout", HURRIED),
    wrong("stairs__texts"),
    wrong("stairs__without_end", "", "error"),
    wrong("subsets__one_twice"),
    wrong("subsets__without_the_empty_one"),
    wrong("total__misses_the_last", "nothing large"),
    wrong("total__single_precision", "nothing whole zero"),
    wrong("total__text"),
    wrong("total__text_in_list"),
    wrong("two_sum__counts_from_one", "none empty"),
    wrong("two_sum__endless_where_there_is_none", "pair later_pair twins below_zero zeros", "timeout", HURRIED),
    wrong("two_sum__hard_coded", "pair later_pair"),
    wrong("two_sum__mutated_argument", "pair twins zeros none empty"),
    wrong("two_sum__not_written", "", "error"),
    wrong("two_sum__other_name", "", "error"),
    wrong("two_sum__prints"),
    wrong("two_sum__same_one_twice", "pair below_zero none empty"),
    wrong("two_sum__syntax_error", "", "not_run"),
    wrong("two_sum__text_of_a_list"),
    wrong("two_sum__texts_of_numbers", "none empty"),
    wrong("two_sum__values", "none empty"),
    wrong("two_sum__wrong_order", "none empty"),
)
