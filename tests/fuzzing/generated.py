"""Inputs for a target: any bytes, its words in any order, JSON with its names, its seeds with something odd in them."""

import json
from typing import Any

from hypothesis import strategies as st

from tests.fuzzing.target import Target

ODD = (10**400, -(10**400), 1e308, -0.0, 2**63, "\ud800", "\x00", "9" * 400, "0429", "2026-03-01", "[[1]]")
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12) | st.sampled_from(ODD)


def inputs_of(target: Target) -> st.SearchStrategy[bytes]:
    kinds = [st.binary(max_size=200)]
    if target.words:
        kinds.append(st.lists(st.sampled_from(target.pieces) | st.binary(max_size=3), max_size=40).map(b"".join))
    if target.names:
        kinds.append(values(target.names).map(written))
    if target.seeds:
        kinds.append(spoiled(target))
    if target.names and any(isinstance(decoded(seed), dict | list) for seed in target.seeds):
        kinds.append(altered(target))
    return st.one_of(kinds)


def values(names: tuple[str, ...]) -> st.SearchStrategy[Any]:
    known = st.sampled_from(names)
    return st.recursive(
        LEAVES | known,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(known, inner, max_size=6),
        max_leaves=20,
    )


def written(value: Any) -> bytes:
    return json.dumps(value).encode()


@st.composite
def spoiled(draw: Any, target: Target) -> bytes:
    """A seed with a stretch of it put elsewhere, taken away, said twice, or replaced."""
    data = draw(st.sampled_from(target.seeds))
    new = st.binary(max_size=4) | (
        st.sampled_from(target.pieces) if target.words else values(target.names).map(written)
    )
    for _change in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 30)))
        data = data[:start] + draw(new | st.just(data[start:end] * 2)) + data[end:]
    return data


@st.composite
def changed_in(draw: Any, value: Any, odd: st.SearchStrategy[Any]) -> Any:
    """The value with one place of it replaced."""
    if not isinstance(value, dict | list) or not value or draw(st.integers(0, 4)) == 0:
        return draw(odd)
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    name = draw(st.sampled_from(keys))
    changed = value.copy()
    changed[name] = draw(changed_in(value[name], odd))
    return changed


def altered(target: Target) -> st.SearchStrategy[bytes]:
    """A seed that is JSON, with something odd in one place of it."""
    whole = [value for value in map(decoded, target.seeds) if isinstance(value, dict | list)]
    odd = values(target.names)
    return st.sampled_from(whole).flatmap(lambda value: changed_in(value, odd)).map(written)


def decoded(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return None
