def primes(limit):
    return filter(lambda n: all(n % d for d in range(2, int(n**0.5) + 1)), range(2, limit))
