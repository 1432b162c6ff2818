"""One battle of the public arena: the prompt is asked of two models, and who wrote it votes once, before the names."""

import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict
from uuid import UUID

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.errors import AlreadyAnswered, Conflict, Forbidden, Invalid, RateLimited, Unavailable
from experiments.engine.text import is_storable
from experiments.lab.budgets.budgeting import require_budget
from experiments.models import Battle, Call, Contestant, Experiment, Output, Sample, Step
from experiments.models.run import BUDGET_REASONS
from experiments.runs.admission import queue, require_models
from experiments.runs.markdown import to_html
from experiments.workflows.base.masking import names_itself
from experiments.workflows.battles.campaign import boards, counting
from leaderboard.arena import publishing
from leaderboard.models import ArenaBattle, PublicArena
from leaderboard.votes import voting
from leaderboard.votes.voters import Voter, count_visit

HOUR = 3600
SEEDS = 2**31
UNPUBLISHED = "(This prompt is not published.)"
State = Literal["answering", "ready", "failed"]


class Side(TypedDict):
    state: State
    text: str
    html: str


class News(TypedDict):
    """What a page is told of its battle. sides: left and right."""

    state: State
    sides: list[Side]


@dataclass(frozen=True, slots=True)
class Answer:
    """What stands on one side of the page. text: as far as it has come; of a failed one nothing."""

    state: State
    text: str = ""


def begin(arena: PublicArena, *, voter: Voter, prompt: str, may_publish: bool) -> ArenaBattle:
    """Ask two models. The pair is chosen as for votes, and which one stands left is drawn. Raises Forbidden where the
    arena is closed, Invalid for the prompt, RateLimited beyond the battles of an hour, Unavailable without budget.
    """
    if not arena.takes_prompts or arena.experiment is None or arena.dataset is None or arena.prompts is None:
        raise Forbidden(_("The arena is closed."))
    text = prompt.strip()
    if not text or not is_storable(text):
        raise Invalid(prompt=_("Write a prompt."))
    if len(text) > arena.longest_prompt:
        raise Invalid(prompt=_("A prompt has at most %(n)s characters.") % {"n": arena.longest_prompt})
    _require_playable(arena.experiment)
    if count_visit(voter.address or voter.ballot, "public-arena", HOUR) > arena.battles_per_hour:
        said = _("You have reached the limit of %(n)s battles per hour. Come back in an hour.")
        raise RateLimited(said % {"n": arena.battles_per_hour})
    board = boards.people_board(arena.dataset)
    seats = dict(arena.experiment.participants.values_list("model__slug", "seat"))
    standing = arena.dataset.contestants.filter(void_reason="", name__in=seats).order_by("pk")
    names = dict(standing.values_list("pk", "name"))
    pair = next(voting.pairs_by_need(board, list(names)), None)
    if pair is None:
        raise Unavailable(_("The arena has too few models right now. Try again later."))
    with transaction.atomic():
        PublicArena.objects.select_for_update().get(pk=arena.pk)  # two prompts never get one number
        last = Sample.objects.filter(dataset=arena.prompts).aggregate(last=Max("index"))["last"] or 0
        sample = Sample.objects.create(dataset=arena.prompts, index=last + 1, instruction=text)
        writers = dict(Contestant.objects.filter(dataset=arena.prompts).values_list("name", "pk"))
        of_pair = [names[one] for one in pair]
        tasks = [{"sample": sample.pk, "contestant": writers[name], "seat": seats[name]} for name in of_pair]
        return ArenaBattle.objects.create(
            board=board,
            run=queue(arena.experiment, secrets.randbelow(SEEDS), {"tasks": tasks}),
            sample=sample,
            left_id=pair[0],
            right_id=pair[1],
            shown_left_first=bool(secrets.randbits(1)),
            ballot=voter.ballot,
            may_publish=may_publish,
        )


def answers(battle: ArenaBattle) -> tuple[Answer, Answer]:
    """Of the left and of the right side, as they stand on the page."""
    return _answers_of([battle])[battle.pk]


