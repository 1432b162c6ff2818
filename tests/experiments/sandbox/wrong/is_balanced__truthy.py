def is_balanced(text):
    stack = []
    for letter in text:
        if letter in "([{":
            stack.append(letter)
        elif letter in ")]}" and (not stack or stack.pop() + letter not in ("()", "[]", "{}")):
            return ""
    return "" if stack else "yes"
