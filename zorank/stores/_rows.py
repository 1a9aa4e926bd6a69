"""Rows of the tables as records, rounds and ballots, and back.

A disk, another program or a person may damage a database. So every value is checked when it is
read: a damaged row raises a StoreError that says what is wrong with it, and hides no other row.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from io import BytesIO
from typing import Any

import numpy as np

from zorank.answers import Poll
from zorank.errors import StoreError
from zorank.rng import check_seed
from zorank.types import (
    Answer,
    Ballot,
    Round,
    RunRecord,
    Snapshot,
    Vector,
    answer_from_json,
    ranking_from_json,
)

NPY_MAGIC = b"\x93NUMPY"
"""The first bytes of a .npy file."""

LATEST = 253402300799.0
"""The last second of the year 9999: a later time is damaged."""

ADVICE = "restore the database from a backup, or delete the run"

NAMELESS = "damaged-"
"""A run whose name cannot be read is called by this and the id of its row."""


def damaged(what: str, problem: str, detail: str = "") -> StoreError:
    """Return the error for a damaged row; only the store's owner reads the detail."""
    known = f" ({detail})" if detail else ""
    return StoreError(
        f"{what} is damaged: {problem}{known}; {ADVICE}",
        public=f"{what} is damaged: {problem}; {ADVICE}",
    )


class Unreadable:
    """Stands for the value of a JSON column that is not JSON."""

    def __repr__(self) -> str:
        return "a text that is not JSON"


def read_json(text: Any) -> Any:
    """Return the value of a JSON column; what is not JSON becomes Unreadable."""
    try:
        if isinstance(text, str):
            text.encode()  # fails for bytes that were not UTF-8
        return json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return Unreadable()


def is_text(value: Any) -> bool:
    """Return whether a value is a text that can be encoded as UTF-8."""
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        return False


def _is_number(value: Any) -> bool:
    is_real = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_real and math.isfinite(value)


def _is_time(value: Any) -> bool:
    return _is_number(value) and 0 <= value <= LATEST


