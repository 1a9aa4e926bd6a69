"""Creates a run: chooses the optimizer, draws the start, and checks the judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from zorank import rng
from zorank.errors import unknown_name
from zorank.looks import LookPlan
from zorank.protocols import Store
from zorank.renderers.interface import RendererKind, ResolvedRenderer
from zorank.renderers.starts import start_of
from zorank.run import Run
from zorank.studio.judging import Panel
from zorank.studio.look_worker import LookPlanner, looks_for
from zorank.studio.methods import BY_LOOKS, MethodSpec, make_optimizer
from zorank.studio.sessions import Session


@dataclass(frozen=True)
class RunSettings:
    """The settings of a new run.

    Attributes:
        renderer: the renderer's name.
        m: candidates per round.
        seed: drawn at random if None.
        options: the renderer's options.
        title: the prompt or the renderer's title if empty.
        raters: how many answers close a round.
        method: the optimizer and its settings; chosen by the renderer's speed if None.
        judge_meta: {"judge": ...} for a judge of the run's own, or None for no judge; empty for
            the studio's judge.
        start: a text such as "seed:1234", or a vector; people pick the start if None, unless the
            studio has a start for all new runs. An empty text is None whatever the studio has.
    """

    renderer: str
    m: int = 6
    seed: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    raters: int = 1
    method: MethodSpec | None = None
    judge_meta: Mapping[str, Any] = field(default_factory=dict)
    start: str | Sequence[float] | None = None


@dataclass(frozen=True)
class RunMaker:
    """Makes runs.

    Attributes:
        store: where runs are stored.
        renderers: the studio's renderers by name.
        panel: the available judges.
        method: the method of runs that name none.
        planner: says how many looks a run can afford.
        start: the start of runs that name none; None lets people pick.
    """

    store: Store
    renderers: Mapping[str, RendererKind]
    panel: Panel
    method: MethodSpec | None
    planner: LookPlanner = field(default_factory=LookPlanner)
    start: str | Sequence[float] | None = None

    def make(self, new: RunSettings) -> Session:
        """Store a new run and return it as a session."""
        if new.renderer not in self.renderers:
            raise unknown_name("renderer", new.renderer, self.renderers)
        kind = self.renderers[new.renderer]
        kind.check_request(new.options)
        options = kind.absolute({**kind.defaults, **new.options})
        start = self.start if new.start is None else new.start
        start = None if isinstance(start, str) and not start else start
        new = replace(new, options=options, method=self._chosen(new.method), start=start)
        renderer = kind.restore(options)
        can_look = new.method is None or new.method.name == BY_LOOKS.name
        can_look = can_look and renderer.item_names is None
        plan = self.planner.plan(renderer, options) if can_look else None
        return self._stored(new, renderer, plan)

    def _chosen(self, given: MethodSpec | None) -> MethodSpec | None:
        """Return the method of a new run; the studio's settings hold unless others are given."""
        if self.method is None or given is None or given.name != self.method.name:
            return given or self.method
        return MethodSpec(given.name, {**self.method.settings, **given.settings})

    def _stored(
        self, new: RunSettings, renderer: ResolvedRenderer, plan: LookPlan | None
    ) -> Session:
        optimizer = make_optimizer(new.method, new.m, renderer, plan, pick=new.start is None)
        seed = int(np.random.SeedSequence().generate_state(1)[0]) if new.seed is None else new.seed
        if new.start is None:
            x0 = rng.for_content(seed, b"start").standard_normal(renderer.dim)
        else:
            x0 = start_of(renderer, new.start)
        meta = _meta(renderer, plan, new)
        judge = self.panel.choice(meta, renderer)
        if judge is not None and "judge" in new.judge_meta:
            self.panel.make(judge)  # fails before the run is stored, not after
        looks = looks_for(meta, renderer, seed)
        begun = Run(
            *(optimizer, x0, seed, self.store),
            meta=meta,
            trace=True,
            record_slates=True,
            looks=looks,
        )
        return Session(begun, renderer, judge)


def _meta(renderer: ResolvedRenderer, plan: LookPlan | None, new: RunSettings) -> dict[str, Any]:
    """Return the studio's data that are stored with the run."""
    weights = renderer.weights
    return {
        "renderer": new.renderer,
        "renderer_options": dict(new.options),
        "title": new.title or renderer.prompt[:80] or renderer.title,
        "raters": new.raters,
        **({"weights": weights} if weights else {}),
        **({"looks": asdict(plan)} if plan is not None else {}),
        **({} if new.start is None else {"start": _start_text(new.start)}),
        **new.judge_meta,
    }


def _start_text(start: str | Sequence[float]) -> str:
    """Say where a run starts; the numbers of a vector are in its record."""
    return start if isinstance(start, str) else "a given vector"
