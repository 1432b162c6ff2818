def merge_intervals(intervals):
    intervals.sort()
    return intervals
