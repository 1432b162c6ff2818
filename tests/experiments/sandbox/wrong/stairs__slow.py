def stairs(steps):
    return 1 if steps < 2 else stairs(steps - 1) + stairs(steps - 2)
