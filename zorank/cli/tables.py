"""Tables of the results of experiments, for zorank bench and zorank reproduce."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table

if TYPE_CHECKING:
    from zorank.experiments.claims import Claim
    from zorank.experiments.report import Report


def figure_table(report: Report) -> Table:
    """Return the claims of a figure: a row per claim and problem, a column per time."""
    from zorank.experiments.claims import by_line

    marks = list(dict.fromkeys(claim.at for claim in report.claims))
    table = new_table(report.title)
    for heading in ("claim", "on"):
        table.add_column(heading)
    for mark in marks:
        table.add_column(mark, justify="right")
    for (name, where), claims in by_line(report.claims).items():
        table.add_row(name, where, *(_verdict(claims.get(mark)) for mark in marks))
    table.caption_justify = "left"
    table.caption = (
        f"{report.measure}; 95% intervals are in the JSON file. "
        "✓: the claim holds with 95% confidence; ✗: it does not hold; ?: more runs are needed."
    )
    return table


def claim_table(claims: Sequence[Claim], method: str) -> Table:
    """Return the claims of a benchmark about a method: measured, needed, and whether it holds."""
    table = new_table("Claims")
    table.add_column(f"{method} …")
    for heading in ("measured", "needed", "holds"):
        table.add_column(heading, no_wrap=True)
    for claim in claims:
        table.add_row(
            f"{claim.name} [dim]({claim.where})[/]",
            with_error(claim.measured, claim.standard_error),
            str(claim.needed),
            "[green]yes[/]" if claim.holds else "[bold red]no[/]",
        )
    return table


def judges_tables(report: Report) -> Iterator[Table]:
    """Yield the tables of `zorank bench judges`."""
    found = report.summary
    if "cases" in found:
        yield _case_table(found["cases"], found["pictures"])
    if "judges" in found:
        yield _rater_table(found["judges"])
    if "mk" in found:
        yield _mk_table(found["mk"])
    if report.claims:
        yield claim_table(report.claims, "rank-process")


def looks_tables(report: Report) -> Iterator[Table]:
    """Yield the tables of `zorank bench looks`."""
    found = report.summary
    pictures = [case for case in found["cases"] if case["part"] != "peers"]
    boxes = [case for case in found["cases"] if case["part"] == "peers"]
    after = f"after {found['rounds']} rounds of six"
    if pictures:
        yield _gain_table(f"Pictures: gain {after}, sd of random pictures", pictures)
    if boxes:
        yield _gain_table(f"Boxes: gain {after}, sd of random points", boxes)
        yield _time_table(boxes)
    if report.claims and not found["quick"]:
        yield claim_table(report.claims, "rank-looks")


def items_tables(report: Report) -> Iterator[Table]:
    """Yield the tables of `zorank bench items`."""
    found = report.summary
    for spread in dict.fromkeys(result["spread"] for result in found["results"]):
        table = new_table(f"Kendall's τ of {found['items']} items, spread {spread:g}")
        table.add_column("items shown")
        for mark in found["marks"]:
            table.add_column(str(mark), justify="right")
        for result in found["results"]:
            if result["spread"] == spread:
                errors = result["standard_error"]
                cells = map(with_error, result["tau"], errors)
                table.add_row(result["method"], *cells)
        yield table
    if report.claims:
        yield figure_table(report)


def field_tables(report: Report) -> Iterator[Table]:
    """Yield the table of `zorank bench field`."""
    standings = report.summary["standings"]
    table = new_table("BBOB, ranks only: area under the runtime distribution, targets hit")
    groups = list(standings[0]["groups"])
    _add_columns(table, ("d", "peer", "area", *groups, "hit", "µs/point"), left=("peer",))
    for row in standings:
        area = f"{row['area']:.1f}"
        if row["standard_error"] is not None:
            area += f" ±{row['standard_error']:.1f}"
        table.add_row(
            *(str(row["dim"]), row["peer"], area),
            *(f"{row['groups'][group]:.1f}" for group in groups),
            *(f"{row['hit']:.0f}%", f"{row['microseconds_per_point']:.0f}"),
        )
    yield table


def functions_tables(report: Report) -> Iterator[Table]:
    """Yield the tables of `zorank bench functions`, one per part."""
    results = report.summary["results"]
    for part in dict.fromkeys(result["part"] for result in results):
        own = [result for result in results if result["part"] == part]
        counts = bool(own[0]["targets"])
        measured = "points to the targets" if counts else "lowest value"
        table = new_table(f"{part}: median {measured}")
        headings = ("d", "function", "sigma0", "peer", measured, "runs")
        _add_columns(table, headings, left=("function", "peer"))
        for row in own:
            found = [f"{row['median_lowest']:.3g}"]
            if counts:
                found = ["–" if p is None else f"{p:.0f}" for p in row["median_points"]]
            table.add_row(
                *(f"{row['dim']:,}", row["function"], f"{row['sigma0']:g}", row["peer"]),
                *(" / ".join(found), str(row["runs"])),
            )
        if counts:
            table.caption = "–: not reached in half of the runs"
            table.caption_justify = "left"
        yield table


def largescale_tables(report: Report) -> Iterator[Table]:
    """Yield the table of `zorank bench largescale`."""
    table = new_table("Many dimensions, ranks only: points relative to auto's; area, targets hit")
    headings = ("d", "peer", "points", "functions", "auto behind on", "area", "hit", "µs/point")
    _add_columns(table, headings, left=("peer",))
    for row in report.summary["standings"]:
        ratio = row["points_ratio"]
        table.add_row(
            *(f"{row['dim']:,}", row["peer"], "" if ratio is None else f"{ratio:.2f}"),
            *(str(row["compared"]), str(row["behind"]), f"{row['area']:.1f}"),
            *(f"{row['hit']:.0f}%", f"{row['microseconds_per_point']:.0f}"),
        )
    yield table


def mixed_tables(report: Report) -> Iterator[Table]:
    """Yield the tables of `zorank bench mixed`."""
    for standing in report.summary["standings"]:
        problems = standing["problems"]
        peers = list(dict.fromkeys(p for found in problems.values() for p in found["medians"]))
        title = f"After {standing['points']:,} points: median value (win rate of auto)"
        table = new_table(title)
        _add_columns(table, ("problem", *peers), left=("problem",))
        for name, found in problems.items():
            table.add_row(name, *(_mixed_cell(found, peer) for peer in peers))
        overall = standing["overall"]
        rates = (f"{overall[p]['median']:.2f}" if p in overall else "" for p in peers)
        table.add_row("median win rate", *rates)
        yield table
    if report.claims:
        yield claim_table(report.claims, "auto")


def _mixed_cell(found: Mapping[str, Any], peer: str) -> str:
    if peer not in found["medians"]:
        return ""
    rate = found["wins"].get(peer)
    return f"{found['medians'][peer]:.2g}" + ("" if rate is None else f" ({rate:.2f})")


def new_table(title: str) -> Table:
    """Return an empty table in the common style."""
    return Table(title=title, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), title_justify="left")


def with_error(value: float, error: float | None) -> str:
    """Return a value with its standard error, if there is one."""
    return f"{value:.2f}" if error is None else f"{value:.2f} ±{f'{error:.2f}'.lstrip('0')}"


def _verdict(claim: Claim | None) -> str:
    if claim is None:
        return ""
    colour = {"✓": "green", "✗": "bold red", "?": "yellow"}[claim.verdict]
    return f"[{colour}]{claim.measured:.3g} {claim.verdict}[/]"


def _add_columns(table: Table, headings: Sequence[str], left: Sequence[str]) -> None:
    for heading in headings:
        table.add_column(heading, justify="left" if heading in left else "right")


def _case_table(cases: Sequence[Mapping[str, Any]], pictures: int) -> Table:
    from zorank.experiments.judges.findings import BEST, WORST
    from zorank.experiments.judges.study import NEIGHBOURS, PAPER, PROCESS, RANDOM, SEPCMA

    columns = {
        PROCESS: "process",
        BEST: "Alg. 3",
        WORST: "worst",
        PAPER: "paper",
        SEPCMA: "CMA",
        NEIGHBOURS: "near",
        RANDOM: "random",
    }
    table = new_table(f"Gain after {pictures} pictures, sd of random pictures")
    table.caption_justify = "left"
    table.caption = (
        "process: rank-process. Alg. 3: best μ and η in hindsight; worst: worst μ and η; paper: "
        "the paper's η = 1, μ = 0.1. CMA: sep-CMA-ES, near: best neighbour, both with the best "
        "setting in hindsight. random: the best of as many random pictures."
    )
    _add_columns(table, ("taste", "noise", "d", *columns.values()), left=("taste",))
    for case in cases:
        methods = case["methods"]
        first = (_gain(methods[label]) for label in (PROCESS, BEST))
        rest = (f"{methods[label]['gain']:.2f}" for label in list(columns)[2:])
        table.add_row(case["utility"], f"{case['noise']:g}", str(case["dim"]), *first, *rest)
    return table


def _rater_table(raters: Mapping[str, Mapping[str, Any]]) -> Table:
    table = new_table("Judges of noise 0.1: rank-process / Algorithm 3 (best μ and η)")
    utilities = list(next(iter(raters.values())))
    _add_columns(table, ("judge", *utilities), left=("judge", *utilities))
    for name, of in raters.items():
        cells = (" / ".join(map(_gain_at_setting, of[u].values())) for u in utilities)
        table.add_row(name, *cells)
    return table


def _mk_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    table = new_table("How many to show and to rank: rank-process")
    headings = ("noise", "show", "rank", "gain", "seen", "pairs", "minutes")
    for heading in (*headings, "/seen", "/pair", "/minute"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            *(f"{row['noise']:g}", str(row["m"]), str(row["k"] or "all"), _gain(row)),
            *(str(row["pictures"]), str(row["comparisons"]), f"{row['minutes']:.1f}"),
            *(f"{row[f'gain_per_{unit}']:.3f}" for unit in ("picture", "comparison", "minute")),
        )
    return table


def _gain_table(title: str, cases: Sequence[Mapping[str, Any]]) -> Table:
    methods = _methods(cases)
    table = new_table(title)
    _add_columns(table, ("", "taste", "d", "noise", *methods), left=("", "taste"))
    if any(line["setting"] is not None for case in cases for line in case["methods"].values()):
        table.caption_justify = "left"
        table.caption = (
            "algorithm 3, neighbours: best μ in hindsight; qEUBO: best prior in hindsight."
        )
    for case in cases:
        found = (case["methods"].get(name) for name in methods)
        gains = ("" if line is None else _gain(line) for line in found)
        about = (case["group"], case["taste"], str(case["dim"]), f"{case['noise']:g}")
        table.add_row(*about, *gains)
    return table


def _time_table(cases: Sequence[Mapping[str, Any]]) -> Table:
    methods = _methods(cases)
    table = new_table("Boxes: gains after 5 / 10 / 20 rounds; seconds of a round: median, longest")
    _add_columns(table, ("taste", "d", *methods), left=("taste", *methods))
    for case in cases:
        times = (_gains_and_times(case["methods"].get(name)) for name in methods)
        table.add_row(case["taste"], str(case["dim"]), *times)
    return table


def _gains_and_times(line: Mapping[str, Any] | None) -> str:
    if line is None:
        return ""
    gains = " / ".join(f"{gain:.2f}" for gain in line["after"].values())
    return f"{gains}\n{line['median_seconds']:.2g} s, {line['longest_seconds']:.2g} s"


def _methods(cases: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for case in cases for name in case["methods"]))


def _gain(line: Mapping[str, Any]) -> str:
    return with_error(line["gain"], line["standard_error"])


def _gain_at_setting(line: Mapping[str, Any]) -> str:
    return _gain(line) + ("" if line["setting"] is None else f" ({line['setting']:g})")
