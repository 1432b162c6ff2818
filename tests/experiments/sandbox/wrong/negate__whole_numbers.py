def negate(value):
    return -int(value)
