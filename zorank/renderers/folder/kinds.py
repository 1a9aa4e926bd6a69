"""The kinds of files that can be ranked: how they are recognised, and how large they may be.

A file is recognised by its extension and by its first bytes; both must agree. SVG and HTML are not
among them, because they can contain scripts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

MIB = 2**20


@dataclass(frozen=True)
class FileKind:
    """A kind of file.

    Attributes:
        name: of one such thing: picture, sound, text.
        extensions: in lower case.
        media_type: of the first bytes of a file; None if they are of another kind.
        largest: bytes.
    """

    name: str
    extensions: frozenset[str]
    media_type: Callable[[bytes], str | None]
    largest: int

    @property
    def plural(self) -> str:
        """The name of several."""
        return f"{self.name}s"


def _by_signature(
    signatures: Mapping[str, tuple[int, tuple[bytes, ...]]],
) -> Callable[[bytes], str | None]:
    def media_type(head: bytes) -> str | None:
        for found, (offset, starts) in signatures.items():
            if head[offset:].startswith(starts):
                return found
        return None

    return media_type


# By media type: the position of the signature in a file, and the possible signatures.
_PICTURES = {
    "image/jpeg": (0, (b"\xff\xd8\xff",)),
    "image/png": (0, (b"\x89PNG\r\n\x1a\n",)),
    "image/gif": (0, (b"GIF8",)),
    "image/webp": (8, (b"WEBP",)),
    "image/bmp": (0, (b"BM",)),
    "image/tiff": (0, (b"II*\0", b"MM\0*")),
}
_SOUNDS = {
    "audio/wav": (8, (b"WAVE",)),
    "audio/mpeg": (0, (b"ID3", b"\xff\xfb", b"\xff\xf3", b"\xff\xf2")),
    "audio/ogg": (0, (b"OggS",)),
    "audio/flac": (0, (b"fLaC",)),
    "audio/mp4": (4, (b"ftypM4A",)),
}


def _text(head: bytes) -> str | None:
    return None if b"\0" in head else "text/html"


def _extensions(text: str) -> frozenset[str]:
    return frozenset(f".{name}" for name in text.split())


PICTURE = FileKind(
    "picture",
    _extensions("jpg jpeg png gif webp bmp tif tiff"),
    _by_signature(_PICTURES),
    64 * MIB,
)
SOUND = FileKind(
    "sound", _extensions("wav mp3 ogg oga opus flac m4a"), _by_signature(_SOUNDS), 32 * MIB
)
TEXT = FileKind("text", _extensions("txt text md"), _text, MIB)
KINDS = (PICTURE, SOUND, TEXT)
"""In the order in which a folder with several kinds prefers them."""

TABLES = {".csv": ",", ".tsv": "\t"}
"""The extensions of tables, whose rows are ranked, and their usual delimiters."""


def kind_of(extension: str) -> FileKind | None:
    """Return the kind of files with this extension."""
    return next((kind for kind in KINDS if extension.lower() in kind.extensions), None)


def kind_named(name: str) -> FileKind | None:
    """Return the kind of this name."""
    return next((kind for kind in KINDS if kind.name == name), None)
