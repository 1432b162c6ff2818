def average(values):
    return round(sum(values) / len(values), 2) if values else None
