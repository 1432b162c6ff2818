def squares(numbers):
    return {number: number == 1 or number**2 for number in numbers}
