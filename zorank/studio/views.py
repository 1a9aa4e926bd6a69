"""What the interface says about runs, rounds and renderers, as plain JSON values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from zorank.errors import ZorankError
from zorank.estimators import comparisons
from zorank.renderers import REGISTRY
from zorank.renderers.interface import RendererKind, ResolvedRenderer
from zorank.renderers.options import form_fields
from zorank.run import optimizer_of
from zorank.slates import Slate
from zorank.studio.agreement import Agreement
from zorank.studio.gallery import fingerprint
from zorank.studio.judging import RECENT, Choice
from zorank.studio.looking import looks_for
from zorank.studio.presentation import to_screen
from zorank.studio.sessions import Session, Studio
from zorank.studio.status_text import reports
from zorank.types import Group, Poll, Round, RunRecord, Vector

KNOWN = ("noise", "visible", "consistency", "chance", "gain")
"""What a history shows of a model of the judge."""


def describe_renderer(kind: RendererKind) -> dict[str, Any]:
    """A renderer and the options a person may choose."""
    return {
        "name": kind.name,
        "title": kind.title,
        "description": kind.description,
        "media_type": kind.media_type,
        "options": kind.form,
        "sample": f"/api/renderers/{kind.name}/sample" if _draws_at_once(kind) else None,
    }


def _draws_at_once(kind: RendererKind) -> bool:
    """Whether a picture costs next to nothing: nobody knows what a user's own does to draw one."""
    is_picture = kind.media_type.startswith("image/")
    return kind.maker in REGISTRY.values() and is_picture and not kind.tells_progress


def describe_judges(studio: Studio) -> list[dict[str, Any]]:
    """The judges a person may choose for a new run, and whose pictures each can look at."""
    panel = studio.panel
    found = []
    for name in panel.offered():
        usual = panel.default is not None and panel.default.name == name
        given = panel.default.options if panel.default and usual else {}
        options = form_fields(panel.judges[name].maker, given)
        asked = {option["name"] for option in options}
        found.append(
            {
                "name": name,
                "title": Choice(name).title,
                "options": options,
                "kept": {key: value for key, value in given.items() if key not in asked},
                "renderers": [
                    r
                    for r, kind in studio.renderers.items()
                    if panel.judges[name].fits(r, kind.media_type)
                ],
                "default": usual,
            }
        )
    return found


def describe_run(studio: Studio, record: RunRecord) -> dict[str, Any]:
    """A run that is open."""
    with studio.session(record.name) as session:
        best, answered = session.run.best(), len(session.steps)
        slate, started = session.run.ask(), session.start is not None
        media_type = session.renderer.media_type
        url = versioned(f"/api/runs/{record.name}/best", best, session.renderer)
    return {
        "id": record.name,
        "title": record.meta["title"],
        "renderer": record.meta["renderer"],
        "m": len(slate),
        "rounds": answered,
        "created_at": record.created_at,
        "question": slate.question,
        "best": url if started else None,
        "media_type": media_type,
    }


def describe_card(studio: Studio, record: RunRecord) -> dict[str, Any]:
    """A run as a card shows it, from its log alone: looking at the shelf opens no run.

    One that cannot be opened says why, and does not hide the others.
    """
    meta = record.meta
    card: dict[str, Any] = {
        "id": record.name,
        "title": meta["title"],
        "renderer": meta["renderer"],
        "m": record.options.get("m", 0),
        "rounds": 0,
        "created_at": record.created_at,
        "best": None,
        "media_type": "image/jpeg",
    }
    try:
        lines = studio.store.rounds(record.name)
        optimizer_of(record, lines)
        renderer = studio.make_renderer(meta["renderer"], meta["renderer_options"])
        log = [line for line in lines if line.answer is not None]
    except ZorankError as error:
        return {**card, "problem": str(error)}
    # The best follows from the log, so the last answer's key is as good a name for it as its own.
    version = f"{len(log)}-{log[-1].key if log else ''}{_by(renderer)}"
    best = f"/api/runs/{record.name}/best?v={version}"
    started = any(comparisons(line.answer, card["m"])[1] for line in log if line.answer)
    known = {"rounds": len(log), "media_type": renderer.media_type}
    return {**card, **known, "best": best if started else None}


