"""Ladders as files and folders, by the API and the read routes of GenArena's viewer; what curators do in the admin."""

import hashlib
import json
import re
import zipfile
from dataclasses import asdict

import pytest
from django.core.management import call_command
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import escape, strip_tags

from experiments.library.datasets import making
from experiments.models import Battle, Contestant, Dataset, DatasetImage, Image, Output
from experiments.workflows.battles.campaign.counting import recount
from experiments.workflows.battles.campaign.logs.importing import import_battles
from experiments.workflows.battles.campaign.logs.packing import zipped
from experiments.workflows.battles.pages import views
from leaderboard.boards import compute, milestones
from leaderboard.boards.standings import Slice
from leaderboard.models import Ladder, Milestone
from tests.cases import each_case
from tests.experiments.datasets.files import png
from tests.leaderboard import boards
from tests.leaderboard.boards import csv_rows
from tests.making import maker
from tests.markup import Page


@pytest.mark.databases
def test_what_no_database_takes_is_passed_over(client, league):
    ladder = league(contestants=3, battles=30)
    api = ("api-ladder", "api-ladder-milestones", "api-ladder-history", "api-board-export")
    names = ("ladder", "ladder-matrix", "ladder-history", "ladder-milestones", "ladder-battles", "ladder-samples")
    asked = dict.fromkeys(("subset", "category", "search", "name", "milestone", "contestant"), "\0model")

    for name in (*names, *api):
        assert client.get(reverse(name, args=[ladder.slug]), asked).status_code == 200, name


def test_the_api_needs_no_token_for_what_is_public_and_what_is_withdrawn_shows_why_and_no_ratings(client, league):
    public, private = league(categories=("maths", "prose")), league(visibility="private")
    address = f"/api/ladders/{public.slug}/"

    listed = client.get("/api/ladders/").json()
    found = client.get(address).json()
    refused = client.get(f"/api/ladders/{private.slug}/")

    assert [(one["slug"], one["battles"]) for one in listed["results"]] == [(public.slug, 600)]
    assert [row["name"] for row in found["rows"]] == [row.name for row in compute.standings(public).rows]
    assert (refused.status_code, refused["Content-Type"]) == (404, "application/problem+json")
    assert client.get(address, {"category": "maths"}).json()["battles"] == 300
    Ladder.objects.update(withdrawn_reason="Wrong prompt.")
    withdrawn = client.get(address).json()
    assert (withdrawn["withdrawn_reason"], withdrawn["rows"]) == ("Wrong prompt.", [])
    pages = [client.get(one).content.decode() for one in (public.get_absolute_url(), reverse("leaderboard"))]
    assert [("Wrong prompt." in page, "model-001" in page) for page in pages] == [(True, False)] * 2
    assert client.get(reverse("ladder-matrix", args=[public.slug])).status_code == 404


def test_the_admin_leaves_battles_and_contestants_out_and_withdraws_but_changes_no_milestone(client, league, curator):
    ladder = league(contestants=3, battles=30)
    milestone = Milestone.objects.create(ladder=ladder, name="first_20260101", battles=1)
    one = Contestant.objects.get(name="model-002")
    chosen = list(Battle.objects.values_list("pk", flat=True)[:4])
    address = reverse("admin:experiments_battle_changelist")
    client.force_login(curator)

    def act(action, reason=""):
        asked = {"action": action, "_selected_action": chosen, "reason": reason}
        return client.post(address, asked, follow=True).content.decode()

    assert "Give a reason" in act("void_chosen")
    assert "4 battles were changed" in act("void_chosen", "Judged the wrong image.")
    assert compute.standings(ladder).battles == 26
    act("restore_chosen")
    assert compute.standings(ladder).battles == 30
    offer = Battle.objects.filter(pk=chosen[0])
    offer.update(winner="", judged=None, shown_left_first=True, ballot="user:1")
    assert f"/{chosen[0]}/change/" not in client.get(address).content.decode(), "a vote that is still to be cast"
    assert client.get(reverse("admin:experiments_battle_change", args=[chosen[0]])).status_code == 302

    said = {"label": "Model Two", "link": "", "void_reason": "Trained on the samples."}
    client.post(reverse("admin:experiments_contestant_change", args=[one.pk]), said)
    client.post(reverse("admin:leaderboard_ladder_change", args=[ladder.pk]), {"withdrawn_reason": "Stale."})
    changed = client.post(reverse("admin:leaderboard_milestone_change", args=[milestone.pk]), {"name": "other"})
    [left_out] = compute.standings(ladder).excluded
    assert (left_out.label, left_out.reason) == ("Model Two", "Trained on the samples.")
    assert Ladder.objects.get().withdrawn_reason == "Stale."
    assert (changed.status_code, Milestone.objects.get().name) == (403, "first_20260101")


