"""Names of people. No name may be mistaken for another one, or for the owner's.

Two names are the same if they differ only in case, in spaces, in Unicode forms of one character
(NFKC), or in letters of other alphabets that look alike. A new name must also differ to the eye:
"AIice", with a capital i, is refused beside "Alice".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from zorank.errors import InvalidInput

OWNER_NAME = "owner"
"""The owner's name as a rater; nobody else may use it."""

LONGEST = 60
"""The largest number of characters of a name."""

# Each word is a Latin letter, followed by small letters of other alphabets that look like it, or
# whose capitals do.
_LOOKALIKES = (
    "a\u0430\u03b1\u0251\u1d00 b\u0432\u03b2\u0299 c\u0441\u03f2\u1d04 d\u0501\u1d05 "
    "e\u0435\u03b5\u1d07\u04bd g\u0261\u0581 h\u04bb\u043d\u029c i\u0456\u03b9\u0131\u026a "
    "j\u0458\u1d0a k\u043a\u03ba\u1d0b l\u04cf\u029f m\u043c\u03bc\u1d0d n\u0578\u0274\u043f "
    "o\u043e\u03bf\u0585\u1d0f\u03c3 p\u0440\u03c1\u1d18 q\u051b r\u0280\u0433 s\u0455\ua731 "
    "t\u0442\u03c4\u1d1b u\u057d\u03c5\u1d1c v\u0475\u03bd\u1d20 w\u051d\u0561\u1d21\u03c9 "
    "x\u0445\u03c7 y\u0443\u028f\u04af z\u1d22"
)
_TO_LATIN = {ord(other): word[0] for word in _LOOKALIKES.split() for other in word[1:]}

# Each word is a character, followed by ASCII characters that look like it in many fonts.
_ASCII_LOOKALIKES = "l1|I o0O"
_TO_SKELETON = {ord(other): word[0] for word in _ASCII_LOOKALIKES.split() for other in word[1:]}
_ALPHABETS = {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "COPTIC", "CHEROKEE", "GEORGIAN"}

# Characters that draw nothing, besides those of the categories C (control) and Z (separator).
_BLANKS = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufe00-\ufe0f"
    "\u180b-\u180f\U000e0100-\U000e01ef]"
)


def name_key(name: str) -> str:
    """Return a form of a name that is equal for names that look alike."""
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return " ".join(plain.split()).translate(_TO_LATIN)


def skeleton(name: str) -> str:
    """Return a form of a name that is equal for names that cannot be told apart by eye.

    A small i and a capital L look like nothing else, so Ali and All, Ian and Lan are different.
    """
    plain = unicodedata.normalize("NFKC", name).replace("i", "\0").replace("L", "\1")
    return name_key(plain.translate(_TO_SKELETON).replace("rn", "m"))


def check_name(name: str, taken: Iterable[str] = ()) -> None:
    """Raise unless a name is fit for a person, and none of `taken` looks like it."""
    if not name.strip():
        raise InvalidInput("an answer or an invitation needs a name; enter one")
    if len(name) > LONGEST:
        raise InvalidInput(f"a name has at most {LONGEST} characters, found {len(name)}")
    if name != name.strip():
        raise InvalidInput(f"the name {name!r} begins or ends with a space; remove it")
    if any(_is_invisible(c) for c in name):
        raise InvalidInput(f"the name {name!a} has invisible characters; remove them")
    if _looks_like_owner(name):
        raise InvalidInput(
            f"a person needs a name of their own: {name!r} looks like the studio's "
            f"{OWNER_NAME!r}; enter another"
        )
    if mixed := _mixed_alphabets(name):
        raise InvalidInput(
            f"the name {name!r} has letters of several alphabets in one word ({mixed}), which may "
            "look like another name; use one alphabet"
        )
    key, shape = name_key(name), skeleton(name)
    for other in taken:
        if name_key(other) == key or skeleton(other) == shape:
            raise InvalidInput(
                f"the name {name!r} looks like {other!r}, which is taken in this run; "
                "choose another"
            )


def _is_invisible(character: str) -> bool:
    is_space = character == " "
    hidden = unicodedata.category(character)[0] in "CZ"
    return not is_space and (hidden or bool(_BLANKS.match(character)))


def _looks_like_owner(name: str) -> bool:
    bare = unicodedata.normalize("NFKD", name_key(name))
    letters = "".join(c for c in bare if c.isalnum()).translate(_TO_LATIN)
    return letters.replace("0", "o").replace("vv", "w").replace("3", "e") == OWNER_NAME


def _mixed_alphabets(name: str) -> str:
    """Return the alphabets of a word that has letters of several, else nothing."""
    for word in re.split(r"[\W\d_]+", unicodedata.normalize("NFKC", name)):
        found = {unicodedata.name(c, "").partition(" ")[0] for c in word} & _ALPHABETS
        if len(found) > 1:
            return " and ".join(sorted(alphabet.title() for alphabet in found))
    return ""
