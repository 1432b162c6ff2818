"""What kind of thing a person asks for: a choice, a yes or no, a way, a reason, a thing, or a piece of work."""

import re
from typing import Final

_SENTENCE: Final = re.compile(r"[^.?!。？！\n]+[.?!。？！]?")
_TASK: Final = re.compile(
    r"^(?:please\s+|(?:can|could|would|will) you (?:please )?)?(?:explain|describe|compare|summari[sz]e|outline|"
    r"suggest|recommend|list|name|discuss|write|draft|design|plan|give|propose|estimate|define|translate|review|analy[sz]e|"
    r"create|develop|implement|prove|show|tell|help|find|sketch|evaluate|advise|argue|make|build|sort|solve|calculate|"
    r"compose|rewrite|rephrase|classify|identify|generate|brainstorm|invent|plan)\b",
    re.IGNORECASE,
)
_HAN_TASK: Final = re.compile(
    r"^\s*(?:请|写|列出|列举|设计|解释|比较|说明|介绍|分析|总结|给出|推荐|建议|翻译|证明|帮我|评价|概括)"
)
_HAN_ASKS: Final = re.compile(r"[？?]|吗|呢|什么|如何|怎么|怎样|是否|哪|多少|还是")
_KINDS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("why", re.compile(r"\b(?:why|for what reason|how come)\b|为什么|为何|原因", re.IGNORECASE)),
    ("what", re.compile(r"\bhow (?:many|much|long|often|sure|far|old|large|big)\b|多少|多久", re.IGNORECASE)),
    ("how", re.compile(r"\bhow\b|如何|怎么|怎样", re.IGNORECASE)),
    ("what", re.compile(r"\b(?:what|which|who|when|where|whose)\b|什么|哪|谁", re.IGNORECASE)),
)
_WHETHER: Final = re.compile(
    r"(?:^|, |; )(?:is|are|was|were|should|shall|can|could|will|would|do|does|did|has|have|may|must)\b"
    r"|是否|能否|可否|吗|该不该|要不要|能不能|可不可以|是不是|值不值得",
    re.IGNORECASE,
)
_EXPLAIN: Final = re.compile(
    r"^(?:please |(?:can|could|would|will) you (?:please )?)?(?:explain|describe)\b"
    r"|解释|^请?(?:说明|介绍)",
    re.IGNORECASE,
)
_CODE: Final = re.compile(
    r"\b(?:function|script|regex|sql|snippet|python|javascript|typescript|rust|java|bash|code|c\+\+|implement\w*)(?!\w)"
    r"|代码|函数|脚本|编程|正则|程序",
    re.IGNORECASE,
)
_OPTIONS: Final = re.compile(r"(.+?)[,;]? or (.+)", re.IGNORECASE | re.DOTALL)
_BEFORE_OPTION: Final = re.compile(
    r".*(?:[:;–—]|, |\b(?:should|shall|could|would|can|do|does|will|must) (?:we|i|you|they|one|it|people)\b"
    r"|\b(?:better|prefer|choose|between|whether|use|take|is|are|was|were) (?:to )?)",
    re.IGNORECASE | re.DOTALL,
)
_VERB: Final = re.compile(
    r"\b(?:run|rent|buy|use|build|keep|hire|write|make|teach|learn|pay|start|stop|move|switch|replace|adopt|allow|ban|"
    r"work|give|take|publish|invest|cook|sell|own|develop|store|host|train|offer|require|meet|let|go|stay|choose|spend|"
    r"drive|travel|live|study|read|grow|plant|repair|put|set|ask|share|cut|raise|lower|open|close)\b"
)
_AFTER_OPTION: Final = re.compile(
    r"\s(?:for|when|if|because|in|on|at|given|with|to|as|during|after|the (?:better|best|right))\s|[,;:?.!]",
    re.IGNORECASE,
)
_NO_OPTION: Final = re.compile(
    r"^(?:not|no|less|more|two|three|so|\d.*|else|even|other|otherwise|any\w*|some\w*)\b", re.IGNORECASE
)
_OPEN: Final = re.compile(r"(?:how|why|what(?! is better| is best|'s better)|who|when|where)\b", re.IGNORECASE)
_INVERTED: Final = re.compile(
    r"(?:should|shall|could|can|would|do|does)\s+(?:a|an|the|our|my|your|this|most|all)\b", re.IGNORECASE
)
_HAN_OPTIONS: Final = re.compile(r"([^，。？！；：\n]{1,30}?)还是([^，。？！；：\n]{1,20})")
_HAN_BEFORE: Final = re.compile(r"^.*(?:应该|应当|选择|更适合|适合|到底|究竟|最好|该|选|是|会|要|先)+")
_HAN_AFTER: Final = re.compile(r"(?:更好|比较好|好|呢|更合适|合适|更划算|划算)+$")
_LONGEST: Final = 7
_HAN_LONGEST: Final = 14


