"""Battles and samples in the shapes that GenArena's viewer knows. sample_index is the sample's key: it is unique."""

from collections.abc import Collection, Mapping
from typing import Any

from experiments.models import Battle, Board, Contestant, Sample
from leaderboard.compatibility.standing import ALL
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


def chosen(board: Board, query: Mapping[str, Any], names: Collection[str], search: str = "") -> Filter:
    """What the viewer looks for."""
    known = {one.name: one for one in Contestant.objects.filter(dataset=board.dataset_id, name__in=names)}
    return Filter(
        tuple(known[name] for name in names if name in known),
        RESULTS.get(query.get("result", ""), "") if len(known) in {1, 2} else "",
        CONSISTENT.get(query.get("consistent", ""), ""),
        category=query.get("prompt_source", ""),
        search=search,
        unknown=tuple(name for name in names if name not in known),
    )


def page(board: Board, looked: Filter, number: int, size: int) -> dict[str, object]:
    """Newest first. total is null where no count tells it; there are more pages as long as one is full."""
    found = battle_keys(board, looked, PageStart(), number * size)[(number - 1) * size :]
    known = battle_count(board, looked)
    pages = None if known is None else -(-known // size)
    shown = [brief(battle, board) for battle in battles_of_keys(found)]
    return {"battles": shown, "total": known, "page": number, "page_size": size, "total_pages": pages}


def brief(battle: Battle, board: Board) -> dict[str, object]:
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


def detailed(battle: Battle, board: Board) -> dict[str, object]:
    calls = {f"{said.verdict.order}_call": _call(said) for said in judgments(battle)}
    return {**brief(battle, board), "original_call": None, "swapped_call": None, **calls, "has_audit": bool(calls)}


def named(board: Board, text: str) -> Battle | None:
    """The battle of `A_vs_B:SAMPLE`, whatever the names contain."""
    pair, _colon, index = text.rpartition(":")
    if not (index.isascii() and index.isdigit() and len(index) <= 18):
        return None
    battles_of_keys = Battle.objects.filter(board=board, sample=int(index)).counted().revealed()
    for battle in battles_of_keys.select_related("left", "right", "sample"):
        names = battle.left.name, battle.right.name
        if pair in {"_vs_".join(names), "_vs_".join(reversed(names))}:
            return battle
    return None


def prompts(board: Board, looked: Filter, number: int, size: int) -> dict[str, object]:
    found = fitting_samples(board.dataset_id, looked).order_by("pk")
    count = found.count()
    shown = [on(board, sample) for sample in found[(number - 1) * size : number * size]]
    return {"prompts": shown, "total": count, "page": number, "page_size": size, "total_pages": -(-count // size)}


def on(board: Board, sample: Sample, models: Collection[str] = ()) -> dict[str, object]:
    """All contestants that have an output on a sample, the best first."""
    standing = [one for one in on_sample(board, sample) if not models or one.contestant.name in models]
    return {
        "subset": board.slug,
        "exp_name": ALL,
        "sample_index": sample.pk,
        **_of_sample(sample),
        "models": [_fared(one) for one in standing],
    }


def of_model(board: Board, sample: Sample, model: str, opponents: Collection[str] = ()) -> dict[str, object]:
    """A contestant's battles on a sample, with what the judge said in each."""
    battles = Battle.objects.filter(board=board, sample=sample).counted().revealed()
    shown, everybody = [], set()
    for battle in battles.select_related("left", "right", "sample"):
        names = {battle.left.name, battle.right.name}
        if model not in names:
            continue
        [opponent] = names - {model}
        everybody.add(opponent)
        winner = _winner(battle)
        result = "tie" if winner == "tie" else "win" if winner == model else "loss"
        if not opponents or opponent in opponents:
            shown.append({"opponent": opponent, "result": result, **detailed(battle, board)})
    mine = next((_fared(one) for one in on_sample(board, sample) if one.contestant.name == model), {"model": model})
    battled = sorted(shown, key=lambda one: str(one["opponent"]))
    return {**mine, "sample_index": sample.pk, "battles": battled, "all_opponents": sorted(everybody)}


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
        "prompt_source": sample.category or None,
        "original_metadata": sample.metadata or None,
    }


def _call(said: Any) -> dict[str, Any]:
    """In terms of the order in which this judgment was shown the two."""
    place = said.shown.index(said.winner) if said.winner else None
    winner = "tie" if place is None else "AB"[place]
    was_read = not said.verdict.unread_reason
    parsed = {"winner": winner, "scores": said.verdict.scores} if was_read else None
    return {"raw_response": said.text, "parse_success": was_read, "parsed_result": parsed}
