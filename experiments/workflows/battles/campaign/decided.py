"""How many battles of each pair are decided, from the counts of pairs alone."""

from collections import Counter
from collections.abc import Sequence

from django.db.models import F, Sum

from experiments.models import Battle, PairCount
from experiments.workflows.battles.campaign.scope import Pair

DECIDED = F("left_wins") + F("right_wins") + F("ties") + F("both_bad")


def counted(board: int, subsets: Sequence[str]) -> dict[Pair, int]:
    """How many battles of each pair are decided on a board, void ones included."""
    rows = PairCount.objects.filter(board=board)
    void = Battle.objects.filter(board=board, voided__isnull=False, ballot="").order_by()
    if subsets:
        rows, void = rows.filter(subset__in=subsets), void.filter(sample__subset__in=subsets)
    found = {(row[0], row[1]): row[2] for row in rows.values_list("left", "right").annotate(decided=Sum(DECIDED))}
    for pair, count in Counter(void.values_list("left_id", "right_id").iterator()).items():  # few: grouped here
        found[pair] = found.get(pair, 0) + count
    return found
