"""The register of contestants: what is known of each, where it comes from, and the tree of variants."""

import xml.etree.ElementTree as ElementTree
from datetime import date

import pytest
from django.urls import reverse

from experiments.library.datasets import contestants
from experiments.models import Call, Contestant, Output, Run, Step
from leaderboard.boards import compute
from leaderboard.variants.register import Origin, parents_of, register
from leaderboard.variants.views import MOST_DRAWN, tree
from tests.fixtures import add_model, told
from tests.leaderboard import boards
from tests.markup import Page


def entered(dataset, name, **facts):
    one = Contestant.objects.get(dataset=dataset, name=name)
    contestants.enter(one, by=dataset.owner, **facts)
    return one


@pytest.fixture
def dataset(alice, provider):
    made = boards.dataset_of(alice, visibility="public")
    boards.contestants_of(made, ["chat", "chat-fp8", "chat-fp8-short", "elsewhere"])
    chat, quantized, _short, _other = made.contestants.order_by("pk")
    chat.model = add_model("sim/neutral:first=0:tps=0")
    chat.version = "spring_20260401"
    chat.save()
    quantized.params = {"served_by": "deepinfra/fp8"}
    quantized.save()
    entered(made, "chat-fp8", variant_of=chat, released=date(2026, 5, 1))
    entered(made, "chat-fp8-short", variant_of=quantized, prompt="Answer in one sentence.", quantization="int4")
    return made


def lines(dataset):
    return {one.name: one for family in register(dataset) for one in family.variants}


@pytest.mark.databases
def test_what_is_known_is_looked_up_unless_it_was_entered_and_upstreams_answered_or_are_pinned(dataset, arena):
    found = lines(dataset)
    chat, quantized, short, other = (found[name] for name in ("chat", "chat-fp8", "chat-fp8-short", "elsewhere"))

    assert (chat.base_model.value, chat.base_model.origin) == ("sim/neutral:first=0:tps=0", Origin.CATALOG)
    assert (chat.released.value, chat.released.origin) == ("2026-04-01", Origin.VERSION)
    assert (quantized.base_model.value, quantized.base_model.origin) == (chat.base_model.value, Origin.PARENT)
    assert (quantized.released.value, quantized.released.origin) == ("2026-05-01", Origin.ENTERED)
    assert (quantized.upstream.value, quantized.upstream.origin) == ("deepinfra/fp8", Origin.PINNED)
    assert (quantized.quantization.value, quantized.quantization.origin) == ("fp8", Origin.PINNED)
    assert (short.quantization.value, short.quantization.origin) == ("int4", Origin.ENTERED)
    assert (short.depth, short.variant_of, chat.variants) == (2, "chat-fp8", ("chat-fp8",))
    assert {one.origin for one in (other.base_model, other.released, other.upstream, other.prompt)} == {Origin.UNKNOWN}
    assert [family.base_model for family in register(dataset)] == ["sim/neutral:first=0:tps=0", ""]

    for pinned, upstream, quantization in (
        ("deepinfra/fp8", "deepinfra/fp8", "fp8"),
        ("deepinfra, together, bf16", "deepinfra, together", "bf16"),
        *(("fp8", "", "fp8"), ("fp8, bf16", "", "")),
        ("deepinfra/fp8, together", "deepinfra/fp8, together", ""),
    ):
        dataset.contestants.filter(name="elsewhere").update(params={"served_by": pinned})
        found = lines(dataset)["elsewhere"]
        assert (found.upstream.value, found.quantization.value) == (upstream, quantization), pinned

    boards.samples_of(dataset, 3)
    run = Run.objects.create(experiment=arena(), seed=1)
    about = {"run": run, "model": run.experiment.participants.first().model, "attempt": 1, "request": {}}
    for sample, upstream in zip(dataset.samples.all(), ("Novita/bf16", "Together/bf16", "Together/bf16"), strict=True):
        step = Step.objects.create(run=run, key=upstream + str(sample), kind="ask", purpose="output")
        call = Call.objects.create(step=step, state=Call.State.COMPLETED, served_provider=upstream, **about)
        Output.objects.create(sample=sample, contestant=dataset.contestants.get(name="chat"), text="Yes.", call=call)
    chat = lines(dataset)["chat"]
    assert (chat.upstream.value, chat.upstream.origin) == ("Together/bf16, Novita/bf16", Origin.CALLS)
    assert chat.quantization.value == "bf16"


