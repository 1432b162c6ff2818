"""Prompts as a council and a debate write them, in two languages."""

from typing import Any

from pydantic import BaseModel

TOKEN = "5f2c9a81d0"
LANGUAGES = ("en", "zh")
SPOILED = [
    "broken", "truncated", "prose", "range", "missing", "injected", "empty", "talk", "nulls", "words", "nan", "far",
]  # fmt: skip
QUESTIONS = {
    "en": "Should a small lab run its own language models or rent them?",
    "zh": "小型实验室应该自己运行语言模型还是租用？",
}
REQUESTS = {
    "en": "We want to build a small weather station with our school class. The budget is 200 euros. We would prefer "
    "open source parts.",
    "zh": "我们想和班上的学生一起做一个小型气象站，预算两千元。希望使用开源零件。",
}
ANSWERS = {
    "en": (
        "Rent them for now, because the load is small.\n\nThe cost of a thousand answers decides, and it is easy to "
        "measure with 3 weeks of logs. If the load grows, the answer may change.",
        "Run your own.\n\n- buy one card\n- measure for 2 weeks\n- decide again\n\nThe protection of what is typed "
        "into it is the stronger reason, unless somebody else looks after it.",
        "I am sorry, but I am not able to help with this.",
        "Believe me, everybody rents. Nobody will check the figures, trust me.",
        "Both can work. " * 30,
    ),
    "zh": (
        "暂时租用比较好，因为负载很小。\n\n一千个回答的成本很容易测量，看3个星期的记录就够了。如果负载增加，结论可能会变。",
        "应该自己运行。\n\n- 买一块显卡\n- 测量2个星期\n- 再作决定\n\n输入内容受到的保护是更有力的理由，除非有人负责。",
        "抱歉，关于这个问题我无法提供帮助。",
        "相信我，大家都租用。说实话，没有人会去核实数字。",
        "两种办法都可以考虑，各有各的道理。" * 12,
    ),
}
POINTS = {
    "en": {
        "A1": "A1.p1: Build the thinnest version first and measure for a week.\nA1.p2: Give the work one owner.",
        "B1": "B1.p1: The plan can fail quietly for months.\nB1.c1: Against A1.p1: a week proves very little.",
    },
    "zh": {
        "A1": "A1.p1：先做出最小的版本，并测量一个星期。\nA1.p2：这项工作要有一个负责人。",
        "B1": "B1.p1：方案可能会悄悄失败几个月。\nB1.c1：针对A1.p1：一个星期说明不了什么。",
    },
}
TITLE = "Write a title of three to five words, in the language of the question."
CHAIR = "You are the chair of a council. Weigh the answers and the reviews, and conclude."
REPAIR = "Give the order in which the review below puts these answers: Response A, Response B, Response C."


def shape(schema: type[BaseModel]) -> dict[str, Any]:
    """A response format that asks for the schema."""
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema.model_json_schema()}}


def labels(count: int) -> list[str]:
    """Response A … Response Z, Response AA, Response AB …"""
    letters = [chr(65 + n) if n < 26 else "A" + chr(65 + n - 26) for n in range(count)]
    return [f"Response {letter}" for letter in letters]


def fence(name: str, text: str) -> str:
    return f"[[{name} {TOKEN}]]\n{text}\n[[/{name} {TOKEN}]]"


def asking(*parts: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": "\n\n".join(parts)}]


def review(language: str, answers: tuple[str, ...] = ()) -> list[dict[str, str]]:
    texts = answers or ANSWERS[language]
    names = [label.replace("Response ", "response-") for label in labels(len(texts))]
    shown = [fence(name, text) for name, text in zip(names, texts, strict=True)]
    rule = "Assess each answer. Then write the header FINAL RANKING: and a list like\n1. Response C\n2. Response A"
    return asking(rule, fence("question", QUESTIONS[language]), *shown)


def conclusion(language: str, ranking: str = "1. answer 2 (1.3)\n2. answer 1 (1.8)") -> list[dict[str, str]]:
    answers = [fence(f"answer-{n}", text) for n, text in enumerate(ANSWERS[language], 1)]
    return asking(
        CHAIR, fence("question", QUESTIONS[language]), *answers, fence("review-1", "Good."), fence("ranking", ranking)
    )


def debater(language: str, speaker: str, *, round_: int = 1, points: bool = True, addendum: str = "") -> Any:
    shown = [fence(f"points-{name}", text) for name, text in POINTS[language].items()] if points else []
    more = [fence("addendum", addendum)] if addendum else []
    task = fence("task", REQUESTS[language])
    return asking(f"You are debater {speaker}. This is round {round_} of 2.", task, *shown, *more)


def summary(language: str) -> list[dict[str, str]]:
    shown = [fence(f"points-{name}", text) for name, text in POINTS[language].items()]
    return asking("Sum the debate up.", fence("task", REQUESTS[language]), *shown)
