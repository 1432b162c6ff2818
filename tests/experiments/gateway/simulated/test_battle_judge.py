"""The simulated judge of battles: texts and pictures, with a bias, garbage and doubts where they are asked for."""

import base64
import io
import json
import random
from collections import Counter
from itertools import permutations

import pytest
from PIL import Image

from experiments.gateway.simulated.prompt import BadRequest
from experiments.gateway.simulated.request import read_request
from experiments.gateway.simulated.structured import answer_structured
from experiments.workflows.base.steps import Stored
from experiments.workflows.battles.judged import Shown
from experiments.workflows.battles.prompts import PROMPTS
from tests.cases import each_case

QUESTIONS = {
    "en": "How can a small lab keep its instruments calibrated for a year?",
    "zh": "小型实验室怎样才能让仪器一年都保持校准？",
}
GOOD = {
    "en": (
        "Write down for every instrument in the lab how often it drifts.\n\n- keep a log of each calibration\n"
        "- compare two instruments every month\n- send one a year to be calibrated\n\nHow small the lab is decides "
        "what it can do by itself. A year without any record is lost, unless somebody else keeps one."
    ),
    "zh": (
        "先为实验室的每台仪器记录漂移的情况。\n\n- 每次校准都要登记\n- 每个月比较两台仪器\n- 每年送检一次\n\n"
        "小型实验室能自己做多少取决于人手；如果一年没有记录，就无法保持校准。"
    ),
}
REMARKS = ("Ask the maker first.", "Heat matters most.", "Spare parts help.", "Weights are cheap.", "Watch the dates.")
POOR = {"en": "I am sorry, but I am not able to help with this.", "zh": "抱歉，关于这个问题我无法提供帮助。"}
TOKEN = "5f2c9a81d0aa"
QUALITY, EDIT = PROMPTS["text_quality"], PROMPTS["image_edit"]


def png(noise, side=48):
    """A picture of `side` pixels squared as a data URI; the more noise, the more there is to be seen."""
    values = random.Random(f"{noise}/{side}").choices(range(1 + noise), k=3 * side * side)
    file = io.BytesIO()
    Image.frombytes("RGB", (side, side), bytes(values)).save(file, "PNG")
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()


def asked(first, second, *, prompt=QUALITY, model="sim/judge", instruction=QUESTIONS["en"], images=()):
    """The request of a battle, laid out as the engine does it: texts that follow each other are one part."""
    stored = {"instruction": [instruction], "images": list(images)}
    content = []
    for part in prompt.parts(Shown(1, 1, 2, TOKEN)):
        shown = [part]
        if isinstance(part, Stored):
            shown = stored.get(part.what) if part.what != "output" else [first if part.contestant == 1 else second]
        for piece in shown:
            if piece.startswith("data:"):
                content.append({"type": "image_url", "image_url": {"url": piece}})
            elif content and content[-1]["type"] == "text":
                content[-1]["text"] += piece
            else:
                content.append({"type": "text", "text": piece})
    is_text = len(content) == 1
    schema = {"type": "json_schema", "json_schema": {"name": "verdict", "schema": prompt.schema}}
    message = {"role": "user", "content": content[0]["text"] if is_text else content}
    return read_request({"model": model, "messages": [message], "response_format": schema})


def answer(request):
    schema = request.response_format["json_schema"]["schema"]
    return answer_structured(schema, request.prompt, request.behaviour, request.seed)


def verdict(*outputs, **given):
    return json.loads(answer(asked(*outputs, **given)))


def read(*outputs, prompt=QUALITY, **given):
    return prompt.read(answer(asked(*outputs, prompt=prompt, **given)))


@each_case("language", ["en", "zh"])
def test_the_better_text_wins_in_both_orders_and_the_reason_is_in_the_language_of_the_instruction(language):
    given = {"instruction": QUESTIONS[language]}
    first = verdict(GOOD[language], POOR[language], **given)
    second = verdict(POOR[language], GOOD[language], **given)

    assert (first["winner"], second["winner"]) == ("A", "B")
    assert all(first["scores"]["A"][name] > first["scores"]["B"][name] for name in first["scores"]["A"])
    assert 0.5 < first["confidence"] <= 0.99
    assert any("\u4e00" <= character <= "\u9fff" for character in first["rationale"]) == (language == "zh")


