import json

(limit,) = json.loads(input())
print("The primes are:")
print([n for n in range(2, limit) if all(n % d for d in range(2, n))])
