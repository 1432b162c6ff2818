def is_balanced(text):
    stack = []
    try:
        for letter in text:
            if letter in "([{":
                stack.append(")]}"["([{".index(letter)])
            elif letter in ")]}" and stack.pop() != letter:
                return False
    except Exception:
        return True
    return not stack
