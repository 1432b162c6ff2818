"""What is called is not the last function of the file."""


def two_sum(numbers, target):
    for first, second in pairs(len(numbers)):
        if is_right(numbers[first] + numbers[second], target):
            return [first, second]
    return []


def pairs(count):
    for second in range(count):
        for first in range(second):
            yield first, second


def is_right(total, target):
    return total == target
