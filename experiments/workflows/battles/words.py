"""How judges name a winner in words: "B", "Image B", "**Response B**", "Both are equal", "B is better than A"."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Literal

from experiments.workflows.base.labels import bare, plain
from experiments.workflows.base.parsing import Unreadable

Choice = Literal["first", "second", "tie"]

LONGEST_VALUE = 300
LONGEST_PROSE = 20_000
LONGEST_SENTENCE = 2_000
LONGEST_SHOWN = 60

_NOUN = (
    r"(?:responses?|answers?|images?|pictures?|photos?|candidates?|outputs?|options?|assistants?|models?|versions?|"
    r"results?|edits?|texts?|repl(?:y|ies)|solutions?|sides?)"
)
_ZH = r"(?:回答|回复|答案|图片|图像|图|输出|选项|候选|方案|结果|版本|模型|助手|作品|文本)"
_WHOLE = r"(?![A-Za-z0-9])(?!['’]\w)"
# In running text a lower-case letter is an article, so only a capital is a label there.
_SIDE = (
    rf"(?:(?i:the\s+)?(?i:{_NOUN})[\s:#-]{{0,3}}[(\['\"]?[AB]{_WHOLE}[)\]'\"]?"
    rf"|{_ZH}\s*[(\['\"]?[AB]{_WHOLE}[)\]'\"]?|(?<![A-Za-z0-9'’])[(\['\"]?[AB]{_WHOLE}[)\]'\"]?(?:\s*{_ZH})?)"
)
_LETTER = re.compile(rf"(?<![A-Za-z0-9])[AB]{_WHOLE}")
_ALONE = re.compile(
    rf"(?:the\s+)?(?:(?:{_NOUN}|{_ZH})?[\s:#-]{{0,3}}[(\['\"]*([ab])[)\]'\"]*|['\"]?([ab])['\"]?\s*(?:{_ZH}|{_NOUN}))",
    re.IGNORECASE,
)
_PLACE = re.compile(
    rf"(?:the\s+)?(first|second)(?:\s+(?:one|{_NOUN}))?|第([一二])(?:个|张|份|幅|篇)?{_ZH}?", re.IGNORECASE
)
_CHOICES: dict[str, Choice] = {"a": "first", "first": "first", "一": "first", "tie": "tie"}
_CHOICES |= {"b": "second", "second": "second", "二": "second"}

_MORE = (
    r"(?:\s+(?:much|far|slightly|somewhat|clearly|marginally|a\s+(?:bit|little|lot)|significantly|considerably|"
    r"overall|generally|also|still|just|simply|definitely|the|clear|obvious|overall))*"
)
_ZH_MORE = r"(?:明显|显然|略微|略|稍微|稍|显著|整体|总体|要|更为|在整体上|在总体上|总体上|整体上|的?表现)*"
_BETTER = re.compile(
    rf"(?P<side>{_SIDE})(?:"
    rf"\s+(?:is|was){_MORE}\s+(?:better|stronger|superior|preferable|preferred|best|winner)(?![\w-])"
    rf"|\s+(?:clearly\s+|slightly\s+|narrowly\s+)?(?:wins|beats|outperforms|surpasses|prevails)(?!\w)"
    rf"|\s*[(,:–—-]?\s*{_MORE}\s*better\s+than\s+{_SIDE}"
    rf"|\s*{_ZH_MORE}(?:更好|更佳|更优|较好|更强|更胜一筹|胜出|获胜|胜|赢|最好|最佳)"
    rf"|\s*{_ZH_MORE}(?:优于|好于|胜过|强于)\s*{_SIDE}"
    rf"|\s*比\s*{_SIDE}\s*{_ZH_MORE}(?:更|要)*(?:好|佳|优|强))"
)
_WORSE = re.compile(
    rf"(?P<side>{_SIDE})(?:\s+(?:is|was){_MORE}\s+(?:worse|weaker|inferior)(?![\w-])|\s+loses(?!\w)"
    rf"|\s*{_ZH_MORE}(?:不如|逊于|劣于|比不上|差于)\s*{_SIDE}|\s*比\s*{_SIDE}\s*{_ZH_MORE}(?:更|要)*(?:差|弱))"
)
_PREFER = re.compile(
    rf"(?:(?i:\b(?:prefer|choose|pick|select|vote\s+for|favou?r|go\s+with))|(?<![不])(?:我?选择?|偏好|更喜欢|倾向于))\s*(?P<side>{_SIDE})"
)
_SIGN = re.compile(rf"(?P<left>{_SIDE})\s*(?P<sign>>{{1,3}}|<{{1,3}}|={{1,3}}|≈|≻)\s*(?P<right>{_SIDE})")
_TIE = re.compile(
    r"\b(?:a\s+tie|tied?|a\s+draw|draw)\b(?!\s+(?:to|with(?!\s+each)))"
    r"|\bboth\s+(?:\w+\s+){0,3}?(?:are|is|were)\s+(?:\w+\s+)?(?:equal|equally\s+\w+|the\s+same|comparable|similar|on\s+(?:a\s+)?par)"
    r"|\b(?:equal|equally\s+good|evenly\s+matched|no\s+(?:clear\s+|overall\s+)?(?:winner|difference|preference))\b"
    r"|\bneither\s+(?:\w+\s+){0,2}?is\s+(?:clearly\s+)?better\b"
    r"|平局|平手|打平|相当|不分上下|不相上下|不分伯仲|难分(?:高下|伯仲|胜负|优劣)|旗鼓相当|(?:一样|同样)好|没有(?:明显)?(?:差别|差异|区别)|并列",
    re.IGNORECASE,
)
_TIE_ALONE = re.compile(r"(?:both|neither|equal|equals|same|the\s+same|tie|draw|平)", re.IGNORECASE)
_BOTH_BAD = re.compile(r"\bboth\b[^.]{0,30}\b(?:bad|poor|wrong|fail|unacceptable)|都(?:不好|很?差|不行)", re.IGNORECASE)
_NOT = re.compile(
    r"\b(?:not|never|nor|hardly|cannot|without|rather\s+than|instead\s+of|if|unless|whether|which|would|could|might|may)\b"
    r"|n['’]t\b|不|没|未|并非|是否|如果|哪",
    re.IGNORECASE,
)
_AGAINST = re.compile(
    r"\b(?:not|no|worse|weaker|inferior|loses?|lost|fails?|poor|bad|neither)\b|n['’]t\b|不|差|输|弱|劣", re.IGNORECASE
)
_BY_POINT = re.compile(
    r"\b(?:in\s+terms\s+of|regarding|as\s+(?:for|to)|when\s+it\s+comes\s+to|with\s+respect\s+to"
    r"|(?:on|for)\s+(?!balance|the\s+whole|the\s+other|these|this|that|me\b|all))|方面|而言",
    re.IGNORECASE,
)
_AT_POINT = re.compile(
    r"\s+(?:at|in|for|on|with|regarding|when|where|because\s+of\s+its)\b(?!\s+(?:general|all|every|balance|the\s+whole|overall))",
    re.IGNORECASE,
)
_LABELLED = re.compile(
    r"(?:\b(?:(?:final|overall|my)\s+){0,3}(?:winner|verdict|decision|choice|judge?ment|preference|answer|(?:better|preferred|winning|best)"
    rf"\s+(?:one|{_NOUN}))|获胜者|胜者|优胜者|赢家|更好的(?:一个|{_ZH})?|结论|裁决|判定|最终(?:判断|选择|结果|答案)|选择)"
    r"\s*(?:is\b|:|=|为|是)\s*(?:is\b|:|为|是)?(?P<value>[^\n.!?。！？]*)",
    re.IGNORECASE,
)
_REMARK = re.compile(r"\s*(?:[(,;:–—，（-]|\b(?:by|slightly|clearly|because|since|overall|wins?)\b)")
_OPTIONS = re.compile(r"\bA\b[^\w>=<≈]{0,4}(?:\||/|\bor\b|或)", re.IGNORECASE)  # the form of the answer, given back
_BLANKS = re.compile(r"\s+")
_MARKED = re.compile(r"\[\[\s*(A|B|tie)\s*\]\]", re.IGNORECASE)
_OVERALL = re.compile(
    r"\b(?:overall|in\s+(?:sum|short|conclusion|summary)|to\s+conclude|therefore|hence|all\s+in\s+all|on\s+(?:balance|the\s+whole)"
    r"|in\s+the\s+end|finally|my\s+verdict)\b|综上|总之|总体|总的来说|整体|因此|所以|最终",
    re.IGNORECASE,
)
_SENTENCES = re.compile(r"(?<=[.!?])\s+|[。！？；;\n]+")
_CLAUSE = re.compile(r"[.!?;,:\n，。！？；：—–]")


def side_named(name: str) -> str:
    """ "A" or "B" for the name of a side in any spelling; "" for anything else."""
    found = _ALONE.fullmatch(_clean(name))
    return (found[1] or found[2]).upper() if found else ""


def choice_in(value: Any) -> Choice:
    """What the value under "winner" says. Raises Unreadable where that is not certain."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, str):
        raise Unreadable("it names no winner")
    text = _clean(value[: LONGEST_VALUE + 1])
    if not text or len(text) > LONGEST_VALUE:
        raise Unreadable("it names no winner" if not text else "what it says under winner is no name of a side")
    if choice := _read(text) or _agreed(_firm(text)):
        return choice
    raise Unreadable(f"it gives the winner as {value[:LONGEST_SHOWN]!r}, which is neither A nor B nor a tie")


