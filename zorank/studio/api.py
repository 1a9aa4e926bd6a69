"""The studio's HTTP interface: runs, rounds and answers, JSON in and out. It only translates."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from zorank.errors import InvalidInput
from zorank.slates import Slate
from zorank.studio.access import Access
from zorank.studio.exports import data_url
from zorank.studio.forms import (
    OWNER_NAME,
    Changes,
    GivenAnswer,
    GivenOrder,
    Index,
    Member,
    NewBranch,
    NewRun,
    Owner,
    Run,
    TheStudio,
    UndoRounds,
)
from zorank.studio.presentation import shown_order
from zorank.studio.responses import History, HistoryRow, JudgeShown, RaterShown, RunShown
from zorank.studio.sessions import Session, Studio
from zorank.studio.status_text import Facts, all_words, could_stop
from zorank.studio.views import (
    best_so_far,
    describe_card,
    describe_judge,
    describe_judges,
    describe_renderer,
    describe_run,
    exhibit_urls,
    for_rater,
    history_rows,
    judge_standing,
    run_note,
    versioned,
)

router = APIRouter(responses={401: {}, 403: {}, 404: {}, 409: {}, 413: {}, 503: {}})


@router.get("/renderers")
def list_renderers(studio: TheStudio, _: Owner) -> list[dict[str, Any]]:
    """What can be made, and with which options."""
    return [describe_renderer(kind) for kind in studio.renderers.values()]


@router.get("/judges")
def list_judges(studio: TheStudio, _: Owner) -> list[dict[str, Any]]:
    """Who can order the pictures of a new run for people to correct, and with which options."""
    return describe_judges(studio)


@router.post("/runs", status_code=201)
def create_run(new: NewRun, studio: TheStudio, _: Owner) -> dict[str, str]:
    """A new run."""
    run_id = studio.create(
        new.renderer, new.m, new.seed, new.options, new.title, new.raters, new.method, **new.kept()
    )
    with studio.session(run_id) as session:
        studio.look_ahead(session)
    return {"id": run_id}


@router.get("/runs")
def list_runs(studio: TheStudio, _: Owner) -> list[dict[str, Any]]:
    """The studio's runs, newest first."""
    return [describe_card(studio, record) for record in studio.records()]


@router.get("/runs/{run_id}")
def show_run(run_id: Run, studio: TheStudio, access: Member) -> RunShown:
    """One run; its owner also reads what the model knows by now."""
    record = studio.store.record(run_id)
    with studio.session(run_id) as session:
        start, judge, renderer = session.start, session.judge, session.renderer
        steps = session.steps if access.role == "owner" else []
        facts = Facts.of(record, steps, session.run.ask())
    return RunShown(
        **describe_run(studio, record),
        role=access.role,
        optimizer={"name": record.optimizer, **record.options},
        raters_needed=studio.needed(run_id),
        start=None if start is None else versioned(f"/api/runs/{run_id}/start", start, renderer),
        words=all_words(facts),
        judge=None if judge is None else judge.title,
        could_stop=could_stop(facts),
        keepsake=renderer.export_name if access.role == "owner" else None,
        note=run_note(record.meta, renderer) if access.role == "owner" else "",
    )


@router.patch("/runs/{run_id}")
def change_run(run_id: Run, changes: Changes, studio: TheStudio, _: Owner) -> dict[str, str]:
    """Change a run's title or how many answers close a round."""
    studio.update(run_id, title=changes.title, raters=changes.raters)
    return {"id": run_id}


@router.delete("/runs/{run_id}", status_code=204)
def delete_run(run_id: Run, studio: TheStudio, _: Owner) -> None:
    """Forget a run, its log and its exhibits."""
    studio.delete(run_id)


