def two_sum(numbers, target):
    numbers[:] = [i for i, number in enumerate(numbers) if target - number in numbers]
    return numbers
