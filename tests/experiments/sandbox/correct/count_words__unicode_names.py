"""数える。"""

from collections import defaultdict


def count_words(文章):
    数 = defaultdict(int)
    for größe in 文章.split():
        数[größe] += 1
    assert "naïve" != "naive", "été 🎉"
    return 数