def _answers_of(battles: Sequence[ArenaBattle]) -> dict[UUID, tuple[Answer, Answer]]:
    """Of each battle. A step's key names the contestant and the sample, and so belongs to one battle alone."""
    runs, samples = [one.run_id for one in battles], [one.sample_id for one in battles]
    # Steps first: an output is written with its step, and so is there for each step that is read as done.
    steps = set(Step.objects.filter(run__in=runs, state=Step.State.DONE).values_list("key", flat=True))
    outputs = Output.objects.filter(sample__in=samples).values_list("contestant", "sample", "text")
    made = {f"output/{contestant}/{sample}": text for contestant, sample, text in outputs}
    spoken = (Call.State.SENT, Call.State.COMPLETED)
    calls = Call.objects.filter(run__in=runs, state__in=spoken).order_by("attempt")
    partial = dict(calls.values_list("step__key", "text"))
    datasets = {one.sample.dataset_id for one in battles}
    named = Contestant.objects.filter(dataset__in=datasets).values_list("dataset", "name", "pk")
    writers = {(dataset, name): pk for dataset, name, pk in named}

    def answer(battle: ArenaBattle, shown: Contestant) -> Answer:
        key = f"output/{writers[battle.sample.dataset_id, shown.name]}/{battle.sample_id}"
        if key in made:
            return Answer("ready", made[key])
        has_ended = f"{key}/made" in steps or battle.run.is_over
        return Answer("failed") if has_ended else Answer("answering", partial.get(key, ""))

    return {one.pk: (answer(one, one.shown[0]), answer(one, one.shown[1])) for one in battles}


def news_of(keys: Collection[UUID]) -> dict[UUID, News]:
    """What pages of battles under way show: states and texts, and HTML once an answer has ended. No name, number or
    time of the models.
    """
    rows = list(ArenaBattle.objects.filter(pk__in=keys).select_related("run", "sample", "left", "right"))
    told: dict[UUID, News] = {}
    for key, found in _answers_of(rows).items():
        sides = [
            Side(state=one.state, text=one.text, html=to_html(one.text) if one.state == "ready" else "")
            for one in found
        ]
        told[key] = News(state=state_of(found), sides=sides)
    return told


def state_of(found: tuple[Answer, Answer]) -> State:
    """Of the battle: it fails when both have come to their end, one of them without an answer."""
    states = {one.state for one in found}
    return "answering" if "answering" in states else "failed" if "failed" in states else "ready"


def problem_of(battle: ArenaBattle) -> str:
    """Why a failed battle has no vote, for the visitor."""
    if battle.run.stop_reason in BUDGET_REASONS:
        return _("The arena has used up today's budget. Come back tomorrow.")
    return _("A model gave no answer, so there is nothing to vote on.")


def vote(battle: ArenaBattle, *, voter: Voter, choice: str) -> Battle:
    """Say which answer is better; the vote counts on the board at once. One in whose battle a model names itself is
    stored but void. Raises Invalid, Conflict while an answer is missing, AlreadyAnswered for a second, other vote.
    """
    if choice not in voting.CHOICES or not voter.has_ballot or battle.ballot != voter.ballot:
        raise Invalid(choice=_("Choose one of: %(choices)s.") % {"choices": ", ".join(voting.CHOICES)})
    found = answers(battle)
    if state_of(found) != "ready":
        raise Conflict(_("You can vote once both answers are there."))
    now, sides = timezone.now(), {"left": battle.left, "right": battle.right, "board": battle.board}
    cast = Battle(**sides, ballot=battle.ballot, voter=voter.user, judged=now)
    cast.shown_left_first = battle.shown_left_first
    cast.winner = voting.winner_of(cast, choice)
    names = [name for one in battle.shown if one.model for name in one.model.names]
    if any(names_itself(one.text, names, battle.sample.instruction) for one in found):
        cast.void_reason, cast.voided = "An answer named its model before the vote.", now
    with transaction.atomic():
        if not ArenaBattle.objects.filter(pk=battle.pk, choice="").update(choice=choice):
            return _said_before(battle, choice)
        dataset, index = battle.board.dataset, battle.sample.index
        cast.sample = Sample.objects.create(dataset=dataset, index=index, instruction=UNPUBLISHED)
        cast.save(force_insert=True)
        counting.count(battle.board_id, [cast])
        battle.battle, battle.choice = cast, choice
        battle.save(update_fields=["battle"])
        if battle.may_publish and not PublicArena.load().is_moderated:
            publishing.publish(battle)
    return cast


def _said_before(battle: ArenaBattle, choice: str) -> Battle:
    said = ArenaBattle.objects.select_related("battle").get(pk=battle.pk)
    if said.choice != choice or said.battle is None:
        raise AlreadyAnswered(_("You have already voted on these answers. Your first vote counts."))
    return said.battle


def _require_playable(experiment: Experiment) -> None:
    """As a visitor is told: nothing of whose budget it is, or of which model is away. Raises Unavailable."""
    try:
        require_models(experiment)
    except Forbidden as error:
        raise Unavailable(_("A model of the arena is not available right now. Try again later.")) from error
    try:
        require_budget(experiment)
    except Forbidden as error:
        raise Unavailable(_("The arena has used up today's budget. Come back tomorrow.")) from error
