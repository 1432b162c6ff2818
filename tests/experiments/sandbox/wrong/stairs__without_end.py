def stairs(steps):
    return stairs(steps - 1) + stairs(steps - 2)
