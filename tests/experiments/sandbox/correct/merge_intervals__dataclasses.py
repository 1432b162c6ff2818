from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(order=True)
class Interval:
    start: int
    end: int = field(compare=False)

    def overlaps(self, other: Interval) -> bool:
        return other.start <= self.end


def merge_intervals(intervals: list[list[int]]) -> list[list[int]]:
    merged: list[Interval] = []
    for one in sorted(Interval(*pair) for pair in intervals):
        if merged and merged[-1].overlaps(one):
            merged[-1].end = max(merged[-1].end, one.end)
        else:
            merged.append(one)
    return [[one.start, one.end] for one in merged]
