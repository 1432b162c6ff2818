def negate(value):
    return -abs(value)
