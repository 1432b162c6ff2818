def two_sum(numbers, target):
    raise NotImplementedError("left as an exercise")
