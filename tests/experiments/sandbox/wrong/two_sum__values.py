def two_sum(numbers, target):
    for number in numbers:
        if target - number in numbers:
            return [number, target - number]
    return []
