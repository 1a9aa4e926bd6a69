"""Describes runs: their page, and their card in the list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zorank.errors import ZorankError
from zorank.estimators import comparisons
from zorank.renderers.interface import ResolvedRenderer
from zorank.run import optimizer_of
from zorank.studio.access import Role
from zorank.studio.look_worker import looks_for
from zorank.studio.models.runs import RunCard, RunInfo
from zorank.studio.run_meta import check_meta
from zorank.studio.sessions import Session
from zorank.studio.status_text import Facts, could_stop, status_sentences
from zorank.studio.studio import Studio
from zorank.studio.urls import versioned, weights_query
from zorank.types import RunRecord


def run_info(studio: Studio, session: Session, role: Role, you: str | None) -> RunInfo:
    """Describe a run; some fields are for its owner only."""
    record, renderer = session.record, session.renderer
    is_owner = role == "owner"
    start, slate = session.start, session.run.ask()
    facts = Facts.of(record, session.steps if is_owner else [], slate)
    first = studio.urls.run(record.name, "start")
    best = versioned(studio.urls.run(record.name, "best"), session.run.best(), renderer)
    return RunInfo(
        id=record.name,
        title=record.meta["title"],
        renderer=record.meta["renderer"],
        m=len(slate),
        rounds=len(session.steps),
        created_at=record.created_at,
        question=slate.question,
        best=None if start is None else best,
        media_type=renderer.media_type,
        role=role,
        optimizer={"name": record.optimizer, **record.options},
        you=you,
        raters_needed=session.raters_needed,
        deadline=session.meta.get("deadline"),
        start=None if start is None else versioned(first, start, renderer),
        words=status_sentences(facts),
        judge=None if session.judge is None else session.judge.title,
        could_stop=could_stop(facts),
        keepsake=renderer.export_name if is_owner else None,
        note=run_note(record.meta, renderer) if is_owner else "",
        items=None if renderer.item_names is None else len(renderer.item_names()),
    )


def run_card(studio: Studio, record: RunRecord) -> RunCard:
    """Describe a run for the list of runs, from its log alone: the list loads no run.

    A run that cannot be opened has a problem, and does not hide the others.
    """
    meta, m = record.meta, record.options.get("m")
    card = RunCard(
        id=record.name,
        title=str(meta.get("title", "")),
        renderer=str(meta.get("renderer", "")),
        m=m if isinstance(m, int) else 0,
        rounds=0,
        created_at=record.created_at,
        best=None,
        media_type="image/jpeg",
    )
    if record.problem:
        return card.model_copy(update={"problem": record.problem})
    try:
        check_meta(record.name, meta)
        lines = studio.store.rounds(record.name)
        optimizer_of(record, lines)
        renderer = studio.stored.renderer(meta["renderer"], meta["renderer_options"])
        log = [line for line in lines if line.answer is not None]
        started = any(comparisons(line.answer, card.m)[1] for line in log if line.answer)
    except ZorankError as error:
        return card.model_copy(update={"problem": str(error)})
    # The best is a function of the log, so the last answer's key can version its URL.
    version = f"{len(log)}-{log[-1].key if log else ''}{weights_query(renderer)}"
    best = studio.urls.run(record.name, f"best?v={version}")
    known = {"rounds": len(log), "media_type": renderer.media_type}
    return card.model_copy(update={**known, "best": best if started else None})


def run_note(meta: Mapping[str, Any], renderer: ResolvedRenderer) -> str:
    """Return a warning for the owner: the weights have changed, or the looks have failed."""
    began, now = meta.get("weights", ""), renderer.weights
    notes = []
    if began and now and began != now:
        notes.append(
            "The model’s weights have changed since this run began: its pictures may differ."
        )
    if renderer.note:
        notes.append(renderer.note)
    if problem := meta.get("looks_problem"):
        notes.append(f"This run continues without looks, because they failed: {problem}.")
    elif meta.get("looks") and looks_for(meta, renderer, 0) is None:
        notes.append("This run continues without looks, because its renderer no longer has any.")
    return " ".join(notes)
