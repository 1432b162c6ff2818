"""What is typed after `arena run` becomes an experiment."""

import json

import pytest

from arena_lab.cli.parser import parser
from arena_lab.cli.starting import Misunderstood, plan_of


def plan(*arguments):
    return plan_of(parser().parse_args(["run", *arguments]))


def models(found):
    return {seat: one["model"] for seat, one in found.cast.items()}


def test_prompt_and_turns_are_what_the_workflow_calls_so_and_any_setting_is_json_or_text():
    for workflow, prompt, turns in (
        ("arena", "prompt", "max_turns"),
        ("starchamber", "first_message", "max_turns"),
        ("council", "question", "max_turns"),
        ("debate", "prompt", "rounds"),
        ("coding", "topic", "cycles"),
    ):
        assert plan(workflow, "--prompt", "Why?", "--turns", "2").config == {prompt: "Why?", turns: 2}, workflow

    found = plan("arena", "--set", "limits.cost=0.5", "--set", "judge=false", "--set", "first=B", "--dataset", "trees")
    assert found.config == {"limits": {"cost": 0.5}, "judge": False, "first": "B", "dataset": "trees"}

    found = plan("arena", "--model", "A=x/1", "--param", "A.temperature=0.2")
    assert found.cast == {"A": {"model": "x/1", "params": {"temperature": 0.2}}}

    for option in ("--set", "--param"):
        with pytest.raises(Misunderstood, match="a name and a value"):
            plan("arena", option, "judge")


def test_models_without_a_seat_take_the_free_ones_in_order_and_one_too_many_is_asked_for_its_seat():
    for workflow, given, seats in (
        ("arena", ("sim/b", "A=sim/a", "judge=sim/j"), {"A": "sim/a", "B": "sim/b", "judge": "sim/j"}),
        ("arena", ("sim/a:tps=0", "B=sim/b:tps=0"), {"A": "sim/a:tps=0", "B": "sim/b:tps=0"}),
        ("council", ("x/1", "chair=x/2", "x/3"), {"member-1": "x/1", "chair": "x/2", "member-2": "x/3"}),
        ("battles", ("x/1",), {"judge": "x/1"}),
    ):
        assert models(plan(workflow, *(f"--model={one}" for one in given))) == seats
    with pytest.raises(Misunderstood, match=r"--model x/3.*SEAT=MODEL"):
        plan("arena", "--model", "x/1", "--model", "x/2", "--model", "x/3")


def test_a_file_says_it_all_and_the_command_line_has_the_last_word_and_one_that_is_no_plan_is_refused(tmp_path):
    for name, text in {
        "plan.json": json.dumps({"title": "T", "config": {"prompt": "Why?", "max_turns": 9}, "cast": {"A": "x/1"}}),
        "plan.toml": 'title = "T"\n[config]\nprompt = "Why?"\nmax_turns = 9\n[cast]\nA = "x/1"\n',
    }.items():
        (tmp_path / name).write_text(text)
        found = plan("arena", "--config", str(tmp_path / name), "--turns", "2", "--model", "B=x/2")
        assert (found.title, found.config) == ("T", {"prompt": "Why?", "max_turns": 2}), name
        assert models(found) == {"A": "x/1", "B": "x/2"}, name
    for text, said in (
        *(("{", "cannot be understood"), ('{"turns": 2}', "nothing else")),
        ('{"workflow": "council"}', "not for arena"),
    ):
        (tmp_path / "plan.json").write_text(text)
        with pytest.raises(Misunderstood, match=said):
            plan("arena", "--config", str(tmp_path / "plan.json"))

    (tmp_path / "task.txt").write_text("Why is\nthe sky blue?\n")
    assert plan("arena", "--prompt", f"@{tmp_path}/task.txt").config == {"prompt": "Why is\nthe sky blue?"}
    with pytest.raises(Misunderstood, match="cannot be read"):
        plan("arena", "--prompt", "@nowhere.txt")
