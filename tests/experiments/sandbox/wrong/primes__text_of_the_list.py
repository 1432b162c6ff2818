"""A program that prints its answer as one line of text, not as JSON."""

import json

(limit,) = json.loads(input())
print(*[n for n in range(2, limit) if all(n % d for d in range(2, n))])