def test_the_undefeated_is_first_with_the_same_bound_and_ranks_on_every_page_and_file(client, alice):
    even = [("a", "b", won) for won in ("left", "right")] * 10
    board = boards.board_of(alice, [*even, *[("best", name, "left") for name in "ab" * 9]], visibility="public")
    ladder = compute.ensure_ladder(board)
    compute.refresh(ladder)
    best, *others = compute.standings(ladder).rows
    bound = f"> {best.lower:.0f}"
    table, lines = csv_rows(client.get(download(ladder, "csv"))), client.get(download(ladder, "md")).content.decode()
    campaign = render_to_string("workflows/battles/_standing.html", {"judge": views.judge_of("Judge", board)})

    assert (best.name, [(one.best, one.worst) for one in (best, *others)]) == ("best", [(1, 1), (2, 3), (2, 3)])
    assert client.get(f"/api/ladders/{ladder.slug}/").json()["rows"][0] == asdict(best)
    assert (table[0]["best"], table[0]["rating"], float(table[0]["lower"])) == ("1", "", best.lower)
    assert f"| 1 | best (undefeated) | \\{bound} |" in lines
    for shown in (client.get(ladder.get_absolute_url()).content.decode(), campaign):
        rows = [strip_tags(row) for row in shown.split("<tbody>")[1].split("</tr>")]
        assert all(words in rows[0] for words in ("best", "1", escape(bound), "undefeated"))
        assert "2–3" in rows[1]


def download(ladder, kind):
    return reverse("ladder-download", args=[ladder.slug, kind])


def test_a_name_is_no_formula_no_markdown_no_markup_and_no_address(client, alice):
    odd = 'HYPERLINK(A1)|[x](http://x)"><script>alert(1)</script>" onmouseover="alert(2)" &x=1#_vs_'
    for name in (f"={odd}", f"\n={odd}"):
        battles = [(name, "b", "left"), ("b", name, "left"), ("b", name, "tie")] * 4
        board = boards.board_of(alice, battles, name=odd, visibility="public")
        ladder = compute.ensure_ladder(board)
        compute.refresh(ladder)
        assert {row["name"] for row in csv_rows(client.get(download(ladder, "csv")))} == {"b", f"'{name}"}
        assert r"\|\[x\]" in client.get(download(ladder, "md")).content.decode(), name

        sample = reverse("ladder-sample", args=[ladder.slug, board.dataset.samples.first().pk])
        kinds = ("ladder", "ladder-matrix", "ladder-history", "ladder-milestones")
        for address in (reverse("leaderboard"), *(reverse(kind, args=[ladder.slug]) for kind in kinds), sample):
            page = Page(client.get(address).content.decode())
            assert [one.tag for one in page.root.iter() if one.get("onmouseover") is not None] == [], address
            assert not any("alert" in script.text for script in page.find("script")), address
        links = {link.get("href", "") for link in page.find("a")}
        [address] = [link for link in links if "_vs_" in link and "contestant=" in link]
        assert client.get(address).content.decode().count("<li data-item>") == 1


@pytest.fixture
def board(alice):
    met = [*[("org_vs_a", "b", "left")] * 3, *[("b", "c", "left")] * 2, ("b", "c", "tie"), ("org_vs_a", "c", "right")]
    board = boards.board_of(alice, met * 4, visibility="public")
    compute.refresh(compute.ensure_ladder(board))
    return board


@maker
def read(client, board, /, path, status=200, **query):
    answer = client.get(f"/api/{path.replace('SUBSET', f'subsets/{board.slug}')}", query)
    assert answer.status_code == status, answer.content
    return answer.json()


