"""Tables of the paper's figures and of the benchmarks of methods."""

from typing import Any

from _generate.values import results
from zorank.experiments.claims import Claim, by_line


def claims(found: dict[str, Any]) -> list[str]:
    claims = [Claim(**claim) for claim in found["claims"]]
    marks = list(dict.fromkeys(claim.at for claim in claims))
    lines = ["| claim | on | " + " | ".join(marks) + " |", "| --- " * (len(marks) + 2) + "|"]
    for (name, where), at in by_line(claims).items():
        cells = (verdict(at[mark]) if mark in at else "" for mark in marks)
        lines.append(f"| {name} | {where} | " + " | ".join(cells) + " |")
    return lines


def changed(replicate: dict[str, Any]) -> list[str]:
    """List the claims of a figure that have another verdict in a replicate of it."""
    pairs = [
        (Claim(**first), Claim(**second))
        for first, second in zip(
            results(replicate["name"])["claims"], replicate["claims"], strict=True
        )
    ]
    rows = [
        f"| {first.name} | {first.where} | {first.at} | {verdict(first)} | {verdict(second)} |"
        for first, second in pairs
        if first.verdict != second.verdict
    ]
    head = ["| claim | on | at | this run | the replicate |", "| --- " * 5 + "|"]
    return [f"{len(rows)} of {len(pairs)} verdicts differ:", "", *head, *rows]


def verdict(claim: Claim) -> str:
    """Return the verdict, the measurement and its interval."""
    told = f"{claim.verdict} {_number(claim.measured)}"
    if claim.interval is None:
        return told
    low, high = claim.interval
    return f"{told} ({_number(low)} – {_number(high)})"


def _number(value: float) -> str:
    told = f"{value:.3g}"  # three digits, written out where that can be read
    return f"{float(told):,.0f}" if 1000 <= abs(value) < 1e6 else told


def settings(found: dict[str, Any]) -> list[str]:
    fixed = ("m", "line_search", "gamma", "diagonal", "k")
    lines = ["| problem | d | method | winner | tried |", "| --- | --- | --- | --- | --- |"]
    for row in found["winners"]:
        chosen = {n: v for n, v in row["winner"].items() if n not in fixed}
        winner = ", ".join(f"{name} {_plain(value)}" for name, value in chosen.items())
        tried = ", ".join(f"{n} {_plain(v[0])} … {_plain(v[-1])}" for n, v in row["axes"].items())
        lines.append(
            f"| {row['problem']} | {row['dim']:,} | `{row['method']}` | {winner} | {tried} |"
        )
    return lines


def _plain(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def values(found: dict[str, Any]) -> list[str]:
    marks = [mark for mark in found["lines"][0]["points"] if mark >= 1000]
    lines = ["| on | method | " + " | ".join(f"{mark:,} points" for mark in marks) + " |"]
    lines.append("| --- " * (len(marks) + 2) + "|")
    for row in found["lines"]:
        at = dict(zip(row["points"], zip(row["mean"], row["std"], strict=True), strict=True))
        cells = ("{:.3g} ± {:.2g}".format(*at[mark]) for mark in marks)
        noise = f", noise {row['noise']:g}" if row["noise"] else ""
        lines.append(f"| {row['problem']}{noise} | {row['label']} | " + " | ".join(cells) + " |")
    return lines


def field(found: dict[str, Any]) -> list[str]:
    groups = list(found["standings"][0]["groups"])
    rows = [
        [
            f"{row['dim']} | {row['peer']} | {row['area']:.1f} ± {row['standard_error']:.1f}",
            *(f"{row['groups'][group]:.1f}" for group in groups),
            f"{row['hit']:.0f}%",
        ]
        for row in found["standings"]
    ]
    return _table(["d | | area", *groups, "hit"], len(groups) + 4, rows)


def sittings(found: dict[str, Any]) -> list[str]:
    names = ("method", "judge", "answers", "runs")
    rows = [
        [*(str(row[name]) for name in names), f"{row['liked']:+.2f} sd", f"{row['fit']:+.2f}"]
        for row in found["methods"]
    ]
    return _table([*names, "liked", "fits, by the judge"], 6, rows)


def words(found: dict[str, Any]) -> list[str]:
    rows = [
        [
            word,
            f"{row['found']:.0%}",
            str(row["of"]),
            "" if row["missed"] is None else f"{row['missed']:.0%}",
        ]
        for word, row in found["words"].items()
    ]
    return _table(["word", "found", "pictures", "missed in landscapes that show it"], 4, rows)


def _table(headings: list[str], columns: int, rows: list[list[str]]) -> list[str]:
    lines = ["| " + " | ".join(headings) + " |", "| --- " * columns + "|"]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]
