"""What the model knows of a run and of whoever ranks, in a few calm words.

A number with decimals asks to be interpreted; a sentence says what it means for the next minute.
The thresholds are chosen by hand, on simulated people; only these sentences depend on them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from zorank.estimators import comparisons
from zorank.run import Step
from zorank.slates import Slate
from zorank.studio.presentation import shown_order
from zorank.types import Poll, Ranking, RunRecord

FIRST, TO_KNOW_A_RATER, TO_STOP = 2, 4, 8
"""Answered rounds before anything is said, anything of the rater, and that one could stop."""

LIKELY = 0.7
"""The chance of something better that may be called likely."""

CONSISTENT, VARIED = 0.85, 0.72
"""The shares of pairs ordered rightly above which answers are consistent, or vary a little."""

HARDLY_SEEN, HARDLY_ANYTHING, IN_A_ROW = 1 / 3, 0.05, 3
"""Another round is hardly worth it while its gain is so little: in noise of the eye, in sd."""

BY_LOOKS = 0.8
"""The probability that looks matter, or do not, beyond which it is said."""

BY_PLACE = 6
"""Favourites on one and the same place in a row: of six places, 1 in 7,776 by chance."""


@dataclass(frozen=True)
class Facts:
    """What the sentences follow from.

    Attributes:
        reports: what the optimizer reported after each answered round; empty while it knows
            nothing.
        alike: how many of the last answers, in a row, said that there is no difference.
        one_place: how many of the last favourites, in a row, stood on the same place on screen.
        several: whether several people rank.
        seen: how many different pictures were shown.
        first: the round of the picture that the model puts first.
    """

    reports: Sequence[Mapping[str, float]] = ()
    alike: int = 0
    one_place: int = 0
    several: bool = False
    seen: int = 0
    first: int | None = None

    @property
    def known(self) -> int:
        """The rounds after which there was something to report."""
        return sum(map(bool, self.reports))

    @classmethod
    def of(cls, record: RunRecord, steps: Sequence[Step], waiting: Slate | None = None) -> Facts:
        """The facts after these rounds, while this slate waits."""
        raters = {rater for step in steps for rater in _raters(step)}
        alike = [_says_nothing(step) for step in reversed(steps)]
        places = [_favourite_place(record, step) for step in reversed(steps)]
        first = places[0] if places else None
        return cls(
            reports=tuple(reports(steps, waiting)),
            alike=_leading(alike),
            one_place=_leading([place is not None and place == first for place in places]),
            several=len(raters) > 1,
            seen=len({x.tobytes() for step in steps for x in step.slate}),
            first=_round_of_best(steps),
        )


def reports(steps: Sequence[Step], waiting: Slate | None) -> list[Mapping[str, float]]:
    """What was reported after each round, and what the slate that followed promises."""
    slates = [*(step.slate for step in steps[1:]), waiting]
    return [
        {**step.report, **(slate.promise if slate is not None and step.report else {})}
        for step, slate in zip(steps, slates, strict=False)
    ]


def words_of_looks(facts: Facts) -> list[str]:
    """What was learned of a taste in looks; nothing for methods that do not look."""
    now = facts.reports[-1] if len(facts.reports) >= TO_KNOW_A_RATER else {}
    if "looks" not in now or facts.first is None:
        return []
    share = now["looks"]
    by = "partly in what the pictures look like, partly in the numbers behind them"
    if share >= BY_LOOKS:
        by = "in what the pictures look like"
    elif share <= 1 - BY_LOOKS:
        by = "in the numbers behind the pictures more than in their looks"
    whose = "The raters' taste" if facts.several else "Your taste"
    sure = math.floor(100 * min(now.get("sure", 0.0), 0.99))
    where = f"round {facts.first}" if facts.first else "the first set"
    return [
        f"{whose} shows {by}.",
        f"The best of {facts.seen} pictures is from {where}, {sure} % sure against the runner-up.",
    ]


def all_words(facts: Facts) -> list[str]:
    """Everything that is said; that one could stop comes last, as a page makes it a link."""
    said, stops = words(facts), could_stop(facts)
    before, last = (said[:-1], said[-1:]) if stops else (said, [])
    return [*before, *words_of_looks(facts), *last]


def words(facts: Facts) -> list[str]:
    """At most three short sentences about how it is going; the last says if one could stop."""
    if len(facts.reports) < FIRST:
        return []
    stop = could_stop(facts)
    return [*_observations(facts, stop), *(["You could stop here."] if stop else [])]


def could_stop(facts: Facts) -> bool:
    """Whether another round is hardly worth it: too little to gain to be seen, for some time.

    The best point is no guide here: the model's favourite moves a little with every answer. And
    whoever sees no difference any more, though slates cannot get wider, need not go on.
    """
    last = facts.reports[-IN_A_ROW:]
    if facts.known < TO_STOP or facts.one_place >= BY_PLACE or not all(last):
        return False
    blind = facts.alike >= IN_A_ROW and not _widens(facts, IN_A_ROW)
    return blind or all(_hardly_worth(report) for report in last)


def _observations(facts: Facts, stop: bool) -> list[str]:
    now = facts.reports[-1]
    if facts.alike:
        return [_of_indifference(facts)]
    if facts.one_place >= BY_PLACE:
        return ["You keep to one place; the pictures are shuffled every round."]
    if "chance" not in now:
        return []
    likely = now["chance"] >= LIKELY
    ahead = "One of the next is likely better." if likely else "The next may or may not be better."
    rater = [_of_consistency(facts, stop)] if facts.known >= TO_KNOW_A_RATER else []
    return [*([] if stop else [ahead]), *rater]


def _hardly_worth(report: Mapping[str, float]) -> bool:
    if "gain" not in report:
        return False
    return report["gain"] < max(HARDLY_SEEN * report["noise"], HARDLY_ANYTHING)


def _of_indifference(facts: Facts) -> str:
    if not facts.reports[-1]:
        return "Nothing to build on yet; every set is drawn afresh."
    seen = "These look alike" if facts.several else "These look alike to you"
    if _widens(facts, IN_A_ROW):
        return f"{seen}; the next ones differ more."
    return f"{seen}; any small preference helps."


def _of_consistency(facts: Facts, stop: bool) -> str:
    consistency = facts.reports[-1]["consistency"]
    whose = "Answers" if facts.several else "Your answers"
    if consistency >= CONSISTENT:
        return "Answers are very consistent." if facts.several else "You are very consistent."
    if consistency >= VARIED:
        return f"{whose} vary a little."
    coming = "; larger differences come next" if _widens(facts, 3) and not stop else ""
    return f"{whose} vary a lot{coming}."


def _widens(facts: Facts, rounds: int) -> bool:
    """Whether slates are wider than some rounds ago."""
    radii = [report["radius"] for report in facts.reports if "radius" in report]
    return len(radii) > 1 and radii[-1] > radii[max(-1 - rounds, -len(radii))]


def _round_of_best(steps: Sequence[Step]) -> int | None:
    """The round in which the best was shown first."""
    if not steps:
        return None
    best = steps[-1].best.tobytes()
    shown = (s.line.index for s in steps if any(x.tobytes() == best for x in s.slate))
    return next(shown, None)


def _leading(flags: Sequence[bool]) -> int:
    return flags.index(False) if False in flags else len(flags)


def _says_nothing(step: Step) -> bool:
    return step.line.answer is not None and not comparisons(step.line.answer, len(step.slate))[1]


def _raters(step: Step) -> list[str | None]:
    if isinstance(step.line.answer, Poll):
        return [ballot.rater for ballot in step.line.answer.ballots]
    return [step.line.rater]


def _favourite_place(record: RunRecord, step: Step) -> int | None:
    """Where on the screen the favourite stood, if one person had a single one."""
    answer = step.line.answer
    if not isinstance(answer, Ranking) or not answer.best or len(answer.best[0]) != 1:
        return None
    return shown_order(record, step.line.index, len(step.slate)).index(answer.best[0][0])
