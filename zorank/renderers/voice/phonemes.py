"""Text to phonemes: English or Japanese, told apart by the script.

Kokoro reads phonemes of an alphabet of its own. Kana and kanji are read by `japanese.py`,
everything else as English by `english.py`. Other languages need rules of their own.
"""

from __future__ import annotations

import re
import unicodedata

from zorank.errors import InvalidInput, short
from zorank.renderers.voice import english, japanese, model

JAPANESE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff々]")
"""Kana, kanji."""

PUNCTUATION = str.maketrans({"’": "'", "‘": "'", "–": "—", "\n": " ", "\t": " "})


def phonemes_of(text: str) -> str:
    """Return the phonemes of a text, as Kokoro knows them."""
    plain = unicodedata.normalize("NFKC", text).translate(PUNCTUATION)
    read = japanese.phonemes(plain) if JAPANESE.search(plain) else english.phonemes(plain)
    known = model.phoneme_numbers()
    found = re.sub(r"\s+", " ", "".join(one for one in read if one in known)).strip()
    if not any(one.isalpha() for one in found):
        raise InvalidInput(
            f"voice cannot read the text {short(text)}: it reads English and Japanese"
        )
    return found
