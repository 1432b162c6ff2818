"""The table of sizes is what the command prints from what was measured."""

from pathlib import Path

from benchmarks import sizing

PAGE = Path(__file__).parent.parent.parent / "docs/deploying.md"


def test_the_page_has_the_table_and_the_formulas_as_the_command_prints_them():
    page = PAGE.read_text(encoding="utf-8")

    assert sizing.table() in page
    for formula in sizing.formulas().splitlines():
        assert formula in page


def test_what_is_within_the_measurement_is_called_measured_and_nothing_else():
    known = sizing.Measured(runs=50, viewers=200, idle=100, each=1024)

    assert sizing.row(50, known) == ("50", "1", "1", "2", "150 MiB", "2,500", "measured")
    assert sizing.row(1000, known) == ("1,000", "20", "5", "25", "2.9 GiB", "50,000", "computed")
