"""A method for `scipy.optimize.minimize`, which takes any function of this signature.

SciPy's methods assume that f is deterministic and return the best point that they evaluated; so
does this one. The field `centre` of the result is zorank's own estimate, the better choice for a
noisy f. NaN and infinite values are ranked last.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank import optimizers
from zorank._arrays import is_real, is_whole, plain
from zorank._progress import check_callback
from zorank.errors import InvalidInput, required_by, short
from zorank.minimize import Result, minimize
from zorank.types import Vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.optimize import OptimizeResult

LARGEST = sys.float_info.max
"""Stands for values that are not finite; they tie."""

POINTS = 3000
"""The default limit of points, that of `zorank.minimize`."""


def scipy_method(
    fun: Callable[..., Any],
    x0: ArrayLike,
    args: Any = (),
    jac: Any = None,
    hess: Any = None,
    hessp: Any = None,
    bounds: Any = None,
    constraints: Any = (),
    callback: Callable[..., Any] | None = None,
    **options: Any,
) -> OptimizeResult:
    """Minimise fun as `scipy.optimize.minimize(fun, x0, method=scipy_method)`.

    Options (`options={...}` of SciPy): maxfev or points, the largest number of evaluations (3000);
    maxiter, of rounds; seed (0); m and k, the candidates on a slate and how many are ranked;
    patience, the rounds without a better value after which to stop; tol or xatol, the radius of
    the search at which to stop; disp; method ("auto"), a name in `zorank.optimizers.REGISTRY`;
    and the settings of that method, such as sigma0. Others give SciPy's OptimizeWarning.

    Args:
        fun: the objective, called as fun(x, *args).
        x0: the start.
        args: further arguments of fun.
        jac: ignored with a warning, as are `hess` and `hessp`.
        hess: ignored with a warning.
        hessp: ignored with a warning.
        bounds: pairs (low, high), or SciPy's `Bounds`.
        constraints: refused, because no method here handles them.
        callback: called with x, or with `intermediate_result` if its parameter has this name;
            raises StopIteration to stop.
        **options: see above.

    Returns:
        SciPy's OptimizeResult: x and fun (the best point and its value), nfev, nit, success,
        status, message, and `centre`, zorank's estimate of the minimum.
    """
    with required_by("scipy_method", "scipy", "experiments"):
        from scipy.optimize import OptimizeWarning

    _check_problem(fun, jac, hess, hessp, constraints)
    check_callback(callback)
    limits, settings, unknown = _read_options(options)
    if unknown:
        text = f"Unknown solver options: {', '.join(map(str, unknown))}"
        warnings.warn(text, OptimizeWarning, stacklevel=3)
    more = args if isinstance(args, tuple) else (args,)
    watch = _Watch(fun, more, limits, _adapt_callback(callback))
    result = minimize(
        watch,
        np.atleast_1d(np.asarray(x0)),
        points=max(limits.points - 1, 1),  # one evaluation is left for the centre
        method=limits.method,
        seed=limits.seed,
        options=settings,
        bounds=bounds,
        callback=watch.stops,
    )
    return watch.finish(result)


@dataclass(frozen=True)
class _Limits:
    """The options that are not settings of the optimizer."""

    points: int = POINTS
    maxiter: int | None = None
    patience: int | None = None
    tol: float = 0.0
    method: str = "auto"
    seed: int = 0
    disp: bool = False


@dataclass(eq=False)
class _Watch:
    """A wrapper of the objective that counts evaluations and keeps the best point."""

    fun: Callable[..., Any]
    args: tuple[Any, ...]
    limits: _Limits
    callback: Callable[[OptimizeResult], Any] | None
    nfev: int = 0
    x: Vector | None = None
    best: float = np.inf
    message: str = ""
    _improved: int = field(default=0, repr=False)
    _before: float = field(default=np.inf, repr=False)

    def __call__(self, x: Vector) -> Any:
        found = self.fun(x.copy(), *self.args)
        self.nfev += 1
        number = np.asarray(found)
        if number.size != 1 or number.dtype.kind not in "biuf":
            return found  # `minimize` says what is wrong
        value = float(number.reshape(()))
        if self.x is None or value < self.best or (np.isnan(self.best) and not np.isnan(value)):
            self.x, self.best = x.copy(), value
        return float(np.clip(np.nan_to_num(value, nan=LARGEST), -LARGEST, LARGEST))

    def stops(self, so_far: Result) -> bool:
        """Return whether to stop after this round, and set the message."""
        limits, rounds = self.limits, so_far.rounds
        if self.best < self._before:
            self._before, self._improved = self.best, rounds
        radius = so_far.history[-1].get("radius", np.inf)
        if self.callback is not None:
            try:
                self.callback(self.result(so_far, "running", False))
            except StopIteration:
                self.message = "`callback` raised `StopIteration`."
        if limits.patience is not None and rounds - self._improved >= limits.patience:
            self.message = f"no better value in {limits.patience} rounds"
        if limits.maxiter is not None and rounds >= limits.maxiter:
            self.message = f"stopped at the limit of {limits.maxiter} rounds"
        if radius < limits.tol:
            self.message = f"the radius of the search is below {limits.tol:g}"
        return bool(self.message)

    def finish(self, result: Result) -> OptimizeResult:
        """Evaluate the centre, which may be the best point, and return SciPy's result."""
        self(result.x)
        if not self.message and result.success:
            self.message = f"stopped at the limit of {self.limits.points} evaluations"
        message = self.message or result.message
        done = self.result(result, message, result.rounds > 0 and bool(np.isfinite(self.best)))
        if self.message.startswith("`callback`"):
            done.success, done.status = False, 99
        if self.limits.disp:
            sys.stdout.write(f"{message}\n{done}\n")
        return done

    def result(self, so_far: Result, message: str, success: bool) -> OptimizeResult:
        """Return the result so far as SciPy's class."""
        from scipy.optimize import OptimizeResult

        x = so_far.x if self.x is None else self.x
        return OptimizeResult(
            x=x.copy(),
            fun=self.best,
            nfev=self.nfev,
            nit=so_far.rounds,
            success=success,
            status=0 if success else 1,
            message=message,
            centre=so_far.x,
        )


