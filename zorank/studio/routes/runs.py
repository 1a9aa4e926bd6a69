"""Routes about runs as a whole: create, list, change, branch, delete, and their history."""

from __future__ import annotations

from fastapi import APIRouter

from zorank.studio.dependencies import CurrentStudio, MembersRun, Owner, OwnersRun
from zorank.studio.models import ERRORS
from zorank.studio.models.history import History
from zorank.studio.models.runs import Changes, NewBranch, NewRun, RunCard, RunInfo, RunRef
from zorank.studio.views import history as history_views
from zorank.studio.views import runs as views

router = APIRouter(responses=ERRORS)


@router.post("/runs", status_code=201)
def create_run(new: NewRun, studio: CurrentStudio, _: Owner) -> RunRef:
    """Create a run."""
    return RunRef(id=studio.create(new.settings()))


@router.get("/runs", response_model_exclude_unset=True)
def list_runs(studio: CurrentStudio, _: Owner) -> list[RunCard]:
    """List the studio's runs, newest first."""
    return [views.run_card(studio, record) for record in studio.stored.records()]


@router.get("/runs/{run_id}")
def show_run(run: MembersRun) -> RunInfo:
    """Return one run; its owner also gets the model's state in words."""
    with run.session() as session:
        return views.run_info(run.studio, session, run.access.role, run.rater())


@router.patch("/runs/{run_id}")
def change_run(run: OwnersRun, changes: Changes) -> RunRef:
    """Change a run's title, or what closes a round: the number of answers, or a deadline."""
    run.studio.update(run.id, title=changes.title, raters=changes.raters)
    if "deadline" in changes.model_fields_set:
        run.studio.set_deadline(run.id, changes.deadline)
    return RunRef(id=run.id)


@router.delete("/runs/{run_id}", status_code=204)
def delete_run(run: OwnersRun) -> None:
    """Delete a run, its log and its exhibits."""
    run.studio.delete(run.id)


@router.post("/runs/{run_id}/branch", status_code=201)
def branch(run: OwnersRun, asked: NewBranch | None = None) -> RunRef:
    """Create a run that shares the first rounds of this one."""
    asked = asked or NewBranch()
    return RunRef(id=run.studio.branch(run.id, asked.round, asked.title))


@router.get("/runs/{run_id}/history")
def history(run: MembersRun) -> History:
    """Return a row for each answered round; the owner also gets raters and their agreement."""
    with run.session() as session:
        return history_views.history(run.studio, session, run.access.role)
