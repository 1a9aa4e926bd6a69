"""Ranking in the terminal: candidates are printed, and answers are typed line by line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from zorank import optimizers, rng
from zorank.errors import InvalidInput, ZorankError
from zorank.protocols import AnyOptimizer
from zorank.run import Run
from zorank.slates import Slate
from zorank.types import Ranking, Vector

HELP = (
    "type positions, best first: 3 1 ranks two, 3 1=4 ties 1 and 4, 3 / 0 makes 0 the worst;\n"
    "an empty line: no difference; u: undo; q: stop (all answers so far are kept)"
)
QUESTIONS = {
    "start": "Pick one to start from (an empty line shows others).",
    "rank": "Rank the ones you like, best first, as many as you want.",
    "best": "Which is best? (0 is the best so far)",
    "compare": "Which are better than 0? Name them all.",
}


def parse_order(text: str) -> Ranking:
    """Parse a typed ranking: "3 1=4 / 0" is 3, then 1 and 4 tied, with 0 the worst."""
    best, _, worst = text.partition("/")
    return Ranking.of(_groups(best), _groups(worst))


def make_optimizer(
    method: str, x0: Vector, seed: int, options: Mapping[str, Any], **settings: Any
) -> AnyOptimizer:
    """Make an optimizer for rankings by hand; "auto" is rank-process.

    Args:
        method: a name in `zorank.optimizers.REGISTRY`.
        x0: the start.
        seed: the seed of the run.
        options: the optimizer's settings.
        settings: more of them; those that are None are left out.
    """
    given = {key: value for key, value in settings.items() if value is not None}
    name = "rank-process" if method == "auto" else method
    optimizer = optimizers.make(name, {**options, **given})
    first = optimizer.ask(optimizer.init(x0), rng.for_round(seed, 0))
    if first.question == "values":
        raise InvalidInput(
            f"{method} needs values, not rankings; use another method, such as zo-ranksgd"
        )
    return optimizer


def rank_in_terminal(
    run: Run,
    rounds: int,
    describe: Callable[[Vector], Any] | None = None,
    read: Callable[[str], str] = input,
    write: Callable[[str], Any] = print,
) -> None:
    """Print slates and read answers until `rounds` rounds are answered or the person stops.

    Args:
        run: the run whose slates are ranked.
        rounds: the number of answered rounds at which to stop, earlier ones included.
        describe: returns what to print for a candidate; None prints its coordinates.
        read: reads a line after a prompt.
        write: prints a line.
    """
    write(HELP)
    while len(run.history) < rounds:
        slate = run.ask()
        _show(slate, len(run.history), describe or _coordinates, write)
        while True:
            try:
                typed = read("> ").strip()
            except EOFError:
                return
            if typed == "q":
                return
            try:
                run.undo() if typed == "u" else run.tell(parse_order(typed), rater="terminal")
                break
            except ZorankError as error:
                write(str(error))


def _show(
    slate: Slate, index: int, describe: Callable[[Vector], Any], write: Callable[[str], Any]
) -> None:
    write(f"\nRound {index}. {QUESTIONS[slate.question]}")
    for position, candidate in enumerate(slate):
        write(f"  {position}  {describe(candidate)}")


def _coordinates(candidate: Vector) -> str:
    return np.array2string(candidate, precision=4, threshold=12, edgeitems=5)


def _groups(text: str) -> list[list[int]]:
    try:
        return [[int(p) for p in group.split("=")] for group in text.split()]
    except ValueError as error:
        raise InvalidInput(
            f"positions must be whole numbers such as 3 1=4, best first; found {text.strip()!r}"
        ) from error
