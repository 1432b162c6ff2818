import math


def average(values):
    return sum(values) / len(values) if values else math.nan
