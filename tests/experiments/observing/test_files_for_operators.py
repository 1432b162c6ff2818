"""Alerts and the dashboard name figures and labels that there are."""

import json
import re
from functools import cache
from pathlib import Path

import yaml

from experiments.lab.observing import counting
from tests.cases import each_case

ROOT = Path(__file__).parents[3]
ALERTS = yaml.safe_load((ROOT / "deploy/prometheus/alerts.yaml").read_text(encoding="utf-8"))
DASHBOARD = json.loads((ROOT / "deploy/grafana/arena-lab.json").read_text(encoding="utf-8"))
RULES = [rule for group in ALERTS["groups"] for rule in group["rules"]]
DRAWN = {target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]}
ALARMING = {rule["expr"] for rule in RULES}


@cache
def samples():
    """The names that Prometheus knows, with the labels that each has."""
    known = {}
    for family in counting.FAMILIES:
        if family.kind == "histogram":
            known[f"{family.name}_bucket"] = {*family.labels, "le"}
            known |= {f"{family.name}_{end}": set(family.labels) for end in ("sum", "count")}
        else:
            known[family.name] = set(family.labels)
    return known


@each_case("expression", sorted(DRAWN | ALARMING))
def test_whatever_is_drawn_or_alarming_is_told_with_these_labels_and_rates_are_of_what_only_rises(expression):
    names = set(re.findall(r"\barena_\w+", expression))
    assert set() < names <= set(samples())
    labels = {label for group in re.findall(r"by \(([^)]*)\)", expression) for label in group.split(", ")}
    labels |= set(re.findall(r"(\w+)=~?\"", expression))
    assert labels <= set.union(*(samples()[name] for name in names))
    rising = set(re.findall(r"(?:rate|increase)\((arena_\w+)", expression))
    assert all(name.endswith(("_total", "_bucket", "_count", "_sum")) for name in rising)
    assert not any(name.endswith(("_total", "_bucket")) for name in names - rising)


def test_the_words_of_an_alert_name_labels_that_are_there():
    for rule in RULES:
        labels = set().union(*(samples()[name] for name in re.findall(r"arena_\w+", rule["expr"])))
        for label in re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]):
            assert label in rule["expr"] or label in labels
