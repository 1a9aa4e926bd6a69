"""rank-looks: rank-process that also learns from what candidates look like."""

from zorank.optimizers.rank_looks.optimizer import LooksState, RankLooks

__all__ = ["LooksState", "RankLooks"]
