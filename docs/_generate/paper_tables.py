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
    remarks = ["", *_published(pairs), *_agreed(pairs)]
    return [f"{len(rows)} of {len(pairs)} verdicts differ:", "", *head, *rows, *remarks]


def _published(pairs: list[tuple[Claim, Claim]]) -> list[str]:
    """Say how many verdicts against the published baseline differ at the end of the runs."""
    counts = []
    for kind in ("on par", "ahead", "varies less"):
        those = [
            first.verdict != second.verdict
            for first, second in pairs
            if kind in first.name and "minus f(x)" in first.name and first.at == "10,000 points"
        ]
        counts.append(f"{sum(those)} of {len(those)} “{kind}”")
    return [
        "Against the published baseline at 10,000 points, these verdicts differ: "
        + ", ".join(counts)
        + "."
    ]


def _agreed(pairs: list[tuple[Claim, Claim]]) -> list[str]:
    """List what both runs decide alike on Rosenbrock, against the mean."""
    words = {"✓": "ahead", "✗": "behind"}
    those = [
        f"{words[first.verdict]} at {first.where.partition(', ')[2]}, {first.at}"
        for first, second in pairs
        if first.name.endswith("ahead of ZO-SGD, minus the mean")
        if first.verdict == second.verdict != "?"
    ]
    return [
        f"On Rosenbrock, against the mean, {len(those)} results are decided alike in both runs: "
        f"ZO-RankSGD is {'; '.join(those)}. We draw no conclusion about the rest."
    ]


def decays(ablations: dict[str, Any]) -> list[str]:
    """Compare runs with a decay of η and μ with those of Figure 1: means of f."""
    marks = (1_000, 3_000, 10_000)
    lines = ["| on | method | " + " | ".join(f"{mark:,} points" for mark in marks) + " |"]
    lines.append("| --- " * (len(marks) + 2) + "|")
    for problem in ("quadratic", "rosenbrock"):
        for found, suffix, labels in (
            (results("simple"), ", Figure 1", ("ZO-RankSGD", "ZO-SGD", "CMA-ES")),
            (ablations, ", with decay", ("ZO-RankSGD", "ZO-RankSGD, no line search")),
        ):
            for label in labels:
                at = _means(found, problem, label)
                cells = " | ".join(_number(at[mark]) for mark in marks)
                lines.append(f"| {problem.capitalize()} | {label}{suffix} | {cells} |")
    return [*lines, "", _lowest(ablations, "quadratic", marks)]


def _means(found: dict[str, Any], problem: str, label: str) -> dict[int, float]:
    (line,) = (
        each for each in found["lines"] if (each["problem"], each["label"]) == (problem, label)
    )
    return dict(zip(line["points"], line["mean"], strict=True))


def _lowest(ablations: dict[str, Any], problem: str, marks: tuple[int, ...]) -> str:
    """Say at which points ZO-RankSGD with a decay has a lower mean than values and CMA-ES."""
    ours = _means(ablations, problem, "ZO-RankSGD, no line search")
    rivals = [_means(results("simple"), problem, label) for label in ("ZO-SGD", "CMA-ES")]
    where = [f"{mark:,}" for mark in marks if all(ours[mark] < r[mark] for r in rivals)]
    told = " and ".join(", ".join(where).rsplit(", ", 1)) if where else "none of these"
    return (
        f"On the {problem}, if η and μ decay, ZO-RankSGD without a line search has a lower mean "
        f"than ZO-SGD and CMA-ES of Figure 1 at {told} points."
    )


def verdict(claim: Claim, mark: str = "") -> str:
    """Return the verdict, or another mark, the measurement and its interval."""
    told = f"{mark or claim.verdict} {_number(claim.measured)}"
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


def largescale(found: dict[str, Any]) -> list[str]:
    rows = [
        [
            f"{row['dim']:,}",
            f"{row['points_per_dim']}·d",
            row["peer"],
            f"{row['points_ratio']:.2f}",
            f"{row['behind']} of {row['compared']}",
            f"{row['area']:.1f}",
            f"{row['hit']:.0f}%",
        ]
        for row in found["standings"]
    ]
    headings = ["d", "budget", "", "points / auto's", "auto behind on", "area", "hit"]
    return _table(headings, len(headings), rows)


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


def often(found: dict[str, Any]) -> list[str]:
    """Say how many words are found in at least nine pictures of ten."""
    return [
        f"{sum(row['found'] >= 0.9 for row in found['words'].values())} of {len(found['words'])}"
    ]


def _table(headings: list[str], columns: int, rows: list[list[str]]) -> list[str]:
    lines = ["| " + " | ".join(headings) + " |", "| --- " * columns + "|"]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]
