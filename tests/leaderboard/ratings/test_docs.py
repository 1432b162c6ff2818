"""The page docs/ratings.md: its examples run, and it names what there is."""

import re
from pathlib import Path

PAGE = (Path(__file__).parents[3] / "docs" / "ratings.md").read_text(encoding="utf-8")


def test_the_examples_run(capsys):
    for example in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(compile(example, "docs/ratings.md", "exec"), {})

    assert "bradley_terry" in capsys.readouterr().out