@pytest.mark.databases
def test_the_viewer_reads_ladders_history_samples_and_battles_but_no_vote_to_be_cast_and_no_private_board(read, board):
    assert read("overview/leaderboards")["subset_info"][board.slug]["total_battles"] == 28
    assert read("cross-subset/info", subsets=board.slug)["common_models"] == ["b", "c", "org_vs_a"]
    together = read("cross-subset/elo", subsets=board.slug)
    own = {one["model"]: one for one in read("SUBSET/leaderboard")["leaderboard"]}
    assert {one["model"]: one["elo"] for one in together["leaderboard"]} == {name: own[name]["elo"] for name in own}
    assert read("cross-subset/elo", status=400)["status"] == 400
    for field in ("elo", "ci_lower", "ci_upper"):
        assert together[f"per_subset_{field}"][board.slug] == {name: one[field] for name, one in own.items()}

    against = {one["opponent"]: one for one in read("SUBSET/models/b/stats")["vs_stats"]}
    for name, one in against.items():
        assert [one["opponent_ci_lower"], one["opponent_ci_upper"]] == [own[name]["ci_lower"], own[name]["ci_upper"]]
    matrix, duel = read("SUBSET/matrix"), read("SUBSET/experiments/__all__/h2h", model_a="b", model_b="c")
    b, c = (matrix["models"].index(name) for name in "bc")
    assert (duel["wins_a"], duel["wins_b"], duel["ties"]) == (8, 0, 4)
    assert matrix["matrix"][b][c] == duel["win_rate_a"] == against["c"]["win_rate"] == pytest.approx(10 / 12)
    assert matrix["matrix"][b][b] is None

    [first, *_others] = read("SUBSET/leaderboard")["leaderboard"]
    history = read("SUBSET/elo-history")

    assert read("subsets") == {"subsets": [board.slug]}
    assert read("SUBSET/info")["total_battles"] == 28
    assert read("SUBSET/stats")["tie_battles"] == 4
    assert first["rank"] == 1
    assert first["ci_lower"] < first["elo"] < first["ci_upper"]
    assert [one["model"] for one in read("SUBSET/leaderboard", models="b")["leaderboard"]] == ["b"]
    moments = dict.fromkeys(history["models"], len(history["timestamps"]))
    for values in (history["models"], history["ci_lower"], history["ci_upper"]):
        assert {name: len(found) for name, found in values.items()} == moments
    assert set(read("SUBSET/leaderboard/by-source")) == {"sources", "leaderboards", "battle_counts"}

    whole = "SUBSET/experiments/__all__"
    first = read(f"{whole}/prompts", page_size="1")["prompts"][0]
    index = first["sample_index"]

    found = read(f"{whole}/search/prompts", q=first["instruction"])

    assert index in [one["sample_index"] for one in found["prompts"]]
    assert read(f"{whole}/samples/{index}/all_models")["sample_index"] == index
    assert read(f"SUBSET/samples/{index}/input_count") == {"count": 0}
    mine = read(f"{whole}/samples/{index}/models/b/battles")
    assert {one["result"] for one in mine["battles"]} <= {"win", "loss", "tie"}
    assert read(f"{whole}/search", q="Task")["query"] == "Task"

    battles = "SUBSET/experiments/__all__/battles"
    page, last = read(battles, page_size="10"), read(battles, page_size="10", page="3")
    of_a = read(battles, models="org_vs_a", result="wins")

    assert (page["total"], page["total_pages"], len(page["battles"]), len(last["battles"])) == (28, 3, 10, 8)
    assert of_a["total"] == 12
    shown = of_a["battles"][0]
    one = read(f"{battles}/org_vs_a_vs_b:{shown['sample_index']}")
    assert (one["final_winner"], one["id"]) == ("org_vs_a", shown["id"])
    assert read(f"{battles}/nobody:1", status=404)["status"] == 404
    assert read(battles, status=400, page="9999")["status"] == 400

    Battle.objects.filter(board=board).update(shown_left_first=True, judged=None, winner="")
    assert read(battles)["battles"] == []
    Dataset.objects.filter(pk=board.dataset_id).update(visibility="private")
    assert read("subsets") == {"subsets": []}


