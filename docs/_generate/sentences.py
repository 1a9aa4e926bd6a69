"""The table of the paper's empirical sentences, from sentences.toml and the results.

A sentence has

- `section`, `line` (of the paper's source) and `quote`;
- `says`: what it claims, in plain words;
- `checks`: pairs of a file in results/ and the name of a claim in it; all its problems and times
  are shown, or those that a third entry lists as "problem | time";
- `note`: a remark, which may contain numbers as in `values.py`;
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
WORDS = {"✓": "holds", "✗": "does not hold", "?": "undecided"}


def table() -> list[str]:
    """Return the rows of the table."""
    lines = ["| § | the paper says | verdict | measured |", "| --- | --- | --- | --- |"]
    return lines + [_row(sentence) for sentence in sentences()]


def sentences() -> list[dict[str, Any]]:
    """Return all sentences, in the order of the paper."""
    return tomllib.loads(FILE.read_text())["sentence"]


def _row(sentence: dict[str, Any]) -> str:
    claims = [claim for check in sentence.get("checks", ()) for claim in checked(check)]
    said = f"“{sentence['quote']}” {sentence['says']}"
    cells = [
        *_measured(sentence.get("checks", ())),
        *([values.filled(sentence["note"])] if "note" in sentence else []),
    ]
    summary = _summary(claims) if claims else sentence["status"]
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


def _summary(claims: list[Claim]) -> str:
    counts = Counter(claim.verdict for claim in claims)
    if len(counts) == 1:
        (mark,) = counts
        return f"{WORDS[mark]} {mark}"
    return ", ".join(f"{mark} {counts[mark]}" for mark in WORDS if counts[mark])


def _measured(checks: list[Any]) -> list[str]:
    """Return one line for each check and problem: the measurement and interval at every time."""
    cells = []
    for check in checks:
        for (name, where), at in by_line(checked(check)).items():
            numbers = "; ".join(
                f"{mark}: {verdict(claim)}" if mark else verdict(claim)
                for mark, claim in at.items()
            )
            cells.append(f"{name}, {where} ([{check[0]}]({_page(check[0])})): {numbers}")
    return cells


def _page(figure: str) -> str:
    if figure in ("continuity", "latent-judges"):
        return "latents.md"
    return "reproduction.md"
