"""A function as an oracle: it reveals only what the slate's question asks for."""

from dataclasses import dataclass

from zorank.executors import Objective, evaluate
from zorank.slates import Slate
from zorank.types import Answer


@dataclass(frozen=True)
class FunctionOracle:
    """Ranks candidates by f, smaller is better.

    Attributes:
        f: one candidate → a number; with `vectorized`, all candidates (m, d) → m numbers.
        k: the maximal depth of a ranking; None ranks as deep as the slate asks for.
        vectorized: whether f takes all candidates at once.
    """

    f: Objective
    k: int | None = None
    vectorized: bool = False

    def answer(self, slate: Slate) -> Answer:
        """Return the answer to the slate's question."""
        return slate.answer_from(evaluate(self.f, slate, vectorized=self.vectorized), self.k)
