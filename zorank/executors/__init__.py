"""Evaluation of candidates: in this process, in a pool of processes, or on a cluster.

Any `concurrent.futures.Executor` works. `Processes` and `Cluster` receive a slate's recipe once
instead of its candidates, and evaluate the candidates of a lost worker again.
"""

from typing import TYPE_CHECKING, Any

from zorank.executors.evaluation import Objective, evaluate, evaluate_any

if TYPE_CHECKING:
    from zorank.executors.cluster import Cluster
    from zorank.executors.processes import Processes


def __getattr__(name: str) -> Any:
    """Import executors on first use: multiprocessing and Dask are slow to import."""
    if name == "Processes":
        from zorank.executors.processes import Processes

        return Processes
    if name == "Cluster":
        from zorank.executors.cluster import Cluster

        return Cluster
    raise AttributeError(f"module 'zorank.executors' has no attribute {name!r}")


__all__ = ["Cluster", "Objective", "Processes", "evaluate", "evaluate_any"]
