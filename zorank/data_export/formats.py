"""The formats of preference data: their columns, and their rows from the answers of a run."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from zorank.data_export.exhibits import Gallery
from zorank.data_export.tables import Column, Row, Table
from zorank.errors import InvalidInput, required_by
from zorank.preference_data import COLUMNS, Judgement, candidate_id, rows, with_candidates
from zorank.types import Vector

MOST_CSV_COORDINATES = 1000
"""Above this dimension a CSV file has no coordinates: programs limit the number of columns."""

JPEG_QUALITY = 95


@dataclass(frozen=True, eq=False)
class Source:
    """The inputs of a table.

    Attributes:
        answers: of all raters.
        gallery: the rendered candidates; None if they are not needed.
        folder: the folder of the table's file, to which paths are relative.
        paths: whether the table refers to the files of the gallery.
        ties: whether pairs that tie are included.
        prompt: what the exhibits should show.
    """

    answers: Sequence[Judgement]
    gallery: Gallery | None
    folder: Path
    paths: bool
    ties: bool
    prompt: str

    def file(self, candidate: Vector) -> Path:
        """Return the file of a rendered candidate."""
        if self.gallery is None:
            raise InvalidInput("this format needs rendered candidates; give a renderer")
        return self.gallery.file(candidate)

    def path(self, candidate: Vector) -> str:
        """Return the path of a rendered candidate, relative to the table's file."""
        return Path(os.path.relpath(self.file(candidate), self.folder)).as_posix()


@dataclass(frozen=True, eq=False)
class Format:
    """A format of preference data.

    Attributes:
        extensions: of files that it can be written to; the first is the default.
        about: one sentence.
        table: makes the table.
        needs: the media type that candidates must be rendered to, such as "text/"; "" if none.
        strict: whether only strict preferences with a positive weight are used.
        pairs: whether a row is a pair.
    """

    extensions: tuple[str, ...]
    about: str
    table: Callable[[Source], Table]
    needs: str = ""
    strict: bool = False
    pairs: bool = True

    def positions(self, ties: bool) -> Callable[[Judgement], Sequence[int]]:
        """Return a function for the positions that an answer's rows refer to."""
        if not self.pairs:
            return lambda answer: range(len(answer.slate))
        strict = self.strict
        return lambda answer: sorted(
            {
                position
                for pair in answer.pairs(ties)
                if pair.weight > 0 or not strict
                for position in (pair.winner, pair.loser)
            }
        )


def _whole(source: Source, coordinates: bool = True) -> Table:
    picture = Column("picture", str, "the file of the rendered candidate")
    x = Column("x", list, "the coordinates of the candidate")
    more = ([picture] if source.paths else []) + ([x] if coordinates else [])

    def made() -> Iterator[Row]:
        for row in rows(source.answers):
            candidate = row.pop("x")
            row |= {"picture": source.path(candidate)} if source.paths else {}
            yield row | ({"x": candidate.tolist()} if coordinates else {})

    columns = (Column(name, kind, about) for name, (kind, about) in COLUMNS.items())
    return Table((*columns, *more), made())


def _csv(source: Source) -> Table:
    dim = source.answers[0].slate.dim
    if source.paths or dim > MOST_CSV_COORDINATES:
        return _whole(source, coordinates=False)
    whole = _whole(source)
    names = [f"x{i}" for i in range(dim)]

    def made() -> Iterator[Row]:
        for row in whole.rows:
            *kept, (_, x) = row.items()
            yield dict(kept) | dict(zip(names, x, strict=True))

    coordinates = (Column(name, float, f"coordinate {i}") for i, name in enumerate(names))
    return Table((*whole.columns[:-1], *coordinates), made())


PAIR_COLUMNS = {
    "round": COLUMNS["round"],
    "rater": COLUMNS["rater"],
    "winner": (int, "the position of the preferred candidate on the slate, from 0"),
    "loser": (int, "the position of the other candidate"),
    "shown_at": COLUMNS["shown_at"],
    "answered_at": COLUMNS["answered_at"],
    "weight": COLUMNS["weight"],
    "tie": (bool, "whether the rater put both on one level; then neither won"),
    "winner_candidate": (str, "the identifier of the preferred candidate"),
    "loser_candidate": (str, "the identifier of the other candidate"),
}
PICTURE_COLUMNS = {
    "winner_picture": (str, "the file of the preferred candidate"),
    "loser_picture": (str, "the file of the other candidate"),
}


