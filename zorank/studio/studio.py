"""The studio without HTTP: creates, loads and deletes runs, and takes answers.

Every change goes through `Studio`. It hands rendering to `RenderPool`, judges to `JudgeWorker`,
looks to `LookWorker`, and work ahead of time to `Previews`.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from zorank._raters import MEMBER
from zorank.errors import InvalidInput, StoreError, ZorankError
from zorank.protocols import Store
from zorank.renderers.interface import Offered, kinds_of
from zorank.renderers.style.kept import KeptPhotos
from zorank.slates import Slate
from zorank.studio import judging, look_worker
from zorank.studio.access import Access
from zorank.studio.deadlines import Deadlines
from zorank.studio.limits import Limits
from zorank.studio.loaded_runs import LoadedRuns
from zorank.studio.methods import MethodSpec
from zorank.studio.new_run import RunMaker, RunSettings
from zorank.studio.people import People
from zorank.studio.previews import Previews
from zorank.studio.render_pool import RenderLimits, RenderPool
from zorank.studio.rounds import Rounds, Sent
from zorank.studio.seen import Seen
from zorank.studio.sessions import NotFound, Session
from zorank.studio.shared_exhibits import SharedExhibits
from zorank.studio.stored_runs import StoredRuns
from zorank.studio.urls import Urls
from zorank.types import Ranking


class Studio:
    """Runs that people rank, over a store and a choice of renderers.

    Attributes:
        on_change: called with the id of a run that has changed, and whether its links have.
        stored: lists the runs in the store, and reads them.
        rounds: moves a run from round to round.
        people: invites, lists and forgets people.
        photos: the photos that were chosen for runs.
        clock: returns the time in seconds since 1970.
        has_pages: whether a run has open pages.
        counts: how many `answers` and `ballots` were stored.
        start: the start of runs that name none; None lets people pick.
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
        shared: SharedExhibits | None = None,
        start: str | Sequence[float] | None = None,
    ) -> None:
        self.store = store
        self.method = method
        self.start = start
        self.renderers = kinds_of(renderers)
        self.panel = panel or judging.Panel()
        self.render_pool = RenderPool(workers, limits, self._pushes, shared)
        self.judge_worker = judging.JudgeWorker(self.render_pool, self.panel, self._pushes)
        self.look_worker = look_worker.LookWorker(
            lambda session: self.rounds.store_looks_problem(session)
        )
        self.previews = Previews(self.render_pool, self.judge_worker, self.look_worker)
        self.on_change: Callable[[str, bool], None] = lambda run, links: None
        self.stored = StoredRuns(store, self.renderers, self.panel)
        self._maker = RunMaker(store, self.renderers, self.panel, method, start=start)
        self.people = People(store, self.meta, self._people_changed)
        self.photos = KeptPhotos.of_user()
        self.clock: Callable[[], float] = time.time
        self.deadlines = Deadlines(self._close_overdue, lambda: self.clock())
        self.rounds = Rounds(
            *(store, self.stored, self.judge_worker, self.previews, self.deadlines),
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
        session = self._maker.make(new)
        self._hold_photos(session)
        with session.lock:
            self.rounds.recover(session)
        self._sessions.add(session)
        return session.run.name

    @property
    def loaded(self) -> list[Session]:
        """The sessions of the runs in memory."""
        return self._sessions.all()

    def is_loaded(self, run_id: str) -> bool:
        """Whether a run is in memory. One that was deleted elsewhere may be, for a moment."""
        return run_id in self._sessions

    @contextmanager
    def session(self, run_id: str, seen: Seen | None = None) -> Iterator[Session]:
        """Lock a run that is up to date with one snapshot of the store.

        Args:
            run_id: the run.
            seen: what the request has seen of the store. Nothing is read if that is a snapshot,
                or if another request has read one since this one began.
        """
        with self.cached(run_id) as session:
            if seen is None or session.seen_at < seen.at:
                newer = seen if seen is not None and session.is_older(seen.at) else None
                self.rounds.refresh(session, newer)
            elif session.unfinished:
                self.rounds.recover(session)
            yield session

    @contextmanager
    def cached(self, run_id: str) -> Iterator[Session]:
        """Lock a run as this process knows it; the store is read only if it is not loaded."""
        with self._sessions.use(run_id) as session, session.lock:
            try:
                yield session
            except BaseException:
                session.seen_at = 0.0  # it may be outdated: the next request reads
                raise
            finally:
                session.left_at = time.perf_counter()

    def changed_elsewhere(self, run_id: str | None, followed: Iterable[str]) -> None:
        """Load what another process changed in a run; None stands for all runs with open pages."""
        followed = set(followed)
        for name in followed if run_id is None else [run_id]:
            known = self._sessions.get(name)
            if known is None and name not in followed:
                continue  # no page of it is open here
            links = True
            try:
                with self.session(name) as session:
                    # Another request may have loaded this change already, without announcing it.
                    links, session.announced = session.announced != session.meta, session.meta
            except NotFound:
                self._forget(name)
            except ZorankError:
                pass  # the next request reports it
            self.on_change(name, links)

    def answer(self, run_id: str, sent: Sent) -> Session:
        """Take a rater's answer, and return the run's session.

        The answer is acknowledged when it is stored. If the work that follows fails, it is done
        when the run is used next.
        """
        self.previews.supersede(run_id)
        with self.cached(run_id) as session:
            self._count(*self.rounds.take(session, sent))
            self.rounds.try_advance(session)
        self.on_change(run_id, False)
        return session

    def close(self, run_id: str, index: int) -> Session:
        """Close a round with the ballots it has, and return the run's session."""
        with self.session(run_id) as session:
            session.check_waits(index)
            if not session.ballots:
                raise InvalidInput("nobody has answered this round yet; it cannot be closed")
            self.rounds.close(session)
            self.rounds.advance(session)
        self.on_change(run_id, False)
        return session

    def undo(self, run_id: str, rounds: int = 1) -> Session:
        """Undo answered rounds, and return the run's session."""
        with self.session(run_id) as session:
            session.run.undo(rounds)
            session.ballots = []
            self.rounds.advance(session)
        self.on_change(run_id, False)
        return session

    def preview(
        self, session: Session, index: int, on_screen: Ranking, number: int
    ) -> Slate | None:
        """Preview the slate that would follow this draft answer, and start to render it."""
        following = self.previews.preview(session, index, on_screen, number)
        self.rounds.store_looks_problem(session)
        return following

    def branch(self, run_id: str, round: int | None = None, title: str = "") -> str:
        """Create a run that shares this one's first rounds, and return its id."""
        with self.session(run_id) as session:
            self.rounds.store_looks_problem(session)
            branch = Session(session.run.branch(round), session.renderer, session.judge)
            title = title or f"{session.meta['title']} (branch)"
        name = branch.run.name
        links = [key for key in branch.meta if key == "invitation" or key.startswith(MEMBER)]
        self.store.change_meta(name, {"title": title}, dropped=links)
        self._hold_photos(branch)
        with branch.lock:
            self.rounds.recover(branch)
        self._sessions.add(branch)
        return name

    def delete(self, run_id: str) -> None:
        """Delete a run, its log and its exhibits; also a damaged run."""
        try:
            self.stored.read(run_id)
        except StoreError:
            if run_id not in [record.name for record in self.stored.records()]:
                raise
        self.store.delete(run_id)
        self.photos.release(run_id)
        self._forget(run_id)
        self.on_change(run_id, True)

    def _hold_photos(self, session: Session) -> None:
        """Keep the photos of a new run until it is deleted; without them there is no run."""
        name = session.run.name
        try:
            self.photos.hold(session.meta["renderer_options"].values(), name)
        except InvalidInput:
            self.store.delete(name)
            raise

    def _forget(self, run_id: str) -> None:
        """Drop everything that this process has of a deleted run."""
        self._sessions.forget(run_id)
        self.render_pool.cancel_speculative(run_id)
        self.render_pool.forget(run_id)
        self.judge_worker.forget(run_id)

    def meta(self, run_id: str) -> dict[str, Any]:
        """Return the studio's data that are stored with a run."""
        snapshot, _ = self.stored.read(run_id)
        return dict(snapshot.meta)

    def update(self, run_id: str, **changes: Any) -> None:
        """Change the studio's data that are stored with a run; None leaves a value as it is."""
        given = {key: value for key, value in changes.items() if value is not None}
        self.stored.read(run_id)
        self.store.change_meta(run_id, given)
        with self.session(run_id) as session:
            if session.missing_answers == 0:  # fewer raters are needed than have answered
                self.rounds.advance(session)
        self.on_change(run_id, False)

    def set_deadline(self, run_id: str, seconds: float | None) -> None:
        """Set how long after its first showing a round closes; None for never."""
        self.stored.read(run_id)
        changes = {} if seconds is None else {"deadline": seconds}
        self.store.change_meta(run_id, changes, dropped=[] if changes else ["deadline"])
        with self.session(run_id):  # sets the timer
            pass
        self.on_change(run_id, False)

    def admits(self, run_id: str, access: Access) -> bool:
        """Whether a link to a run still exists, as far as this process knows."""
        try:
            with self.cached(run_id) as session:
                return access.may_see(run_id) and access.is_valid(session.meta)
        except NotFound:
            return False

    def _load(self, run_id: str) -> Session:
        session = self.stored.load(run_id)
        with session.lock:
            self.rounds.recover(session)
        return session

    def _close_overdue(self, run_id: str) -> None:
        """Close the waiting round of a run if its deadline has passed and it has a ballot."""
        with suppress(NotFound):  # the run was deleted
            with self.session(run_id) as session:
                if session.is_overdue(self.clock()):
                    self.rounds.advance(session)
            self.on_change(run_id, False)

    def _people_changed(self, run_id: str) -> None:
        """Load a run whose links or whose raters' names have changed."""
        with self.session(run_id):
            pass
        self.on_change(run_id, True)

    def _count(self, *names: str) -> None:
        with self._counting:
            self.counts.update(names)

    def _pushes(self, run_id: str) -> None:
        """Tell open pages that exhibits or the judge of a run have made progress."""
        self.on_change(run_id, False)
