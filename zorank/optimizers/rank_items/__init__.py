"""rank-items: the order of a finite set of things, from rankings of a few at a time."""

from zorank.optimizers.rank_items.optimizer import ENOUGH, ItemsState, RankItems

__all__ = ["ENOUGH", "ItemsState", "RankItems"]
