"""Describes the answered rounds, the raters and the judge."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from zorank.run import Step
from zorank.studio.access import Role
from zorank.studio.agreement import Agreement, agreements
from zorank.studio.judging import RECENT
from zorank.studio.models.history import History, HistoryRow, JudgeAgreement, RaterInfo
from zorank.studio.sessions import Session
from zorank.studio.status_text import reports
from zorank.studio.studio import Studio
from zorank.studio.urls import versioned
from zorank.types import Poll, Round

REPORTED = ("noise", "visible", "consistency", "chance", "gain")
"""The fields of a history row that come from the optimizer's model of the rater."""


def history(studio: Studio, session: Session, role: Role) -> History:
    """Describe the answered rounds; a rater gets no data about the raters and the judge."""
    rows = _history_rows(studio, session)
    if role != "owner":
        hidden: dict[str, Any] = {**_reported({}), "judge_agreement": None, "raters": []}
        return History(rows=[row.model_copy(update=hidden) for row in rows], raters=[])
    known = session.rater_agreements()
    answers = Counter(name for row in rows for name in row.raters)
    raters = [
        RaterInfo(
            name=name,
            answers=count,
            agreement=known[name].share if name in known else None,
            weight=session.rater_weight(known.get(name)),
        )
        for name, count in answers.items()
    ]
    return History(rows=rows, raters=raters, judge=_judge_agreement(studio, session))


def _history_rows(studio: Studio, session: Session) -> list[HistoryRow]:
    rows = []
    start = session.start
    started = False
    judged = judge_agreements(studio, session)
    all_reports = reports(session.steps, session.run.ask())
    for step, report in zip(session.steps, all_reports, strict=True):
        line = step.line
        started = started or step.moved
        distance = 0.0 if start is None else float(np.linalg.norm(step.best - start))
        path = studio.urls.run(session.run.name, f"bests/{line.index}")
        rows.append(
            HistoryRow(
                round=line.index,
                question=step.slate.question,
                moved=step.moved,
                distance=distance if started else 0.0,
                radius=report.get("radius"),
                **_reported(report),
                seconds=(line.answered_at or line.shown_at) - line.shown_at,
                agreement=_round_agreement(step),
                judge_agreement=judged.get(line.index, Agreement()).share,
                raters=_raters(line),
                best=versioned(path, step.best, session.renderer) if started else None,
            )
        )
    return rows


def judge_agreements(studio: Studio, session: Session) -> dict[int, Agreement]:
    """Return how far people and the judge agree, for each round that the judge has scored."""
    run = (session.run.name, session.judge, session.renderer)
    return studio.judge_worker.agreements(*run, session.steps)


def _judge_agreement(studio: Studio, session: Session) -> JudgeAgreement | None:
    """Return how far people and the judge agreed in the last rounds that it scored."""
    recent = list(judge_agreements(studio, session).values())[-RECENT:]
    if session.judge is None and not recent:
        return None
    name = "the judge" if session.judge is None else session.judge.title
    share = sum(recent, Agreement()).share
    return JudgeAgreement(name=name, agreement=share, rounds=len(recent))


def _round_agreement(step: Step) -> float | None:
    """Return how far the raters of one round agreed; None if there was only one."""
    if not isinstance(step.line.answer, Poll):
        return None
    found = agreements([(step.line.answer, len(step.slate))]).values()
    return sum(found, Agreement()).share


def _raters(line: Round) -> list[str]:
    if isinstance(line.answer, Poll):
        return [ballot.rater for ballot in line.answer.ballots]
    return [line.rater] if line.rater else []


def _reported(report: Mapping[str, float]) -> dict[str, float | None]:
    """Return the fields that a model of the rater reports; None for methods without one."""
    found = {name: report.get(name, math.nan) for name in REPORTED}
    return {name: value if math.isfinite(value) else None for name, value in found.items()}
