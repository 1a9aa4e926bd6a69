"""The status of a run in sentences, for the sidebar of the ranking page.

Sentences need no interpretation, unlike numbers. The thresholds were chosen by hand on simulated
raters; only these sentences depend on them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from zorank.estimators import comparisons
from zorank.optimizers.rank_items import ENOUGH
from zorank.run import Step
from zorank.slates import Slate
from zorank.studio.presentation import shown_order
from zorank.types import Poll, Ranking, RunRecord

FIRST, FIRST_ABOUT_RATER, FIRST_STOP = 2, 4, 8
"""Minimum rounds for any sentence, for one about the rater, and for \"You could stop\"."""

LIKELY = 0.7
"""The probability of a better picture above which it is called probable."""

CONSISTENT, VARIED = 0.85, 0.72
"""The shares of pairs ordered correctly above which answers are consistent, or vary a little."""

SMALL_GAIN_IN_NOISE, SMALL_GAIN_IN_SD, IN_A_ROW = 1 / 3, 0.05, 3
"""Limits of a small gain, in units of the noise or in sd, and the number of rounds in a row."""

BY_LOOKS = 0.8
"""The probability that looks matter, or do not matter, above which a sentence says so."""

SAME_PLACE = 6
"""Favourites in a row at one screen position; with six positions, 1 in 7,776 by chance."""


@dataclass(frozen=True)
class Facts:
    """The facts that the sentences depend on.

    Attributes:
        reports: the optimizer's report after each answered round; empty if it had none.
        alike: number of "no difference" answers in a row, up to the last.
        one_place: number of favourites in a row at one screen position, up to the last.
        several: whether several people rank.
        seen: number of different pictures that were shown.
        first: the round that first showed the best picture.
        again: whether the waiting slate has the same candidates as the last one.
    """

    reports: Sequence[Mapping[str, float]] = ()
    alike: int = 0
    one_place: int = 0
    several: bool = False
    seen: int = 0
    first: int | None = None
    again: bool = False

    @property
    def known(self) -> int:
        """Number of rounds with a report."""
        return sum(map(bool, self.reports))

    @classmethod
    def of(cls, record: RunRecord, steps: Sequence[Step], waiting: Slate | None = None) -> Facts:
        """Collect the facts after these rounds, while this slate waits."""
        raters = {rater for step in steps for rater in _raters(step)}
        alike = [_is_indifferent(step) for step in reversed(steps)]
        places = [_favourite_place(record, step) for step in reversed(steps)]
        first = places[0] if places else None
        return cls(
            reports=tuple(reports(steps, waiting)),
            alike=_leading(alike),
            one_place=_leading([place is not None and place == first for place in places]),
            several=len(raters) > 1,
            seen=len({x.tobytes() for step in steps for x in step.slate}),
            first=_round_of_best(steps),
            again=bool(steps) and waiting is not None and _same(steps[-1].slate, waiting),
        )


def reports(steps: Sequence[Step], waiting: Slate | None) -> list[Mapping[str, float]]:
    """Return the report after each round, joined with the promise of the slate that followed."""
    slates = [*(step.slate for step in steps[1:]), waiting]
    return [
        {**step.report, **(slate.promise if slate is not None and step.report else {})}
        for step, slate in zip(steps, slates, strict=False)
    ]


def look_sentences(facts: Facts) -> list[str]:
    """Say whether preferences depend on looks; empty for methods without looks."""
    now = facts.reports[-1] if len(facts.reports) >= FIRST_ABOUT_RATER else {}
    if "looks" not in now or facts.first is None:
        return []
    share = now["looks"]
    by = "partly on how the pictures look, partly on the parameters behind them"
    if share >= BY_LOOKS:
        by = "on how the pictures look"
    elif share <= 1 - BY_LOOKS:
        by = "on the parameters behind the pictures more than on how they look"
    whose = "The raters' choices depend" if facts.several else "Your choices depend"
    sure = math.floor(100 * min(now.get("sure", 0.0), 0.99))
    where = f"round {facts.first}" if facts.first else "the first set"
    return [
        f"{whose} {by}.",
        f"The best of {facts.seen} pictures is from {where} ({sure} % sure).",
    ]


def status_sentences(facts: Facts) -> list[str]:
    """Return all sentences; "You could stop here." comes last, because the page adds a link."""
    if ordered := order_sentences(facts):
        return ordered
    said, stops = progress_sentences(facts), could_stop(facts)
    before, last = (said[:-1], said[-1:]) if stops else (said, [])
    return [*before, *look_sentences(facts), *last]