def best_so_far(run_id: str, session: Session, media_type: str) -> dict[str, Any] | None:
    """The best picture, and since when; None before a start is picked."""
    moved = [step for step in session.steps if step.moved]
    if not moved:
        return None
    index = moved[-1].line.index
    url = versioned(f"/api/runs/{run_id}/bests/{index}", moved[-1].best, session.renderer)
    picked = moved[-1].slate.question == "start"
    return {"url": url, "media_type": media_type, "since": index, "start": picked}


def describe_judge(studio: Studio, session: Session, role: str) -> dict[str, Any] | None:
    """The judge and its order of the waiting round on screen, null until it has looked.

    Only the owner reads what is wrong with it: it may name files.
    """
    if session.judge is None:
        return None
    verdict = studio.verdict(session)
    order = None if verdict is None else verdict.order
    on_screen = None if order is None else to_screen(order, session.shown)
    return {
        "name": session.judge.title,
        "order": None if on_screen is None else [list(group) for group in on_screen.best],
        "problem": verdict.problem if verdict is not None and role == "owner" else "",
    }


def judge_standing(studio: Studio, session: Session) -> dict[str, Any] | None:
    """How far people and the judge agree over the last rounds that it looked at."""
    looked = list(studio.judge_agreements(session).values())[-RECENT:]
    if session.judge is None and not looked:
        return None
    name = "the judge" if session.judge is None else session.judge.title
    return {"name": name, "agreement": sum(looked, Agreement()).share, "rounds": len(looked)}


def history_rows(run_id: str, studio: Studio, session: Session) -> list[dict[str, Any]]:
    """A row for each answered round."""
    rows: list[dict[str, Any]] = []
    start = session.start
    started = False
    judged = studio.judge_agreements(session)
    told = reports(session.steps, session.run.ask())
    for step, report in zip(session.steps, told, strict=True):
        line = step.line
        started = started or step.moved
        distance = 0.0 if start is None else float(np.linalg.norm(step.best - start))
        url = versioned(f"/api/runs/{run_id}/bests/{line.index}", step.best, session.renderer)
        rows.append(
            {
                "round": line.index,
                "question": step.slate.question,
                "moved": step.moved,
                "distance": distance if started else 0.0,
                "radius": report.get("radius"),
                **_known(report),
                "seconds": (line.answered_at or line.shown_at) - line.shown_at,
                "agreement": studio.round_agreement(step),
                "judge_agreement": judged.get(line.index, Agreement()).share,
                "raters": _raters(line),
                "best": url if started else None,
            }
        )
    return rows


def for_rater(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the history without what is the owner's to know."""
    return {**row, **_known({}), "judge_agreement": None, "raters": []}


def exhibit_urls(session: Session, index: int, slate: Slate, shown: Group) -> list[str]:
    """The addresses of a round's exhibits, in their order on screen."""
    base = f"/api/runs/{session.run.name}/rounds/{index}/exhibits"
    return [
        versioned(f"{base}/{position}", slate[candidate], session.renderer)
        for position, candidate in enumerate(shown)
    ]


def versioned(url: str, candidate: Vector, renderer: ResolvedRenderer) -> str:
    """An address that changes with what it shows, so that browsers may keep it for good."""
    return f"{url}?v={fingerprint(candidate)}{_by(renderer)}"


def _by(renderer: ResolvedRenderer) -> str:
    """The part of an address that changes with the weights that draw."""
    weights = renderer.weights
    return f"&weights={weights}" if weights else ""


def run_note(meta: Mapping[str, Any], renderer: ResolvedRenderer) -> str:
    """What an owner should know of a run: other weights than it began with, looks that failed."""
    began, now = meta.get("weights", ""), renderer.weights
    notes = []
    if began and now and began != now:
        notes.append(
            "The model’s weights have changed since this run began: its pictures may differ."
        )
    if problem := meta.get("looks_problem"):
        notes.append(f"This run goes on without the renderer’s looks: {problem}.")
    elif meta.get("looks") and looks_for(meta, renderer, 0) is None:
        notes.append("This run goes on without looks: its renderer has none any more.")
    return " ".join(notes)


def _raters(line: Round) -> list[str]:
    if isinstance(line.answer, Poll):
        return [ballot.rater for ballot in line.answer.ballots]
    return [line.rater] if line.rater else []


def _known(report: Mapping[str, float]) -> dict[str, float | None]:
    """What a model of the judge reports; None for methods without one."""
    found = {name: report.get(name, math.nan) for name in KNOWN}
    return {name: value if math.isfinite(value) else None for name, value in found.items()}
