"""A progress bar and stopping callbacks for loops over rounds."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from zorank.errors import InvalidInput, short

T = TypeVar("T")


def check_callback(callback: object) -> None:
    """Raise InvalidInput unless a callback is None or a function."""
    if callback is not None and not callable(callback):
        raise InvalidInput(f"callback must be a function or None, found {short(callback)}")


def as_scipy(callback: Any) -> Any:
    """Return a callback that takes a result, for one in SciPy's form.

    SciPy's forms have one parameter, `intermediate_result` or `xk`. Others are returned as they
    are.
    """
    try:
        names = tuple(inspect.signature(callback).parameters)
    except (TypeError, ValueError):  # None, or a callable without a signature
        return callback
    if names == ("intermediate_result",):
        return lambda result: callback(intermediate_result=result)
    if names == ("xk",):
        return lambda result: callback(result.x if result.run.space is None else result.params)
    return callback


def stops(callback: Callable[[T], Any], so_far: T) -> bool:
    """Return whether the callback stops the loop: it returns True or raises StopIteration."""
    try:
        wish = callback(so_far)
    except StopIteration:
        return True
    try:
        return bool(wish)
    except Exception as error:  # such as an array, which is neither true nor false
        raise InvalidInput(
            f"a callback must return True, False or None, found {short(wish)}"
        ) from error


@contextmanager
def progress_bar(
    wanted: bool, total: int, unit: str, watched: str
) -> Iterator[Callable[[int, float], None]]:
    """Yield a function to call after every round; if wanted, it updates a bar on stderr."""
    if not wanted:
        yield lambda done, value: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn(f"{{task.completed:.0f}}/{{task.total:.0f}} {unit}"),
        BarColumn(),
        TextColumn(f"{watched} {{task.fields[value]:.6g}}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(unit, total=total, value=float("nan"))
        yield lambda done, value: bar.update(task, completed=done, value=value)