def order_sentences(facts: Facts) -> list[str]:
    """Say how certain the order of a finite set is; empty for methods that search a space."""
    now = facts.reports[-1] if facts.reports else {}
    if "certainty" not in now:
        return []
    share = math.floor(100 * min(now["certainty"], 0.99))
    said = f"About {share} % of all pairs are in the right order."
    enough = f"That is enough: it was to be {round(100 * ENOUGH)} %. You could stop here."
    if could_stop(facts):
        return [said, enough]
    more = "The same ones are shown again: another answer makes their order more certain."
    return [said, more] if facts.again else [said]


def progress_sentences(facts: Facts) -> list[str]:
    """Return at most three sentences about progress; the last says whether one could stop."""
    if len(facts.reports) < FIRST:
        return []
    stop = could_stop(facts)
    return [*_observations(facts, stop), *(["You could stop here."] if stop else [])]


def could_stop(facts: Facts) -> bool:
    """Whether the expected gain was too small to notice for some rounds.

    Also if the rater sees no difference and slates no longer get wider. Whether the best point
    moves does not matter: the model's favourite moves a little with every answer.
    """
    last = facts.reports[-IN_A_ROW:]
    if last and "certainty" in last[-1]:
        return last[-1]["certainty"] >= ENOUGH
    if facts.known < FIRST_STOP or facts.one_place >= SAME_PLACE or not all(last):
        return False
    indifferent = facts.alike >= IN_A_ROW and not _widens(facts, IN_A_ROW)
    return indifferent or all(_small_gain(report) for report in last)


def _observations(facts: Facts, stop: bool) -> list[str]:
    now = facts.reports[-1]
    if facts.alike:
        return [_indifference_sentence(facts)]
    if facts.one_place >= SAME_PLACE:
        return ["You always choose the same position, but pictures are shuffled every round."]
    if "chance" not in now:
        return []
    likely = now["chance"] >= LIKELY
    certainty = "probably contains" if likely else "may or may not contain"
    ahead = f"The next round {certainty} a better picture."
    rater = [_consistency_sentence(facts, stop)] if facts.known >= FIRST_ABOUT_RATER else []
    return [*([] if stop else [ahead]), *rater]


def _small_gain(report: Mapping[str, float]) -> bool:
    if "gain" not in report:
        return False
    return report["gain"] < max(SMALL_GAIN_IN_NOISE * report["noise"], SMALL_GAIN_IN_SD)


def _indifference_sentence(facts: Facts) -> str:
    if not facts.reports[-1]:
        return "No preference yet, so every set is drawn at random."
    seen = "These look alike" if facts.several else "These look alike to you"
    if _widens(facts, IN_A_ROW):
        return f"{seen}; the next ones differ more."
    return f"{seen}; any small preference helps."


def _consistency_sentence(facts: Facts, stop: bool) -> str:
    consistency = facts.reports[-1]["consistency"]
    whose = "Answers" if facts.several else "Your answers"
    if consistency >= CONSISTENT:
        return "Answers are very consistent." if facts.several else "You are very consistent."
    if consistency >= VARIED:
        return f"{whose} vary a little."
    coming = "; larger differences come next" if _widens(facts, 3) and not stop else ""
    return f"{whose} vary a lot{coming}."


def _same(one: Slate, other: Slate) -> bool:
    return len(one) == len(other) and {x.tobytes() for x in one} == {x.tobytes() for x in other}


def _widens(facts: Facts, rounds: int) -> bool:
    """Whether slates are wider than `rounds` rounds ago."""
    radii = [report["radius"] for report in facts.reports if "radius" in report]
    return len(radii) > 1 and radii[-1] > radii[max(-1 - rounds, -len(radii))]


def _round_of_best(steps: Sequence[Step]) -> int | None:
    """Return the round that first showed the best."""
    if not steps:
        return None
    best = steps[-1].best.tobytes()
    shown = (s.line.index for s in steps if any(x.tobytes() == best for x in s.slate))
    return next(shown, None)


def _leading(flags: Sequence[bool]) -> int:
    return flags.index(False) if False in flags else len(flags)


def _is_indifferent(step: Step) -> bool:
    return step.line.answer is not None and not comparisons(step.line.answer, len(step.slate))[1]


def _raters(step: Step) -> list[str | None]:
    if isinstance(step.line.answer, Poll):
        return [ballot.rater for ballot in step.line.answer.ballots]
    return [step.line.rater]


def _favourite_place(record: RunRecord, step: Step) -> int | None:
    """Return the screen position of the favourite, if one rater had a single favourite."""
    answer = step.line.answer
    if not isinstance(answer, Ranking) or not answer.best or len(answer.best[0]) != 1:
        return None
    return shown_order(record, step.line.index, len(step.slate)).index(answer.best[0][0])
