"""The forms in which models answer: their JSON schemas, and how a prompt shows them."""

from functools import cache

from pydantic import BaseModel, ConfigDict


class Form(BaseModel):
    """Read tolerantly (`answers.py`): the schema is what is asked for, not what is insisted on."""

    model_config = ConfigDict(extra="forbid")

    @classmethod
    @cache
    def schema_to_follow(cls) -> dict[str, object]:
        return cls.model_json_schema()


class Brief(Form):
    objective: str
    context: str
    preferences: list[str]
    missing: list[str]
    clarifying_questions: list[str]


class Point(Form):
    id: str
    contents: str


class Points(Form):
    speaker: str
    new_perspectives: list[Point]
    counterpoints: list[Point]


class Action(Form):
    id: str
    contents: str
    sources: list[str]


class Actions(Form):
    recommended: list[Action]
    discouraged: list[Action]


BRIEF = """{"objective": text, "context": text, "preferences": [text, …], "missing": [text, …],
"clarifying_questions": [text, …]}"""
POINTS = """{"speaker": "%s", "new_perspectives": [{"id": "p1", "contents": text}, …],
"counterpoints": [{"id": "c1", "contents": text}, …]}"""
ACTIONS = """{"recommended": [{"id": "action_1", "contents": text, "sources": ["A1.p2", …]}, …],
"discouraged": [{"id": "avoid_1", "contents": text, "sources": ["B1.c1", …]}, …]}"""
