"""Where candidates are evaluated: this process, a pool of processes, a cluster.

Any `concurrent.futures.Executor` will do. `Processes` and `Cluster` go further: they receive a
slate's recipe once, not its candidates, and what a lost worker had in hand is evaluated again.
"""

from typing import TYPE_CHECKING, Any

from zorank.executors.evaluation import Objective, evaluate

if TYPE_CHECKING:
    from zorank.executors.cluster import Cluster
    from zorank.executors.processes import Processes


def __getattr__(name: str) -> Any:
    """What brings multiprocessing or a network along is imported when it is first named."""
    if name == "Processes":
        from zorank.executors.processes import Processes

        return Processes
    if name == "Cluster":
        from zorank.executors.cluster import Cluster

        return Cluster
    raise AttributeError(f"module 'zorank.executors' has no attribute {name!r}")


__all__ = ["Cluster", "Objective", "Processes", "evaluate"]
