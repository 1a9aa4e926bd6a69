"""Describes runs, rounds, renderers and judges as response models."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from zorank.errors import ZorankError
from zorank.estimators import comparisons
from zorank.renderers import REGISTRY
from zorank.renderers.interface import RendererKind, ResolvedRenderer
from zorank.renderers.options import form_fields
from zorank.run import Step, optimizer_of
from zorank.slates import Slate
from zorank.studio.access import Role
from zorank.studio.agreement import Agreement, agreements
from zorank.studio.judging import RECENT, JudgeSpec
from zorank.studio.look_worker import looks_for
from zorank.studio.methods import Method, MethodSpec
from zorank.studio.presentation import shown_order, to_screen
from zorank.studio.responses.catalog import (
    JudgeInfo,
    MethodInfo,
    OptionField,
    RendererInfo,
    SettingField,
)
from zorank.studio.responses.history import History, HistoryRow, JudgeAgreement, RaterInfo
from zorank.studio.responses.rounds import (
    BestRef,
    ExhibitRef,
    JudgeOrder,
    ShownRound,
    WaitingRound,
)
from zorank.studio.responses.runs import RunCard, RunInfo
from zorank.studio.run_meta import check_meta
from zorank.studio.sessions import Session
from zorank.studio.status_text import Facts, could_stop, reports, status_sentences
from zorank.studio.studio import Studio
from zorank.studio.urls import versioned, weights_query
from zorank.types import Group, Poll, Round, RunRecord

REPORTED = ("noise", "visible", "consistency", "chance", "gain")
"""The fields of a history row that come from the optimizer's model of the rater."""


def method_info(method: Method, default: MethodSpec | None) -> MethodInfo:
    """Describe a method; its settings have the studio's defaults."""
    is_default = default is not None and default.name == method.name
    given = default.settings if default is not None and is_default else {}
    return MethodInfo(
        name=method.name,
        title=method.title,
        help=method.help,
        default=is_default,
        settings=[
            SettingField(
                name=name,
                label=setting.label,
                default=given.get(name, setting.default),
                help=setting.help,
            )
            for name, setting in method.settings.items()
        ],
    )


def renderer_info(studio: Studio, kind: RendererKind) -> RendererInfo:
    """Describe a renderer and its options."""
    return RendererInfo(
        name=kind.name,
        title=kind.title,
        description=kind.description,
        media_type=kind.media_type,
        options=[OptionField(**option) for option in kind.form],
        sample=studio.urls.sample(kind.name) if _renders_quickly(kind) else None,
    )


def _renders_quickly(kind: RendererKind) -> bool:
    """Whether a picture costs next to nothing; unknown, so false, for a user's own renderer."""
    is_picture = kind.media_type.startswith("image/")
    return kind.maker in REGISTRY.values() and is_picture and not kind.tells_progress


def judge_infos(studio: Studio) -> list[JudgeInfo]:
    """Describe the judges that a new run may have, and the renderers that each can score."""
    panel = studio.panel
    found = []
    for name in panel.offered():
        is_default = panel.default is not None and panel.default.name == name
        given = panel.default.options if panel.default and is_default else {}
        options = form_fields(panel.judges[name].maker, given)
        asked = {option["name"] for option in options}
        found.append(
            JudgeInfo(
                name=name,
                title=JudgeSpec(name).title,
                options=[OptionField(**option) for option in options],
                kept={key: value for key, value in given.items() if key not in asked},
                renderers=[
                    r
                    for r, kind in studio.renderers.items()
                    if panel.judges[name].fits(r, kind.media_type)
                ],
                default=is_default,
            )
        )
    return found


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
        renderer = studio.make_renderer(meta["renderer"], meta["renderer_options"])
        log = [line for line in lines if line.answer is not None]
        started = any(comparisons(line.answer, card.m)[1] for line in log if line.answer)
    except ZorankError as error:
        return card.model_copy(update={"problem": str(error)})
    # The best is a function of the log, so the last answer's key can version its URL.
    version = f"{len(log)}-{log[-1].key if log else ''}{weights_query(renderer)}"
    best = studio.urls.run(record.name, f"best?v={version}")
    known = {"rounds": len(log), "media_type": renderer.media_type}
    return card.model_copy(update={**known, "best": best if started else None})


