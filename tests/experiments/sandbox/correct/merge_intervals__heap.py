import bisect
import heapq


def merge_intervals(intervals):
    heap = [(start, end) for start, end in intervals]
    heapq.heapify(heap)
    starts, ends = [], []
    while heap:
        start, end = heapq.heappop(heap)
        if ends and bisect.bisect_left(ends, start) < len(ends):
            ends[-1] = max(ends[-1], end)
        else:
            starts.append(start)
            ends.append(end)
    return list(map(list, zip(starts, ends)))
