"""What makes a run the run it is, and whether this zorank may go on with it.

A log can be continued by the same optimizer, settings, start and seed. If an optimizer's revision
was raised since, its `ask` would show other candidates; a log that holds every slate that was
shown does not need it, and goes on with the new revision.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from zorank import _slate_log, optimizers
from zorank._version import __version__
from zorank.errors import InvalidInput, ReplayError
from zorank.protocols import AnyOptimizer
from zorank.types import Round, RunRecord, Vector

TOLD = 8
"""How many numbers of a start an error repeats."""


def optimizer_of(record: RunRecord, lines: Sequence[Round] = ()) -> AnyOptimizer:
    """The optimizer that a run was made with; refused if it would give other numbers by now.

    `lines` is the run's log: if all its slates are recorded, any revision can go on with it.
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
    """The record of a new run, named if it has no name yet."""
    check_text(name, "a run's name")
    settings = to_plain_json(optimizers.configuration(optimizer), "an optimizer's configuration")
    if not isinstance(getattr(optimizer, "name", None), str) or not hasattr(optimizer, "revision"):
        raise InvalidInput(
            "an optimizer needs the class variables `name` and `revision`, "
            f"found {optimizer!r:.60}"
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


def check_text(text: object, what: str) -> None:
    """Raise unless a name, if there is one, is a text that every store can keep."""
    if text is None:
        return
    storable = isinstance(text, str) and "\0" not in text
    if not storable or not str(text).strip() or str(text).encode(errors="ignore").decode() != text:
        raise InvalidInput(f"{what} is a text that is not blank, found {text!r:.60}")


def new_name() -> str:
    """A name for a run that was given none."""
    return f"run-{os.urandom(4).hex()}"


def check_same(stored: RunRecord, wanted: RunRecord, lines: Sequence[Round]) -> None:
    """Raise unless the wanted run is the stored one, so that its log can be continued."""
    if stored.optimizer == wanted.optimizer:
        check_revision(stored, wanted.revision, lines)
    differences = [
        f"{what} is {_brief(old)} there and {_brief(new)} here"
        for what, old, new in _settings(stored, wanted)
        if old != new
    ]
    if differences:
        raise ReplayError(
            f"there is already a run named {stored.name!r} with another configuration: "
            f"{'; '.join(differences)}. Use its configuration to continue it, or another name"
        )


def check_revision(stored: RunRecord, revision: int, lines: Sequence[Round]) -> None:
    """Raise if this revision of the optimizer would have shown other slates than the log's."""
    recorded = lines and all(_slate_log.has_design(line.slate) for line in lines)
    if stored.revision != revision and not recorded:
        raise ReplayError(
            f"run {stored.name!r} was recorded by zorank {stored.version}, whose "
            f"{stored.optimizer} gives other numbers than this zorank {__version__}; "
            f"to continue it: pip install zorank=={stored.version}"
        )


def _settings(stored: RunRecord, wanted: RunRecord) -> Iterator[tuple[str, Any, Any]]:
    yield "optimizer", stored.optimizer, wanted.optimizer
    yield "seed", stored.seed, wanted.seed
    if not np.array_equal(stored.x0, wanted.x0):  # as lists, but not of all of a billion numbers
        yield "x0", *(x0[:TOLD].tolist() for x0 in (stored.x0, wanted.x0))
    if stored.optimizer == wanted.optimizer:
        before = _completed(stored, wanted)
        for key in sorted({*before, *wanted.options}):
            yield key, before.get(key), wanted.options.get(key)


def _completed(stored: RunRecord, wanted: RunRecord) -> Mapping[str, Any]:
    """The stored options, with the defaults of settings that are younger than the run."""
    if stored.optimizer not in optimizers.REGISTRY or not {*wanted.options} - {*stored.options}:
        return stored.options
    complete = optimizers.configuration(optimizers.make(stored.optimizer, stored.options))
    return to_plain_json(complete, "an optimizer's configuration")


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "…"


def to_plain_json(data: Mapping[str, Any] | None, what: str) -> dict[str, Any]:
    """The data as a store keeps it; an error if it is not plain JSON."""
    try:
        return dict(json.loads(json.dumps(dict(data or {}), allow_nan=False)))
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{what} holds plain JSON values, found {data!r:.60}") from error
