import collections
import itertools


def count_words(text):
    words = sorted(text.split())
    return collections.OrderedDict((word, len(list(group))) for word, group in itertools.groupby(words))
