"""Zero becomes -0.0, which is zero."""


def negate(value):
    return -value if value else -0.0
