"""Run records: how they are made, and whether a stored run can be continued.

A log can be continued with the same optimizer, settings, start and seed. If the optimizer's
revision was raised since, its `ask` would return other candidates. This does not matter for a log
in which all slates are recorded: it continues with the new revision.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from math import isfinite
from typing import Any

import numpy as np

from zorank import _slate_log, optimizers
from zorank._arrays import is_whole
from zorank._version import __version__
from zorank.errors import InvalidInput, ReplayError, short
from zorank.protocols import AnyOptimizer, Store
from zorank.types import Round, RunRecord, Vector

SHOWN_NUMBERS = 8
"""The number of coordinates of a start that an error message shows."""

MAX_DEPTH = 100
"""How deeply JSON data may be nested; much deeper data cannot be stored or exported."""


def optimizer_of(record: RunRecord, lines: Sequence[Round] = ()) -> AnyOptimizer:
    """Return a run's optimizer; raise ReplayError if its revision has changed.

    `lines` is the run's log: if all its slates are recorded, any revision can continue it.
    """
    if record.optimizer not in optimizers.REGISTRY:
        raise ReplayError(
            f"run {record.name!r} uses the optimizer {record.optimizer!r}, which is not in "
            "zorank's registry; give it to Run.open(store, name, optimizer)"
        )
    optimizer = optimizers.make(record.optimizer, record.options)
    check_revision(record, optimizer.revision, lines)
    return optimizer


def new_record(optimizer: AnyOptimizer, x0: Vector, seed: int, name: str | None) -> RunRecord:
    """Return the record of a new run; without a name it gets a random one."""
    check_text(name, "a run's name")
    settings = to_plain_json(optimizers.configuration(optimizer), "an optimizer's configuration")
    known: Any = optimizer
    named = isinstance(getattr(known, "name", None), str)
    if not named or not _is_count(getattr(known, "revision", None)):
        raise InvalidInput(
            "an optimizer must have the class variables `name`, a text, and `revision`, a whole "
            f"number; found {short(optimizer)}"
        )
    return RunRecord(
        name=name or new_name(),
        optimizer=optimizer.name,
        options=settings,
        revision=optimizer.revision,
        x0=x0,
        seed=seed,
        version=__version__,
        created_at=time.time(),
    )


def create_or_load(store: Store, wanted: RunRecord) -> RunRecord:
    """Add a run to a store; if its name exists, return the stored record of that run.

    Raises:
        ReplayError: if the stored run has another configuration.
    """
    try:
        store.create(wanted)
        return wanted
    except InvalidInput:
        found = store.record(wanted.name)
        check_same(found, wanted, store.rounds(wanted.name))
        return found


def run_to_json(
    record: RunRecord, meta: Mapping[str, Any], rounds: Sequence[Round], best: Vector
) -> dict[str, Any]:
    """Return a run as plain JSON values; `meta` may be newer than that of the record."""
    return {
        "name": record.name,
        "optimizer": record.optimizer,
        "options": dict(record.options),
        "revision": record.revision,
        "seed": record.seed,
        "version": record.version,
        "created_at": record.created_at,
        "meta": dict(meta),
        "x0": record.x0.tolist(),
        "rounds": [
            {**asdict(line), "answer": line.answer.to_json() if line.answer else None}
            for line in rounds
        ],
        "best": best.tolist(),
    }


def check_text(text: object, what: str) -> None:
    """Raise unless a name is None or a text that every store can keep."""
    if text is None:
        return
    storable = isinstance(text, str) and "\0" not in text
    if not storable or not str(text).strip() or str(text).encode(errors="ignore").decode() != text:
        raise InvalidInput(f"{what} must be a text that is not blank, found {short(text)}")


def check_index(value: object, name: str) -> None:
    """Raise unless an argument is None or a whole number from 0."""
    if value is not None and not _is_count(value):
        raise InvalidInput(f"{name} must be a whole number from 0, found {short(value)}")


def check_flags(**flags: object) -> None:
    """Raise InvalidInput, which names the argument, unless all of them are True or False."""
    for name, value in flags.items():
        if not isinstance(value, (bool, np.bool_)):
            raise InvalidInput(f"{name} must be True or False, found {short(value)}")


def _is_count(value: Any) -> bool:
    return is_whole(value) and bool(value >= 0)


def new_name() -> str:
    """Return a random name for a run."""
    return f"run-{os.urandom(4).hex()}"


def check_same(stored: RunRecord, wanted: RunRecord, lines: Sequence[Round]) -> None:
    """Raise ReplayError unless the stored run has the wanted configuration."""
    if stored.optimizer == wanted.optimizer:
        check_revision(stored, wanted.revision, lines)
    differences = [
        f"{what} is {short(old, 40)} there and {short(new, 40)} here"
        for what, old, new in _settings(stored, wanted)
        if old != new
    ]
    if differences:
        raise ReplayError(
            f"there is already a run named {stored.name!r} with another configuration: "
            f"{'; '.join(differences)}. Use its configuration to continue it, or another name"
        )


def check_revision(stored: RunRecord, revision: int, lines: Sequence[Round]) -> None:
    """Raise ReplayError if this revision may give other slates than those of the log."""
    recorded = lines and all(_slate_log.has_design(line.slate) for line in lines)
    if stored.revision != revision and not recorded:
        raise ReplayError(
            f"run {stored.name!r} was recorded by zorank {stored.version} with revision "
            f"{stored.revision} of {stored.optimizer}, which gives other numbers than this "
            f"zorank {__version__} with revision {revision}; {_remedy(stored)}"
        )


def _remedy(stored: RunRecord) -> str:
    """Say how to continue a run that another revision of its optimizer recorded."""
    if stored.optimizer in optimizers.REGISTRY and stored.version != __version__:
        return (
            f"to continue it: pip install zorank=={stored.version}, or use a checkout of that "
            "version if it was not published"
        )
    return (
        f"to continue it, use the code that has revision {stored.revision} of "
        f"{stored.optimizer}; or start a new run with another name"
    )


def _settings(stored: RunRecord, wanted: RunRecord) -> Iterator[tuple[str, Any, Any]]:
    yield "optimizer", stored.optimizer, wanted.optimizer
    yield "seed", stored.seed, wanted.seed
    if not np.array_equal(stored.x0, wanted.x0):  # x0 may have a billion numbers
        yield "x0", *(x0[:SHOWN_NUMBERS].tolist() for x0 in (stored.x0, wanted.x0))
    if stored.optimizer == wanted.optimizer:
        before = _completed(stored, wanted)
        for key in sorted({*before, *wanted.options}):
            yield key, before.get(key), wanted.options.get(key)


def _completed(stored: RunRecord, wanted: RunRecord) -> Mapping[str, Any]:
    """Return the stored options, with defaults for settings that were added after the run."""
    if stored.optimizer not in optimizers.REGISTRY or not {*wanted.options} - {*stored.options}:
        return stored.options
    complete = optimizers.configuration(optimizers.make(stored.optimizer, stored.options))
    return to_plain_json(complete, "an optimizer's configuration")


def to_plain_json(data: Mapping[str, Any] | None, what: str) -> dict[str, Any]:
    """Return a JSON copy of the data; raise InvalidInput if it has other values."""
    if type(data) is dict and all(map(_is_named_number, data.items())):  # the usual note
        return dict(data)
    if not isinstance(data, Mapping | None):
        raise InvalidInput(f"{what} must map names to plain JSON values, found {short(data)}")
    try:
        copy: dict[str, Any] = json.loads(json.dumps(dict(data or {}), allow_nan=False))
    except RecursionError as error:
        raise _nested_too_deeply(what) from error
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{what} must hold plain JSON values, found {short(data)}") from error
    _check_depth(copy, what)
    return copy


def _is_named_number(item: tuple[Any, Any]) -> bool:
    """Return whether an item of a dict is a name and a float, which JSON keeps as they are."""
    name, value = item
    return type(name) is str and name.isascii() and type(value) is float and isfinite(value)


def _check_depth(data: Any, what: str) -> None:
    """Raise InvalidInput if JSON data are nested deeper than MAX_DEPTH."""
    level = [data]
    for _ in range(MAX_DEPTH):
        level = [
            part
            for whole in level
            for part in (whole.values() if isinstance(whole, dict) else whole)
            if isinstance(part, (dict, list))
        ]
        if not level:
            return
    raise _nested_too_deeply(what)


def _nested_too_deeply(what: str) -> InvalidInput:
    return InvalidInput(f"{what} must be nested at most {MAX_DEPTH} levels deep; flatten it")
