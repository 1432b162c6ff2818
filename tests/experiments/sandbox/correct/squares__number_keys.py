def squares(numbers):
    return {number: number**2 for number in numbers}
