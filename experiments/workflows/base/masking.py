"""Answers without the names by which their authors could be known."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

NAMES_ITSELF = "names_itself"
MASK = "[name]"
SHORTEST_NAME = 3  # letters and digits

_FAMILIES = (
    r"chatgpt|gpt|o\d|claude|gemini|bard|gemma|palm|llama|mistral|mixtral|magistral|qwen|qwq|deepseek|grok|command|kimi"
    r"|ernie|chatglm|glm|yi|phi|nova|nemotron|doubao|minimax|hunyuan|copilot|jamba|olmo"
    r"|通义千问|文心一言|豆包|混元|智谱清言|讯飞星火"
)
_MAKERS = (
    r"openai|anthropic|google(?:\s?deepmind)?|deepmind|meta(?:\s?ai)?|mistral(?:\s?ai)?|alibaba(?:\s?cloud)?|deepseek|xai"
    r"|x\.ai|cohere|moonshot(?:\s?ai)?|baidu|zhipu(?:\s?ai)?|microsoft|amazon|nvidia|bytedance|tencent|ai21(?:\s?labs)?"
    r"|阿里(?:云|巴巴)?|百度|字节跳动|腾讯|月之暗面|深度求索|智谱"
)
_VERSION = (
    r"(?:[-\s.]?v?\d\w{0,20}(?:\.\w{1,9}){0,3}|-\w{1,20}(?:\.\w{1,9}){0,3}"
    r"|\s(?:pro|flash|ultra|opus|sonnet|haiku|large|turbo|mini)\b){0,4}"
)
# What a model says of itself; the same names elsewhere may be what the question is about.
OF_ITSELF = re.compile(
    r"(?P<before>\b(?:i\s?am|i['’]m|my\sname\sis|call\sme|as|speaking\sas|this\sis)\s(?:an?\s|the\s)?"
    r"(?:(?:ai|language|large|model|assistant|chatbot|called|named|known|as)[\s,]++){0,6}|(?:我是|我叫|作为|身为)\s?(?:一[个款名]\s?)?)"
    rf"(?P<name>(?:{_FAMILIES}){_VERSION})(?![A-Za-z0-9_])",
    re.IGNORECASE,
)
MADE_BY = re.compile(
    r"(?P<before>\b(?:trained|developed|created|made|built|designed)\sby\s(?:the\s)?(?:\w+\s)?|(?:由|我来自)\s?)"
    rf"(?P<name>{_MAKERS})(?![A-Za-z])(?P<after>\s?(?:开发|训练|研发|打造|推出|创建)?)",
    re.IGNORECASE,
)


def masked(text: str, names: Iterable[str], question: str = "") -> str:
    """The text with its author's names replaced. names: what the author is called. Names that stand in the question
    are replaced only where the author speaks of itself.
    """
    return _masked(text, tuple(names), question)


@lru_cache(maxsize=512)
def _masked(text: str, names: tuple[str, ...], question: str) -> str:
    """Every reviewer is shown every answer, and a run that goes on is played anew: it is the same work each time."""
    for name in sorted(_telling(names, question), key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", MASK, text, flags=re.IGNORECASE)
    text = OF_ITSELF.sub(rf"\g<before>{MASK}", text)
    return MADE_BY.sub(rf"\g<before>{MASK}\g<after>", text)


def names_itself(text: str, names: Iterable[str], question: str = "") -> list[str]:
    """The flag of an answer in which something had to be replaced."""
    return [] if masked(text, names, question) == text else [NAMES_ITSELF]


def _telling(names: Iterable[str], question: str) -> Sequence[str]:
    asked = question.casefold()
    long_enough = [name for name in dict.fromkeys(names) if sum(map(str.isalnum, name)) >= SHORTEST_NAME]
    return [name for name in long_enough if name.casefold() not in asked]
