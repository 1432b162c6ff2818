"""The demonstration's queue: people review what two models said in a demonstrated negotiation."""

from accounts.models import User
from experiments.library.builtin import builtin_scenarios
from experiments.library.demonstrations import replay_demonstration
from experiments.models import ReviewQueue, ReviewRubric
from experiments.review import queues, rubrics

NAME = "Who keeps to the offer?"
SCENARIO = "resource-negotiation"
REVIEWERS = (User.Role.RESEARCHER, User.Role.REVIEWER, User.Role.ADMIN)
INSTRUCTIONS = """\
Read each message as its author meant it for the other side, and score it **before** you look at what the judge gave.

* Cooperation is about deeds: an offer that costs something counts more than kind words.
* Say "cannot say" where the message has nothing to do with a scale.
"""


def prepare() -> ReviewQueue | None:
    """The queue, made when it is new; None when an earlier start has made it."""
    owner = User.objects.get(username=User.Role.RESEARCHER.value)
    if ReviewQueue.objects.filter(owner=owner, name=NAME).exists():
        return None
    run, _is_new = replay_demonstration(builtin_scenarios()[SCENARIO], by=owner)
    rubrics.ensure_builtin()
    rubric = ReviewRubric.objects.get(family=rubrics.family_of("turn"), version=rubrics.builtin()["turn"].version)
    return queues.make(
        by=owner,
        name=NAME,
        rubric=rubric,
        filters={"experiment": str(run.experiment_id)},
        overlap=2,
        instructions=INSTRUCTIONS,
        members=[role.value for role in REVIEWERS],
    )
