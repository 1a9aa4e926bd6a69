"""The table of the paper's empirical sentences, from sentences.toml and the results.

A sentence has

- `section`, `line` (of the paper's source) and `quote`;
- `says`: what it claims, in plain words;
- `checks`: pairs of a file in results/ and the name of a claim in it; all its problems and times
  are shown, or those that a third entry lists as "problem | time";
- `two_sided`: true if the sentence says that two methods are similar. Its "on par" claims then
  hold only if the whole interval lies within ½ and 2; ↑ marks those whose interval lies above 1
  but not within: the first method is ahead;
- `note`: a remark, which may contain numbers as in `values.py`;
- `numbers`: what other numbers of the note are, one of the kinds in `tests/test_docs_numbers.py`;
- `status`: only if there are no checks: "not checked", "premise", "wrong", "tests" or "benchmark".
"""

import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from _generate import values
from _generate.paper_tables import verdict
from zorank.experiments.claims import Claim, by_line

FILE = Path(__file__).parent / "sentences.toml"
STATUSES = ("not checked", "premise", "wrong", "tests", "benchmark")
AHEAD = "↑"
WORDS = {"✓": "holds", AHEAD: "ahead", "✗": "does not hold", "?": "undecided"}


def table() -> list[str]:
    """Return the rows of the table."""
    lines = ["| § | the paper says | verdict | measured |", "| --- | --- | --- | --- |"]
    return lines + [_row(sentence) for sentence in sentences()]


def sentences() -> list[dict[str, Any]]:
    """Return all sentences, in the order of the paper."""
    return tomllib.loads(FILE.read_text())["sentence"]


def _row(sentence: dict[str, Any]) -> str:
    two_sided = sentence.get("two_sided", False)
    checks = sentence.get("checks", ())
    marks = [mark(claim, two_sided) for check in checks for claim in checked(check)]
    said = f"“{sentence['quote']}” {sentence['says']}"
    cells = [
        *_measured(checks, two_sided),
        *([values.filled(sentence["note"])] if "note" in sentence else []),
    ]
    summary = _summary(marks) if marks else sentence["status"]
    return f"| {sentence['section']} | {said} | {summary} | {'<br>'.join(cells)} |"


def checked(check: list[Any]) -> list[Claim]:
    """Return the claims that a check names; there is at least one."""
    figure, name, *only = check
    found = [Claim(**c) for c in values.results(figure)["claims"] if c["name"] == name]
    if only:
        found = [claim for claim in found if f"{claim.where} | {claim.at}" in only[0]]
    if not found:
        raise KeyError(f"no claim of {figure} fits {check}")
    return found


def mark(claim: Claim, two_sided: bool) -> str:
    """Return the verdict on a claim, as one of `WORDS`."""
    if not (two_sided and "on par" in claim.name and claim.interval):
        return claim.verdict
    low, high = claim.interval
    least, most = float(claim.needed), 1 / float(claim.needed)
    if least < low and high < most:
        return "✓"
    if low > 1:
        return AHEAD
    return "✗" if high < least else "?"


def _summary(marks: list[str]) -> str:
    counts = Counter(marks)
    if len(counts) == 1:
        (only,) = counts
        return f"{WORDS[only]} {only}"
    return ", ".join(f"{each} {counts[each]}" for each in WORDS if counts[each])


def _measured(checks: list[Any], two_sided: bool) -> list[str]:
    """Return one line for each check and problem: the measurement and interval at every time."""
    cells = []
    for check in checks:
        for (name, where), at in by_line(checked(check)).items():
            told = {time: verdict(claim, mark(claim, two_sided)) for time, claim in at.items()}
            numbers = "; ".join(f"{time}: {each}" if time else each for time, each in told.items())
            cells.append(f"{name}, {where} ([{check[0]}]({_page(check[0])})): {numbers}")
    return cells


def _page(figure: str) -> str:
    if figure in ("continuity", "latent-judges"):
        return "latents.md"
    return "reproduction.md"
