def is_balanced(text):
    return sum(text.count(one) for one in "([{") == sum(text.count(one) for one in ")]}")