def _is_index(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_seed(value: Any) -> bool:
    try:
        return isinstance(value, str) and check_seed(int(value)) >= 0
    except ValueError:  # InvalidInput too
        return False


Checks = Mapping[str, tuple[Callable[[Any], bool], str]]
"""By column: what accepts its values, and what they must be."""

TEXT, TIME = (is_text, "a text"), (_is_time, "a time in seconds since 1970")
INDEX, OBJECT = (_is_index, "a whole number, 0 or more"), (_is_object, "a JSON object")

RUN: Checks = {
    "name": TEXT,
    "optimizer": TEXT,
    "options": OBJECT,
    "revision": INDEX,
    "seed": (_is_seed, "a whole number, 0 or more, below 2^128"),
    "version": TEXT,
    "created_at": TIME,
    "meta": OBJECT,
}
ROUND: Checks = {
    "position": INDEX,
    "shown_at": TIME,
    "rater": (lambda value: value is None or is_text(value), "a text or NULL"),
    "answered_at": (lambda value: value is None or _is_time(value), "a time or NULL"),
    "note": OBJECT,
    "key": TEXT,
    "slate": (lambda value: value is None or _is_object(value), "a JSON object or NULL"),
}
SNAPSHOT: Checks = {"meta": OBJECT, "position": INDEX, "key": TEXT}
BALLOT: Checks = {"rater": TEXT, "weight": (_is_number, "a number"), "ranking": OBJECT}


def read_record(row: Any) -> RunRecord:
    """Return the record of a run; raise StoreError if its row is damaged."""
    what = f"run {_name(row)!r}"
    _check(row, RUN, what)
    try:
        x0 = _read_vector(row.x0)
    except Exception as error:  # NumPy raises many kinds for a damaged file
        raise damaged(what, "its x0 cannot be read", str(error)) from error
    return RunRecord(
        name=row.name,
        optimizer=row.optimizer,
        options=row.options,
        revision=row.revision,
        x0=x0,
        seed=int(row.seed),
        version=row.version,
        created_at=row.created_at,
        meta=row.meta,
    )


def read_record_or_problem(row: Any) -> RunRecord:
    """Return the record of a run; that of a damaged row has a problem, and little else."""
    try:
        return read_record(row)
    except StoreError as error:
        return RunRecord(
            name=_name(row),
            optimizer=row.optimizer if is_text(row.optimizer) else "",
            options=row.options if _is_object(row.options) else {},
            revision=0,
            x0=np.zeros(0),
            seed=0,
            version=row.version if is_text(row.version) else "",
            created_at=row.created_at if _is_time(row.created_at) else 0.0,
            meta=row.meta if _is_object(row.meta) else {},
            problem=str(error),
        )


def read_round(row: Any) -> Round:
    """Return a line of a log; raise StoreError if its row is damaged."""
    what = f"round {row.position} of this run"
    _check(row, ROUND, what)
    try:
        answer = None if row.answer is None else _read_answer(row.answer)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise damaged(what, "its answer cannot be read", str(error)) from error
    if answer is None and row.answered_at is not None:
        raise damaged(what, "its answer is missing")
    return Round(
        index=row.position,
        shown_at=row.shown_at,
        answer=answer,
        rater=row.rater,
        answered_at=row.answered_at,
        note=row.note,
        key=row.key,
        slate=row.slate,
    )


def read_log(rows: Iterable[Any]) -> list[Round]:
    """Return the log of a run; raise StoreError if a line is damaged or missing."""
    lines = [read_round(row) for row in rows]
    if [line.index for line in lines] != list(range(len(lines))):
        raise damaged("the log of this run", "rounds are missing")
    if any(line.answer is None for line in lines[:-1]):
        raise damaged("the log of this run", "an answer is missing")
    return lines


def read_snapshot(row: Any) -> Snapshot:
    """Return a run's metadata and the end of its log, without ballots."""
    if row.position is None and _is_object(row.meta):
        return Snapshot(row.meta)
    _check(row, SNAPSHOT, "this run")
    return Snapshot(row.meta, row.position, row.key, bool(row.waits))


def read_ballot(row: Any) -> Ballot:
    """Return a ballot; raise StoreError if its row is damaged."""
    what = f"a ballot for round {row.position} of this run"
    _check(row, BALLOT, what)
    try:
        return Ballot(row.rater, ranking_from_json(row.ranking), row.weight)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise damaged(what, "its ranking cannot be read", str(error)) from error


def answer_columns(line: Round) -> dict[str, Any]:
    """Return the columns of a line that an answer changes: all but `shown_at` and `slate`."""
    return {
        "position": line.index,
        "answer": None if line.answer is None else line.answer.to_json(),
        "rater": line.rater,
        "answered_at": line.answered_at,
        "note": dict(line.note),
        "key": line.key,
    }


def write_vector(x0: Vector) -> bytes:
    """Return little-endian float64 numbers, or the content of a .npy file for float32."""
    if x0.dtype == np.float64:
        return x0.astype("<f8").tobytes()
    file = BytesIO()
    np.save(file, x0.astype("<f4"), allow_pickle=False)
    return file.getvalue()


def _read_vector(stored: Any) -> Vector:
    if not isinstance(stored, bytes):
        raise ValueError(f"found {stored!r:.40} instead of bytes")
    if stored.startswith(NPY_MAGIC):
        loaded: Any = np.load(BytesIO(stored), allow_pickle=False)
        if loaded.dtype != np.float32 or loaded.ndim != 1:
            raise ValueError(f"found an array of {loaded.dtype}, shape {loaded.shape}")
        x0: Vector = loaded.astype(np.float32, copy=False)
    else:
        x0 = np.frombuffer(stored, dtype="<f8").astype(np.float64)
    # Minimum and maximum need no mask, which would be large for a large x0.
    if not x0.size or not math.isfinite(x0.min()) or not math.isfinite(x0.max()):
        raise ValueError("it must have at least one number, and all must be finite")
    return x0


def _read_answer(data: Any) -> Answer:
    answer = answer_from_json(data)
    if isinstance(answer, Poll) and not all(is_text(ballot.rater) for ballot in answer.ballots):
        raise ValueError("a rater's name is not a text")
    return answer


def _check(row: Any, checks: Checks, what: str) -> None:
    """Raise StoreError if a value of a row is not what it must be."""
    for column, (accepts, expected) in checks.items():
        value = getattr(row, column)
        if not accepts(value):
            raise damaged(what, f"its {column} must be {expected}", f"found {value!r:.40}")


def _name(row: Any) -> str:
    return str(row.name) if is_text(row.name) else f"{NAMELESS}{row.id}"
