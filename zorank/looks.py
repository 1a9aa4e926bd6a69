"""Looks: numbers that describe what the candidates of a run look like.

A renderer may compute them itself (`look`, see `zorank.renderers.interface`). Otherwise small
exhibits are rendered and described (`zorank.descriptors`). In both cases the numbers are projected
on principal components of a reference sample: random candidates drawn with the run's seed.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter, thread_time
from typing import Any, TypeAlias

import numpy as np

from zorank import descriptors, rng
from zorank._components import PrincipalComponents
from zorank._deprecation import renamed
from zorank.errors import LookError, one_line
from zorank.optimizers.settings import check_count
from zorank.protocols import Renderer
from zorank.renderers.interface import ResolvedRenderer, resolve
from zorank.slates import Shell
from zorank.types import Matrix, Vector

LookFunction: TypeAlias = Callable[[Matrix], Any]
"""Candidates, (n, d) → numbers, (n, p): candidates that look alike have near numbers."""

SECONDS_TO_TRY = 15.0
"""If the first looks take longer than this in total, the run works without looks."""

LONG = 1.0
"""A look that takes more seconds than this is assumed to wait for something else than the CPU."""

FAILED = -1.0
"""The measured time of a look that raises. The error is reported where looks are used."""

WAITING = 5.0
"""A look waits for another thread, a GPU or a server if it takes this many times its CPU time."""

TRIES, MOST_TRIES = 4, 12
"""The number of looks that are timed; more if the machine is too busy to tell."""

LONGEST_LOOK = 20.0
"""A look that takes more seconds than this is abandoned, and the run continues without looks."""

FARTHEST = 1e6
"""The largest accepted component of a look; over random candidates, E|z|² = 1."""

TOLERANCE = 1e-3
"""Looks of one candidate that differ by more than this, in units of random looks, have changed."""

CACHE_SIZE = 4096
"""The number of looks that are cached."""

CHUNK = 8
"""The number of reference candidates that one step looks at."""


@dataclass(frozen=True)
class LookPlan:
    """How many looks a run computes. It is stored with the run, because slates depend on it.

    Attributes:
        pool: the number of candidates that are looked at in a round.
        reference: the size of the reference sample.
        begin: the first round whose candidates get looks; later for slow looks, whose reference
            sample takes some rounds.
    """

    pool: int
    reference: int
    begin: int

    def __post_init__(self) -> None:
        for name, least in {"pool": 0, "reference": 3, "begin": 0}.items():
            check_count(self, name, least, CACHE_SIZE)


PLANS = {
    0.05: LookPlan(pool=36, reference=192, begin=0),
    0.25: LookPlan(pool=24, reference=96, begin=3),
}
"""Plans by the longest time of one look, in seconds: about two seconds a round, while a person
looks at six pictures. There are only two, so that the plan hardly depends on other load."""


class RunLooks:
    """The looks of one run's candidates: principal components over its reference sample.

    Thread-safe: an application may compute looks in the background.

    Args:
        look: the look function of the renderer.
        dim: the number of coordinates of a candidate, d.
        space: "gaussian" or "euclidean": where candidates lie.
        seed: the run's seed, which draws the reference sample.
        plan: how many looks to compute, and from which round on.
    """

    def __init__(
        self, look: LookFunction, dim: int, space: str, seed: int, plan: LookPlan = PLANS[0.05]
    ) -> None:
        self.begin = plan.begin
        self._look, self._dim, self._space = look, dim, space
        self._seed = rng.check_seed(seed)
        self._size = plan.reference
        self._lock = threading.RLock()
        self._components: PrincipalComponents | None = None
        self._width = 0
        self._raw_reference: list[Matrix] = []
        self._reference: Matrix | None = None
        self._cache: OrderedDict[bytes, Vector] = OrderedDict()
        self._expected: tuple[Matrix, Matrix] | None = None
        self._timed_out = ""

    def expect(self, candidates: Matrix, looks: Matrix) -> None:
        """Raise a LookError later if the looks of these candidates have changed."""
        with self._lock:
            self._expected = (candidates, looks)

    def __call__(self, candidates: Matrix) -> Matrix:
        """Return the looks z, (n, p), of candidates, (n, d); random candidates have E|z|² = 1."""
        components = self._complete()
        keys = [x.tobytes() for x in candidates]
        with self._lock:
            known = {key: self._cache[key] for key in keys if key in self._cache}
        missing = {key: x for key, x in zip(keys, candidates, strict=True) if key not in known}
        if missing:
            found = components.project(self._raw(np.array(list(missing.values()))))
            _check_near(found)
            known.update(zip(missing, found, strict=True))
            with self._lock:
                self._cache.update((key, known[key]) for key in missing)
                while len(self._cache) > CACHE_SIZE:
                    self._cache.popitem(last=False)
        return np.array([known[key] for key in keys]).reshape(len(keys), components.width)

    def reference(self) -> tuple[Matrix, Matrix]:
        """Return the reference sample, (r, d), and its looks, (r, p)."""
        components = self._complete()
        return self._reference_candidates(), components.sample

    @property
    def ready(self) -> bool:
        """Whether the reference sample has been looked at."""
        return self._components is not None

    def step(self) -> bool:
        """Look at the next part of the reference sample; return whether there is more to do."""
        with self._lock:
            done = sum(len(rows) for rows in self._raw_reference)
            if self._components is None and done < self._size:
                part = self._reference_candidates()[done : done + CHUNK]
                self._raw_reference.append(self._raw(part))
            elif self._components is None:
                self._check_deterministic()
                components = PrincipalComponents.of(np.vstack(self._raw_reference))
                self._check_expected(components)
                self._components = components
                self._raw_reference.clear()
            return self._components is None

    def _complete(self) -> PrincipalComponents:
        """Finish the reference sample and return its components."""
        while self.step():
            pass
        if self._components is None:
            raise LookError("the reference sample has no looks")
        return self._components

    def _reference_candidates(self) -> Matrix:
        if self._reference is None:
            self._reference = self._draw_reference()
        return self._reference

    def _draw_reference(self) -> Matrix:
        drawn = rng.for_content(self._seed, b"reference looks").standard_normal(
            (self._size, self._dim)
        )
        return np.array([Shell().place(x) for x in drawn]) if self._space == "gaussian" else drawn

    def _check_deterministic(self) -> None:
        first = self._raw_reference[0][:2]
        again = self._raw(self._reference_candidates()[: len(first)])
        scale = float(np.abs(first).max()) + 1e-12
        if again.shape != first.shape or float(np.abs(again - first).max()) > TOLERANCE * scale:
            raise LookError("the look function returns other numbers for the same candidate")

    def _check_expected(self, components: PrincipalComponents) -> None:
        if self._expected is None:
            return
        candidates, looks = self._expected
        found = components.project(self._raw(candidates))
        same = found.shape == looks.shape
        if not same or math.sqrt(np.mean(np.sum((found - looks) ** 2, axis=1))) > TOLERANCE:
            raise LookError("the look function returns other numbers than when the run began")

    def _raw(self, candidates: Matrix) -> Matrix:
        """Return the numbers of the look function, called with one candidate at a time.

        The last bits of a row may depend on the other candidates of a call.
        """
        return np.vstack([self._raw_row(candidate) for candidate in candidates])

    def _raw_row(self, candidate: Vector) -> Matrix:
        try:
            found = np.array(self._call(candidate[None].copy()), dtype=np.float64)
        except LookError:
            raise
        except (Exception, SystemExit) as error:  # a user's renderer may raise anything
            raise LookError(f"the look function fails with {one_line(error)}") from error
        if found.ndim != 2 or len(found) != 1 or found.shape[1] == 0:
            raise LookError(
                "the look function must return a row of numbers for each candidate, "
                f"found an array of shape {found.shape} for one"
            )
        self._width = self._width or found.shape[1]
        if found.shape[1] != self._width:
            raise LookError(
                f"the look function returned {self._width} numbers before, now {found.shape[1]}"
            )
        if not np.isfinite(found).all():
            raise LookError("the look function must return finite numbers, found NaN or infinity")
        return found

    def _call(self, candidate: Matrix) -> Any:
        """Call the look function in a thread, with a time limit of LONGEST_LOOK."""
        if self._timed_out:
            raise LookError(self._timed_out)
        answers: list[tuple[Any, BaseException | None]] = []

        def ask() -> None:
            try:
                answers.append((self._look(candidate), None))
            except BaseException as error:  # raised again in the calling thread
                answers.append((None, error))

        thread = threading.Thread(target=ask, daemon=True, name="zorank-look")
        thread.start()
        for _ in range(round(LONGEST_LOOK / 0.1)):  # a suspended process does not count
            thread.join(0.1)
            if answers:
                found, error = answers[0]
                if error is not None:
                    raise error
                return found
        self._timed_out = f"a look takes longer than {LONGEST_LOOK:g} s"
        raise LookError(self._timed_out)


def _check_near(looks: Matrix) -> None:
    """Raise a LookError for looks that are too large to compute distances."""
    with np.errstate(over="ignore", invalid="ignore"):
        if not (np.abs(looks).max(initial=0.0) < FARTHEST):
            raise LookError(
                "the look of a candidate is a million times larger than those of random candidates"
            )


def for_renderer(renderer: Renderer, seed: int, plan: LookPlan = PLANS[0.05]) -> RunLooks | None:
    """Return the looks of a run with this renderer; None if there is no look function for it."""
    resolved = resolve(renderer)
    look = look_of(resolved)
    if look is None:
        return None
    return RunLooks(look, resolved.dim, resolved.space, seed, plan)


def look_of(renderer: ResolvedRenderer) -> LookFunction | None:
    """Return the renderer's own look function, or descriptors of small exhibits if it is fast."""
    if renderer.look is not None:
        return renderer.look
    if renderer.tells_progress or descriptors.reader_of(renderer.media_type) is None:
        return None
    small = renderer.resized(descriptors.SIDE) if renderer.size is not None else renderer
    return lambda candidates: descriptors.of_exhibits(small.render(candidates))


