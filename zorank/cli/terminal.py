"""Ranking by typing, for terminals: the same run as anywhere, answered line by line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from zorank.errors import InvalidInput, ZorankError
from zorank.run import Run
from zorank.slates import Slate
from zorank.types import Ranking, Vector

HELP = (
    "type positions, best first: 3 1 names two, 3 1=4 ties 1 and 4, 3 / 0 says that 0 is worst;\n"
    "an empty line: no difference; u: undo; q: stop (everything so far is kept)"
)
QUESTIONS = {
    "start": "Pick one to start from (an empty line shows others).",
    "rank": "Rank the ones you like, best first, as many as you want.",
    "best": "Which is best? (0 is the best so far)",
    "compare": "Which are better than 0? Name them all.",
}


def parse_order(text: str) -> Ranking:
    """What was typed as a ranking: "3 1=4 / 0" is 3, then 1 and 4 alike, and 0 the worst."""
    best, _, worst = text.partition("/")
    return Ranking.of(_groups(best), _groups(worst))


def rank_in_terminal(
    run: Run,
    rounds: int,
    describe: Callable[[Vector], Any] | None = None,
    read: Callable[[str], str] = input,
    write: Callable[[str], Any] = print,
) -> None:
    """Show slates and take answers until so many rounds are answered or the person stops.

    Args:
        run: what is ranked.
        rounds: how many rounds to answer in all.
        describe: what to show of a candidate; None shows its numbers.
        read: takes a line.
        write: shows a line.
    """
    write(HELP)
    while len(run.history) < rounds:
        slate = run.ask()
        _show(slate, len(run.history), describe or _numbers, write)
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


def _numbers(candidate: Vector) -> str:
    return np.array2string(candidate, precision=4, threshold=12, edgeitems=5)


def _groups(text: str) -> list[list[int]]:
    try:
        return [[int(p) for p in group.split("=")] for group in text.split()]
    except ValueError as error:
        raise InvalidInput(
            f"positions are whole numbers such as 3 1=4, best first; found {text.strip()!r}"
        ) from error
