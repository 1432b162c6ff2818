def two_sum(numbers, target):
    position = 0
    while True:
        for i in range(position):
            if position < len(numbers) and numbers[i] + numbers[position] == target:
                return [i, position]
        position = (position + 1) % max(len(numbers), 1)
