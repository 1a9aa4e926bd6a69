"""Things that already exist: the files of a folder, or the rows of a table, as candidates.

A candidate is a vector of one number, the index of a thing. `Folder.kind(path)` is what a studio
offers: its runs read this folder only, whatever their options say.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

from zorank.errors import InvalidInput
from zorank.renderers.candidates import check_candidate
from zorank.renderers.folder import exhibits
from zorank.renderers.folder.files import FolderFiles
from zorank.renderers.folder.kinds import PICTURE, SOUND, TABLES, TEXT
from zorank.renderers.folder.manifest import Item, Manifest, digest_of, shorten
from zorank.renderers.folder.table import Row, Table
from zorank.renderers.interface import RendererKind
from zorank.types import Exhibit, Vector

FRESH_SECONDS = 2.0
"""How long a look at the folder is used again."""

_MEDIA_TYPES = {PICTURE.name: "image/jpeg", SOUND.name: "audio/mpeg"}


@dataclass(frozen=True)
class Folder:
    """The pictures, sounds or texts of a folder, or the rows of a CSV or TSV file.

    Attributes:
        path: the folder or the table.
        manifest: what is ranked, in the form of `Manifest.text`; empty for what is there now.
        size: the longest side of a picture in pixels.
    """

    path: str
    manifest: str = ""
    size: int = 1024
    _looked: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    dim: ClassVar[int] = 1
    space: ClassVar[str] = "euclidean"

    @cached_property
    def source(self) -> FolderFiles | Table:
        """The folder or the table that the things are read from."""
        return source_of(self.path)

    @cached_property
    def listed(self) -> Manifest:
        """The manifest of the things to rank."""
        return Manifest.parse(self.manifest) if self.manifest else self.source.scan()[0]

    @property
    def media_type(self) -> str:
        """The media type of the exhibits; that of a sound is its own."""
        return _MEDIA_TYPES.get(self.listed.kind, "text/html")

    @property
    def title(self) -> str:
        """The number and kind of the things, and the folder's name."""
        return f"{self.listed.title} of {Path(self.path).resolve().name}"

    def item_names(self) -> list[str]:
        """Return the names of the things."""
        return [item.name for item in self.listed.items]

    def check(self) -> None:
        """Raise InvalidInput if nothing of what is ranked is there."""
        gone = len(self._gone())
        if gone == len(self.listed.items):
            raise InvalidInput(
                f"none of the {self.listed.title} of this run is in {self.path}; start the studio "
                "with the --folder that the run was made with"
            )

    def warm_up(self) -> None:
        """Do nothing: files need no model."""

    def absent(self, candidate: Vector) -> bool:
        """Return whether the thing is gone or has another size, so that it cannot be judged."""
        return self._item(candidate).name in self._gone()

    @property
    def note(self) -> str:
        """Say what has changed in the folder since the manifest was made; empty if nothing."""
        gone, added = sorted(self._gone()), self._look()["added"]
        said = []
        if gone:
            one = len(gone) == 1
            said.append(
                f"{shorten(gone)} {'is' if one else 'are'} missing or changed since this run "
                f"began, and no longer compared: put {'it' if one else 'them'} back as before, or "
                "start a new run."
            )
        if added:
            one = len(added) == 1
            said.append(
                f"{shorten(added)} {'was' if one else 'were'} added since this run began and "
                f"{'is' if one else 'are'} not part of it: start a new run to rank "
                f"{'it' if one else 'them'} as well."
            )
        return " ".join(said)

    def render(self, candidates: Iterable[Vector]) -> list[Exhibit]:
        """Return the exhibit of each candidate's thing."""
        return [self._exhibit(self._item(candidate)) for candidate in candidates]

    def _item(self, candidate: Vector) -> Item:
        """Return the thing of a candidate: its number, rounded, is the index."""
        position = check_candidate(candidate, 1, "a folder")[0]
        last = len(self.listed.items) - 1
        return self.listed.items[round(min(max(float(position), 0.0), float(last)))]

    def _exhibit(self, item: Item) -> Exhibit:
        source = self.source
        if isinstance(source, Table):
            found = self._rows(source).get(item.digest)
            if found is None:
                raise InvalidInput(
                    f"row {item.name} is missing from the table, or has changed since this run "
                    "began; restore it, or rank the others"
                )
            return exhibits.row(found)
        if self.listed.kind == PICTURE.name:
            return exhibits.picture(source.read(item, PICTURE), self.size)
        if self.listed.kind == SOUND.name:
            return exhibits.sound(source.read(item, SOUND))
        return exhibits.text(source.read(item, TEXT))

    def _rows(self, table: Table) -> dict[str, Row]:
        """Return the rows of the table by digest; it is read again when it has changed."""
        try:
            state = table.root.stat()
        except OSError:
            return {}
        version = (state.st_mtime_ns, state.st_size)
        if self._looked.get("version") != version:
            rows = {digest_of(row.content): row for row in table.rows()}
            self._looked.update(version=version, rows=rows)
        rows = self._looked["rows"]
        return rows if isinstance(rows, dict) else {}

    def _gone(self) -> set[str]:
        gone: set[str] = self._look()["gone"]
        return gone

    def _look(self) -> dict[str, Any]:
        """Compare the folder with the manifest, at most every FRESH_SECONDS."""
        now = time.monotonic()
        if now - self._looked.get("at", -FRESH_SECONDS) < FRESH_SECONDS:
            return self._looked
        source, items = self.source, self.listed.items
        if isinstance(source, Table):
            rows = self._rows(source)
            known = {item.digest for item in items}
            new = (row for digest, row in rows.items() if digest not in known)
            gone = {item.name for item in items if item.digest not in rows}
            added = [row.label[:60] for row in new]
        else:
            sizes, kind = source.sizes(), self.listed.kind
            gone = {item.name for item in items if sizes.get(item.name) != item.size}
            names = {item.name for item in items}
            added = sorted(n for n in sizes if n not in names and source.ranked(n, kind))
        self._looked.update(at=now, gone=gone, added=added)
        return self._looked


def source_of(path: str) -> FolderFiles | Table:
    """Return the folder or the table at this path."""
    root = Path(path).absolute()
    if root.is_dir():
        return FolderFiles(root)
    if root.suffix.lower() in TABLES:
        if not root.exists():
            raise InvalidInput(f"there is no table {path}")
        return Table(root)
    if root.exists():
        raise InvalidInput(
            f"{path} is neither a folder nor a table; a table is a file whose name ends in "
            f"{' or '.join(TABLES)}"
        )
    raise InvalidInput(f"there is no folder {path}")


def folder_kind(path: str) -> tuple[RendererKind, list[str]]:
    """Return the kind that a studio offers for a folder, and sentences about files left out."""
    source = source_of(path)
    manifest, left_out = source.scan()
    root = str(source.root)
    now = Folder(root, manifest.text)
    kind = RendererKind(
        "folder",
        partial(_restored, root),
        media_type=now.media_type,
        title=now.title,
        description=f"Rank {manifest.title} until their order is known.",
        tells_progress=False,
        options={"folder": "", "manifest": ""},
        current=lambda: {"folder": root, "manifest": source.scan()[0].text},
        ranks_items=True,
    )
    return kind, left_out


def _restored(root: str, folder: str = "", manifest: str = "") -> Folder:
    """Make the renderer of a run; `folder` only says where its files were when it was created."""
    made = Folder(root, manifest)
    if manifest and folder != root:
        made.check()  # raises if the folder has other files
    return made
