def stairs(steps):
    low, high = 1, 1
    for _ in range(steps):
        low, high = high, low + high
    return str(low)
