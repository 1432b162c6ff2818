"""Battles and samples in the shapes that GenArena's viewer knows. sample_index is the sample's key: it is unique."""

from collections.abc import Collection, Mapping
from typing import Any

from django.db.models import QuerySet
from django.http import Http404

from experiments.models import Battle, Board, Contestant, Sample
from leaderboard.compatibility.views import ALL, OF_EXPERIMENT, OF_SAMPLE, OF_SUBSET, ReadView, route
from leaderboard.pages.battle_details import SampleResult, judgments, on_sample
from leaderboard.pages.battle_search import (
    Filter,
    PageStart,
    battle_count,
    battle_keys,
    battles_of_keys,
    fitting_samples,
)

RESULTS = {
    **dict.fromkeys(("win", "wins"), "won"),
    **dict.fromkeys(("loss", "losses"), "lost"),
    **dict.fromkeys(("tie", "ties"), "tie"),
}
CONSISTENT = {"true": "yes", "false": "no"}


@route(
    f"{OF_EXPERIMENT}battles",
    "battles",
    "subset_battles",
    "models",
    "result",
    "consistent",
    "prompt_source",
    "page",
    "page_size",
)
def battle_list(view: ReadView, subset: str, exp_name: str) -> object:
    """The battles of a board, paginated."""
    board = view.board(subset, exp_name)
    return _page(board, _chosen(board, view.request.query_params, view.names()), *view.page(20))


@route(f"{OF_EXPERIMENT}battles/<path:battle_id>", "battle", "subset_battle")
def battle(view: ReadView, subset: str, exp_name: str, battle_id: str) -> object:
    """One battle with both outputs and the verdict."""
    board = view.board(subset, exp_name)
    pair, _colon, index = battle_id.rpartition(":")  # A_vs_B:SAMPLE, whatever the names contain
    if not (index.isascii() and index.isdigit() and len(index) <= 18):
        raise Http404
    for found in _battles(board).filter(sample=int(index)):
        names = found.left.name, found.right.name
        if pair in {"_vs_".join(names), "_vs_".join(reversed(names))}:
            return _detailed(found, board)
    raise Http404


@route(f"{OF_EXPERIMENT}search", "search", "subset_search", "q", "models", "consistent", "page", "page_size")
def search(view: ReadView, subset: str, exp_name: str) -> object:
    """Search battles by the words of their samples, paginated."""
    board, words = view.board(subset, exp_name), view.words()
    looked = _chosen(board, view.request.query_params, view.names(), words)
    return {**_page(board, looked, *view.page(20)), "query": words}


@route(f"{OF_EXPERIMENT}prompts", "prompts", "subset_prompts", "prompt_source", "page", "page_size")
def prompts(view: ReadView, subset: str, exp_name: str) -> object:
    """The samples of a board with their battles, paginated."""
    board = view.board(subset, exp_name)
    return _prompts(board, _chosen(board, view.request.query_params, ()), *view.page(10))


@route(f"{OF_EXPERIMENT}search/prompts", "search-prompts", "subset_search_prompts", "q", "page", "page_size")
def search_prompts(view: ReadView, subset: str, exp_name: str) -> object:
    """Search samples by their words, with their battles, paginated."""
    board, words = view.board(subset, exp_name), view.words()
    return {**_prompts(board, _chosen(board, {}, (), words), *view.page(10)), "query": words}


@route(f"{OF_SUBSET}samples/<int:sample_index>/input_count", "input-count", "sample_input_count")
def input_count(view: ReadView, subset: str, sample_index: int) -> object:
    """The number of input images of a sample."""
    return {"count": len(view.sample(subset, ALL, sample_index)[1].images)}


@route(f"{OF_SAMPLE}all_models", "all-models", "sample_all_models", "models")
def all_models(view: ReadView, subset: str, exp_name: str, sample_index: int) -> object:
    """The outputs of every contestant for one sample."""
    return _on(*view.sample(subset, exp_name, sample_index), view.names())


@route(f"{OF_SAMPLE}models/<path:model>/battles", "model-battles", "sample_model", "opponents")
def model_battles(view: ReadView, subset: str, exp_name: str, sample_index: int, model: str) -> object:
    """The battles of one contestant on one sample."""
    board, sample = view.sample(subset, exp_name, sample_index)
    opponents = view.names("opponents")
    shown, everybody = [], set()
    for battle in _battles(board).filter(sample=sample):
        names = {battle.left.name, battle.right.name}
        if model not in names:
            continue
        [opponent] = names - {model}
        everybody.add(opponent)
        winner = _winner(battle)
        result = "tie" if winner == "tie" else "win" if winner == model else "loss"
        if not opponents or opponent in opponents:
            shown.append({"opponent": opponent, "result": result, **_detailed(battle, board)})
    mine = next((_fared(one) for one in on_sample(board, sample) if one.contestant.name == model), {"model": model})
    battled = sorted(shown, key=lambda one: str(one["opponent"]))
    return {**mine, "sample_index": sample.pk, "battles": battled, "all_opponents": sorted(everybody)}


