def is_balanced(text):
    open_ones, letters = [], list(text)
    while letters and (letter := letters.pop(0)):
        match letter:
            case "(" | "[" | "{":
                open_ones.append(letter)
            case ")" | "]" | "}" if not open_ones or open_ones.pop() + letter not in ("()", "[]", "{}"):
                return False
    return not open_ones
