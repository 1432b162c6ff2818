def two_sum(numbers, target):
    seen = {}
    for position, number in enumerate(numbers):
        if target - number in seen:
            return [seen[target - number], position]
        seen.setdefault(number, position)
    return []


if __name__ == "__main__":
    numbers = list(map(int, input("numbers: ").split()))
    print(two_sum(numbers, int(input("target: "))))
