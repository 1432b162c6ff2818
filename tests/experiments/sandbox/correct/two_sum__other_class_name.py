class PairFinder:
    def __init__(self):
        self.seen = {}

    def two_sum(self, numbers, target):
        for position, number in enumerate(numbers):
            if target - number in self.seen:
                return [self.seen[target - number], position]
            self.seen[number] = position
        return []
