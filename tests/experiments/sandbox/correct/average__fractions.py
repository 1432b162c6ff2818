from fractions import Fraction


def average(values: "list[float]") -> "float | None":
    return float(sum(map(Fraction, values)) / len(values)) if values else None
