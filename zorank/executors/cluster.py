"""A Dask cluster as an executor."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from zorank.errors import EvaluationError, InvalidInput, required_by, short
from zorank.executors.workers import WorkerExecutor
from zorank.slates import Design

CONNECT_SECONDS = 10.0


SCATTER_ATTEMPTS = 5
"""How often a slate is sent; Dask may choose a worker that has just died."""


class Cluster(WorkerExecutor):
    """The workers of a Dask scheduler. Dask reassigns the tasks of a lost worker.

    Args:
        address: the scheduler's address, such as tcp://10.0.0.7:8786, or a `distributed.Client`.
        connect_seconds: the timeout of the connection.
    """

    def __init__(self, address: Any, connect_seconds: float = CONNECT_SECONDS) -> None:
        with required_by("a cluster", "distributed", "cluster"):
            import distributed
        self._owns_client = isinstance(address, str)
        self.client: Any = _connect(address, connect_seconds) if self._owns_client else address
        kind: Any = distributed.Client
        if not isinstance(self.client, kind):
            raise InvalidInput(
                "address must be a scheduler's address or a distributed.Client, "
                f"found {short(address)}"
            )
        self.loss_errors = (distributed.KilledWorker,)
        try:
            self.renew()
        except EvaluationError:
            self.shutdown()
            raise
        self._futures: Any = self.client.get_executor(pure=False)
        self._sent: tuple[Any, Any] = (None, None)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a call to a worker."""
        if args and callable(args[0]):
            args = (self._by_value(args[0]), *args[1:])
        else:
            fn = self._by_value(fn)
        future: Future[Any] = self._futures.submit(fn, *args, **kwargs)
        return future

    @contextmanager
    def share(self, design: Design) -> Iterator[Any]:
        """Send the design to one worker; other workers fetch it from there when they need it."""
        yield self._scatter(design)

    def _scatter(self, design: Design) -> Any:
        """Send the design to a worker; if that worker has just died, send it to another."""
        for _ in range(SCATTER_ATTEMPTS - 1):
            try:
                return self.client.scatter(design, hash=False)
            except OSError:  # distributed's CommClosedError
                self.renew()
        return self.client.scatter(design, hash=False)

    def renew(self) -> None:
        """Check that there are workers; Dask replaces lost ones itself."""
        if self.client.status != "running":
            raise EvaluationError(
                "the Dask scheduler no longer answers; restart it or start another, then resume "
                "the run from its last answer"
            )
        if not self.client.nthreads():
            where = self.client.scheduler.address
            raise EvaluationError(
                f"the Dask scheduler at {where} has no workers; "
                f"start some with: dask worker {where}"
            )

    def abandon(self, late: Iterable[Future[Any]]) -> None:
        """Do nothing: late tasks keep running on their workers."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Disconnect; the cluster keeps running."""
        if self._owns_client:
            self.client.close()

    def _by_value(self, f: Any) -> Any:
        if self._sent[0] is not f:
            self._sent = (f, PickledByValue(f))
        return self._sent[1]


class PickledByValue:
    """A function that is pickled with its code, because workers may lack the user's module."""

    def __init__(self, f: Any) -> None:
        import cloudpickle

        for part in (f, getattr(f, "func", None), getattr(f, "__self__", None)):
            _register_by_value(part)
        self._f = f
        self._packed: bytes = cloudpickle.dumps(f)

    def __call__(self, *args: Any) -> Any:
        """Call the function."""
        return self._f(*args)

    def __reduce__(self) -> tuple[Any, ...]:
        import cloudpickle

        return cloudpickle.loads, (self._packed,)


def _connect(address: str, seconds: float) -> Any:
    import distributed

    client: Any = distributed.Client
    try:
        return client(address, timeout=seconds)
    except (OSError, TimeoutError, ValueError) as error:
        raise EvaluationError(
            f"no Dask scheduler answers at {address!r} ({error}); start one with `dask scheduler` "
            "and workers with `dask worker ADDRESS`, or check the address"
        ) from error


def _register_by_value(f: Any) -> None:
    """Have cloudpickle send the user's module as code, not by name."""
    name = getattr(f, "__module__", None) or type(f).__module__
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    if module is None or file is None or name == "__main__":
        return
    installed = (sysconfig.get_paths()[place] for place in ("purelib", "platlib", "stdlib"))
    ours = name.partition(".")[0] == "zorank"
    if ours or any(Path(file).is_relative_to(place) for place in installed):
        return
    import cloudpickle

    if name not in cloudpickle.list_registry_pickle_by_value():
        cloudpickle.register_pickle_by_value(module)
