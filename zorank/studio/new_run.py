"""Creates a run: chooses the optimizer, draws the start, and checks the judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from zorank import rng
from zorank.looks import LookPlan
from zorank.protocols import Store
from zorank.renderers.interface import ResolvedRenderer
from zorank.run import Run
from zorank.studio.judging import Panel
from zorank.studio.look_worker import looks_for
from zorank.studio.methods import MethodSpec, make_optimizer
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
    """

    renderer: str
    m: int = 6
    seed: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    raters: int = 1
    method: MethodSpec | None = None
    judge_meta: Mapping[str, Any] = field(default_factory=dict)


def new_session(
    store: Store, panel: Panel, renderer: ResolvedRenderer, plan: LookPlan | None, new: RunSettings
) -> Session:
    """Store a new run and return it as a session.

    Args:
        store: where the run is stored.
        panel: the available judges.
        renderer: made with the run's options.
        plan: how many looks the run can afford; None for a run without looks.
        new: the run's settings.
    """
    optimizer = make_optimizer(new.method, new.m, renderer, plan)
    seed = int(np.random.SeedSequence().generate_state(1)[0]) if new.seed is None else new.seed
    x0 = rng.for_content(seed, b"start").standard_normal(renderer.dim)
    meta = _meta(renderer, plan, new)
    judge = panel.choice(meta, renderer)
    if judge is not None and "judge" in new.judge_meta:
        panel.make(judge)  # fails before the run is stored, not after
    looks = looks_for(meta, renderer, seed)
    run = Run(optimizer, x0, seed, store, meta=meta, trace=True, record_slates=True, looks=looks)
    return Session(run, renderer, judge)


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
        **new.judge_meta,
    }