@router.get("/runs/{run_id}/round")
def waiting_round(
    run_id: Run,
    studio: TheStudio,
    access: Member,
    rater: Annotated[str | None, Query(max_length=60)] = None,
) -> dict[str, Any]:
    """The round that waits for an answer."""
    with studio.session(run_id) as session:
        studio.look_ahead(session)
        index, key = session.waiting.index, session.waiting.key
        slate, shown = session.run.ask(), session.shown
        cast = [ballot.rater for ballot in studio.store.ballots(run_id, index)]
        media_type = session.renderer.media_type
        exhibits = [
            {
                "position": position,
                "url": url,
                "media_type": media_type,
                "current": slate.question == "best" and shown[position] == 0,
            }
            for position, url in enumerate(exhibit_urls(session, index, slate, shown))
        ]
        ahead = _ahead(studio, session, studio.likely(session))
        best = best_so_far(run_id, session, media_type)
        judge = describe_judge(studio, session, access.role)
    return {
        "index": index,
        "key": key,
        "question": slate.question,
        "exhibits": exhibits,
        "best": best,
        "ahead": ahead,
        "judge": judge,
        "answered_by": cast,
        "waiting_for": max(studio.needed(run_id) - len(cast), 0),
        "you_answered": _rater_name(access, rater) in cast,
    }


@router.post("/runs/{run_id}/rounds/{index}/answer")
def answer_round(
    run_id: Run, index: Index, given: GivenAnswer, studio: TheStudio, access: Member
) -> dict[str, Any]:
    """Answer the waiting round."""
    rater = _rater_name(access, given.rater)
    if rater is None:
        raise InvalidInput("say who you are: an answer through a rater's link needs a name")
    waiting = studio.answer(run_id, index, given.ranking(), rater, given.key)
    return {"closed": waiting != index, "index": waiting}


@router.post("/runs/{run_id}/rounds/{index}/draft")
def draft_answer(
    run_id: Run, index: Index, given: GivenOrder, studio: TheStudio, _: Member
) -> dict[str, list[str]]:
    """Say what the answer will probably be: what follows is rendered, and can be loaded, ahead."""
    number = studio.news(run_id)
    with studio.session(run_id) as session:
        following = studio.draft(session, index, given.ranking(), number)
        return {"ahead": _ahead(studio, session, following)}


@router.post("/runs/{run_id}/rounds/{index}/close")
def close_round(run_id: Run, index: Index, studio: TheStudio, _: Owner) -> dict[str, Any]:
    """Close a round with the answers it has."""
    return {"closed": True, "index": studio.close(run_id, index)}


@router.get("/runs/{run_id}/rounds/{index}/candidates")
def show_candidates(run_id: Run, index: Index, studio: TheStudio, _: Owner) -> dict[str, Any]:
    """The vectors behind the screen positions of a round, for judges that are programs."""
    with studio.session(run_id) as session:
        slate, shown = studio.slate(session, index)
        return {"candidates": [slate[candidate].tolist() for candidate in shown]}


@router.post("/runs/{run_id}/undo")
def undo(
    run_id: Run, studio: TheStudio, _: Owner, asked: UndoRounds | None = None
) -> dict[str, Any]:
    """Take back answered rounds, exactly."""
    return {"index": studio.undo(run_id, (asked or UndoRounds()).rounds)}


@router.post("/runs/{run_id}/branch", status_code=201)
def branch(
    run_id: Run, studio: TheStudio, _: Owner, asked: NewBranch | None = None
) -> dict[str, str]:
    """A new run that shares the first rounds of this one."""
    asked = asked or NewBranch()
    return {"id": studio.branch(run_id, asked.round, asked.title)}


@router.post("/runs/{run_id}/invite", status_code=201)
def invite(run_id: Run, request: Request, studio: TheStudio, _: Owner) -> dict[str, str]:
    """A link for raters of this run; earlier ones stop working."""
    token = studio.invite(run_id)
    return {"url": f"{request.url.scheme}://{request.url.netloc}/runs/{run_id}?token={token}"}