def _check_problem(fun: Any, jac: Any, hess: Any, hessp: Any, constraints: Any) -> None:
    """Warn of derivatives, as SciPy does for its derivative-free methods; refuse constraints."""
    if not callable(fun):
        raise InvalidInput(f"fun must be a function, found {short(fun)}")
    uses = {"gradient information (jac)": jac, "Hessian information (hess)": hess}
    for what, given in (uses | {"Hessian-vector product information (hessp)": hessp}).items():
        if given is not None and given is not False:
            text = f"Method zorank does not use {what}."
            warnings.warn(text, RuntimeWarning, stacklevel=4)
    if constraints is not None and (not hasattr(constraints, "__len__") or len(constraints)):
        raise InvalidInput(
            "scipy_method takes bounds but no constraints; add a penalty to the function, or use "
            "SciPy's COBYQA"
        )


def _read_options(
    options: Mapping[str, Any],
) -> tuple[_Limits, dict[str, Any], dict[str, Any]]:
    """Return the limits, the settings of the optimizer, and the options that are neither."""
    left = {name: value for name, value in options.items() if value is not None}
    for alias, name in (("maxfev", "points"), ("maxfun", "points"), ("xatol", "tol")):
        if alias in left:
            if name in left:
                raise InvalidInput(f"{alias} and {name} are one option; give one of them")
            left[name] = left.pop(alias)
    given = {name: left.pop(name) for name in list(left) if name in _Limits.__annotations__}
    limits = _Limits(**given)
    for name in ("points", "maxiter", "patience"):
        count = given.get(name)
        if count is not None and not (is_whole(count) and count >= 1):
            raise InvalidInput(f"{name} must be a whole number from 1, found {short(count)}")
    if not is_real(plain(limits.tol)) or not limits.tol >= 0:
        raise InvalidInput(f"tol must be a number from 0, found {short(limits.tol)}")
    known: Any = optimizers.REGISTRY.get(str(limits.method))
    names = set() if known is None else set(signature(known).parameters) - {"bounds"}
    settings = {name: left.pop(name) for name in list(left) if name in names}
    return limits, settings, left


def _adapt_callback(
    callback: Callable[..., Any] | None,
) -> Callable[[OptimizeResult], Any] | None:
    """Return the callback as a function of a result, by SciPy's rule for its parameter's name."""
    if callback is None:
        return None
    try:
        names = set(signature(callback).parameters)
    except (TypeError, ValueError):  # a built-in function
        names = set()
    if names == {"intermediate_result"}:
        return lambda result: callback(intermediate_result=result)
    return lambda result: callback(result.x.copy())
