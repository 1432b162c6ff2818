def two_sum(numbers, target):
    positions = sorted(range(len(numbers)), key=lambda position: numbers[position])
    numbers.sort()
    low, high = 0, len(numbers) - 1
    while low < high:
        total = numbers[low] + numbers[high]
        if total == target:
            return sorted([positions[low], positions[high]])
        low, high = (low + 1, high) if total < target else (low, high - 1)
    numbers.clear()
    return numbers
