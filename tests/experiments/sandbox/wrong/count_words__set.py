def count_words(text):
    return set(text.split())
