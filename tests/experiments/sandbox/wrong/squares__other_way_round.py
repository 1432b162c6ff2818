def squares(numbers):
    return {number**2: number for number in numbers}