@router.delete("/runs/{run_id}/invite", status_code=204)
def revoke_invitation(run_id: Run, studio: TheStudio, _: Owner) -> None:
    """No rater's link opens this run any more."""
    studio.revoke(run_id)


@router.get("/runs/{run_id}/history")
def history(run_id: Run, studio: TheStudio, access: Member) -> History:
    """What happened, a row for each answered round; the owner also sees who agrees with whom."""
    with studio.session(run_id) as session:
        rows = history_rows(run_id, studio, session)
        known = studio.rater_records(session)
        if access.role != "owner":
            return History(rows=[HistoryRow(**for_rater(row)) for row in rows], raters=[])
        answers = Counter(name for row in rows for name in row["raters"])
        raters = [
            RaterShown(
                name=name,
                answers=count,
                agreement=known[name].share if name in known else None,
                weight=studio.weight(session, known.get(name)),
            )
            for name, count in answers.items()
        ]
        standing = judge_standing(studio, session)
    judge = None if standing is None else JudgeShown(**standing)
    return History(rows=[HistoryRow(**row) for row in rows], raters=raters, judge=judge)


@router.get("/runs/{run_id}/events")
async def events(run_id: Run, request: Request, studio: TheStudio, _: Member) -> Response:
    """Server-sent events: the round changed, somebody answered, how far the pictures are."""
    stream = _events(run_id, request, studio)
    return StreamingResponse(stream, media_type="text/event-stream")


async def _events(run_id: str, request: Request, studio: Studio) -> AsyncIterator[str]:
    told: dict[str, Any] = {}
    while not (request.app.state.closing or await request.is_disconnected()):
        access = await run_in_threadpool(request.app.state.guard.access, request)
        if access is None or not access.may_see(run_id):  # the link was revoked
            return
        try:
            news = await run_in_threadpool(_news, run_id, studio, access.role)
        except InvalidInput:  # the run was deleted
            return
        for event, data in news.items():
            if told.get(event) != data:
                yield f"event: {event}\ndata: {json.dumps(data)}\n\n"
        told = news
        await asyncio.sleep(0.5)


def _news(run_id: str, studio: Studio, role: str) -> dict[str, Any]:
    with studio.session(run_id) as session:
        judge = describe_judge(studio, session, role)
        index, slate = session.waiting.index, session.run.ask()
        cast = [ballot.rater for ballot in studio.store.ballots(run_id, index)]
        size = session.renderer.size or 0
        done = studio.gallery.ready(run_id, slate, size)
        shares = None
        if session.renderer.tells_progress:
            shown = [slate[candidate] for candidate in session.shown]
            shares = studio.gallery.shares(run_id, shown, size)
            previews = studio.gallery.previews(run_id, shown, size)
    waiting_for = max(studio.needed(run_id) - len(cast), 0)
    news: dict[str, Any] = {
        "round": {"index": index},
        "ballots": {"answered_by": cast, "waiting_for": waiting_for},
        "exhibit": {"round": index, "done": done, "of": len(slate)},
        **({"judge": {"round": index, **judge}} if judge else {}),
    }
    if shares is None:
        return news
    # A preview is small and a browser has few connections: it comes with the news.
    pictures = [preview and data_url(preview) for preview in previews]
    return {
        **news,
        "progress": {"round": index, "shares": shares},
        "previews": {"round": index, "pictures": pictures},
    }


def _ahead(studio: Studio, session: Session, slate: Slate | None) -> list[str]:
    """Where the exhibits of the next round will be if this is its slate; served from now on."""
    if slate is None:
        return []
    studio.promise(session, slate)
    index = session.waiting.index + 1
    shown = shown_order(session.record, index, len(slate))
    return exhibit_urls(session, index, slate, shown)


def _rater_name(access: Access, given: str | None) -> str | None:
    if access.role == "owner":
        return given or OWNER_NAME
    return given if given and given.casefold() != OWNER_NAME else None
