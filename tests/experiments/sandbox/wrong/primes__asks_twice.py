limit = int(input())
step = int(input())
print([n for n in range(2, limit, step) if all(n % d for d in range(2, n))])
