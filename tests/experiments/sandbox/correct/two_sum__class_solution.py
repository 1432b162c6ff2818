class Solution:
    def two_sum(self, numbers, target):
        seen = {}
        for position, number in enumerate(numbers):
            if target - number in seen:
                return [seen[target - number], position]
            seen[number] = position
        return []
