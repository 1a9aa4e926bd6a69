"""What the studio does, apart from HTTP: runs, rounds, answers, history.

State lives in the store; a session is only a run that is loaded already, and is brought up to date
at every use. So a refresh, a second tab, a restart or a kill loses nothing. Its run keeps a trace:
an answer costs one `tell`, and no look at the past costs any.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from zorank import rng
from zorank.errors import InvalidInput, StaleAnswer, unknown_name
from zorank.looks import RunLooks
from zorank.optimizers import RankLooks, RankProcess
from zorank.protocols import AnyOptimizer, Capabilities, Store
from zorank.renderers.interface import Offered, ResolvedRenderer, kinds_of
from zorank.run import Run, Step
from zorank.slates import Slate
from zorank.studio import gallery, judging, looking
from zorank.studio.access import new_invitation
from zorank.studio.agreement import Agreement, agreements
from zorank.studio.gallery import Gallery, fingerprint
from zorank.studio.presentation import shown_order, to_candidates
from zorank.types import Ballot, Exhibit, Group, Poll, Ranking, Round, RunRecord, Vector


class NotThere(InvalidInput):
    """A round or a picture that does not exist."""


BY_LOOKS, BY_NUMBERS = "rank-looks", "rank-process"
"""The methods that a new run may ask for."""

MOST_AHEAD = 128
"""How many candidates that may come next are remembered for a run."""


@dataclass
class Session:
    """A loaded run, its renderer, and a lock for whoever changes it."""

    run: Run
    renderer: ResolvedRenderer
    judge: judging.Choice | None = None
    lock: threading.RLock = field(default_factory=threading.RLock)
    ahead: dict[str, Vector] = field(default_factory=dict)

    @property
    def record(self) -> RunRecord:
        """What the run is."""
        return self.run.record

    def refresh(self) -> None:
        """Take in what happened elsewhere, and have a round waiting."""
        self.run.refresh()
        self.run.ask()

    @property
    def steps(self) -> list[Step]:
        """The answered rounds and what came of them."""
        return self.run.steps

    @property
    def waiting(self) -> Round:
        """The round that waits for an answer."""
        return self.run.rounds()[-1]

    @property
    def shown(self) -> Group:
        """The candidate at each position on screen."""
        return shown_order(self.record, self.waiting.index, len(self.run.ask()))

    @property
    def start(self) -> Vector | None:
        """The point that was picked to start from."""
        return next((step.best for step in self.steps if step.moved), None)


class Studio:
    """Runs that people rank, over a store and a choice of renderers."""

    def __init__(
        self,
        store: Store,
        renderers: Offered,
        workers: int = 2,
        panel: judging.Panel | None = None,
    ) -> None:
        self.store = store
        self.renderers = kinds_of(renderers)
        self.gallery = Gallery(workers)
        self.panel = panel or judging.Panel()
        self.bench = judging.Bench(self.gallery, self.panel)
        self.looker = looking.Looker(self._keep_problem)
        self._planner = looking.Planner()
        self._sessions: dict[str, Session] = {}
        self._loading = threading.Lock()
        self._newest: dict[str, int] = {}
        self._numbers = itertools.count()

    def create(
        self,
        renderer: str,
        m: int = 6,
        seed: int | None = None,
        options: Mapping[str, Any] | None = None,
        title: str = "",
        raters: int = 1,
        method: str | None = None,
        **kept: Any,
    ) -> str:
        """A new run; its id."""
        if renderer not in self.renderers:
            raise unknown_name("renderer", renderer, self.renderers)
        options = {**self.renderers[renderer].defaults, **(options or {})}
        made = self.make_renderer(renderer, options)
        seed = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else seed
        space: Any = made.space
        plan = None if method == BY_NUMBERS else self._planner.plan(made, options)
        if plan is None and method == BY_LOOKS:
            raise InvalidInput(
                f"{method} needs to know what pictures look like, and {made.title} does not say "
                "so, or not quickly; choose rank-process, or leave the method open"
            )
        optimizer: AnyOptimizer = (
            RankProcess(m=m, space=space, pick=True)
            if plan is None
            else RankLooks(m=m, space=space, pick=True, pool=plan.pool)
        )
        x0 = rng.for_content(seed, b"start").standard_normal(made.dim)
        weights = made.weights
        meta = {
            "renderer": renderer,
            "renderer_options": options,
            "title": title or made.prompt[:80] or made.title,
            "raters": raters,
            **({"weights": weights} if weights else {}),
            **({"looks": asdict(plan)} if plan is not None else {}),
            **kept,  # a judge of its own, or that it has none
        }
        judge = self.panel.choice(meta, made)
        if judge is not None and "judge" in kept:
            self.panel.make(judge)  # a judge that cannot be made must not leave a run behind
        looks = looking.looks_for(meta, made, seed)
        run = Run(
            optimizer,
            x0,
            seed,
            self.store,
            meta=meta,
            trace=True,
            record_slates=True,
            looks=looks,
        )
        self._sessions[run.name] = Session(run, made, judge)
        return run.name

    def make_renderer(self, name: str, options: Mapping[str, Any]) -> ResolvedRenderer:
        """The renderer of this name with these options."""
        if name not in self.renderers:
            raise unknown_name("renderer", name, self.renderers)
        return self.renderers[name].restore(options)

    def records(self) -> list[RunRecord]:
        """The studio's runs, newest first; runs of other programs are left alone."""
        return [r for r in reversed(self.store.runs()) if r.meta.get("renderer") in self.renderers]

    @contextmanager
    def session(self, run_id: str) -> Iterator[Session]:
        """A run, loaded, brought up to date and locked."""
        session = self._sessions.get(run_id) or self._load(run_id)
        with session.lock:
            session.refresh()
            self._close_if_complete(session)
            yield session

    def _load(self, run_id: str) -> Session:
        with self._loading:  # a page asks for many things at once; its run is folded once
            if run_id in self._sessions:
                return self._sessions[run_id]
            meta = self.meta(run_id)
            if meta.get("renderer") not in self.renderers:
                raise InvalidInput(f"run {run_id!r} was not made in this studio")
            renderer = self.make_renderer(meta["renderer"], meta["renderer_options"])
            looks = looking.looks_for(meta, renderer, self.store.record(run_id).seed)
            run = Run.open(self.store, run_id, trace=True, record_slates=True, looks=looks)
            looking.expect(run)
            judge = self.panel.choice(meta, renderer)
            return self._sessions.setdefault(run_id, Session(run, renderer, judge))

    def answer(
        self, run_id: str, index: int, on_screen: Ranking, rater: str, key: str | None = None
    ) -> int:
        """Take a rater's answer; the index of the round that waits afterwards.

        `key` names the showing of the round that was seen: after an undo elsewhere, another one.
        """
        self.news(run_id)
        with self.session(run_id) as session:
            self._check_waits(session, index)
            if key is not None and key != session.waiting.key:
                raise StaleAnswer(f"round {index} shows other pictures by now")
            ranking = _ranking(session, on_screen)
            cast = self.store.ballots(run_id, index)
            if self.needed(run_id) == 1 and not cast:
                note = self._note(session)
                session.run.tell(ranking, rater=rater, round=index, note=note)
            else:
                self.store.cast(run_id, index, Ballot(rater, ranking))
                self._close_if_complete(session)
            self.look_ahead(session)
            return session.waiting.index

    def close(self, run_id: str, index: int) -> int:
        """Close a round with the ballots it has; the index of the round that waits afterwards."""
        with self.session(run_id) as session:
            self._check_waits(session, index)
            if not self.store.ballots(run_id, index):
                raise InvalidInput("nobody has answered this round yet; it cannot be closed")
            self._close(session)
            self.look_ahead(session)
            return session.waiting.index

    def undo(self, run_id: str, rounds: int = 1) -> int:
        """Take back answered rounds; the index of the round that waits again."""
        with self.session(run_id) as session:
            session.run.undo(rounds)
            session.refresh()
            self.look_ahead(session)
            return session.waiting.index

    def branch(self, run_id: str, round: int | None = None, title: str = "") -> str:
        """A new run that shares this one's first rounds; its id."""
        with self.session(run_id) as session:
            self._keep_problem(session)
            branch = session.run.branch(round)
            self._sessions[branch.name] = Session(branch, session.renderer, session.judge)
        title = title or f"{self.meta(run_id)['title']} (branch)"
        self.store.change_meta(branch.name, {"title": title}, dropped=["invitation"])
        return branch.name

    def delete(self, run_id: str) -> None:
        """Forget a run, its log and its exhibits."""
        self.store.delete(run_id)
        self._sessions.pop(run_id, None)
        self.gallery.drop_guesses(run_id)
        self.gallery.forget(run_id)
        self.bench.forget(run_id)

    def meta(self, run_id: str) -> dict[str, Any]:
        """What the studio keeps with a run."""
        return dict(self.store.record(run_id).meta)

    def update(self, run_id: str, **changes: Any) -> None:
        """Change what the studio keeps with a run."""
        given = {key: value for key, value in changes.items() if value is not None}
        self.store.change_meta(run_id, given)

    def invite(self, run_id: str) -> str:
        """A token with which raters can join a run; earlier ones stop working."""
        token, digest = new_invitation(run_id)
        self.update(run_id, invitation=digest)
        return token

    def revoke(self, run_id: str) -> None:
        """No rater's link opens the run any more."""
        self.store.change_meta(run_id, {}, dropped=["invitation"])

    def needed(self, run_id: str) -> int:
        """How many answers close a round."""
        return int(self.store.record(run_id).meta.get("raters", 1))

    def news(self, run_id: str) -> int:
        """Note that somebody drafts or answers: drafts that still wait for their turn are old."""
        self._newest[run_id] = number = next(self._numbers)
        return number

    def draft(self, session: Session, index: int, on_screen: Ranking, number: int) -> Slate | None:
        """Render what would follow this answer, should it be given; the slate it would be."""
        old = self._newest.get(session.run.name) != number
        if old or session.waiting.index != index or self.needed(session.run.name) > 1:
            return None
        self.gallery.drop_guesses(session.run.name)
        if isinstance(session.run.looks, RunLooks) and not session.run.looks.ready:
            return None  # nobody waits for the reference sample to foresee an answer
        following = session.run.preview(_ranking(session, on_screen))
        self._render(session, following, gallery.DRAFTED)
        return following

    def promise(self, session: Session, slate: Slate) -> None:
        """Serve these candidates from now on, before their round comes and if it never does."""
        session.ahead |= {fingerprint(candidate): candidate for candidate in slate}
        for oldest in list(session.ahead)[:-MOST_AHEAD]:
            del session.ahead[oldest]

    def likely(self, session: Session) -> Slate | None:
        """The next slate if it hardly depends on the answer: it does not while x* stays."""
        if session.run.ask().question != "best" or self.needed(session.run.name) > 1:
            return None
        return session.run.preview([0])

    def exhibit(
        self, session: Session, candidate: Vector, size: int | None = None
    ) -> Future[Exhibit]:
        """The exhibit of a candidate of this run, larger if that is asked for and possible."""
        renderer = session.renderer.resized(size)
        return self.gallery.request(session.run.name, renderer, candidate)

    def sample(self, name: str) -> Future[Exhibit]:
        """What a renderer makes of one point, to know it by; it is drawn once."""
        if name not in self.renderers:
            raise NotThere(f"there is no renderer named {name!r}")
        renderer = self.renderers[name].make()
        point = rng.for_content(0, b"sample").standard_normal(renderer.dim)
        return self.gallery.request(f"sample of {name}", renderer, point)

    def slate(self, session: Session, index: int) -> tuple[Slate, Group]:
        """The slate of a round, waiting or answered, and its order on screen."""
        steps = session.steps
        if index > len(steps):
            raise NotThere(f"run {session.run.name!r} has no round {index}")
        slate = steps[index].slate if index < len(steps) else session.run.ask()
        return slate, shown_order(session.record, index, len(slate))

    def rater_records(self, session: Session) -> dict[str, Agreement]:
        """Every rater's agreement with the others in this run."""
        polls = ((step.line.answer, len(step.slate)) for step in session.steps)
        return agreements((a, n) for a, n in polls if isinstance(a, Poll))

    def weight(self, session: Session, known: Agreement | None) -> float:
        """What a rater with this record counts; 1 where the method itself learns how far."""
        if known is None or learns_raters(session.run.optimizer):
            return 1.0
        return known.weight

    def round_agreement(self, step: Step) -> float | None:
        """How far the raters of one round agreed; None if there was only one."""
        if not isinstance(step.line.answer, Poll):
            return None
        found = agreements([(step.line.answer, len(step.slate))]).values()
        return sum(found, Agreement()).share

    def verdict(self, session: Session) -> judging.Verdict | None:
        """What the run's judge says of the waiting round; None without one, or until it looked."""
        if session.judge is None:
            return None
        slate = session.run.ask()
        return self.bench.verdict(session.run.name, session.judge, session.renderer, slate)

    def judge_agreements(self, session: Session) -> dict[int, Agreement]:
        """How far people and the judge agree in each round that it has looked at."""
        run = (session.run.name, session.judge, session.renderer)
        return self.bench.agreements(*run, session.steps)

    def _note(self, session: Session) -> dict[str, Any]:
        return (
            {} if session.judge is None else judging.note_of(session.judge, self.verdict(session))
        )

    def _check_waits(self, session: Session, index: int) -> None:
        if session.waiting.index != index:
            raise StaleAnswer(
                f"round {index} is not waiting for an answer: round {session.waiting.index} is"
            )

    def _close_if_complete(self, session: Session) -> None:
        """Close a round that has its answers, also one that a crash left open."""
        run_id, needed = session.run.name, self.needed(session.run.name)
        if len(self.store.ballots(run_id, session.waiting.index)) >= needed:
            self._close(session)
            session.refresh()

    def _close(self, session: Session) -> None:
        """Tell the run what its raters said; somebody may answer or close elsewhere meanwhile."""
        run, index = session.run, session.waiting.index
        known = self.rater_records(session)
        while session.waiting.index == index:
            ballots = tuple(
                replace(b, weight=self.weight(session, known.get(b.rater)))
                for b in self.store.ballots(run.name, index)
            )
            if not ballots:  # they were undone elsewhere meanwhile
                return
            alone = len(ballots) == 1 and not learns_raters(run.optimizer)
            answer = ballots[0].ranking if alone else Poll(ballots)
            raters = ", ".join(b.rater for b in ballots)
            try:
                note = self._note(session)
                run.tell(answer, rater=raters, round=index, note=note, ballots=len(ballots))
                return
            except StaleAnswer:
                session.refresh()

    def look_ahead(self, session: Session) -> None:
        """Render what this round needs, and what the next one will probably need."""
        session.refresh()
        self.gallery.drop_guesses(session.run.name)
        slate = session.run.ask()
        self._render(session, slate, gallery.SOON)
        self.verdict(session)  # the judge looks as soon as the pictures are there
        self.looker.watch(session)
        self._keep_problem(session)
        if (likely := self.likely(session)) is not None:
            self._render(session, likely, gallery.GUESSED)

    def _keep_problem(self, session: Session) -> None:
        """Looks that failed once are not tried again."""
        problem = session.run.looks_problem
        if problem and self.meta(session.run.name).get("looks_problem") != problem:
            self.update(session.run.name, looks_problem=problem)

    def _render(self, session: Session, slate: Slate, urgency: int) -> None:
        for candidate in slate:
            self.gallery.request(session.run.name, session.renderer, candidate, urgency)


def _ranking(session: Session, on_screen: Ranking) -> Ranking:
    """What was said of candidates; an order that leaves one picture out names it too."""
    ranking = to_candidates(on_screen, session.shown)
    whole = session.run.ask().question == "rank"
    return ranking.completed(len(session.shown)) if whole else ranking


def learns_raters(optimizer: AnyOptimizer) -> bool:
    """Whether a method models every rater's own noise, so that nobody else has to weigh them."""
    return Capabilities.of(optimizer).learns_raters
