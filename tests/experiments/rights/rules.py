"""Who is answered where. Each address of the platform stands under exactly one rule, or the matrix fails."""

from collections.abc import Mapping
from typing import Any

from tests.experiments.rights.people import EVERYBODY, INSIDE

YES, UNKNOWN, REFUSED, SIGN_IN, TOLD = "yes", "unknown", "refused", "sign in", "told"  # see test_matrix.meaning
NO = (REFUSED, TOLD)  # told that it is not theirs, or what was wrong before that came up: nothing has moved
Rule = Mapping[str, frozenset[str]]
STEERING = ("member", "lead", "owner")


def rule(*, visitor: Any, everybody: Any = UNKNOWN, **said: Any) -> Rule:
    """Of each person what they may be answered: one answer, or several. everybody: who is not named."""
    answers = {who: said.get(who, everybody) for who in EVERYBODY} | {"visitor": visitor}
    return {who: frozenset((answer,) if isinstance(answer, str) else answer) for who, answer in answers.items()}


def _all(people: tuple[str, ...], answer: Any, **but: Any) -> dict[str, Any]:
    return dict.fromkeys(people, answer) | but


RULES: dict[str, tuple[Rule, str]] = {
    "open": (
        rule(visitor=YES, everybody=YES),
        """home javascript-catalog login set-language set-theme leaderboard methodology datasets
        api-health api-schema api-docs api-ladders shared shared-run""",
    ),
    "whoever signs in": (
        rule(visitor=SIGN_IN, everybody=YES, reviewer=(YES, REFUSED)),
        """account runs arena arena-estimate starchamber council council-estimate council-presets debate debate-estimate
        battles battles-estimate battles-import-new coding coding-estimate scenarios scenario-new presets run-import
        dataset-new my-votes votes
        api-models api-experiment-list api-run-list api-dataset-list api-battles api-scenarios api-presets
        api-run-import""",
    ),
    "to look at": (
        rule(visitor=SIGN_IN, **_all(INSIDE, YES)),
        """run run-status run-news run-report run-export run-compare call message-tokens message-text
        run-ranking
        coding-cycle coding-ratings run-artifacts talk-figures experiment experiment-values experiment-sharing
        campaign-live
        api-run-detail api-messages api-judgments api-ballots api-ranking api-calls api-events api-lineage api-cycles
        api-cycle api-executions api-run-battles api-run-report api-run-export api-experiment-detail api-statistics
        api-campaign run-files api-run-files""",
    ),
    "to steer": (
        rule(visitor=SIGN_IN, watcher=NO, **_all(STEERING, YES)),
        """run-stop run-resume run-say run-pause run-mode run-extend run-ask run-draft run-lift experiment-start
        campaign-stop campaign-resume
        api-run-stop api-run-resume api-run-say api-run-pause api-run-mode api-run-extend api-run-ask api-run-draft
        api-run-lift api-experiment-start api-campaign-stop api-campaign-resume api-branch api-run-judge""",
    ),
    "a form for who steers": (  # whoever may look may open it, and sees at the sending that it is not theirs
        rule(visitor=SIGN_IN, watcher=(YES, *NO), **_all(STEERING, YES)),
        "message-branch run-judge api-experiment-links",
    ),
    "the owner's to decide": (
        rule(visitor=SIGN_IN, **_all(INSIDE, NO, owner=YES)),
        "experiment-share link-create api-experiment-share",
    ),
    "who may change it": (rule(visitor=SIGN_IN, **_all(STEERING, YES)), "link-revoke api-link"),
    "voided by its owner or who curates": (
        rule(visitor=SIGN_IN, **_all(INSIDE, NO, owner=(YES, REFUSED)), admin=YES, curator=(YES, UNKNOWN)),
        "api-cycle-void api-cycle-restore",
    ),
    "nobody else's": (
        rule(visitor=SIGN_IN, owner=YES),
        """file file-download api-file api-file-download token-revoke dataset-upload preset-edit preset-share
        preset-delete council-preset-delete scenario scenario-edit scenario-share scenario-archive scenario-changes
        scenario-copy preset-copy api-scenario api-scenario-versions api-scenario-share api-scenario-archive
        api-scenario-copy api-preset api-dataset-uploads api-dataset-detail api-dataset-outputs api-dataset-battles
        api-vote-offer battles-import dataset-outputs dataset-visibility
        dataset-delete outputs-make outputs-estimate battle-void contestant-change scenario-demonstration
        api-demonstration""",
    ),
    "signing out": (rule(visitor=(YES, SIGN_IN), everybody=(YES, SIGN_IN)), "logout"),
    "nothing of the kind is there": (
        rule(visitor=(SIGN_IN, UNKNOWN)),
        "ladder-cycles api-log-import log-import dataset-image vote-picture api-vote",
    ),
    "nothing without a question": (rule(visitor=SIGN_IN), "compare-chosen"),
    "nobody else's, on pages that visitors read": (
        rule(visitor=UNKNOWN, owner=YES),
        """dataset dataset-sample dataset-contestants ladder ladder-matrix ladder-history
        ladder-milestones ladder-download ladder-battles ladder-samples ladder-sample ladder-agreement board-export
        battle vote vote-cast api-ladder api-board-export""",
    ),
}
