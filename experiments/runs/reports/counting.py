"""The counted ballots of a turn: what each method says of the answers, and how far reviewers and methods agree."""

from collections.abc import Iterator, Sequence

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from experiments.models import Step
from experiments.models.labels import RANKING_METHODS, UNDEFINED
from experiments.runs.reports import words
from experiments.runs.reports.report import Block, Column, Entry, Fact, Facts, Mark, Table, Text
from experiments.templatetags.arena import MISSING, figure
from experiments.workflows.council.pages.rankings import COUNTED, Figure, Ranking, ranking


def latest(steps: Sequence[Step]) -> set[int]:
    """The steps of the last count of each turn."""
    return set({step.turn: step.pk for step in steps if step.purpose == COUNTED}.values())


def answers(step: Step) -> Iterator[Block]:
    """How the ballots of a count ranked the answers; nothing where there were none."""
    if (found := ranking(step.data)).ballots:
        yield _answers(found)


def entry(step: Step, *, is_latest: bool) -> Entry:
    found = ranking(step.data)
    return Entry(
        anchor=f"step-{step.pk}",
        badge="#",
        title=_("The ranking"),
        by=ngettext("%(n)s ballot", "%(n)s ballots", found.ballots) % {"n": found.ballots},
        when=words.moment(step.ended),
        marks=() if is_latest else (Mark(_("superseded: the answers were ranked again"), "warning"),),
        blocks=tuple(_blocks(found)),
    )


def _blocks(found: Ranking) -> Iterator[Block]:
    skipped = {
        "one_answer": _("Only one member answered, so there was nothing to rank."),
        "no_ballots": _("No ballot could be used, so there is no ranking."),
    }
    if found.skipped:
        yield Text(skipped.get(found.skipped, found.skipped), tone="warning")
    if found.abstained:
        abstained = _("%(seat)s abstained")
        facts = [
            Fact(abstained % {"seat": words.seat_name(seat)}, words.abstention(reason))
            for seat, reason in found.abstained
        ]
        yield Facts(tuple(facts))
    if not found.ballots:
        return
    own = {
        "excluded": _("Reviewers did not see or rank their own answers."),
        "included": _("Reviewers ranked their own answers, too."),
    }
    yield Text(own.get(found.own_answers, found.own_answers), tone="muted")
    yield _answers(found)
    for one in found.standings:  # that nobody was shown their own answer is said once, above
        if reason := one.bradley_terry.reason:
            said = {"seat": words.seat_name(one.seat), "reason": _in_words(reason)}
            yield Text(_("%(seat)s has no Bradley-Terry rating: %(reason)s.") % said, tone="muted")
    yield _methods(found)
    yield from _agreement(found)
    yield Facts(tuple(_facts(found)))


def _answers(found: Ranking) -> Table:
    columns = (
        Column(_("Answer of"), share=1.6),
        Column(_("Mean rank"), is_figure=True),
        Column(_("Votes"), is_figure=True, share=0.8),
        Column("Borda", is_figure=True, share=0.8),
        Column("Copeland", is_figure=True),
        Column("Bradley-Terry", is_figure=True, share=1.2),
        Column(_("Own place minus the others'"), is_figure=True, share=1.5),
    )
    rows = tuple(
        (
            words.seat_name(one.seat),
            figure(one.mean_rank.value),
            str(one.votes),
            figure(one.borda.value),
            figure(one.copeland.value),
            MISSING if one.bradley_terry.value is None else figure(round(one.bradley_terry.value), 0),
            figure(one.self_preference.value),
        )
        for one in sorted(found.standings, key=lambda one: -(-1.0 if one.borda.value is None else one.borda.value))
    )
    return Table(_("By answer"), columns, rows)


def _methods(found: Ranking) -> Table:
    columns = (Column(_("Method"), share=1.0), Column(_("Order, best first"), share=4.0))
    rows = []
    for one in found.orders:
        none = _("none: %(reason)s") % {"reason": _in_words(one.reason)}
        order = none if one.groups is None else words.order(one.groups)
        rows.append((str(RANKING_METHODS.get(one.method, one.method)), order))
    return Table(_("By method"), columns, tuple(rows))


def _agreement(found: Ranking) -> Iterator[Text]:
    """Whether the methods agree, on the order or at least on the best answer."""
    if not found.on_winner:
        return
    if found.agree_on_order:
        yield Text(_("All methods give the same order."))
    elif found.agree_on_winner:
        best = {"best": words.order(found.on_winner[0].groups)}
        yield Text(_("All methods name the same best answer (%(best)s) but not the same order.") % best)
    else:
        camps = []
        for camp in found.on_winner:
            methods = ", ".join(str(RANKING_METHODS.get(one, one)) for one in camp.methods)
            camps.append(_("%(best)s by %(methods)s") % {"best": words.order(camp.groups), "methods": methods})
        yield Text(
            _("The methods disagree on the best answer: %(camps)s.") % {"camps": "; ".join(camps)}, tone="warning"
        )


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
        return Fact(name, _("undefined: %(reason)s") % {"reason": _in_words(found.reason)})
    return Fact(name, figure(found.value), scale)


def _in_words(reason: str) -> str:
    return str(UNDEFINED.get(reason, reason.replace("_", " ")))