def test_samples_that_were_public_before_a_contestant_was_released_are_counted(dataset, client):
    days = ["2026-01-01", "2026-04-30", "2026-05-01", "2026-06-01T00:00:00Z", "soon", 7]
    boards.samples_of(dataset, len(days) + 1)
    for sample, day in zip(dataset.samples.all(), days, strict=False):
        sample.metadata = {"published": day}
        sample.save()

    found = {one["name"]: one for one in client.get(reverse("api-dataset-variants", args=[dataset.slug])).json()}
    page = " ".join(told(client.get(reverse("dataset-variants", args=[dataset.slug]))).split())

    assert (found["chat-fp8"]["exposed"], found["chat-fp8"]["dated"]) == (2, 4)
    assert found["chat"]["exposed"] is None, "that it joined on a day says not when it was released"
    assert page.count("2 of 4") == 1


def test_page_and_api_show_the_register_and_curators_change_it_but_into_no_circle(dataset, client, alice, bob):
    page, api = (reverse(name, args=[dataset.slug]) for name in ("dataset-variants", "api-dataset-variants"))
    chat, other = (dataset.contestants.get(name=name) for name in ("chat", "elsewhere"))

    def sent_to(one, **facts):
        return client.patch(reverse("api-variant", args=[dataset.slug, one.pk]), facts, content_type="application/json")

    def typed_for(one, **facts):
        return client.post(reverse("variant-edit", args=[dataset.slug, one.pk]), facts)

    shown, found = Page(told(client.get(page))), {one["name"]: one for one in client.get(api).json()}

    heads = [head.text.strip() for head in shown.root.findall(".//tbody/tr/th")]
    assert heads == list(found) == ["chat", "chat-fp8", "chat-fp8-short", "elsewhere"]
    assert found["chat-fp8"]["quantization"] == {"value": "fp8", "origin": "pinned"}
    assert found["chat"]["variants"] == ["chat-fp8"]
    assert len(shown.root.findall(".//svg[@class='variant-tree']/circle")) == 4
    assert not shown.root.findall(".//tbody//a"), "visitors cannot edit"
    client.force_login(alice)
    below = dataset.contestants.get(name="chat-fp8-short")
    assert [one.name for one in parents_of(chat, dataset.contestants.all())] == ["elsewhere"]
    assert typed_for(chat, variant_of=below.pk).status_code == 422
    refused = sent_to(chat, variant_of=below.name)
    assert (refused.status_code, list(refused.json()["errors"])) == (400, ["variant_of"])
    chat.refresh_from_db()
    assert chat.variant_of is None

    changed = typed_for(other, base_model="maker/model", quantization="bf16", released="2026-01-31")
    assert changed["Location"] == page
    answer = sent_to(other, variant_of="chat", prompt="Be brief.")
    assert answer.status_code == 200
    now = answer.json()
    assert (now["base_model"]["value"], now["variant_of"]) == ("maker/model", "chat"), "what is left out stays"
    assert now["prompt"] == {"value": "Be brief.", "origin": "entered"}
    client.force_login(bob)
    assert [change(other, base_model="mine").status_code for change in (typed_for, sent_to)] == [403, 403]


def test_what_changes_in_the_register_is_in_the_public_log_of_each_board(dataset, client, alice):
    board = boards.board_of(alice, [("chat", "elsewhere", "left")] * 6, boards.judged_by(dataset))
    entered(dataset, "elsewhere", upstream="A provider", quantization="fp8")
    entered(dataset, "elsewhere", upstream="A provider")

    ladder = compute.ensure_ladder(board)
    log = client.get(reverse("api-ladder", args=[ladder.slug])).json()["corrections"]

    assert (log[0]["what"], log[0]["name"], log[0]["changed"]) == (
        "registered", "elsewhere", ["quantization", "upstream"],
    )  # fmt: skip
    assert len([one for one in log if one["name"] == "elsewhere"]) == 1
    assert "register changed: quantization, upstream" in told(client.get(ladder.get_absolute_url()))


def test_the_tree_is_drawn_below_its_base_models_and_left_out_where_it_would_be_too_large(dataset, client, monkeypatch):
    contestants.void(dataset.contestants.get(name="elsewhere"), by=dataset.owner, reason="Stale.")
    nodes = tree(register(dataset))

    assert [(node.text, node.x) for node in nodes][:4] == [
        ("sim/neutral:first=0:tps=0", 10), ("chat", 32), ("chat-fp8", 54), ("chat-fp8-short", 76),
    ]  # fmt: skip
    assert [bool(node.line) for node in nodes] == [False, True, True, True, False, True]
    assert nodes[2].hint == "fp8 · 2026-05-01"
    page = told(client.get(reverse("dataset-variants", args=[dataset.slug])))
    drawn = page[page.index('<svg class="variant-tree"') : page.index("</svg>", page.index("variant-tree")) + 6]
    assert ElementTree.fromstring(drawn).find("title").text.strip().startswith("Tree of 4 contestants")
    assert 'class="left-out"' in drawn
    monkeypatch.setattr("leaderboard.variants.views.MOST_DRAWN", 3)
    assert tree(register(dataset)) == ()
    assert MOST_DRAWN == 300