def _chosen(board: Board, query: Mapping[str, Any], names: Collection[str], search: str = "") -> Filter:
    """What the viewer looks for."""
    known = {one.name: one for one in Contestant.objects.filter(dataset=board.dataset_id, name__in=names)}
    return Filter(
        tuple(known[name] for name in names if name in known),
        RESULTS.get(query.get("result", ""), "") if len(known) in {1, 2} else "",
        CONSISTENT.get(query.get("consistent", ""), ""),
        source=query.get("prompt_source", ""),
        search=search,
        unknown=tuple(name for name in names if name not in known),
    )


def _page(board: Board, looked: Filter, number: int, size: int) -> dict[str, object]:
    """Newest first. total is null where no count tells it; there are more pages as long as one is full."""
    found = battle_keys(board, looked, PageStart(), number * size)[(number - 1) * size :]
    known = battle_count(board, looked)
    pages = None if known is None else -(-known // size)
    shown = [_brief(battle, board) for battle in battles_of_keys(found)]
    return {"battles": shown, "total": known, "page": number, "page_size": size, "total_pages": pages}


def _brief(battle: Battle, board: Board) -> dict[str, object]:
    winner = _winner(battle)
    return {
        "id": f"{board.slug}:{ALL}:{battle.left.name}_vs_{battle.right.name}:{battle.sample_id}",
        "subset": board.slug,
        "exp_name": ALL,
        "sample_index": battle.sample_id,
        "model_a": battle.left.name,
        "model_b": battle.right.name,
        "final_winner": winner,
        "winner_display": "Tie" if winner == "tie" else winner,
        "is_consistent": battle.is_consistent,
        "timestamp": battle.judged.isoformat() if battle.judged else "",
        **_of_sample(battle.sample),
    }


def _detailed(battle: Battle, board: Board) -> dict[str, object]:
    calls = {f"{said.verdict.order}_call": _call(said) for said in judgments(battle)}
    return {**_brief(battle, board), "original_call": None, "swapped_call": None, **calls, "has_audit": bool(calls)}


def _prompts(board: Board, looked: Filter, number: int, size: int) -> dict[str, object]:
    found = fitting_samples(board.dataset_id, looked).order_by("pk")
    count = found.count()
    shown = [_on(board, sample) for sample in found[(number - 1) * size : number * size]]
    return {"prompts": shown, "total": count, "page": number, "page_size": size, "total_pages": -(-count // size)}


def _on(board: Board, sample: Sample, models: Collection[str] = ()) -> dict[str, object]:
    """All contestants that have an output on a sample, the best first."""
    standing = [one for one in on_sample(board, sample) if not models or one.contestant.name in models]
    return {
        "subset": board.slug,
        "exp_name": ALL,
        "sample_index": sample.pk,
        **_of_sample(sample),
        "models": [_fared(one) for one in standing],
    }


def _battles(board: Board) -> QuerySet[Battle]:
    return Battle.objects.filter(board=board).counted().revealed().select_related("left", "right", "sample")


def _fared(one: SampleResult) -> dict[str, object]:
    return {
        "model": one.contestant.name,
        "wins": one.wins,
        "losses": one.losses,
        "ties": one.ties,
        "total": one.wins + one.losses + one.ties,
        "win_rate": one.rate,
    }


def _winner(battle: Battle) -> str:
    """A battle in which both were found bad has no winner either."""
    side = {"left": battle.left, "right": battle.right}.get(battle.winner)
    return side.name if side else "tie"


def _of_sample(sample: Sample) -> dict[str, Any]:
    return {
        "instruction": sample.instruction,
        "task_type": sample.category,
        "input_image_count": len(sample.images),
        "prompt_source": sample.source or None,
        "original_metadata": sample.metadata or None,
    }


def _call(said: Any) -> dict[str, Any]:
    """In terms of the order in which this judgment was shown the two."""
    place = said.shown.index(said.winner) if said.winner else None
    winner = "tie" if place is None else "AB"[place]
    was_read = not said.verdict.unread_reason
    parsed = {"winner": winner, "scores": said.verdict.scores} if was_read else None
    return {"raw_response": said.text, "parse_success": was_read, "parsed_result": parsed}
