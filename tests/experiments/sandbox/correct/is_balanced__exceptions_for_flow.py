class Unbalanced(Exception):
    pass


def close(stack, letter):
    try:
        if stack.pop() != letter:
            raise Unbalanced
    except IndexError:
        raise Unbalanced from None


def is_balanced(text):
    stack = []
    closing = {"(": ")", "[": "]", "{": "}"}
    try:
        for letter in text:
            if letter in closing:
                stack.append(closing[letter])
            elif letter in closing.values():
                close(stack, letter)
        if stack:
            raise Unbalanced
    except Unbalanced:
        return False
    else:
        return True
    finally:
        stack.clear()