def _pairs(source: Source) -> Table:
    def made() -> Iterator[Row]:
        for answer, candidates in with_candidates(source.answers):
            for pair in answer.pairs(source.ties):
                both = {"winner": candidates[pair.winner], "loser": candidates[pair.loser]}
                row = asdict(pair)
                row |= {f"{who}_candidate": candidate_id(x) for who, x in both.items()}
                if source.paths:
                    row |= {f"{who}_picture": source.path(x) for who, x in both.items()}
                yield row

    return Table(_columns(PAIR_COLUMNS | (PICTURE_COLUMNS if source.paths else {})), made())


def _trl(source: Source) -> Table:
    def text(candidate: Vector) -> str:
        file = source.file(candidate)
        try:
            return file.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise InvalidInput(f"{file.name} must be a text in UTF-8 ({error})") from error

    def made() -> Iterator[Row]:
        for winner, loser, _ in _strict(source):
            yield {"prompt": source.prompt, "chosen": text(winner), "rejected": text(loser)}

    columns = {
        "prompt": (str, "what the texts should be"),
        "chosen": (str, "the preferred text"),
        "rejected": (str, "the other text"),
    }
    return Table(_columns(columns), made())


def _diffusion_dpo(source: Source) -> Table:
    def made() -> Iterator[Row]:
        for winner, loser, first in _strict(source):
            zero, one = (winner, loser) if first else (loser, winner)
            yield {
                "jpg_0": _jpeg(source.file(zero)),
                "jpg_1": _jpeg(source.file(one)),
                "label_0": float(first),
                "label_1": float(not first),
                "caption": source.prompt,
            }

    columns = {
        "jpg_0": (bytes, "a JPEG picture"),
        "jpg_1": (bytes, "another one"),
        "label_0": (float, "1 if jpg_0 was preferred, else 0"),
        "label_1": (float, "1 if jpg_1 was preferred, else 0"),
        "caption": (str, "what the pictures should show"),
    }
    return Table(_columns(columns), made())


def _strict(source: Source) -> Iterator[tuple[Vector, Vector, bool]]:
    """Yield winner and loser of each strict preference, and whether the winner stood first."""
    for answer, candidates in with_candidates(source.answers):
        for pair in answer.pairs():
            if pair.weight > 0:
                first = pair.winner < pair.loser
                yield candidates[pair.winner], candidates[pair.loser], first


def _columns(declared: Mapping[str, tuple[type, str]]) -> tuple[Column, ...]:
    return tuple(Column(name, kind, about) for name, (kind, about) in declared.items())


def _jpeg(file: Path) -> bytes:
    """Return a picture as JPEG: as it is if it is one, else with little loss."""
    data = file.read_bytes()
    if data.startswith(b"\xff\xd8"):
        return data
    with required_by("a JPEG picture", "pillow", "studio"):
        from PIL import Image
    try:
        picture: Any = Image.open(io.BytesIO(data)).convert("RGB")
    except OSError as error:
        raise InvalidInput(
            f"{file.name} is not a picture that Pillow can read, so the format diffusion-dpo "
            "cannot hold it; its renderer must make JPEG, PNG or WebP pictures"
        ) from error
    made = io.BytesIO()
    picture.save(made, "JPEG", quality=JPEG_QUALITY)
    return made.getvalue()


FORMATS: Mapping[str, Format] = {
    "csv": Format((".csv",), "A row for each round, rater and candidate.", _csv, pairs=False),
    "pairs": Format(
        (".jsonl", ".csv", ".json", ".parquet"), "A row for each preference between two.", _pairs
    ),
    "trl": Format(
        (".jsonl", ".json", ".parquet"),
        "The preference format of TRL: a prompt, the preferred text and the other text.",
        _trl,
        needs="text/",
        strict=True,
    ),
    "diffusion-dpo": Format(
        (".parquet",),
        "The columns of Pick-a-Pic that Diffusion-DPO is trained on: two pictures and a label.",
        _diffusion_dpo,
        needs="image/",
        strict=True,
    ),
    "parquet": Format(
        (".parquet",), "A row for each round, rater and candidate.", _whole, pairs=False
    ),
    "json": Format(
        (".json", ".jsonl"), "A row for each round, rater and candidate.", _whole, pairs=False
    ),
}
"""The formats by name."""
