from decimal import Decimal


def total(values):
    return float(sum((Decimal(str(value)) for value in values), Decimal(0)))
