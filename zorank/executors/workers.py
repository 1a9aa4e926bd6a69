"""The interface of executors that zorank supports beyond `concurrent.futures.Executor`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager
from typing import Any

from zorank.slates import Design


class WorkerExecutor(Executor, ABC):
    """An executor that shares a slate's design with its workers and replaces lost workers.

    Attributes:
        loss_errors: exceptions that mean a lost worker, besides BrokenExecutor and CancelledError.
    """

    loss_errors: tuple[type[BaseException], ...] = ()

    @abstractmethod
    def share(self, design: Design) -> AbstractContextManager[Any]:
        """Make a design available to the workers; yield the reference to send with each task."""

    @abstractmethod
    def renew(self) -> None:
        """Replace lost workers; raise EvaluationError if that is impossible."""

    @abstractmethod
    def abandon(self, late: Iterable[Future[Any]]) -> None:
        """Take note of tasks that missed the deadline and still run."""
