"""The counted ballots of a turn: what each method says of the answers, and how far reviewers and methods agree."""

from collections.abc import Iterator, Sequence

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from experiments.models import Step
from experiments.models.labels import RANKING_METHODS, UNDEFINED
from experiments.runs.reports import words
from experiments.runs.reports.report import Block, Column, Entry, Fact, Facts, Mark, Table, Text
from experiments.runs.reports.reviews import abstention, order_in_words
from experiments.templatetags.arena import MISSING, figure
from experiments.workflows.council.pages.rankings import COUNTED, Figure, Ranking, SaidBy, Standing, ranking


def latest(steps: Sequence[Step]) -> set[int]:
    """The steps of the last count of each turn."""
    return set({step.turn: step.pk for step in steps if step.purpose == COUNTED}.values())


def entry(step: Step, *, is_latest: bool) -> Entry:
    found = ranking(step.data)
    cast = ngettext("%(n)s ballot", "%(n)s ballots", found.ballots) % {"n": found.ballots}
    return Entry(
        anchor=f"step-{step.pk}",
        seat="",
        badge="#",
        title=_("The ranking"),
        by=cast,
        when=words.moment(step.ended),
        tone="plain",
        marks=() if is_latest else (Mark(_("superseded: the answers were ranked again"), "warning"),),
        blocks=tuple(_blocks(found)),
    )


def _blocks(found: Ranking) -> Iterator[Block]:
    skipped = {
        "one_answer": _("Only one member answered: there was nothing to rank."),
        "no_ballots": _("No ballot could be used: there is no ranking by the members."),
    }
    if found.skipped:
        yield Text(skipped.get(found.skipped, found.skipped), tone="warning")
    if found.abstained:
        yield Facts(tuple(Fact(_abstained(seat), abstention(reason)) for seat, reason in found.abstained))
    if not found.ballots:
        return
    own = {
        "excluded": _("Reviewers did not see, or rank, their own answers."),
        "included": _("Reviewers ranked their own answers, too."),
    }
    yield Text(own.get(found.own_answers, found.own_answers), tone="muted")
    yield _answers(found)
    yield from _why_missing(found)
    yield _methods(found)
    yield from _agreement(found)
    yield Facts(tuple(_facts(found)))


def _abstained(seat: str) -> str:
    return _("%(seat)s abstained") % {"seat": words.seat_name(seat)}


def _answers(found: Ranking) -> Table:
    columns = (
        Column(_("Answer of"), share=1.6),
        Column(_("Mean rank"), is_figure=True),
        Column(_("Votes"), is_figure=True, share=0.8),
        Column("Borda", is_figure=True, share=0.8),
        Column("Copeland", is_figure=True),
        Column("Bradley-Terry", is_figure=True, share=1.2),
        Column(_("Own place less others'"), is_figure=True, share=1.5),
    )
    best_first = sorted(found.standings, key=lambda one: -(-1.0 if one.borda.value is None else one.borda.value))
    return Table(_("By answer"), columns, tuple(_standing(one) for one in best_first))


def _standing(one: Standing) -> tuple[str, ...]:
    return (
        words.seat_name(one.seat),
        figure(one.mean_rank.value),
        str(one.votes),
        figure(one.borda.value),
        figure(one.copeland.value),
        MISSING if one.bradley_terry.value is None else figure(round(one.bradley_terry.value), 0),
        figure(one.self_preference.value),
    )


def _why_missing(found: Ranking) -> Iterator[Text]:
    """Why an answer has no rating. That nobody was shown their own answer is said once, above."""
    for one in found.standings:
        if reason := one.bradley_terry.reason:
            said = {"seat": words.seat_name(one.seat), "reason": in_words(reason)}
            yield Text(_("%(seat)s has no Bradley-Terry rating: %(reason)s.") % said, tone="muted")


def _methods(found: Ranking) -> Table:
    columns = (Column(_("Method"), share=1.0), Column(_("Order, the best first"), share=4.0))
    rows = tuple(
        (
            str(RANKING_METHODS.get(one.method, one.method)),
            _none(one.reason) if one.groups is None else order_in_words(one.groups),
        )
        for one in found.orders
    )
    return Table(_("By method"), columns, rows)


def _none(reason: str) -> str:
    return _("none: %(reason)s") % {"reason": in_words(reason)}


def _agreement(found: Ranking) -> Iterator[Text]:
    if not found.on_winner:
        return
    if found.agree_on_order:
        yield Text(_("All methods come to the same order."))
    elif found.agree_on_winner:
        best = {"best": order_in_words(found.on_winner[0].groups)}
        yield Text(_("All methods name the same best answer (%(best)s), but not the same order.") % best)
    else:
        camps = "; ".join(map(_camp, found.on_winner))
        yield Text(_("The methods disagree on the best answer: %(camps)s.") % {"camps": camps}, tone="warning")


def _camp(camp: SaidBy) -> str:
    methods = ", ".join(str(RANKING_METHODS.get(one, one)) for one in camp.methods)
    return _("%(best)s by %(methods)s") % {"best": order_in_words(camp.groups), "methods": methods}


def _facts(found: Ranking) -> Iterator[Fact]:
    yield _fact(_("Kendall's W"), found.kendalls_w, _("0 no agreement, 1 full agreement of the reviewers"))
    yield _fact(_("Krippendorff's alpha"), found.krippendorff_alpha, _("1 full agreement, 0 as by chance"))
    if found.kemeny_distance is not None:
        left = {"n": figure(found.kemeny_distance), "orders": found.kemeny_optima}
        yield Fact(_("Kemeny"), _("%(n)s disagreements left; orders that are as good: %(orders)s") % left)
    places = [f"{one.place}: {figure(one.mean)} (n = {one.n})" for one in found.position_effect]
    yield Fact(_("Mean place by where it was shown"), ", ".join(places) or MISSING)


def _fact(name: str, found: Figure, scale: str) -> Fact:
    if found.value is None:
        return Fact(name, _("undefined: %(reason)s") % {"reason": in_words(found.reason)})
    return Fact(name, figure(found.value), scale)


def in_words(reason: str) -> str:
    return str(UNDEFINED.get(reason, reason.replace("_", " ")))
