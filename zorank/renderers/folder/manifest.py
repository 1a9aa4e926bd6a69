"""The things that a run ranks: names, sizes and digests, fixed when the run is created.

A run stores them as text, one line each, so that a later change of the folder is noticed. The
index of a line is the candidate that stands for the thing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

from zorank.errors import InvalidInput

MAX_ITEMS = 100_000
MAX_NAME = 200
ENDS = 64 * 1024
"""A digest covers this many bytes at the beginning and at the end of a file, and its size."""

_LINE = re.compile(r"([0-9a-f]{16}) (\d{1,15}) ([^\x00-\x1f\x7f]{1,1000})")


class Item(NamedTuple):
    """One thing: a file of the folder, or a row of the table."""

    name: str
    size: int
    digest: str


@dataclass(frozen=True)
class Manifest:
    """The things that a run ranks.

    Attributes:
        kind: picture, sound, text, or row for a table.
        items: the things, in the order of their candidates.
    """

    kind: str
    items: tuple[Item, ...]

    @classmethod
    @lru_cache(maxsize=8)
    def parse(cls, text: str) -> Manifest:
        """Read what `text` returned."""
        kind, *lines = text.split("\n")
        found = [_LINE.fullmatch(line) for line in lines]
        if kind not in ("picture", "sound", "text", "row") or not all(found):
            raise InvalidInput(
                "the list of files of this run is damaged; restore the database from a backup, or "
                "delete the run"
            )
        items = (Item(m[3], int(m[2]), m[1]) for m in found if m)
        return cls(kind, tuple(items))

    @property
    def text(self) -> str:
        """The manifest as text: the kind, then digest, size and name of each thing."""
        return "\n".join([self.kind, *(f"{i.digest} {i.size} {i.name}" for i in self.items)])

    @property
    def title(self) -> str:
        """Say how many things of which kind."""
        return f"{len(self.items)} {self.kind}s"


def digest_of(content: bytes) -> str:
    """Return a digest of a content: its size, its beginning and its end."""
    covered = content if len(content) <= 2 * ENDS else content[:ENDS] + content[-ENDS:]
    return digest_of_ends(len(content), covered)


def digest_of_ends(size: int, covered: bytes) -> str:
    """Return the digest of a file of this size from the bytes at its beginning and end."""
    return blake2b(covered, digest_size=8, salt=size.to_bytes(16, "little")).hexdigest()


def shorten(names: list[str], most: int = 3) -> str:
    """Join names, the first few of them if there are many."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")