def plan_for(renderer: ResolvedRenderer) -> LookPlan | None:
    """Time some looks and return the plan for them; None if there are none or they are slow."""
    look = look_of(renderer)
    if look is None:
        return None
    seconds = _seconds(look, renderer.dim)
    if seconds is None or (seconds == FAILED and renderer.look is None):
        return None  # a rendering error is shown in place of the exhibit
    return next((plan for most, plan in PLANS.items() if seconds <= most), None)


def _seconds(look: LookFunction, dim: int) -> float | None:
    """Return the time of the fastest of a few looks; FAILED if one raises, None if too slow."""
    candidates = rng.for_content(0, b"try a look").standard_normal((MOST_TRIES, dim))
    found: list[float] = []

    def attempt() -> None:
        try:
            for tries, candidate in enumerate(candidates, 1):
                began, worked = perf_counter(), thread_time()
                look(candidate[None])
                waited, worked = perf_counter() - began, thread_time() - worked
                # CPU time is used, because other processes may slow the machine down.
                waits = waited > max(WAITING * worked, min(PLANS)) or waited > LONG
                found.append(waited if waits else worked)
                quickest = min(found)
                if tries >= TRIES and (quickest <= min(PLANS) or not waits):
                    return
                if tries >= (TRIES if waits else 2) and quickest > max(PLANS):
                    return  # the first look may load a model
        except (Exception, SystemExit):  # reported where looks are used
            found.append(FAILED)

    thread = threading.Thread(target=attempt, daemon=True, name="zorank-look")
    thread.start()
    thread.join(SECONDS_TO_TRY)
    return min(found[:], default=None)


__getattr__ = renamed(__name__, {"Plan": "zorank.looks:LookPlan"})
