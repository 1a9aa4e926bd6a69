"""What the interface says about runs, rounds and renderers, as plain JSON values."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from zorank.errors import ZorankError
from zorank.slates import Slate
from zorank.studio.gallery import fingerprint
from zorank.studio.sessions import Session, Studio
from zorank.types import Group, Poll, Round, RunRecord, Vector


def describe_renderer(name: str, make: Any) -> dict[str, Any]:
    """A renderer and the options a person may choose."""
    kinds = {int: "number", float: "number", str: "text", bool: "choice"}
    options = []
    is_class = isinstance(make, type) and dataclasses.is_dataclass(make)
    for field in dataclasses.fields(make) if is_class else ():
        default = None if field.default is dataclasses.MISSING else field.default
        if field.name != "size" and field.init and type(default) in kinds:
            option = {"name": field.name, "type": kinds[type(default)], "default": default}
            options.append({**option, "help": field.metadata.get("help", "")})
    return {
        "name": name,
        "title": getattr(make, "title", name),
        "description": getattr(make, "description", ""),
        "options": options,
    }


def describe_run(studio: Studio, record: RunRecord) -> dict[str, Any]:
    """A run as a card shows it."""
    with studio.session(record.name) as session:
        best, answered = session.run.best(), len(session.milestones)
        question, started = session.run.ask().question, session.start is not None
        media_type = media_type_of(session)
    url = versioned(f"/api/runs/{record.name}/best", best)
    return {
        "id": record.name,
        "title": record.meta["title"],
        "renderer": record.meta["renderer"],
        "m": record.options["m"],
        "rounds": answered,
        "created_at": record.created_at,
        "question": question,
        "best": url if started else None,
        "media_type": media_type,
    }


def describe_run_safely(studio: Studio, record: RunRecord) -> dict[str, Any]:
    """A run as a card shows it, also one that cannot be opened: it must not hide the others."""
    try:
        return describe_run(studio, record)
    except ZorankError as error:
        known = {"id": record.name, "title": record.meta["title"], "created_at": record.created_at}
        empty = {"m": 0, "rounds": 0, "question": "", "best": None, "media_type": "image/jpeg"}
        return {**known, **empty, "renderer": record.meta["renderer"], "problem": str(error)}


def best_so_far(run_id: str, session: Session, media_type: str) -> dict[str, Any] | None:
    """The best picture, and since when; None before a start is picked."""
    moved = [milestone for milestone in session.milestones if milestone.moved]
    if not moved:
        return None
    index = moved[-1].line.index
    url = versioned(f"/api/runs/{run_id}/bests/{index}", moved[-1].best)
    picked = moved[-1].question == "start"
    return {"url": url, "media_type": media_type, "since": index, "start": picked}


def history_rows(run_id: str, studio: Studio, session: Session) -> list[dict[str, Any]]:
    """A row for each answered round."""
    rows: list[dict[str, Any]] = []
    start = session.start
    started = False
    for milestone in session.milestones:
        line = milestone.line
        started = started or milestone.moved
        distance = 0.0 if start is None else float(np.linalg.norm(milestone.best - start))
        url = versioned(f"/api/runs/{run_id}/bests/{line.index}", milestone.best)
        rows.append(
            {
                "round": line.index,
                "question": milestone.question,
                "moved": milestone.moved,
                "distance": distance if started else 0.0,
                "radius": milestone.report.get("radius"),
                "seconds": (line.answered_at or line.shown_at) - line.shown_at,
                "agreement": studio.round_agreement(milestone),
                "raters": _raters(line),
                "best": url if started else None,
            }
        )
    return rows


def exhibit_urls(run_id: str, index: int, slate: Slate, shown: Group) -> list[str]:
    """The addresses of a round's exhibits, in their order on screen."""
    base = f"/api/runs/{run_id}/rounds/{index}/exhibits"
    return [versioned(f"{base}/{p}", slate[candidate]) for p, candidate in enumerate(shown)]


def versioned(url: str, candidate: Vector) -> str:
    """An address that changes with what it shows, so that browsers may keep it for good."""
    return f"{url}?v={fingerprint(candidate)}"


def media_type_of(session: Session) -> str:
    """What kind of exhibits a run has, known before the first is rendered."""
    return str(getattr(session.renderer, "media_type", "image/jpeg"))


def _raters(line: Round) -> list[str]:
    if isinstance(line.answer, Poll):
        return [ballot.rater for ballot in line.answer.ballots]
    return [line.rater] if line.rater else []
