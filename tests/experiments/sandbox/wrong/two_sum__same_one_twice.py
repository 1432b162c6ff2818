def two_sum(numbers, target):
    for i, number in enumerate(numbers):
        if target - number in numbers:
            return [i, numbers.index(target - number)]
    return []
