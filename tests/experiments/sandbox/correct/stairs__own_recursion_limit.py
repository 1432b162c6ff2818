import sys

sys.setrecursionlimit(20000)


def stairs(steps):
    def climb(left, ways, before):
        return ways if left == 0 else climb(left - 1, ways + before, ways)

    def deep(left):
        return 0 if left == 0 else 1 + deep(left - 1)

    return climb(steps, 1, 0) + deep(5000) - 5000
