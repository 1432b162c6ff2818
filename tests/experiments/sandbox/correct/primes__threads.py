from concurrent.futures import ThreadPoolExecutor


def is_prime(number):
    return all(number % divisor for divisor in range(2, int(number**0.5) + 1))


def primes(limit):
    with ThreadPoolExecutor(4) as pool:
        return [number for number, is_one in zip(range(2, limit), pool.map(is_prime, range(2, limit))) if is_one]
