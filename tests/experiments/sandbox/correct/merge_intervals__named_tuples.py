from typing import List, NamedTuple


class Interval(NamedTuple):
    start: int
    end: int


def merge_intervals(intervals: List[List[int]]) -> List[Interval]:
    merged: List[Interval] = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1].end:
            merged[-1] = Interval(merged[-1].start, max(end, merged[-1].end))
        else:
            merged.append(Interval(start, end))
    return merged