def sounds_like_a_question(text: str) -> bool:
    """A question mark or a task at the beginning of a sentence, in at least three words or five characters."""
    if len(text.split()) < 3 and len(re.findall(r"[\u4e00-\u9fff]", text)) < 5:
        return False
    if "?" in text or _HAN_TASK.search(text) or "？" in text:
        return True
    return any(_TASK.match(sentence.strip()) for sentence in _SENTENCE.findall(text)) or bool(
        re.search(r"[\u4e00-\u9fff]", text) and _HAN_ASKS.search(text)
    )


def the_question(text: str) -> str:
    """The last sentence that asks, otherwise the first one."""
    sentences: list[str] = [sentence.strip() for sentence in _SENTENCE.findall(text) if sentence.strip()]
    asked = [sentence for sentence in sentences if sentence[-1] in "?？"]
    tasks = [sentence for sentence in sentences if _TASK.match(sentence) or _HAN_TASK.match(sentence)]
    return asked[-1] if asked else (tasks or sentences or [text])[0]


def kind_of(question: str) -> str:
    """choice, whether, how, why, what or task."""
    if find_options(question) is not None:
        return "choice"
    if _TASK.match(question) or (_HAN_TASK.match(question) and question[-1:] not in "?？"):
        return "task"
    opening = re.match(r"(?:is|are|should|shall|can|could|will|would|do|does|did|has|have)\b", question, re.IGNORECASE)
    if opening is not None:
        return "whether"
    for kind, pattern in _KINDS:
        if pattern.search(question) is not None:
            return kind
    return "whether" if _WHETHER.search(question) else "what"


def asks_for_reasons(question: str) -> bool:
    """It wants something explained, not something done."""
    return kind_of(question) == "why" or bool(_EXPLAIN.search(question))


def is_about_code(text: str) -> bool:
    return bool(_CODE.search(text))


def find_options(question: str) -> tuple[str, str] | None:
    """The two between which the question lets choose, in its own words; None when there are none."""
    if re.search(r"[\u4e00-\u9fff]", question):
        return _han_options(question)
    match = _OPTIONS.fullmatch(question.rstrip("?.! "))
    if match is None or _is_open(question):
        return None
    first = _first_option(match[1])
    second = match[2].strip()
    if len(first.split()) <= 3 and not _VERB.match(first):
        second = _AFTER_OPTION.split(second, maxsplit=1)[0]
    second = re.split(r"[,;:.]", second)[0].strip()
    both = (first, second)
    is_sound = all(1 <= len(option.split()) <= _LONGEST and not _NO_OPTION.match(option) for option in both)
    return both if is_sound else None


def _is_open(question: str) -> bool:
    """It asks for a way or a reason, and its "or" joins two words of it."""
    return bool(_OPEN.match(question) or _TASK.match(question))


def _first_option(text: str) -> str:
    option = _BEFORE_OPTION.sub("", text).strip()
    verb = _VERB.search(option) if _INVERTED.match(option) else None
    return option[verb.start() :] if verb else option


def _han_options(question: str) -> tuple[str, str] | None:
    match = _HAN_OPTIONS.search(question)
    if match is None:
        return None
    first = _HAN_BEFORE.sub("", match[1]).strip()
    second = _HAN_AFTER.sub("", match[2].strip())
    is_sound = 1 <= len(first) <= _HAN_LONGEST and 1 <= len(second) <= _HAN_LONGEST
    return (first, second) if is_sound else None
