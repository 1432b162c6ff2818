def primes(limit):
    left = dict.fromkeys(range(2, limit))
    for number in range(2, int(max(limit, 0) ** 0.5) + 1):
        for multiple in range(number * number, limit, number):
            left.pop(multiple, None)
    return left.keys()