def test_ratings_pairs_slices_history_and_milestones_are_files_that_say_what_the_api_does(client, league, alice):
    ladder = league(contestants=4, battles=120, subsets=("easy", "hard"), categories=("maths", "prose"))
    compute.refresh(ladder)
    for name in ("spring_20260101", "autumn_20260901"):
        milestones.take(ladder, name=name, by=alice)

    def lines(part, **query):
        answer = client.get(download(ladder, part), query)
        assert answer["Content-Disposition"] == f'attachment; filename="{ladder.slug}-{part}.csv"'
        return csv_rows(answer)

    def api(part, **query):
        return client.get(reverse(f"api-ladder-{part}", args=[ladder.slug]), query).json()

    easy, whole = (compute.standings(ladder, of) for of in (Slice("easy"), Slice()))
    table, document, text = (client.get(download(ladder, kind), {"subset": "easy"}) for kind in ("csv", "json", "md"))
    assert [row["name"] for row in csv_rows(table)] == [row.name for row in easy.rows]
    assert [row["rating"] for row in document.json()["rows"]] == [row.rating for row in easy.rows]
    assert len(re.findall(r"^\| ", text.content.decode(), re.MULTILINE)) == len(easy.rows) + 2
    found = client.get(reverse("api-ladder", args=[ladder.slug])).json()
    told = {"method": "cluster_robust", "rounds": 0, "seed": 0}
    assert document.json()["intervals"] == told == found["intervals"]
    for query, standings in (({}, whole), ({"subset": "easy"}, easy)):
        matrix = api("matrix", **query)["lines"]
        wins = {line["name"]: sum(cell["wins"] for cell in line["cells"] if cell) for line in matrix}
        assert wins == {row.name: row.wins for row in standings.rows}
        assert [line["cells"][place] for place, line in enumerate(matrix)] == [None] * 4
        assert [(one["name"], one["against"], int(one["wins"])) for one in lines("matrix", **query)] == [
            (line["name"], other["name"], one["wins"])
            for line in matrix
            for other, one in zip(matrix, line["cells"], strict=True)
            if one
        ]
    sliced = api("slices", by="subset")
    rows = {one["whole"]["name"]: one for one in sliced["rows"]}
    assert (sliced["by"], [one["value"] for one in sliced["battles"]]) == ("subset", ["easy", "hard"])
    assert {name: row["whole"]["rating"] for name, row in rows.items()} == {row.name: row.rating for row in whole.rows}
    assert {name: row["slices"]["easy"]["wins"] for name, row in rows.items()} == wins
    assert [one["value"] for one in api("slices", by="category")["battles"]] == ["maths", "prose"]
    found = {(one["value"], one["name"]): one["battles"] for one in lines("slices") if one["by"] == "subset"}
    wanted = [(of, name, str(one["battles"])) for name, row in rows.items() for of, one in row["slices"].items()]
    assert found == {(of, name): battles for of, name, battles in wanted}
    points = [(one["name"], one["rating"]) for one in api("history")["results"]]
    assert [(one["name"], float(one["rating"])) for one in lines("history")] == points
    assert {one["name"] for one in lines("history", name="model-001")} == {"model-001"}
    assert [one["milestone"] for one in lines("milestones")] == ["autumn_20260901"] * 4 + ["spring_20260101"] * 4
    [autumn] = api("milestones", version="autumn")["results"]
    assert [(one["date"], float(one["upper"])) for one in lines("milestones", version="autumn")] == [
        ("2026-09-01", rating["upper"]) for rating in autumn["ratings"]
    ]
    assert client.get(download(ladder, "all")).status_code == 404


NAMES = ("lab/oak", "lab:oak", "elm", "ash", "fir")
SPRING, SUMMER = "GenArena_20260301", "summer_20260701"


def kept_picture(dataset, data):
    about = {"mime": "image/png", "width": 8, "height": 6, "size": len(data)}
    found, is_new = Image.objects.get_or_create(sha256=hashlib.sha256(data).hexdigest(), defaults=about)
    if is_new:
        found.path.parent.mkdir(parents=True, exist_ok=True)
        found.path.write_bytes(data)
        DatasetImage.objects.create(dataset=dataset, image=found)
    return found


