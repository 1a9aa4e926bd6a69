"""English to phonemes, with the American dictionary of the package `misaki` (Apache-2.0).

Its data are read, its code is not: that needs spaCy. A word is looked up, then without its ending
(-s, -ed, -ing, ...), then as a compound of two words; what remains unknown is spelled. Words of
one spelling and two sounds (*read*, *record*) have the more frequent one.
"""

from __future__ import annotations

import json
import re
import unicodedata
from functools import cache
from importlib import resources

from zorank.errors import InvalidInput, required_by, short

WEAK = {"a": "ɐ", "an": "ɐn", "the": "ðə", "to": "tə", "and": "ænd"}
"""Function words as they sound in a sentence; the dictionary has them as they sound alone."""

TOKENS = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|\d+(?:[.,]\d+)*|[;:,.!?—…\"()“”-]|\s+|.")
STOPS = ';:,.!?—…"()“”'
VOICELESS, HISSING = "ptkfθ", "szʃʒʧʤ"
VOWELS = "AIOQWYaeiouæɑɒɔəɚɛɜɪʊʌᵊᵻ"

TO_NINETEEN = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
BY_TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety"
ONES, TENS = TO_NINETEEN.split(), BY_TENS.split()
SCALES = ((10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred"))
SYMBOLS = {"&": "and", "%": "percent", "+": "plus", "=": "equals", "@": "at", "$": "dollar"}


def phonemes(text: str) -> str:
    """Return the phonemes of an English text, with its punctuation."""
    tokens = TOKENS.findall(text)
    spoken: list[str] = []
    for token in tokens:
        if token[0].isdecimal():
            spoken.append(" ".join(_word(word) for word in _number(token)))
        elif token[0].isalpha():
            spoken.append(_word(token))
        elif token in STOPS or token.isspace():
            spoken.append(token)
        elif token in SYMBOLS:
            spoken.append(f" {_word(SYMBOLS[token])} ")
        else:
            spoken.append(" ")
    return _before_vowels("".join(spoken))


def _before_vowels(read: str) -> str:
    """Change "the" and "to" before words that begin with a vowel."""
    return re.sub(rf"\b(ð|t)ə (?=[ˈˌ]?[{VOWELS}])", lambda m: {"ð": "ði ", "t": "tʊ "}[m[1]], read)


def _word(word: str) -> str:
    if word.lower() in WEAK and word != "A":
        return WEAK[word.lower()]
    found = _known(word) or _known(_bare(word))
    return found or " ".join(filter(None, map(_letter, _bare(word))))


def _letter(letter: str) -> str:
    found = _entry(letter.upper())
    if found is None:
        raise InvalidInput(
            f"voice cannot read the character {short(letter)}: it reads English and Japanese"
        )
    return found


def _bare(word: str) -> str:
    """Return a word without accents and apostrophes."""
    parts = unicodedata.normalize("NFD", word)
    return "".join(c for c in parts if c != "'" and not unicodedata.combining(c))


def _known(word: str) -> str | None:
    """Return the phonemes of a word, of its stem and its ending, or of its two parts."""
    lower = word.lower()
    found = _entry(word) or _entry(lower) or _entry(lower.capitalize())
    if found or (word.isupper() and len(word) < 5):  # short capitals are an abbreviation
        return found
    return _inflected(lower) or _compound(lower)


def _inflected(word: str) -> str | None:
    if word.endswith(("'s", "s'")) or (word.endswith("s") and not word.endswith("ss")):
        for stem in (word[:-1].removesuffix("'"), word.removesuffix("es"), word[:-3] + "y"):
            if stem != word and (found := _entry(stem)):
                return found + _plural(found)
    for ending, sound in (("ing", "ɪŋ"), ("ed", ""), ("er", "əɹ"), ("ly", "li"), ("ness", "nəs")):
        base = word.removesuffix(ending)
        if base == word or len(base) < 2:
            continue
        undoubled = base[:-1] if base[-1] == base[-2] else base
        for stem in (base, base + "e", undoubled, base[:-1] + "y"):
            if found := _entry(stem):
                return found + (_past(found) if ending == "ed" else sound)
    return None


def _plural(stem: str) -> str:
    return "ᵻz" if stem[-1] in HISSING else "s" if stem[-1] in VOICELESS else "z"


def _past(stem: str) -> str:
    return "ᵻd" if stem[-1] in "td" else "t" if stem[-1] in VOICELESS + "sʃʧ" else "d"


def _compound(word: str) -> str | None:
    for cut in range(len(word) - 3, 2, -1):
        first, second = _entry(word[:cut]), _entry(word[cut:]) or _inflected(word[cut:])
        if first and second:
            return first + second.replace("ˈ", "ˌ")
    return None


def _number(token: str) -> list[str]:
    """Return the words of a number such as 1,200 or 3.14."""
    whole, _, fraction = token.replace(",", "").partition(".")
    digits = [ONES[int(digit)] for digit in fraction.replace(".", "")]
    words = _whole(int(whole)) if len(whole) < 13 else [ONES[int(digit)] for digit in whole]
    return [*words, "point", *digits] if digits else words


def _whole(number: int) -> list[str]:
    if number < 20:
        return [ONES[number]]
    if number < 100:
        return [TENS[number // 10], *(_whole(number % 10) if number % 10 else [])]
    size, name = next((size, name) for size, name in SCALES if number >= size)
    rest = _whole(number % size) if number % size else []
    return [*_whole(number // size), name, *rest]


def _entry(word: str) -> str | None:
    for dictionary in _dictionaries():
        if found := dictionary.get(word):
            return found if isinstance(found, str) else found.get("DEFAULT")
    return None


@cache
def _dictionaries() -> tuple[dict[str, str | dict[str, str]], ...]:
    with required_by("voice in English", "misaki", "voice"):
        folder = resources.files("misaki") / "data"
    names = ("us_gold.json", "us_silver.json")
    return tuple(json.loads((folder / name).read_text(encoding="utf-8")) for name in names)
