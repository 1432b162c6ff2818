"""Intervals as drawings: the band around a line, and the strip of a measure."""

from experiments.drawings.charts import PERCENT, SHARE, Series, Spread, chart
from experiments.drawings.strips import HEIGHT, WIDTH, reach, strip
from experiments.statistics.estimates import estimate


def area(lows, highs):
    turns = list(range(1, len(lows) + 1))
    series = Series("a", "a", tuple(50.0 for _ in turns))
    [found] = chart(turns, [series], PERCENT, spreads=[Spread("a", tuple(lows), tuple(highs))]).areas
    return found


def test_a_band_goes_along_the_upper_ends_and_back_along_the_lower_ones():
    [shape] = area([10, 20, 30], [40, 50, 60]).shapes
    drawn = chart([1, 2, 3], [Series("a", "a", (10.0, 20.0, 30.0)), Series("b", "b", (40.0, 50.0, 60.0))], PERCENT)
    low, high = (line.segments[0] for line in drawn.lines)

    assert shape == (*high, *reversed(low))


def test_a_band_breaks_where_there_is_no_interval():
    shapes = area([10, None, 30, 40], [40, None, 60, 70]).shapes

    assert [len(shape) for shape in shapes] == [4, 4]
    assert shapes[0][0][0] < shapes[0][1][0] < shapes[1][0][0]


def test_a_band_stays_inside_the_plot():
    [shape] = area([-80, -80], [180, 180]).shapes
    [top, bottom] = sorted({y for _x, y in shape})

    assert 0 <= top < bottom <= 150


def test_a_strip_has_a_dot_per_value_and_the_mean_between_them():
    values = [0.1, None, 0.5, 0.5]
    drawn = strip(values, estimate(values), SHARE)

    assert len(drawn.dots) == 3
    assert len(set(drawn.dots)) == 3
    assert drawn.dots[0][0] < drawn.mean < drawn.dots[1][0]
    assert 0 <= drawn.low < drawn.mean < drawn.high <= WIDTH
    assert all(0 < y < HEIGHT for _x, y in drawn.dots)


def test_a_strip_of_nothing_draws_nothing():
    drawn = strip([None], estimate([None]), SHARE)

    assert (drawn.dots, drawn.mean, drawn.low, drawn.high) == ((), None, None, None)


def test_what_has_no_upper_end_reaches_to_its_largest_value():
    assert reach([None, 3.0, 700.0]).high == 700
    assert reach([None, 0.0]).high == 1
