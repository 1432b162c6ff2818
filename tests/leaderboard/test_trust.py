"""What a board says of its own ground: prompts, voters, who was withdrawn, how judges agree, what contestants are."""

import xml.etree.ElementTree as ElementTree
from datetime import date

import pytest
from django.test import Client
from django.urls import reverse

from experiments.library.datasets import contestants
from experiments.models import Battle, Call, Campaign, Contestant, Experiment, Output, Run, Step, Verdict
from experiments.workflows.battles.campaign import counting
from leaderboard.boards import compute, influence
from leaderboard.ratings import Undefined
from leaderboard.variants.register import Origin, parents_of, register
from leaderboard.variants.views import MOST_DRAWN, tree
from leaderboard.votes import agreement
from tests.fixtures import add_model, signed_in, told
from tests.leaderboard import boards
from tests.markup import Page

pytestmark = pytest.mark.django_db


def test_a_board_says_how_far_it_rests_on_single_prompts_and_voters(client, alice):
    board = boards.board_of(alice, [("a", "b", "left"), ("b", "a", "left")] * 3, visibility="public")
    of_c = [("c", "a", "left"), ("a", "c", "left"), *[("c", "b", "left")] * 2, ("b", "c", "left")]
    boards.board_of(alice, of_c, board)
    board.kind = "people"
    board.save(update_fields=["kind"])
    for number, battle in enumerate(board.battles.order_by("pk")):
        board.battles.filter(pk=battle.pk).update(ballot=f"visitor:{number % 3}/{number}")
    ladder = compute.ensure_ladder(board)

    told = {one["on"]: one for one in client.get(reverse("api-ladder", args=[ladder.slug])).json()["dependence"]}

    assert (told["prompts"]["units"], told["voters"]["units"]) == (11, 3)
    assert told["prompts"]["ranks"] >= told["prompts"]["first"] > 0
    page = client.get(ladder.get_absolute_url()).content.decode()
    assert "How far this rests on single voters: of 3," in " ".join(page.split())
    assert "visitor:" not in page


def test_a_board_logs_who_was_withdrawn_reinstated_and_renamed_why_and_by_whom(client, alice, curator):
    board = boards.board_of(alice, [("a", "b", "left"), ("b", "a", "left")] * 3, visibility="public")
    ladder, out = compute.ensure_ladder(board), board.dataset.contestants.get(name="b")
    contestants.void(out, by=curator, reason="It answered with another model.")
    contestants.restore(out, by=curator)
    for link in ("", "https://bee.example/", "https://bee.example/"):
        contestants.describe(out, by=curator, label="Bee 2", link=link)
    address = reverse("api-ladder", args=[ladder.slug])

    told = client.get(address).json()["corrections"]
    page = client.get(ladder.get_absolute_url()).content.decode()
    of_lab = signed_in(alice).get(address).json()["corrections"]

    assert [(one["what"], one["name"], one["before"], one["reason"], one["by"]) for one in told] == [
        ("renamed", "b", "Bee 2", "", ""),  # the third change of the label and the link changed nothing
        ("renamed", "b", "b", "", ""),
        ("reinstated", "b", "", "", ""),
        ("withdrawn", "b", "", "It answered with another model.", ""),
    ]
    assert [one["by"] for one in of_lab] == ["curator"] * 4
    assert "It answered with another model." in page
    assert "renamed, was “b”" in page
    assert "curator" not in page


def test_unknown_voters_are_no_ground_and_many_battles_are_not_read(alice, monkeypatch, django_assert_num_queries):
    known, many = (boards.board_of(alice, [("a", "b", "left"), ("b", "a", "left")] * 3) for _ in "ab")
    known.kind = "people"
    assert [one.on for one in influence.dependences(known)] == ["prompts"]

    monkeypatch.setattr(influence, "MOST_BATTLES", 5)
    with django_assert_num_queries(1):
        assert influence.dependences(many) == ()


def test_a_board_publishes_the_plans_of_its_campaigns_each_once_and_how_often_contestants_met(client, alice):
    met, public = [("a", "b", "left"), ("b", "a", "left"), ("a", "c", "left")] * 3, {"visibility": "public"}
    board = boards.board_of(alice, met, **public)
    voted, imported = (boards.filled(alice, battles=30, judge=judge, **public) for judge in ("people", "a judge"))

    def matchmaking(board):
        return client.get(reverse("api-ladder", args=[compute.ensure_ladder(board).slug])).json()["matchmaking"]

    plans = [[rule["plan"] for rule in matchmaking(one)["rules"]] for one in (voted, imported)]
    assert plans == [["votes"], ["imported"]]

    board.kind = "model"
    board.save(update_fields=["kind"])
    for config in ({}, {"sampling": {"plan": "sample", "per_pair": 7}}, {}, {"pairs": "new", "version": "v_20260101"}):
        config |= {"dataset": board.dataset.slug}
        experiment = Experiment.objects.create(owner=alice, title="A campaign", workflow="battles", config=config)
        Campaign.objects.create(experiment=experiment)
        battle = board.battles.filter(experiment=None).first()
        board.battles.filter(pk=battle.pk).update(experiment=experiment)

    told = matchmaking(board)
    page = " ".join(client.get(compute.ensure_ladder(board).get_absolute_url()).content.decode().split())

    assert [(one["plan"], one["per_pair"], one["pairs"]) for one in told["rules"]] == [
        ("all", None, "new"), ("all", None, "all"), ("sample", 7, "all"),
    ]  # fmt: skip
    assert (told["least"], told["most"]) == (pytest.approx(1 / 3), 1.0)
    assert "Every pair meets on 7 prompts drawn at random" in page
    assert "Only pairs with a new contestant were compared." in page
    assert "Each contestant is in 33 % to 100 % of the battles." in page


