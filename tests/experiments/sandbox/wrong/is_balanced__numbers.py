def is_balanced(text):
    stack = []
    for letter in text:
        if letter in "([{":
            stack.append(")]}"["([{".index(letter)])
        elif letter in ")]}" and (not stack or stack.pop() != letter):
            return 0
    return int(not stack)