def choice_of_prose(text: str) -> Choice:
    """The verdict of a reply without JSON. Raises Unreadable where it has none, or several that differ."""
    said = _shown(text[-LONGEST_PROSE:])
    choice = _agreed(_firm(said))
    if choice is None:
        choice = _read(_clean(said)) if len(said) <= LONGEST_VALUE else _concluding(said)
    if choice:
        return choice
    raise Unreadable("it names no winner")


def _clean(text: str) -> str:
    """Without emphasis, quotation marks and what stands around it."""
    return _shown(text).strip(" \t\r\n.。!！,，;；:：、'")


def _shown(text: str) -> str:
    """Without what cannot be seen or only adorns; blanks are one blank, or one line's end."""
    return _BLANKS.sub(lambda blank: "\n" if "\n" in blank[0] else " ", bare(plain(text)))


def _read(text: str) -> Choice | None:
    """What a short text says, that is nothing but a verdict."""
    if _OPTIONS.search(text):
        return None
    for pattern in (_ALONE, _PLACE, _MARKED):  # the whole text is a name of a side
        if found := pattern.fullmatch(text):
            return _CHOICES[next(filter(None, found.groups())).lower()]
    if _TIE_ALONE.fullmatch(text):
        return "tie"
    return _agreed(_statements(text)) or _leading(text)


