def stairs(steps):
    root = 5**0.5
    return round(((1 + root) / 2) ** (steps + 1) / root)