def of_pictures_or_texts(owner, modality):
    """Five contestants of two experiments with outputs for two subsets, a battle that is void, one that is open, and a
    contestant that is left out.
    """
    board = boards.filled(owner, contestants=5, battles=600, subsets=("easy", "hard/test"), modality=modality)
    for name, one in zip(NAMES, board.dataset.contestants.order_by("pk"), strict=True):
        one.name, one.version = name, SUMMER if name == "ash" else SPRING
        one.void_reason = "It was trained on the samples." if name == "fir" else ""
        one.save()
        for sample in board.dataset.samples.all()[:30]:
            said = f"{name} on {sample}"
            color = (int(hashlib.sha256(said.encode()).hexdigest()[:4], 16) % 256, sample.index, 7)
            made = {"text": said} if modality == "text" else {"image": kept_picture(board.dataset, png(color))}
            Output.objects.create(sample=sample, contestant=one, **made)
    board.battles.update(is_consistent=None)
    first, second, third = board.battles.order_by("pk")[:3]
    Battle.objects.filter(pk=first.pk).update(void_reason="broken")
    Battle.objects.filter(pk=second.pk).update(winner="", open_reason="The judge gave no answer.")
    Battle.objects.filter(pk=third.pk).update(winner="both_bad")
    recount(board)
    ladder = compute.ensure_ladder(board)
    milestones.take(ladder, name="spring_20260401", by=owner, note="The first.")
    return ladder


def outputs(dataset):
    rows = Output.objects.filter(sample__dataset=dataset, contestant__void_reason="").values_list(
        *("contestant__name", "contestant__version", "sample__subset", "sample__index", "text", "image_id")
    )
    return sorted(rows, key=str)


def rated(ladder):
    told = ("rank", "rating", "lower", "upper", "wins", "losses", "ties", "both_bad")
    return {(row.name, name): getattr(row, name) for row in compute.standings(ladder).rows for name in told}


@pytest.mark.system
@each_case("modality", ["text", "image"])
def test_a_board_comes_back_from_its_folder_and_its_outputs_to_who_lacks_them(alice, settings, tmp_path, modality):
    settings.IMAGES_DIR, settings.UPLOADS_DIR = tmp_path / "images", tmp_path / "uploads"
    ladder, path = of_pictures_or_texts(alice, modality), tmp_path / f"{modality}.zip"
    path.write_bytes(b"".join(zipped(ladder.board)))
    before = outputs(ladder.board.dataset)

    call_command("load_dataset", path, name="A copy", slug="copy", owner="alice", modality=modality)
    copy = Dataset.objects.get(slug="copy")
    report = import_battles(path, dataset=copy, by=alice)

    again = Ladder.objects.get(board__dataset=copy)
    assert outputs(copy) == before
    samples = [one.samples.values_list("subset", "index", "instruction") for one in (copy, ladder.board.dataset)]
    assert list(samples[0]) == list(samples[1])
    assert rated(again) == pytest.approx(rated(ladder), rel=1e-9)
    assert (again.board.kind, again.board.judge) == (ladder.board.kind, ladder.board.judge)
    assert (report.void, report.refused, report.warnings) == (241, 0, [])
    assert again.board.battles.get(winner="").open_reason == "The judge gave no answer."
    taken, took_over = (one.milestones.get() for one in (ladder, again))
    told = ("name", "taken", "battles", "contestants", "ratings", "covariance", "version", "dated")
    assert [getattr(took_over, name) for name in told] == [getattr(taken, name) for name in told]
    assert took_over.note == "The first. Taken over from a folder."

    zipfile.ZipFile(path).extractall(tmp_path / modality)
    Output.objects.filter(sample__dataset=ladder.board.dataset, sample__subset="easy").delete()
    added = making.add_outputs(ladder.board.dataset, by=alice, path=tmp_path / modality / "easy" / "models")
    assert (outputs(ladder.board.dataset), added.kept, added.unknown) == (before, 0, 0)

    with zipfile.ZipFile(path) as archive:
        names, card = archive.namelist(), archive.read("README.md").decode()
        config = json.loads(archive.read(f"easy/pk_logs/{SPRING}/config.json"))
    assert {"data/samples.jsonl", "arena/battles.jsonl", "arena/milestones.json", "easy/arena/state.json"} <= set(names)
    assert f"easy/models/{SUMMER}/ash.jsonl" in names
    assert (f"easy/models/{SUMMER}/ash/000000.png" in names) == (modality == "image")
    alike = [name for name in names if name.startswith(f"easy/models/{SPRING}/lab_oak~")]
    assert len([name for name in alike if name.endswith(".jsonl")]) == 2
    assert not any("/fir" in name for name in names)
    assert "4 models, 3" in card
    assert "| elm |" in card
    assert config["contestants"] == ["elm", "lab/oak", "lab:oak"]