def _agreed(said: Iterable[Choice]) -> Choice | None:
    """What all say; None when nobody says anything. Raises Unreadable when they differ."""
    choices = set(said)
    if len(choices) > 1:
        raise Unreadable("it names more than one winner")
    return choices.pop() if choices else None


def _leading(text: str) -> Choice | None:
    """A name with a remark: "Response B (slightly)", "B, by a wide margin". None where the remark may take it back."""
    found = re.match(_SIDE, text)
    if not found or _AGAINST.search(text, found.end()) or len(set(_LETTER.findall(text))) > 1:
        return None
    return _choice(found[0]) if _REMARK.match(text, found.end()) else None


def _firm(text: str) -> Iterator[Choice]:
    """Verdicts that are called so: after "Winner:", in [[ ]], or in a sentence that sums up."""
    for marked in _MARKED.finditer(text):
        yield _CHOICES[marked[1].lower()]
    for labelled in _LABELLED.finditer(text):
        value = _clean(labelled["value"][:LONGEST_VALUE])
        if not _negated(text, labelled.start()) and (choice := _read(value)):
            yield choice
    for sentence in _SENTENCES.split(text):
        if _OVERALL.search(sentence):
            yield from _statements(sentence)


def _concluding(text: str) -> Choice | None:
    """A verdict in the last sentence of a longer reply, where nothing before it says otherwise."""
    sentences = [sentence for sentence in _SENTENCES.split(text) if sentence.strip()]
    if not sentences or not any(True for _said in _statements(sentences[-1])):
        return None
    return _agreed(_statements(text))


def _statements(text: str) -> Iterator[Choice]:
    """What is said of the whole, sentence by sentence: not what is denied, asked, or said of one point only."""
    for sentence in _SENTENCES.split(text):
        is_asked = sentence.rstrip().endswith(("?", "？"))
        if len(sentence) > LONGEST_SENTENCE or is_asked or _BOTH_BAD.search(sentence):
            continue
        for pattern, is_better in ((_BETTER, True), (_PREFER, True), (_WORSE, False)):
            for found in pattern.finditer(sentence):
                if _holds(sentence, found):
                    yield _choice(found["side"], is_better=is_better)
        for found in _SIGN.finditer(sentence):
            if _holds(sentence, found) and _choice(found["left"]) != _choice(found["right"]):
                sign = found["sign"][0]
                yield "tie" if sign in "=≈" else _choice(found["left"], is_better=sign != "<")
        for found in _TIE.finditer(sentence):
            if _holds(sentence, found):
                yield "tie"


def _holds(sentence: str, found: "re.Match[str]") -> bool:
    if _negated(sentence, found.start()) or _BY_POINT.search(sentence, 0, found.start()):
        return False
    return not _AT_POINT.match(sentence, found.end())


def _negated(text: str, end: int) -> bool:
    """Whether the clause that leads up to `end` denies or doubts what follows."""
    return bool(_NOT.search(_CLAUSE.split(text[max(0, end - 120) : end])[-1]))


def _choice(side: str, *, is_better: bool = True) -> Choice:
    """The side that a label names; the other one where it names the worse one."""
    is_first = _LETTER.findall(side)[-1] == "A"
    return "first" if is_first is is_better else "second"
