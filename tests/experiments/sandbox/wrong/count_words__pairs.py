from collections import Counter


def count_words(text):
    return list(Counter(text.split()).items())
