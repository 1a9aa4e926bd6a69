"""Oracles answer a slate by themselves. A person answers through a run's `tell` instead."""

from zorank.oracles.callables import CallableOracle, from_callable
from zorank.oracles.clip import CLIP
from zorank.oracles.comparison import ComparisonOracle
from zorank.oracles.function import FunctionOracle
from zorank.oracles.judges import (
    JUDGES,
    FunctionJudge,
    JudgeKind,
    judge_kinds,
    judge_maker,
    make_judge,
)
from zorank.oracles.noisy import GaussianNoise, JustNoticeable, PlackettLuce, RandomSwaps
from zorank.oracles.pictures import PictureOracle

__all__ = [
    "CLIP",
    "JUDGES",
    "CallableOracle",
    "ComparisonOracle",
    "FunctionJudge",
    "FunctionOracle",
    "GaussianNoise",
    "JudgeKind",
    "JustNoticeable",
    "PictureOracle",
    "PlackettLuce",
    "RandomSwaps",
    "from_callable",
    "judge_kinds",
    "judge_maker",
    "make_judge",
]
