def negate(value):
    value = -value
