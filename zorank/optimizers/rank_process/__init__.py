"""rank-process: preferential Bayesian optimization with a Gaussian process over candidates."""

from zorank.optimizers.rank_process.optimizer import RankProcess
from zorank.optimizers.rank_process.state import ProcessState

__all__ = ["ProcessState", "RankProcess"]
