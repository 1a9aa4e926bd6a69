"""What long loops over rounds share: a bar to watch, and a callback that may stop them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")


def stops(callback: Callable[[T], Any], so_far: T) -> bool:
    """Whether the callback wishes to stop: by returning True, or by StopIteration."""
    try:
        return bool(callback(so_far))
    except StopIteration:
        return True


@contextmanager
def progress_bar(
    wanted: bool, total: int, unit: str, watched: str
) -> Iterator[Callable[[int, float], None]]:
    """A function to call after every round; it draws a bar on standard error if that is wanted."""
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
