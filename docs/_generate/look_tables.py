"""Tables of the benchmark of looks."""

import json
import math
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from _generate.judge_tables import holds

RESULTS = Path(__file__).parents[1] / "results"
MARKS = (5, 10, 20)


def tastes(found: dict[str, Any]) -> list[str]:
    lines = []
    for study in found["studies"]:
        if "peers" in study["parts"]:
            continue
        methods = list(study["cases"][0]["methods"])
        part = study["parts"][0]
        title = f"**{part}, noise {study['cases'][0]['noise']:g}**, {_seeds(study)}"
        lines += ["", f"{title}: after 5 / 10 / 20 rounds, ± standard error after 20.", ""]
        lines.append("| taste | group | " + " | ".join(methods) + " |")
        lines.append("| --- " * (len(methods) + 2) + "|")
        for case in study["cases"]:
            cells = (_after(case["methods"][name]) for name in methods)
            taste = f"**{case['taste']}**: {case['meaning']}"
            lines.append(f"| {taste} | {case['group']} | " + " | ".join(cells) + " |")
    return lines


def styles(found: dict[str, Any]) -> list[str]:
    """List gains in painting styles or faces; methods may have different numbers of seeds."""
    offered = ("rank-looks", "rank-process", "random")
    methods = [name for name in offered if any(name in c["methods"] for c in found["cases"])]
    lines = ["| candidates | d | " + " | ".join(methods) + " |"]
    lines.append("| --- " * (len(methods) + 2) + "|")
    for case in found["cases"]:
        cells = (_with_seeds(case["methods"].get(name)) for name in methods)
        lines.append(f"| {case['taste']} | {case['dim']} | " + " | ".join(cells) + " |")
    return lines


def style_claims(found: dict[str, Any]) -> list[str]:
    """List the claims of the part style or faces with the seeds that both methods have."""
    lines = ["| rank-looks … | measured | needed | holds |", "| --- " * 4 + "|"]
    for claim in found["claims"]:
        error = claim["standard_error"]
        measured = f"{claim['measured']:.2f}" + ("" if error is None else f" ±{error:.2f}")
        verdict = "one seed" if error is None else holds(claim)
        lines.append(f"| {claim['name']} | {measured} | {claim['needed']} | {verdict} |")
    return lines


def _with_seeds(line: Mapping[str, Any] | None) -> str:
    if line is None:
        return "not measured"
    return f"{_after(line)} ({line['seeds']} {'seed' if line['seeds'] == 1 else 'seeds'})"


def _seeds(study: Mapping[str, Any]) -> str:
    return "1 seed" if study["seeds"] == 1 else f"{study['seeds']} seeds"


def _after(line: Mapping[str, Any]) -> str:
    gains, error = line["gains"], line["standard_error"]
    told = " / ".join(f"{gains[min(i, len(gains) - 1)]:.2f}" for i in MARKS)
    return told if error is None else f"{told} ±{error:.2f}"


def look_claims(found: dict[str, Any]) -> list[str]:
    """List the claims; one is undecided if a 95% interval contains its bound."""
    lines = ["| rank-looks … | seeds | measured | needed | holds |", "| --- " * 5 + "|"]
    for study in found["studies"]:
        for claim in study["claims"]:
            error = claim["standard_error"]
            measured = f"{claim['measured']:.2f}" + ("" if error is None else f" ±{error:.2f}")
            about = f"{claim['name']} | {study['seeds']} | {measured} | {claim['needed']}"
            lines.append(f"| {about} | {holds(claim)} |")
    return lines


def boxes(found: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    for study in (study for study in found["studies"] if "peers" in study["parts"]):
        methods = list(dict.fromkeys(m for case in study["cases"] for m in case["methods"]))
        lines += ["", f"{_seeds(study)}:", ""]
        lines += ["| taste | d | " + " | ".join(methods) + " |"]
        lines.append("| --- " * (len(methods) + 2) + "|")
        for case in study["cases"]:
            cells = (
                f"{_after(line)}; {line['median_seconds']:.2g} s"
                if (line := case["methods"].get(name))
                else ""
                for name in methods
            )
            lines.append(f"| {case['taste']} | {case['dim']} | " + " | ".join(cells) + " |")
    return lines


def rivals(found: dict[str, Any]) -> list[str]:
    """Methods with a grid of radii, from the sessions in looks.cells.jsonl: means over tastes."""
    first, seeds = found["studies"][0]["first_seed"], range(3)
    sessions: dict[tuple[str, str], dict[Any, dict[int, list[float]]]] = {}
    for line in (RESULTS / "looks.cells.jsonl").read_text().splitlines():
        trial = json.loads(line)
        case, seed = trial["cell"]["condition"], trial["cell"]["seed"] - first
        if case["part"] == "landscape" and case["noise"] == 0.1 and seed in seeds:
            settings = sessions.setdefault((case["method"], case["taste"]), {})
            settings.setdefault(case["setting"], {})[seed] = trial["row"]["gains"]
    groups = {case["taste"]: case["group"] for case in found["studies"][0]["cases"]}
    lines = ["| method | perceptual | numbers |", "| --- | --- | --- |"]
    for method in ("rank-looks", "rank-process", "algorithm 3", "neighbours", "random"):
        cells = []
        for numbers in (False, True):
            tastes = [taste for taste, group in groups.items() if (group == "numbers") == numbers]
            best = [_in_hindsight(sessions[method, taste]) for taste in tastes]
            curves = [[statistics.mean(b[seed][i] for b in best) for seed in seeds] for i in MARKS]
            means = " / ".join(f"{statistics.mean(curve):.2f}" for curve in curves)
            error = statistics.stdev(curves[-1]) / math.sqrt(len(seeds))
            cells.append(f"{means} ±{error:.2f}")
        name = method[0].upper() + method[1:] if method == "algorithm 3" else method
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def _in_hindsight(settings: Mapping[Any, dict[int, list[float]]]) -> dict[int, list[float]]:
    return max(settings.values(), key=lambda by: sum(gains[MARKS[-1]] for gains in by.values()))


def box_means(found: dict[str, Any]) -> list[str]:
    """Means over the tastes of each study with qEUBO."""
    lines = ["| d | seeds | rank-looks | qEUBO |", "| --- " * 4 + "|"]
    for study in (study for study in found["studies"] if "peers" in study["parts"]):
        for dim in sorted({case["dim"] for case in study["cases"]}):
            cases = [case["methods"] for case in study["cases"] if case["dim"] == dim]
            if not all("qEUBO" in methods for methods in cases):
                continue
            told = (
                " / ".join(
                    f"{statistics.mean(methods[name]['gains'][i] for methods in cases):.2f}"
                    for i in MARKS
                )
                for name in ("rank-looks", "qEUBO")
            )
            lines.append(f"| {dim} | {study['seeds']} | " + " | ".join(told) + " |")
    return lines
