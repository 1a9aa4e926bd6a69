"""Numbers in the text of a template.

`{{simple | ZO-RankSGD ahead of SCOBO | Quadratic | 1,000 points}}`: the first word names a file in
results/, and a claim follows by its name, problem and time. Any other number follows by its keys:
`{{continuity median_random_pair}}`. An item of a list follows by its index, or by values of it:
`{{field standings.peer=auto,dim=10.area}}`; exactly one item must have them. Two numbers with
` / ` between them are divided, and a key with a dot has quotes: `median_change."0.01"`.
Before the file's name stands

- for every claim its verdict, ✓ ✗ or ?, or > < or = if the interval lies above 1, below 1 or
  contains it: the page cannot be made if the claim has another one, so
  that words such as "ahead" and "undecided" cannot disagree with the data. A claim that is found
  by keys, as in `{{✓ looks studies.0.claims.0.measured}}`, has ✓ or ✗ by its `holds`;
- perhaps `1/`: the reciprocal, because "5 times higher" reads better than ".2 times lower", or
  `-`: the negative, because "changes by" reads better than "falls short by";
- perhaps `low`, `high` or `needed`: an end of the claim's interval, or the bound that it needs,
  instead of the measurement.

After the keys may stand a format of Python's, `{{dream words.snow.found :.0%}}`; without one,
numbers have two significant digits.

`{{count behind noise | ZO-RankSGD on par with *}}` counts claims by name and, after further bars,
problem and time; * stands for any words. What is counted is a verdict, `decided`, `all`, or
whether the interval lies above 1 (`ahead`), below (`behind`) or contains it (`even`).
"""

import json
import re
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from zorank.experiments import measured
from zorank.experiments.claims import Claim

RESULTS = Path(__file__).parents[1] / "results"
OF_PACKAGE = {"measured": measured.FILE}
"""Results that the package itself reads."""

VALUE = re.compile(
    r"\{\{\s*(?P<verdict>[✓✗?<>=])?\s*(?P<end>low |high |needed )?(?P<inverse>1/|-)?\s*"
    r"(?P<figure>[\w-]+)(?P<path>[\s|].+?)(?:\s+:(?P<format>[^}]+))?\s*\}\}"
)
ORDERS = {"ahead": ">", "behind": "<", "even": "="}
COUNT = re.compile(r"\{\{count (?P<kind>[\w✓✗?]+) (?P<figure>[\w-]+) \| (?P<path>.+?)\s*\}\}")


def filled(page: str) -> str:
    """Return a template with its numbers."""
    return VALUE.sub(_value, COUNT.sub(_count, page))


@cache
def results(figure: str) -> Any:
    """Return the content of results/FIGURE.json, or of a file of the package."""
    return json.loads(OF_PACKAGE.get(figure, RESULTS / f"{figure}.json").read_text())


def claim_of(figure: str, name: str, where: str, at: str) -> Claim:
    """Return the claim of a figure with this name, problem and time."""
    claims = [Claim(**claim) for claim in results(figure)["claims"]]
    for claim in claims:
        if (claim.name, claim.where, claim.at) == (name, where, at):
            return claim
    known = "; ".join(f"{c.name} | {c.where} | {c.at}" for c in claims)
    raise KeyError(f"{figure} has no claim {name} | {where} | {at}; it has: {known}")


def brief(value: float) -> str:
    """Return a number with two significant digits, without a zero before the point."""
    rounded = float(f"{value:.2g}")
    if abs(rounded) >= 1e6 or 0 < abs(rounded) < 1e-3:
        digits, _, exponent = f"{rounded:.1e}".partition("e")
        return f"{float(digits):g}·10{_superscript(int(exponent))}"
    if abs(rounded) >= 10:
        return f"{rounded:,.0f}"
    return re.sub(r"^(-?)0\.", r"\1.", f"{rounded:g}").replace("-", "−")


def _superscript(number: int) -> str:
    return str(number).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _value(match: re.Match[str]) -> str:
    value = _claimed(match) if "|" in match["path"] else _looked_up(match)
    if match["inverse"]:
        value = -value if match["inverse"] == "-" else 1 / value
    return format(value, match["format"]) if match["format"] else brief(value)


def _claimed(match: re.Match[str]) -> float:
    name, where, at = (part.strip() for part in match["path"].split("|")[1:])
    claim = claim_of(match["figure"], name, where, at)
    found = ORDERS[_order(claim)] if match["verdict"] in ORDERS.values() else claim.verdict
    if match["verdict"] != found:
        raise ValueError(f"the text says {match['verdict']} but the claim is {found}: {match[0]}")
    if match["end"] is None:
        return claim.measured
    if match["end"] == "needed ":
        return float(claim.needed)
    if claim.interval is None:
        raise ValueError(f"this claim has no interval: {match[0]}")
    return claim.interval[match["end"] == "high "]


def _count(match: re.Match[str]) -> str:
    patterns = [part.strip() for part in match["path"].split("|")]
    claims = [
        claim
        for claim in (Claim(**each) for each in results(match["figure"])["claims"])
        if all(map(fnmatchcase, (claim.name, claim.where, claim.at), patterns))
    ]
    if not claims:
        raise KeyError(f"no claim fits {match[0]}")
    kind = match["kind"]
    if kind == "all":
        return str(len(claims))
    if kind in ("✓", "✗", "?"):
        return str(sum(claim.verdict == kind for claim in claims))
    if kind == "decided":
        return str(sum(claim.verdict != "?" for claim in claims))
    return str(sum(_order(claim) == kind for claim in claims))


def _order(claim: Claim) -> str:
    """Return on which side of 1 the interval lies."""
    if claim.interval is None:
        raise ValueError(f"{claim.name} has no interval")
    low, high = claim.interval
    return "ahead" if low > 1 else "behind" if high < 1 else "even"


def _looked_up(match: re.Match[str]) -> float:
    value, *divisors = (_at(match, path) for path in match["path"].split(" / "))
    for divisor in divisors:
        value /= divisor
    return value


def _at(match: re.Match[str], path: str) -> float:
    found = results(match["figure"])
    holds = None
    for key in re.findall(r'(?<=")[^"]+(?=")|[^."]+', path.strip()):
        holds = found.get("holds") if isinstance(found, dict) else None
        found = _item(found, key) if isinstance(found, list) else found[key]
    if match["verdict"] != {True: "✓", False: "✗"}.get(holds):
        raise ValueError(f"the text says {match['verdict']} but `holds` is {holds}: {match[0]}")
    return float(found)


def _item(items: list[Any], key: str) -> Any:
    if "=" not in key:
        return items[int(key)]
    wanted = [pair.split("=") for pair in key.split(",")]
    found = [i for i in items if all(str(i[name]) == value for name, value in wanted)]
    if len(found) != 1:
        raise KeyError(f"{len(found)} items have {key}")
    return found[0]
