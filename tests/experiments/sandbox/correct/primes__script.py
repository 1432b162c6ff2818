import json

limit = json.loads(input())[0]
found = [n for n in range(2, limit) if all(n % d for d in range(2, int(n**0.5) + 1))]
print(found)