@pytest.fixture
def compared(alice):
    made = boards.dataset_of(alice, "Both", visibility="public")
    boards.contestants_of(made, "abc")
    boards.samples_of(made, 30)
    return made


def decide(board, winners, ballot="", first=None):
    """One battle between a and b on each sample, in sequence; None leaves a sample out."""
    left, right = board.dataset.contestants.order_by("pk")[:2]
    for sample, winner in zip(board.dataset.samples.order_by("index"), winners, strict=False):
        if winner:
            pair = {"sample": sample, "left": left, "right": right, "ballot": ballot, "shown_left_first": first}
            Battle.objects.create(board=board, winner=winner, judged=sample.dataset.created, **pair)
    counting.recount(board)


@pytest.fixture
def judge(compared):
    return boards.judged_by(compared)


@pytest.fixture
def people(compared):
    return boards.judged_by(compared, "people")


def test_agreement_is_counted_on_the_same_outputs_of_the_same_sample(compared, judge, people):
    decide(judge, ["left", "left", "right", "tie", "left", None])
    decide(people, ["left", "right", "right", "both_bad", "tie", "left"], "user:1", first=True)

    [pair] = agreement.report(compared).pairs
    found = pair.answers

    assert found.compared == 5
    assert (found.exact.part, found.decisive.part, found.decisive.of) == (3, 2, 3)
    expected = (3 * 1 + 1 * 2 + 1 * 2) / 25
    assert found.kappa == pytest.approx((3 / 5 - expected) / (1 - expected))
    assert found.interval.low <= found.kappa <= found.interval.high
    decide(people, ["left", "left", "left", "tie"], "user:2", first=False)
    ceiling = agreement.report(compared).people[0].among
    assert (ceiling.exact.part, ceiling.exact.of) == (2, 4), "how two people agree on the same item"
    assert (ceiling.decisive.part, ceiling.decisive.of) == (1, 3)


@pytest.mark.databases
def test_void_battles_offers_and_contestants_that_are_left_out_are_no_answers(compared, judge, people):
    decide(judge, ["left", "left", "left"])
    decide(people, ["left", "left", "left"], "user:1", first=True)
    first, _middle, last = Battle.objects.filter(board=people).order_by("pk")
    Battle.objects.filter(pk=first.pk).update(void_reason="no", voided=first.created)
    Battle.objects.filter(pk=last.pk).update(winner="", judged=None)

    report = agreement.report(compared)

    assert (report.votes, report.pairs[0].answers.compared) == (1, 1)
    compared.contestants.filter(name="b").update(void_reason="It had seen the samples.")
    assert agreement.report(compared).pairs[0].answers.compared == 0


def test_without_votes_every_figure_is_undefined_and_a_leaning_to_what_is_shown_first_is_seen(compared, judge, people):
    [pair], [among] = agreement.report(compared).pairs, agreement.report(compared).people

    assert isinstance(pair.answers.kappa, Undefined)
    assert isinstance(pair.ranks, Undefined)
    assert (pair.answers.exact.value, among.among.exact.value) == (None, None)
    assert Client().get(f"/leaderboard/{compute.ensure_ladder(judge).slug}/agreement/").status_code == 200

    decide(judge, ["tie"] * 20)
    for number, battle in enumerate(judge.battles.all()):
        Verdict.objects.create(battle=battle, order="original", winner="left" if number % 5 else "right")
        Verdict.objects.create(battle=battle, order="swapped", winner="right" if number % 4 else "left")
    _of_people, found = agreement.report(compared).boards
    assert (found.order.first.part, found.order.first.of) == (31, 40)
    page = " ".join(Client().get(f"/leaderboard/{compute.ensure_ladder(judge).slug}/").content.decode().split())
    for words in ("Bias for the first output", "from 40 verdicts. Ratings use both orders"):
        assert words in page, words


def test_page_and_programs_have_figures_of_boards_they_may_see_and_follow_votes(compared, judge, people, charlie):
    decide(judge, ["left", "right", "left", "right", "tie"])
    decide(people, ["left", "right", "left"], "user:1", first=True)
    slug = compute.ensure_ladder(judge).slug
    page, api = f"/leaderboard/{slug}/agreement/", f"/api/ladders/{slug}/agreement/"

    assert "100.0 %" in Client().get(page).content.decode()
    decide(people, [None, None, None, "left", "left"], "user:2", first=True)
    shown, told = Client().get(page).content.decode(), Client().get(api).json()

    for words in ("60.0 %", "5 votes", "2 voters"):
        assert words in shown, words
    [of_people, of_judge] = told["boards"]
    assert (of_people["board"], of_people["judgments"], of_people["voters"]) == (people.slug, 5, 2)
    assert (of_people["among"]["compared"], of_people["among"]["kappa_reason"]) == (0, "nothing_paired")
    assert (of_judge["judgments"], of_judge["voters"], of_judge["among"]) == (5, None, None)
    [pair] = told["pairs"]
    assert (pair["answers"]["same_answer"]["part"], pair["answers"]["compared"]) == (3, 5)
    compared.visibility = "private"
    compared.save()
    assert [one.get(api).status_code for one in (signed_in(charlie), Client())] == [404, 404]


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