@each_case("prompt", PROMPTS.values(), ids=list(PROMPTS))
def test_its_answer_has_the_whole_form_of_every_prompt(prompt):
    outputs, model = ((GOOD["en"], POOR["en"]), "sim/judge")
    if "image" in prompt.modalities:
        outputs, model = ((png(250), png(2)), "sim/vision-judge")
    judged = read(*outputs, prompt=prompt, model=model)

    assert (judged.winner, judged.absent) == ("first", ())
    assert judged.rationale


def test_the_richer_picture_wins_in_both_orders_with_the_given_picture_before_them():
    given = {"prompt": EDIT, "model": "sim/vision-judge", "images": [png(9), png(70)]}

    assert verdict(png(250), png(1), **given) == verdict(png(250), png(1), **given)
    assert verdict(png(250), png(1), **given)["winner"] == "A"
    assert verdict(png(1), png(250), **given)["winner"] == "B"


def close_texts(count):
    """Alike in everything that can be told, so that only taste decides."""
    ways = [" ".join(way) for way in permutations(REMARKS, 2)]
    return [f"{GOOD['en']} {way}" for way in ways[:count]]


def results(model, prompt=QUALITY):
    """How the two orders of close pairs fit together."""
    texts = close_texts(12)
    found = Counter()
    for place, left in enumerate(texts):
        for right in texts[place + 1 :]:
            found[(read(left, right, model=model, prompt=prompt).winner, read(right, left, model=model).winner)] += 1
    return found


def test_close_pairs_are_judged_one_way_and_the_other_and_sometimes_a_tie():
    found = results("sim/judge")

    assert found["first", "first"] + found["second", "second"] > 3, "it disagrees with itself"
    assert found["first", "second"] > 3
    assert found["second", "first"] > 3
    assert any("tie" in pair for pair in found)


@each_case(("bias", "favoured"), [("0.5", "first"), ("-0.5", "second")])
def test_a_biased_judge_favours_one_place(bias, favoured):
    assert set(results(f"sim/judge:bias={bias}")) == {(favoured, favoured)}


@each_case(
    ("manner", "is_read"),
    [
        *(("prose", True), ("fenced", True), ("words", True), ("range", True), ("nulls", True)),
        *(("nan", True), ("far", True), ("broken", False), ("truncated", False), ("missing", False), ("empty", False)),
        *(("talk", False), ("contradiction", False), ("injected", False)),
    ],
)
def test_garbage_is_read_where_the_winner_is_certain_and_never_as_another_one(manner, is_read):
    judged = read(GOOD["en"], POOR["en"], model=f"sim/judge:json={manner}")

    assert judged.winner == ("first" if is_read else None)
    if manner in ("nulls", "nan", "far"):
        assert (judged.scores, judged.confidence) == (None, None)


async def test_only_a_model_that_sees_is_listed_with_pictures_and_takes_them_as_input(client, ask):
    listed = (await client.get("/models")).json()["data"]
    seeing = [entry["id"] for entry in listed if "image" in entry["architecture"]["input_modalities"]]
    assert seeing == ["sim/vision-judge"]

    text, picture = {"type": "text", "text": "What?"}, {"type": "image_url", "image_url": {"url": png(9, 512)}}
    shown = [{"role": "user", "content": [text, picture]}]
    refused = await ask("sim/judge:first=0", messages=shown)
    assert "does not accept images" in refused["error"]["message"]
    with pytest.raises(BadRequest):
        asked(png(9), png(1))
    plain = await ask("sim/vision-judge:first=0", messages=[{"role": "user", "content": [text]}])
    seen = await ask("sim/vision-judge:first=0", messages=shown)
    assert seen["usage"]["prompt_tokens"] - plain["usage"]["prompt_tokens"] == 335


@each_case("url", ["data:image/png;base64,@@@", "https://example.org/x.png", "data:image/png;base64,", ""])
def test_a_picture_that_cannot_be_read_is_a_poor_one(url):
    content = [{"type": "image_url", "image_url": {"url": url}}]
    request = read_request({"model": "sim/vision-judge", "messages": [{"role": "user", "content": content}]})
    assert all(0 <= picture.detail <= 1 for picture in request.prompt.pictures)