def shown_round(studio: Studio, session: Session) -> ShownRound:
    """Describe the round that waits for an answer, as everybody sees it."""
    waiting, slate, shown = session.waiting, session.run.ask(), session.shown
    media_type = session.renderer.media_type
    likely = session.likely if session.raters_needed == 1 else None
    urls = _exhibit_urls(studio, session, waiting.index, slate, shown)
    return ShownRound(
        index=waiting.index,
        key=waiting.key,
        question=slate.question,
        exhibits=[
            ExhibitRef(
                position=position,
                url=url,
                media_type=media_type,
                current=slate.question == "best" and shown[position] == 0,
            )
            for position, url in enumerate(urls)
        ],
        best=best_so_far(studio, session),
        ahead=urls_ahead(studio, session, likely),
    )


def waiting_round(studio: Studio, session: Session, role: Role, rater: str | None) -> WaitingRound:
    """Describe the round that waits for an answer, as this rater sees it."""
    answered_by = [ballot.rater for ballot in session.ballots]
    return WaitingRound(
        **vars(shown_round(studio, session)),
        judge=judge_order(studio, session, role),
        answered_by=answered_by,
        waiting_for=session.missing_answers,
        you_answered=rater in answered_by,
    )


def best_so_far(studio: Studio, session: Session) -> BestRef | None:
    """Describe the best exhibit; None before a start is picked."""
    moved = [step for step in session.steps if step.moved]
    if not moved:
        return None
    index = moved[-1].line.index
    path = studio.urls.run(session.run.name, f"bests/{index}")
    return BestRef(
        url=versioned(path, moved[-1].best, session.renderer),
        media_type=session.renderer.media_type,
        since=index,
        start=moved[-1].slate.question == "start",
    )


def judge_order(studio: Studio, session: Session, role: Role) -> JudgeOrder | None:
    """Describe the judge's order of the waiting round; None without a judge.

    Only the owner reads the judge's problem, because it may name files.
    """
    if session.judge is None:
        return None
    verdict = studio.verdict(session)
    order = None if verdict is None else verdict.order
    on_screen = None if order is None else to_screen(order, session.shown)
    return JudgeOrder(
        name=session.judge.title,
        order=None if on_screen is None else [list(group) for group in on_screen.best],
        problem=verdict.problem if verdict is not None and role == "owner" else "",
    )


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
    judged = studio.judge_agreements(session)
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


def _judge_agreement(studio: Studio, session: Session) -> JudgeAgreement | None:
    """Return how far people and the judge agreed in the last rounds that it scored."""
    recent = list(studio.judge_agreements(session).values())[-RECENT:]
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


def urls_ahead(studio: Studio, session: Session, slate: Slate | None) -> list[str]:
    """Return the exhibit URLs of the next round, if this will be its slate."""
    if slate is None:
        return []
    index = session.waiting.index + 1
    shown = shown_order(session.record, index, len(slate))
    return _exhibit_urls(studio, session, index, slate, shown)


def _exhibit_urls(
    studio: Studio, session: Session, index: int, slate: Slate, shown: Group
) -> list[str]:
    """Return the URLs of a round's exhibits by screen position."""
    base = studio.urls.run(session.run.name, f"rounds/{index}/exhibits")
    return [
        versioned(f"{base}/{position}", slate[candidate], session.renderer)
        for position, candidate in enumerate(shown)
    ]


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


def _raters(line: Round) -> list[str]:
    if isinstance(line.answer, Poll):
        return [ballot.rater for ballot in line.answer.ballots]
    return [line.rater] if line.rater else []


def _reported(report: Mapping[str, float]) -> dict[str, float | None]:
    """Return the fields that a model of the rater reports; None for methods without one."""
    found = {name: report.get(name, math.nan) for name in REPORTED}
    return {name: value if math.isfinite(value) else None for name, value in found.items()}
