"""The studio without HTTP: creates, loads and deletes runs, and takes answers.

Every change goes through `Studio`. It hands rendering to `RenderPool`, judges to `JudgeWorker`,
looks to `LookWorker`, and work ahead of time to `Previews`.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from zorank import rng
from zorank._raters import MEMBER
from zorank.errors import InvalidInput, StoreError, ZorankError, unknown_name
from zorank.protocols import Store
from zorank.renderers.interface import Offered, ResolvedRenderer, kinds_of
from zorank.run import Run
from zorank.slates import Slate
from zorank.studio import judging, look_worker
from zorank.studio.access import OWNER, Access, new_invitation
from zorank.studio.agreement import Agreement
from zorank.studio.deadlines import Deadlines
from zorank.studio.limits import Limits
from zorank.studio.loaded_runs import LoadedRuns
from zorank.studio.methods import BY_LOOKS, MethodSpec
from zorank.studio.new_run import RunSettings, new_session
from zorank.studio.people import People, check_rater
from zorank.studio.previews import Previews
from zorank.studio.render_pool import RenderLimits, RenderPool
from zorank.studio.rounds import Rounds
from zorank.studio.run_meta import check_meta, is_listed
from zorank.studio.sessions import NoAccess, NotFound, Session
from zorank.studio.urls import Urls
from zorank.types import Ballot, Exhibit, Ranking, RunRecord, Snapshot, Vector

NO_SUCH_RUN = "there is no such run; it may have been deleted"


class Studio:
    """Runs that people rank, over a store and a choice of renderers.

    Attributes:
        on_change: called with the id of a run that has changed, and whether its links have.
        people: invites, lists and forgets people.
        clock: returns the time in seconds since 1970.
        has_pages: whether a run has open pages.
        counts: how many `answers` and `ballots` were stored.
    """

    urls = Urls()

    def __init__(
        self,
        store: Store,
        renderers: Offered,
        workers: int = 3,
        panel: judging.Panel | None = None,
        method: MethodSpec | None = None,
        limits: RenderLimits | None = None,
        most_runs: int = Limits.runs,
    ) -> None:
        self.store = store
        self.method = method
        self.renderers = kinds_of(renderers)
        self.panel = panel or judging.Panel()
        self.render_pool = RenderPool(workers, limits, on_change=self._pushes)
        self.judge_worker = judging.JudgeWorker(self.render_pool, self.panel, self._pushes)
        self.look_worker = look_worker.LookWorker(
            lambda session: self._rounds.store_looks_problem(session)
        )
        self.previews = Previews(self.render_pool, self.judge_worker, self.look_worker)
        self._planner = look_worker.LookPlanner()
        self.on_change: Callable[[str, bool], None] = lambda run, links: None
        self.people = People(store, self.meta, self._people_changed)
        self.clock: Callable[[], float] = time.time
        self.deadlines = Deadlines(self._close_overdue, lambda: self.clock())
        self._rounds = Rounds(
            *(store, self._snapshot, self.verdict, self.previews, self.deadlines),
            clock=lambda: self.clock(),
        )
        self.has_pages: Callable[[str], bool] = lambda run: False
        self._sessions = LoadedRuns(
            most_runs, self._load, lambda run: self.has_pages(run), self.previews.forget
        )
        self.counts: Counter[str] = Counter()
        self._counting = threading.Lock()

    def create(self, new: RunSettings) -> str:
        """Create a run and return its id."""
        if new.renderer not in self.renderers:
            raise unknown_name("renderer", new.renderer, self.renderers)
        options = {**self.renderers[new.renderer].defaults, **new.options}
        new = replace(new, options=options, method=self._method(new.method))
        renderer = self.make_renderer(new.renderer, options)
        can_look = new.method is None or new.method.name == BY_LOOKS.name
        can_look = can_look and renderer.item_names is None
        plan = self._planner.plan(renderer, options) if can_look else None
        session = new_session(self.store, self.panel, renderer, plan, new)
        with session.lock:
            self._rounds.recover(session)
        self._sessions.add(session)
        return session.run.name

    def _method(self, given: MethodSpec | None) -> MethodSpec | None:
        """Return the method of a new run; the studio's settings hold unless others are given."""
        if self.method is None or given is None or given.name != self.method.name:
            return given or self.method
        return MethodSpec(given.name, {**self.method.settings, **given.settings})

    def make_renderer(self, name: str, options: Mapping[str, Any]) -> ResolvedRenderer:
        """Return the renderer of this name with these options."""
        if name not in self.renderers:
            raise unknown_name("renderer", name, self.renderers)
        return self.renderers[name].restore(options)

    def records(self) -> list[RunRecord]:
        """Return the studio's runs, newest first, without runs of other programs."""
        return [r for r in reversed(self.store.runs()) if is_listed(r, self.renderers)]

    @property
    def loaded(self) -> list[Session]:
        """The sessions of the runs in memory."""
        return self._sessions.all()

    @contextmanager
    def session(self, run_id: str) -> Iterator[Session]:
        """Lock a run that is up to date with one snapshot of the store."""
        with self.cached(run_id) as session:
            if session.take(self._snapshot(run_id)) or session.unfinished:
                self._rounds.recover(session)
            self.deadlines.set(run_id, session.due)
            yield session

    @contextmanager
    def cached(self, run_id: str) -> Iterator[Session]:
        """Lock a run as this process knows it; the store is read only if it is not loaded."""
        with self._sessions.use(run_id) as session, session.lock:
            yield session

    def changed_elsewhere(self, run_id: str | None, followed: Iterable[str]) -> None:
        """Load what another process changed in a run; None stands for all runs with open pages."""
        followed = set(followed)
        for name in followed if run_id is None else [run_id]:
            known = self._sessions.get(name)
            if known is None and name not in followed:
                continue  # nobody here looks at it
            links = True
            try:
                with self.session(name) as session:
                    # Another request may have loaded the change before, but announced nothing.
                    links, session.announced = session.announced != session.meta, session.meta
            except NotFound:
                self._forget(name)
            except ZorankError:
                pass  # the next request reports it
            self.on_change(name, links)

    def answer(
        self,
        run_id: str,
        index: int,
        on_screen: Ranking,
        rater: str,
        key: str | None = None,
        access: Access = OWNER,
    ) -> Session:
        """Take a rater's answer, and return the run's session.

        The answer is acknowledged when it is stored. If the work that follows fails, it is done
        when the run is used next.

        Args:
            run_id: the run.
            index: the round that is answered.
            on_screen: the answer, in screen positions.
            rater: who answers.
            key: the presentation that the rater saw; it changes if the round is undone and shown
                again.
            access: the link that the answer came through; it may have ended in the meantime.
        """
        self.previews.supersede(run_id)
        with self.session(run_id) as session:
            if not access.is_valid(session.meta):
                raise NoAccess("your link is no longer valid; ask for a new one")
            check_rater(rater, access.name, access.role == "owner", session)
            session.check_waits(index, key)
            ranking = session.ranking(on_screen)
            if session.raters_needed == 1 and not session.ballots:
                note = self._rounds.judge_note(session)
                session.run.tell(ranking, rater=rater, round=index, note=note)
                self._count("answers")
            else:
                session.ballots = self.store.cast(run_id, index, Ballot(rater, ranking))
                self._count("answers", "ballots")
            try:
                self._rounds.advance(session)
            except Exception as error:
                session.unfinished = True
                logging.getLogger("zorank").warning(
                    "run %s: the answer is stored, but what follows failed: %s", run_id, error
                )
        self.on_change(run_id, False)
        return session

    def close(self, run_id: str, index: int) -> Session:
        """Close a round with the ballots it has, and return the run's session."""
        with self.session(run_id) as session:
            session.check_waits(index)
            if not session.ballots:
                raise InvalidInput("nobody has answered this round yet; it cannot be closed")
            self._rounds.close(session)
            self._rounds.advance(session)
        self.on_change(run_id, False)
        return session

    def undo(self, run_id: str, rounds: int = 1) -> Session:
        """Undo answered rounds, and return the run's session."""
        with self.session(run_id) as session:
            session.run.undo(rounds)
            session.ballots = []
            self._rounds.advance(session)
        self.on_change(run_id, False)
        return session

    def preview(
        self, session: Session, index: int, on_screen: Ranking, number: int
    ) -> Slate | None:
        """Preview the slate that would follow this draft answer, and start to render it."""
        following = self.previews.preview(session, index, on_screen, number)
        self._rounds.store_looks_problem(session)
        return following

    def branch(self, run_id: str, round: int | None = None, title: str = "") -> str:
        """Create a run that shares this one's first rounds, and return its id."""
        with self.session(run_id) as session:
            self._rounds.store_looks_problem(session)
            branch = Session(session.run.branch(round), session.renderer, session.judge)
            title = title or f"{session.meta['title']} (branch)"
        name = branch.run.name
        links = [key for key in branch.meta if key == "invitation" or key.startswith(MEMBER)]
        self.store.change_meta(name, {"title": title}, dropped=links)
        with branch.lock:
            self._rounds.recover(branch)
        self._sessions.add(branch)
        return name

    def delete(self, run_id: str) -> None:
        """Delete a run, its log and its exhibits; also a damaged run."""
        try:
            self._snapshot(run_id)
        except StoreError:
            if run_id not in [record.name for record in self.records()]:
                raise
        self.store.delete(run_id)
        self._forget(run_id)
        self.on_change(run_id, True)

    def _forget(self, run_id: str) -> None:
        """Drop everything that this process has of a deleted run."""
        self._sessions.forget(run_id)
        self.render_pool.cancel_speculative(run_id)
        self.render_pool.forget(run_id)
        self.judge_worker.forget(run_id)

    def meta(self, run_id: str) -> dict[str, Any]:
        """Return the studio's data that are stored with a run."""
        return dict(self._snapshot(run_id).meta)

    def update(self, run_id: str, **changes: Any) -> None:
        """Change the studio's data that are stored with a run; None leaves a value as it is."""
        given = {key: value for key, value in changes.items() if value is not None}
        self._snapshot(run_id)
        self.store.change_meta(run_id, given)
        with self.session(run_id) as session:
            if session.missing_answers == 0:  # fewer raters are needed than have answered
                self._rounds.advance(session)
        self.on_change(run_id, False)

    def set_deadline(self, run_id: str, seconds: float | None) -> None:
        """Set how long after its first showing a round closes; None for never."""
        self._snapshot(run_id)
        changes = {} if seconds is None else {"deadline": seconds}
        self.store.change_meta(run_id, changes, dropped=[] if changes else ["deadline"])
        with self.session(run_id):  # sets the timer
            pass
        self.on_change(run_id, False)

    def invite(self, run_id: str) -> str:
        """Return a new token for the shared link of a run; earlier ones stop working."""
        token, digest = new_invitation(run_id)
        self.update(run_id, invitation=digest)
        self.on_change(run_id, True)
        return token

    def revoke(self, run_id: str) -> None:
        """Invalidate the token of the shared link of a run."""
        self._snapshot(run_id)
        self.store.change_meta(run_id, {}, dropped=["invitation"])
        self.on_change(run_id, True)

    def exhibit(
        self, session: Session, candidate: Vector, size: int | None = None
    ) -> Future[Exhibit]:
        """Render a candidate of this run, in another size if the renderer has sizes."""
        renderer = session.renderer.resized(size)
        return self.render_pool.request(session.run.name, renderer, candidate)

    def sample(self, name: str) -> Future[Exhibit]:
        """Render one fixed random point, as an example of what a renderer makes."""
        if name not in self.renderers:
            raise NotFound(f"there is no renderer named {name!r}")
        renderer = self.renderers[name].make()
        point = rng.for_content(0, b"sample").standard_normal(renderer.dim)
        return self.render_pool.request(f"sample of {name}", renderer, point)

    def verdict(self, session: Session) -> judging.Verdict | None:
        """Return the judge's verdict on the waiting round; None without a judge or until then."""
        if session.judge is None:
            return None
        slate = session.run.ask()
        return self.judge_worker.verdict(session.run.name, session.judge, session.renderer, slate)

    def judge_agreements(self, session: Session) -> dict[int, Agreement]:
        """Return how far people and the judge agree, for each round that the judge has scored."""
        run = (session.run.name, session.judge, session.renderer)
        return self.judge_worker.agreements(*run, session.steps)

    def _load(self, run_id: str) -> Session:
        """Replay a run's log."""
        self._snapshot(run_id)
        record = self.store.record(run_id)
        if record.meta["renderer"] not in self.renderers:
            raise InvalidInput(f"run {run_id!r} was not made in this studio")
        renderer = self.make_renderer(record.meta["renderer"], record.meta["renderer_options"])
        looks = look_worker.looks_for(record.meta, renderer, record.seed)
        run = Run.open(self.store, run_id, trace=True, record_slates=True, looks=looks)
        look_worker.check_against_log(run)
        session = Session(run, renderer, self.panel.choice(record.meta, renderer))
        with session.lock:
            self._rounds.recover(session)
        return session

    def _close_overdue(self, run_id: str) -> None:
        """Close the waiting round of a run if its deadline has passed and it has a ballot."""
        with suppress(NotFound):  # the run was deleted
            with self.session(run_id) as session:
                if session.is_overdue(self.clock()):
                    self._rounds.advance(session)
            self.on_change(run_id, False)

    def _people_changed(self, run_id: str) -> None:
        """Load a run whose links or whose raters' names have changed."""
        with self.session(run_id):
            pass
        self.on_change(run_id, True)

    def _snapshot(self, run_id: str) -> Snapshot:
        """Read the store; raise NotFound if no studio has made this run."""
        try:
            seen = self.store.snapshot(run_id)
        except InvalidInput as error:  # this error names other runs
            raise NotFound(NO_SUCH_RUN) from error
        if "renderer" not in seen.meta:
            raise NotFound(NO_SUCH_RUN)
        check_meta(run_id, seen.meta)
        return seen

    def _count(self, *names: str) -> None:
        with self._counting:
            self.counts.update(names)

    def _pushes(self, run_id: str) -> None:
        """Tell open pages that exhibits or the judge of a run have made progress."""
        self.on_change(run_id, False)
