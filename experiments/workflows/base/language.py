"""In which language a text is written: by its script where that settles it, by its letters' statistics otherwise."""

import re
from functools import cache
from threading import Event, Lock, Thread

from py3langid.langid import MODEL_FILE, LanguageIdentifier

LONGEST_SAMPLE = 20_000  # characters: more of a text tells no more
FEWEST_LETTERS = 12
FEWEST_SIGNS = 3  # of a script whose signs are syllables or words
SURE = 0.8
KANA_SHARE = 0.1  # of Japanese; Chinese has a の here and there for decoration
# Languages that people write at length. Among more of them, creoles and dialects take the probability that a
# short text in a language of millions has.
KNOWN = (
    *("af", "ar", "be", "bg", "bn", "ca", "cs", "cy", "da", "de", "el", "en", "es", "et", "eu", "fa", "fi", "fr"),
    *("ga", "gl", "gu", "he", "hi", "hr", "hu", "hy", "id", "is", "it", "ka", "kk", "km", "kn", "la", "lo", "lt"),
    *("lv", "mk", "ml", "mn", "mr", "my", "ne", "nl", "no", "pa", "pl", "pt", "ro", "ru", "si", "sk", "sl", "sq"),
    *("sr", "sv", "sw", "ta", "te", "th", "tl", "tr", "uk", "ur", "vi", "zu"),
)
# A fence is closed by its like, or by the end of the text: what is cut short is code to its end.
NO_PROSE = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`|(?:https?://|www\.)\S+|[\w.+-]{1,64}@[\w.-]+", re.DOTALL
)
HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
KANA = re.compile(r"[\u3041-\u30ff\uff66-\uff9d]")
HANGUL = re.compile(r"[\uac00-\ud7a3\u1100-\u11ff]")
WORD = re.compile(r"[^\W\d_]{2,}")
_loading = Event()
_reading = Lock()


def language_of(text: str) -> str | None:
    """The ISO 639-1 code of the language of a text's prose, code and addresses left out. None when it is too short to
    tell, or could be in several.
    """
    prose = NO_PROSE.sub(" ", text[:LONGEST_SAMPLE])
    return _by_script(prose) or _by_letters(prose)


def _by_script(prose: str) -> str | None:
    """Chinese, Japanese or Korean: where their signs outnumber the words in other scripts."""
    han, kana, hangul = (len(script.findall(prose)) for script in (HAN, KANA, HANGUL))
    signs = han + kana + hangul
    words = sum(1 for word in WORD.findall(prose) if word.isascii())
    if signs < FEWEST_SIGNS or signs <= words:
        return None
    if hangul > han + kana:
        return "ko"
    return "ja" if kana > KANA_SHARE * signs else "zh"


def _by_letters(prose: str) -> str | None:
    if sum(map(str.isalpha, prose)) < FEWEST_LETTERS:
        return None
    language, probability = _identifier().classify(prose)
    return str(language) if probability >= SURE else None


def load_ahead() -> None:
    """Have the model read beside whatever else is done, so that the first text need not wait for it."""
    if not _loading.is_set():
        _loading.set()
        Thread(target=_identifier, name="language-model", daemon=True).start()


def _identifier() -> LanguageIdentifier:
    """Read once, by whoever comes first: it takes most of a second."""
    with _reading:
        return _read()


@cache
def _read() -> LanguageIdentifier:
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(KNOWN)
    return identifier
