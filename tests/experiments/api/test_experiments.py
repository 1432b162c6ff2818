"""Creating and reading experiments."""

from uuid import UUID

import pytest

from experiments.models import Experiment, ProviderModel
from tests.cases import each_case

pytestmark = pytest.mark.django_db


def test_an_experiment_is_created_with_everything_it_was_asked_for(api, body, alice):
    body["cast"]["A"] |= {"persona": "Negotiator", "params": {"temperature": 0.2, "max_tokens": 300, "seed": 9}}
    response = api.post("experiments/", body)

    said = response.json()
    assert response.status_code == 201
    stored = Experiment.objects.get(pk=UUID(said["id"]))
    assert (stored.owner, stored.workflow, stored.title) == (alice, "arena", "Panels")
    assert said["config"] == stored.config
    assert stored.config["max_turns"] == 2
    assert said["cast"][0] == {
        "seat": "A",
        "model": "sim/cooperative:first=0",
        "label": "sim/cooperative:first=0",
        "persona": "Negotiator",
        "params": {"temperature": 0.2, "max_tokens": 300, "seed": 9},
    }


def test_the_judge_and_the_filter_are_the_labs_unless_named(api, body):
    cast = {seat["seat"]: seat["model"] for seat in api.post("experiments/", body).json()["cast"]}
    assert cast["judge"].startswith("sim/judge")
    assert cast["filter"].startswith("sim/filter")

    body["cast"]["judge"] = {"model": "sim/neutral:first=0"}
    cast = {seat["seat"]: seat["model"] for seat in api.post("experiments/", body).json()["cast"]}
    assert cast["judge"] == "sim/neutral:first=0"


def test_without_judge_and_filter_nobody_takes_their_seats(api, body):
    body["config"] |= {"judge": False, "filter": False}
    ProviderModel.objects.filter(is_tool=True).delete()

    response = api.post("experiments/", body)

    assert response.status_code == 201
    assert [seat["seat"] for seat in response.json()["cast"]] == ["A", "B"]


def test_what_is_left_out_is_filled_in_and_shown(api, body):
    body["config"] = {"prompt": "Talk."}
    config = api.post("experiments/", body).json()["config"]

    assert (config["mode"], config["prompting"], config["max_turns"]) == ("automatic", "shared", 5)
    assert (config["first"], config["filter"], config["judge"], config["gap_seconds"]) == ("A", True, True, 2.0)
    assert config["limits"] == {"tokens": None, "seconds": None, "cost": None}


def test_an_open_length_comes_with_a_limit_of_time(api, body):
    body["config"]["max_turns"] = None
    config = api.post("experiments/", body).json()["config"]

    assert (config["max_turns"], config["limits"]["seconds"]) == (None, 3600.0)


def test_an_experiment_without_a_title_is_called_by_the_beginning_of_its_prompt(api, body):
    del body["title"]
    body["config"]["prompt"] = "  Share\nseven   panels. " + "x" * 500

    title = api.post("experiments/", body).json()["title"]

    assert title.startswith("Share seven panels. xxx")
    assert title.endswith("…")
    assert len(title) == 200


def test_the_prompt_is_kept_to_the_last_blank(api, body):
    prompt = "  Zwölf 太阳能板 🌞\r\n\tteilen. \u202e <script>alert(1)</script>  "
    body["config"]["prompt"] = prompt

    created = api.post("experiments/", body).json()

    assert created["config"]["prompt"] == prompt
    assert api.get(f"experiments/{created['id']}/").json()["config"]["prompt"] == prompt


def test_the_longest_prompt_is_taken(api, body):
    body["config"]["prompt"] = "字" * 100_000

    assert api.post("experiments/", body).status_code == 201


def test_the_same_model_may_take_both_seats(api, body):
    body["cast"]["B"] = body["cast"]["A"]

    assert api.post("experiments/", body).status_code == 201


def test_an_experiment_is_read_as_it_was_answered(api, body):
    created = api.post("experiments/", body).json()

    assert api.get(f"experiments/{created['id']}/").json() == created


def test_experiments_are_listed_newest_first(api, body):
    ids = [api.post("experiments/", body | {"title": str(number)}).json()["id"] for number in range(3)]

    listed = api.get("experiments/").json()

    assert [experiment["id"] for experiment in listed["results"]] == ids[::-1]
    assert (listed["next"], listed["previous"]) == (None, None)


def test_experiments_are_listed_by_workflow(api, body):
    api.post("experiments/", body)

    assert len(api.get("experiments/", workflow="arena").json()["results"]) == 1
    assert api.get("experiments/", workflow="council").json()["results"] == []


@each_case("method", ["PUT", "PATCH", "DELETE"])
def test_an_experiment_does_not_change_once_created(api, body, counts, is_problem, method):
    created = api.post("experiments/", body).json()
    before = counts()

    is_problem(api.send(method, f"experiments/{created['id']}/"), 405, method)

    assert counts() == before


def test_creating_an_experiment_starts_nothing(api, body, counts, nobody_is_woken):
    api.post("experiments/", body)

    assert (counts()["Run"], nobody_is_woken) == (0, [])
