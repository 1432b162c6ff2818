"""The table of sizes tells what was measured from what is computed."""

from benchmarks import sizing


def test_what_is_within_the_measurement_is_called_measured_and_nothing_else():
    known = sizing.Measured(runs=50, viewers=200, idle=100, each=1024)

    assert sizing.row(50, known) == ("50", "1", "1", "2", "150 MiB", "2,500", "measured")
    assert sizing.row(1000, known) == ("1,000", "20", "5", "25", "2.9 GiB", "50,000", "computed")
