"""The page docs/ratings.md: its examples run, and it names what there is."""

import re
from pathlib import Path

import leaderboard.ratings
from leaderboard.ratings import agreement, cycles, orders, tables

PAGE = (Path(__file__).parents[3] / "docs" / "ratings.md").read_text(encoding="utf-8")


def test_the_examples_run(capsys):
    for example in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(compile(example, "docs/ratings.md", "exec"), {})

    assert "bradley_terry" in capsys.readouterr().out


def test_every_public_function_is_on_the_page():
    public = {*leaderboard.ratings.__all__, *orders.__all__, *agreement.__all__, *tables.__all__, *cycles.__all__}
    functions = {name for name in public if name.islower()} - {"positions", "tally"}

    assert {name for name in functions if f"`{name}`" not in PAGE} == set()
