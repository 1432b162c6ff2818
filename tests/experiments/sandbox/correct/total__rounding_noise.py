"""0.1 + 0.2 is 0.30000000000000004 here."""


def total(values):
    result = 0
    for value in values:
        result += value
    return result
