def primes(limit):
    for number in range(2, limit):
        if all(number % divisor for divisor in range(2, int(number**0.5) + 1)):
            yield number
