"""Reads the files of one folder, never anything outside of it: links are not followed."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from zorank.errors import InvalidInput, required_by, short
from zorank.renderers.folder.kinds import KINDS, MIB, PICTURE, TEXT, FileKind, kind_named, kind_of
from zorank.renderers.folder.manifest import (
    ENDS,
    MAX_ITEMS,
    MAX_NAME,
    Item,
    Manifest,
    digest_of,
    digest_of_ends,
    shorten,
)

_SCRIPTS = {".svg": "SVG", ".svgz": "SVG", ".html": "HTML", ".htm": "HTML"}


@dataclass
class LeftOut:
    """The files of a folder that are not ranked: reason → names."""

    reasons: dict[str, list[str]] = field(default_factory=dict)

    def add(self, name: str, reason: str) -> None:
        """Leave out a file."""
        self.reasons.setdefault(reason, []).append(ascii(name)[1:-1])

    @property
    def sentences(self) -> list[str]:
        """One sentence for each reason."""
        return [f"left out {shorten(names)}: {reason}" for reason, names in self.reasons.items()]


@dataclass(frozen=True)
class FolderFiles:
    """The files of a folder."""

    root: Path

    def scan(self) -> tuple[Manifest, list[str]]:
        """Return what can be ranked, and sentences about what cannot."""
        left_out = LeftOut()
        found: dict[str, list[Item]] = {kind.name: [] for kind in KINDS}
        for entry, kind in self._candidates(left_out):
            item = self._item(entry, kind, left_out)
            if item is not None:
                found[kind.name].append(item)
        chosen = max(KINDS, key=lambda kind: len(found[kind.name]))  # of equal files, the first
        for kind in KINDS:
            if kind is not chosen:
                for item in found[kind.name]:
                    left_out.add(item.name, f"most files here are {chosen.plural}")
        items = _distinct(found[chosen.name], left_out)
        self._check_count(items, chosen, left_out)
        return Manifest(chosen.name, tuple(items)), left_out.sentences

    def read(self, item: Item, kind: FileKind) -> bytes:
        """Return the content of a file; raise InvalidInput if it is gone or has changed."""
        content = self._open(item.name, kind.largest)
        if content is None:
            raise InvalidInput(
                f"{short(item.name)} is missing from the folder; put it back, or rank the others"
            )
        if len(content) != item.size or digest_of(content) != item.digest:
            raise InvalidInput(
                f"{short(item.name)} has changed since this run began; restore it, or start a "
                "new run"
            )
        return content

    def sizes(self) -> dict[str, int]:
        """Return the size of every regular file, by name."""
        try:
            with os.scandir(self.root) as entries:
                return {
                    e.name: e.stat(follow_symlinks=False).st_size
                    for e in entries
                    if e.is_file(follow_symlinks=False)
                }
        except OSError:
            return {}

    def ranked(self, name: str, kind: str) -> bool:
        """Whether a file of this name would be ranked, by its name alone."""
        found = kind_named(kind)
        ending = Path(name).suffix.lower()
        return found is not None and not name.startswith(".") and ending in found.extensions

    def _candidates(self, left_out: LeftOut) -> Iterator[tuple[os.DirEntry[str], FileKind]]:
        try:
            entries = sorted(os.scandir(self.root), key=lambda entry: entry.name)
        except OSError as error:
            raise InvalidInput(
                f"the folder {self.root} cannot be read: {error.strerror}"
            ) from error
        for entry in entries:
            ending = Path(entry.name).suffix.lower()
            kind = kind_of(ending)
            if entry.name.startswith(".") or entry.is_dir(follow_symlinks=False):
                continue
            if ending in _SCRIPTS:
                left_out.add(entry.name, f"{_SCRIPTS[ending]} files can contain scripts")
            elif kind is None:
                left_out.add(entry.name, "not a picture, a sound or a text that zorank knows")
            elif not entry.is_file(follow_symlinks=False):
                left_out.add(entry.name, "links are not followed; copy the file")
            elif not _is_plain(entry.name):
                left_out.add(entry.name, "the name has control characters or is not text; rename")
            else:
                yield entry, kind

    def _item(self, entry: os.DirEntry[str], kind: FileKind, left_out: LeftOut) -> Item | None:
        """Return a file as an item, or leave it out."""
        name = entry.name
        try:
            size = entry.stat(follow_symlinks=False).st_size
            if size > kind.largest:
                left_out.add(name, f"larger than {kind.largest // MIB} MiB")
                return None
            covered = _read_ends(self.root / name, size, whole=kind is TEXT)
        except OSError as error:
            left_out.add(name, f"cannot be read ({error.strerror})")
            return None
        if not size or kind.media_type(covered[:64]) is None:
            left_out.add(name, f"empty, damaged or not a {kind.name}, despite the name")
        elif kind is PICTURE and not _opens(self.root / name):
            left_out.add(name, "empty, damaged or not a picture, despite the name")
        elif kind is TEXT and not _is_utf8(covered):
            left_out.add(name, "not a text in UTF-8; save it as UTF-8")
        elif kind is TEXT:
            return Item(name, size, digest_of(covered))
        else:
            return Item(name, size, digest_of_ends(size, covered))
        return None

    def _open(self, name: str, largest: int) -> bytes | None:
        """Read a regular file of the folder; None if there is none of this name."""
        if Path(name).name != name or name in ("..", "."):
            return None
        try:
            handle = os.open(self.root / name, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        except OSError:
            return None
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            return file.read(largest + 1)

    def _check_count(self, items: list[Item], kind: FileKind, left_out: LeftOut) -> None:
        why = "".join(f"; {sentence}" for sentence in left_out.sentences[:4])
        if not items:
            raise InvalidInput(
                f"{self.root} has no pictures, sounds or texts to rank (sub-folders and hidden "
                f"files do not count){why}"
            )
        if len(items) == 1:
            raise InvalidInput(
                f"{self.root} has only one {kind.name} to rank, {short(items[0].name)}; two are "
                f"needed{why}"
            )
        if len(items) > MAX_ITEMS:
            raise InvalidInput(
                f"{self.root} has {len(items):,} {kind.plural}; at most {MAX_ITEMS:,} can be "
                "ranked"
            )


def _distinct(items: list[Item], left_out: LeftOut) -> list[Item]:
    """Return the items without copies of earlier ones."""
    copies = Counter((item.size, item.digest) for item in items)
    first: dict[tuple[int, str], str] = {}
    kept = []
    for item in items:
        key = (item.size, item.digest)
        if copies[key] > 1 and key in first:
            left_out.add(item.name, f"the same content as {ascii(first[key])[1:-1]}")
            continue
        first[key] = item.name
        kept.append(item)
    return kept


def _is_plain(name: str) -> bool:
    """Whether a name is printable text, so that it can be stored and shown."""
    try:
        name.encode()
    except UnicodeEncodeError:  # bytes that are not UTF-8
        return False
    return name.isprintable() and len(name) <= MAX_NAME


def _is_utf8(content: bytes) -> bool:
    try:
        return bool(content.decode("utf-8-sig").strip())
    except UnicodeDecodeError:
        return False


def _read_ends(path: Path, size: int, whole: bool) -> bytes:
    """Return the bytes that a digest covers, or all of them."""
    with path.open("rb") as file:
        if whole or size <= 2 * ENDS:
            return file.read()
        head = file.read(ENDS)
        file.seek(size - ENDS)
        return head + file.read(ENDS)


def _opens(path: Path) -> bool:
    """Whether Pillow knows the picture; only its header is read."""
    with required_by("a folder of pictures", "pillow", "studio"):
        from PIL import Image
    try:
        with Image.open(path) as picture:
            return min(picture.size) > 0
    except Exception:  # a damaged file may raise anything
        return False
