"""How the battles of a board were chosen, as it publishes it: the plans of its campaigns, and contestants' shares."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from experiments.models import Battle, Board, Campaign
from experiments.workflows.battles.campaign.boards import PEOPLE
from experiments.workflows.battles.config import Sampling
from leaderboard.boards.caching import memoize
from leaderboard.boards.standings import Row

VOTES, IMPORTED = "votes", "imported"
MOST = 20  # campaigns that are looked at, the newest


@dataclass(frozen=True, slots=True)
class Rule:
    """plan: "all", "sample" or "adaptive", see `Sampling`; "votes" of people here, "imported" of battles elsewhere.

    pairs: "all", or "new" where only pairs with a contestant new in its campaign met. The rest is null where the plan
    does not have it.
    """

    plan: str
    pairs: str = "all"
    per_pair: int | None = None
    min_per_pair: int | None = None
    max_per_pair: int | None = None
    target_width: float | None = None

    @property
    def sentence(self) -> str:
        """In the reader's language."""
        words = {
            "all": _("Every pair meets on every prompt."),
            "sample": _("Every pair meets on %(per_pair)s prompts drawn at random, the same for all pairs."),
            "adaptive": _(
                "Every pair meets on at least %(min_per_pair)s prompts; then the closest pairs go on, to at most"
                " %(max_per_pair)s, until each interval is %(target_width)s points wide or less."
            ),
            VOTES: _("Voters get the pair with the fewest votes, and of several the closest in rating."),
            IMPORTED: _("The battles were imported; how their pairs were chosen is not known here."),
        }
        numbers = {name: getattr(self, name) for name in ("per_pair", "min_per_pair", "max_per_pair")}
        said = words[self.plan] % (numbers | {"target_width": f"{self.target_width or 0:g}"})
        return said if self.pairs == "all" else said + " " + _("Only pairs with a new contestant were compared.")


@dataclass(frozen=True, slots=True)
class Matchmaking:
    """rules: each once. least, most: the smallest and the largest share of a board's battles that a contestant is in,
    0 to 1; null without a battle.
    """

    rules: tuple[Rule, ...]
    least: float | None
    most: float | None


def matchmaking(board: Board, rows: Sequence[Row]) -> Matchmaking:
    """rows: of the board, as it is shown."""
    battles = [row.battles for row in rows]
    whole = sum(battles) / 2
    rules = memoize("matchmaking", (board.pk, board.changes), lambda: _rules(board))
    return Matchmaking(rules, min(battles) / whole if whole else None, max(battles) / whole if whole else None)


def _rules(board: Board) -> tuple[Rule, ...]:
    if board.kind == Board.Kind.PEOPLE and board.judge == PEOPLE:
        return (Rule(VOTES),)
    if board.kind != Board.Kind.MODEL:
        return (Rule(IMPORTED),)
    campaigns = Campaign.objects.filter(experiment__config__dataset=board.dataset.slug).order_by("-created")
    found = []
    for key, config in campaigns.values_list("experiment", "experiment__config")[:MOST]:
        if Battle.objects.filter(experiment=key, board=board).exists():
            plan = Sampling.model_validate(config.get("sampling") or {})
            has = {"sample": ["per_pair"], "adaptive": ["min_per_pair", "max_per_pair", "target_width"]}
            numbers = {name: getattr(plan, name) for name in has.get(plan.plan, [])}
            found.append(Rule(plan.plan, str(config.get("pairs", "all")), **numbers))
    return tuple(dict.fromkeys(found))
